// SPDX-License-Identifier: MIT
// The job keeps the settings that both kinds have: collectives, contention, ranks, start, class.
#include "config/export_chakra.h"
#include "config/object/scenario_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/export_nodes.h"
#include "config/export_training.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/file_set.h"
#include "engine/text/relative_path.h"
#include "workload/chakra/chakra_job.h"
#include "workload/chakra/write.h"
#include "workload/read/astra2_system.h"
#include "workload/read/job_reader.h"

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
    char **names, **parts;
    size_t n;
};

static struct set set_of(const struct node_program *p, const char *prefix)
{
    struct set set = {.n = p->n_ranks + 2};
    set.names = memory_zeroed(set.n, sizeof *set.names);
    set.parts = memory_zeroed(set.n, sizeof *set.parts);
    for (uint32_t i = 0; i <= p->n_ranks; i++)
        set.names[i] = trace_file(p, prefix, i);
    set.names[set.n - 1] = text_format("%s.json", prefix);
    for (size_t i = 0; i < set.n; i++)
        set.parts[i] = text_format("%s.part", set.names[i]);
    return set;
}

// What cannot be replaced is found before anything is written.
static int set_check(const struct set *set, struct err *err)
{
    struct stat there;
    int status = 0;
    for (size_t i = 0; i < set->n; i++) {
        if (stat(set->names[i], &there) == 0 && !S_ISREG(there.st_mode))
            status = err_add(err, set->names[i], "cannot be written: it is no regular file");
        if (lstat(set->parts[i], &there) == 0 && !S_ISREG(there.st_mode)) // which would be followed
            status = err_add(err, set->parts[i], "cannot be written: it is no regular file");
    }
    return status;
}

static int set_name(const struct set *set, struct err *err)
{
    size_t at;
    if (file_set_name(set->parts, set->names, set->n, &at) == 0)
        return 0;
    return err_add(err, set->names[at], "cannot be written: %s", strerror(errno));
}

static void set_free(struct set *set)
{
    for (size_t i = 0; i < set->n; i++) {
        free(set->names[i]);
        free(set->parts[i]);
    }
    free(set->names);
    free(set->parts);
}

static int scenario_write(const struct scenario *scenario, const char *prefix, struct err *err)
{
    json_t *root = json_loads(scenario_resolved(scenario), 0, NULL);
    json_t *workload = json_object_get(root, "workload");
    const json_t *job = json_is_array(workload) ? json_array_get(workload, 0) : workload;
    json_t *made = job_make(&scenario->spec.jobs[0], job, prefix);
    char *name = text_format("%s.json", prefix), *part = text_format("%s.part", name);
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
                     const char *prefix, const struct export_signals *signals, struct err *err)
{
    struct set set = set_of(p, prefix);
    int result = set_check(&set, err);
    if (result == 0) {
        for (size_t i = 0; i < set.n; i++)
            signals->staged(set.parts[i]);
        result = trace_write(p, prefix, err) | scenario_write(scenario, prefix, err);
        signals->hold(true);
        if (result == 0)
            result = set_name(&set, err);
        for (size_t i = 0; i < set.n; i++)
            unlink(set.parts[i]);
        signals->hold(false);
    }
    set_free(&set);
    return result;
}

int chakra_export(const struct scenario *scenario, const char *prefix,
                  const struct export_signals *signals, struct err *err)
{
    const struct spec *spec = &scenario->spec;
    if (spec->n_jobs != 1)
        return err_add(err, "workload", "has %zu jobs: one can be exported", spec->n_jobs);
    const struct job_spec *job = &spec->jobs[0];
    struct node_program made = {0};
    if (job->kind->nodes == NULL && !export_nodes_make(spec, job, &made, err))
        return -1;
    int result = set_write(scenario, job->kind->nodes != NULL ? job->kind->nodes(job) : &made,
                           prefix, signals, err);
    if (job->kind->nodes == NULL)
        node_program_free(&made);
    return result;
}
