// SPDX-License-Identifier: MIT
// The job keeps the settings that both kinds have: collectives, contention, ranks, start, class.
#include "config/export_chakra.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config/export_nodes.h"
#include "config/export_training.h"
#include "config/foreign/astra2_system.h"
#include "config/job/job_reader.h"
#include "config/text/relative_path.h"
#include "engine/memory.h"
#include "engine/text.h"
#include "workload/chakra/chakra_job.h"
#include "workload/chakra/write.h"

// True if both kinds have the key with the same meaning.
static bool key_kept(const char *key)
{
    static const char *const others[] = {
        "prefix",       "comm_groups",      "order",           "comm_streams", "window",
        "peak_tflops",  "memory_bandwidth", "mapping",         "stride",       "missing_nodes",
        "remote_share", "remote_latency",   "remote_bandwidth"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(key, others[i]) == 0)
            return false;
    if (strcmp(key, "algorithm") == 0 || strcmp(key, "system") == 0 || strcmp(key, "name") == 0 ||
        param_find(job_params, n_job_params, key).name != NULL ||
        param_find(chakra_kind.params, chakra_kind.n_params, key).name != NULL)
        return true;
    for (size_t i = 0; coll_registry[i] != NULL; i++)
        if (param_find(coll_registry[i]->params, coll_registry[i]->n_params, key).name != NULL)
            return true;
    return false;
}

static json_t *job_make(const struct job_spec *job, const json_t *resolved, const char *prefix)
{
    const char *key, *slash = strrchr(prefix, '/'), *base = slash ? slash + 1 : prefix;
    json_t *made = json_pack("{s:s,s:s}", "kind", "chakra", "prefix", base), *value;
    char *groups = text_format("%s.groups.json", base);
    json_object_set_new(made, "comm_groups", json_string(groups));
    free(groups);
    json_object_foreach((json_t *)(uintptr_t)resolved, key, value)
    {
        if (key_kept(key))
            json_object_set(made, key, value);
    }
    if (job->kind == &training_kind)
        export_training_schedule(job->settings, made);
    if (job->ranks != NULL && json_object_get(made, "ranks") == NULL) { // placed by `mapping`
        json_t *ranks = json_array();
        for (size_t i = 0; i < job->n_ranks; i++)
            json_array_append_new(ranks, json_integer(job->ranks[i]));
        json_object_set_new(made, "ranks", ranks);
    }
    return made;
}

/* ---- files: all are written beside their names, and then get them ---- */

// The files of an export: those of the ranks, the groups and the scenario.
struct set {
    char **names;
    size_t n;
};

static struct set set_of(const struct node_program *p, const char *prefix)
{
    struct set set = {memory_zeroed(p->n_ranks + 2, sizeof *set.names), p->n_ranks + 2};
    for (uint32_t i = 0; i <= p->n_ranks; i++)
        set.names[i] = trace_file(p, prefix, i);
    set.names[set.n - 1] = text_format("%s.json", prefix);
    return set;
}

static char *part_of(const char *name) { return text_format("%s.part", name); }

// What cannot be replaced is found before anything is written.
static int set_check(const struct set *set, struct err *err)
{
    struct stat there;
    int status = 0;
    for (size_t i = 0; i < set->n; i++) {
        char *part = part_of(set->names[i]);
        const char *both[] = {set->names[i], part};
        for (size_t j = 0; j < 2; j++)
            if (lstat(both[j], &there) == 0 && !S_ISREG(there.st_mode) &&
                !(j == 0 && S_ISLNK(there.st_mode)))
                status = err_add(err, both[j], "cannot be written: it is no regular file");
        free(part);
    }
    return status;
}

// Give the files their names; or remove them, so that there is no part of a set.
static int set_end(const struct set *set, bool good, struct err *err)
{
    size_t named = 0;
    for (; good && named < set->n; named++) {
        char *part = part_of(set->names[named]);
        good = rename(part, set->names[named]) == 0;
        free(part);
        if (!good) {
            err_add(err, set->names[named], "cannot be written: %s", strerror(errno));
            break;
        }
    }
    for (size_t i = 0; !good && i < set->n; i++) {
        char *part = part_of(set->names[i]);
        remove(i < named ? set->names[i] : part);
        free(part);
    }
    return good ? 0 : -1;
}

static void set_free(struct set *set)
{
    for (size_t i = 0; i < set->n; i++)
        free(set->names[i]);
    free(set->names);
}

static int scenario_write(const struct scenario *scenario, const char *prefix, struct err *err)
{
    json_t *root = json_loads(scenario_resolved(scenario), 0, NULL);
    json_t *workload = json_object_get(root, "workload");
    const json_t *job = json_is_array(workload) ? json_array_get(workload, 0) : workload;
    json_t *made = job_make(&scenario->spec.jobs[0], job, prefix);
    char *name = text_format("%s.json", prefix), *part = part_of(name);
    astra2_system_move(json_object_get(made, "system"), scenario->dir, name);
    json_object_set_new(root, "workload", made);
    char *text = json_text(root);
    FILE *out = fopen(part, "wb");
    int result = out != NULL ? 0 : -1;
    if (result == 0) {
        fprintf(out, "%s\n", text);
        bool failed = ferror(out) != 0;
        result = fclose(out) != 0 || failed ? -1 : 0;
    }
    if (result != 0)
        err_add(err, name, "cannot be written: %s", strerror(errno));
    json_decref(root);
    free(part);
    free(name);
    free(text);
    return result;
}

static int set_write(const struct scenario *scenario, const struct node_program *p,
                     const char *prefix, struct err *err)
{
    struct set set = set_of(p, prefix);
    int result = set_check(&set, err);
    if (result == 0) {
        bool good = trace_write(p, prefix, err) == 0 && scenario_write(scenario, prefix, err) == 0;
        result = set_end(&set, good, err);
    }
    set_free(&set);
    return result;
}

int chakra_export(const struct scenario *scenario, const char *prefix, struct err *err)
{
    const struct spec *spec = &scenario->spec;
    if (spec->n_jobs != 1)
        return err_add(err, "workload", "has %zu jobs: one can be exported", spec->n_jobs);
    const struct job_spec *job = &spec->jobs[0];
    struct node_program made = {0};
    if (job->kind->nodes == NULL && !export_nodes_make(spec, job, &made, err))
        return -1;
    int result =
        set_write(scenario, job->kind->nodes != NULL ? job->kind->nodes(job) : &made, prefix, err);
    if (job->kind->nodes == NULL)
        node_program_free(&made);
    return result;
}
