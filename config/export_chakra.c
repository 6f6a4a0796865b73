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

static int scenario_write(const struct scenario *scenario, const char *prefix, struct err *err)
{
    json_t *root = json_loads(scenario_resolved(scenario), 0, NULL);
    json_t *workload = json_object_get(root, "workload");
    const json_t *job = json_is_array(workload) ? json_array_get(workload, 0) : workload;
    json_t *made = job_make(&scenario->spec.jobs[0], job, prefix);
    char *name = text_format("%s.json", prefix);
    astra2_system_move(json_object_get(made, "system"), scenario->dir, name);
    json_object_set_new(root, "workload", made);
    char *text = json_text(root);
    char *part = text_format("%s.part", name);
    FILE *out = fopen(part, "wb");
    int result = out != NULL ? 0 : -1;
    if (result == 0) {
        fprintf(out, "%s\n", text);
        bool failed = ferror(out) != 0;
        result = fclose(out) != 0 || failed ? -1 : rename(part, name);
    }
    if (result != 0) {
        err_add(err, name, "cannot be written: %s", strerror(errno));
        remove(part);
    }
    free(part);
    json_decref(root);
    free(name);
    free(text);
    return result;
}

static int name_check(const char *prefix, struct err *err)
{
    char *name = text_format("%s.json", prefix);
    struct stat there;
    int result = stat(name, &there) != 0 || S_ISREG(there.st_mode)
                     ? 0
                     : err_add(err, name, "is in the way: it is no file; nothing was written");
    free(name);
    return result;
}

int chakra_export(const struct scenario *scenario, const char *prefix, struct err *err)
{
    const struct spec *spec = &scenario->spec;
    if (spec->n_jobs != 1)
        return err_add(err, "workload", "has %zu jobs: one can be exported", spec->n_jobs);
    const struct job_spec *job = &spec->jobs[0];
    struct node_program made = {0};
    if (name_check(prefix, err) != 0)
        return -1;
    if (job->kind->nodes == NULL && !export_nodes_make(spec, job, &made, err))
        return -1;
    int result = trace_write(job->kind->nodes != NULL ? job->kind->nodes(job) : &made, prefix, err);
    if (job->kind->nodes == NULL)
        node_program_free(&made);
    if (result != 0)
        return -1;
    return scenario_write(scenario, prefix, err);
}
