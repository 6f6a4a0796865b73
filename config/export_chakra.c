// SPDX-License-Identifier: MIT
// The job keeps the settings that both kinds have: collectives, contention, ranks, start, class.
#include "config/export_chakra.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "collective/algorithm/grid.h"
#include "config/export_training.h"
#include "config/object/scenario_parts.h"
#include "engine/base/err.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/file_set.h"
#include "engine/text/relative_path.h"
#include "sim/spec/spec.h"
#include "workload/chakra/chakra_job.h"
#include "workload/chakra/write.h"
#include "workload/collective_job.h"
#include "workload/flows.h"
#include "workload/nodes/node.h"
#include "workload/nodes/node_list.h"
#include "workload/read/astra2_system.h"
#include "workload/read/job_reader.h"

/* ---- export nodes ---- */

// A collective is a node on every rank; a message is a send, after a wait until its start, and a
// receive. Messages of a pair share a connection in a program, and have one of their own as flows.

static uint32_t ranks_of(const struct spec *spec, const struct job_spec *job)
{
    uint32_t n = 1;
    for (uint32_t d = 0; d < spec->n_dims; d++)
        n *= spec->dims[d].size;
    return job_n_ranks(job, n);
}

static struct node_program program_of(struct node_list *list, uint32_t n_ranks,
                                      const struct coll_schedule *schedule, const char *use)
{
    struct node_program p = {.source = &node_list_source,
                             .self = list,
                             .n_ranks = n_ranks,
                             .n_groups = 1,
                             .n_uses = 1,
                             .idle_use = 1,
                             .in_order = true};
    p.groups = memory_zeroed(1, sizeof *p.groups);
    p.groups[0] = (struct node_group){.name = memory_text("all"), .inner = 1};
    if (schedule != NULL)
        p.groups[0].schedule = *schedule;
    p.uses = memory_zeroed(1, sizeof *p.uses);
    p.uses[0] = memory_text(use);
    return p;
}

static bool collective_make(const struct job_spec *job, uint32_t n_ranks,
                            struct node_program *program, struct err *err)
{
    const struct collective_settings *s = job->settings;
    const struct collective_params *params = &s->params;
    const struct coll_schedule *schedule = &s->schedule;
    if (schedule->n_dims > 1 && !schedule->flat[params->op])
        return err_add(err, "workload.algorithm",
                       "is one for each dimension: collectives of traces are over all ranks at "
                       "once, by one algorithm") == 0;
    if (params->wire_precision < 1)
        return err_add(err, "workload.wire_precision", "has no place in a trace") == 0;
    if (schedule->library != NULL)
        return err_add(err, "workload.library", "has no place in a trace") == 0;
    struct node_list *list = node_list_new(n_ranks);
    for (uint32_t r = 0; r < n_ranks; r++)
        for (uint64_t k = 0; k < params->repeat; k++)
            node_list_add(list, r,
                          &(struct node){.id = k,
                                         .kind = NODE_COLLECTIVE,
                                         .stream = NODE_COMM_STREAM,
                                         .op = (enum coll_op)params->op,
                                         .bytes = params->bytes,
                                         .dims = 1,
                                         .root = (uint32_t)params->root});
    *program = program_of(list, n_ranks, schedule, "collective");
    return true;
}

static struct node_program flows_make(const struct flow_list *flows, uint32_t n_ranks)
{
    struct node_list *list = node_list_new(n_ranks);
    for (size_t i = 0; i < flows->n; i++) {
        const struct raw_flow *f = &flows->flows[i];
        // Ids are those of a rank. A message has two at its sender, for the wait and the send.
        uint64_t wait = 2 * (uint64_t)i;
        struct node send = {.id = wait + 1,
                            .kind = NODE_SEND,
                            .stream = NODE_NO_STREAM,
                            .bytes = f->bytes,
                            .peer = f->dst,
                            .tag = (uint32_t)i};
        struct node recv = {.id = wait,
                            .kind = NODE_RECV,
                            .stream = NODE_NO_STREAM,
                            .bytes = f->bytes,
                            .peer = f->src,
                            .tag = (uint32_t)i};
        if (f->start_ps > 0) {
            node_list_add(list, f->src,
                          &(struct node){.id = wait,
                                         .kind = NODE_WAIT,
                                         .stream = NODE_NO_STREAM,
                                         .takes_ps = f->start_ps});
            send.after = &wait;
            send.n_after = 1;
        }
        node_list_add(list, f->src, &send);
        node_list_add(list, f->dst, &recv);
    }
    for (uint32_t r = 0; r < n_ranks; r++) // a trace has at least one node
        if (node_list_size(list, r) == 0)
            node_list_add(list, r, &(struct node){.kind = NODE_EMPTY, .stream = NODE_NO_STREAM});
    return program_of(list, n_ranks, NULL, "point_to_point");
}

// Make the nodes of a job of one of these kinds. Returns false with an error if the job is of
// another kind, or has what a program of nodes cannot say. Release with node_program_free().
static bool export_nodes_make(const struct spec *spec, const struct job_spec *job,
                              struct node_program *program, struct err *err)
{
    const struct job_kind *kind = job->kind;
    uint32_t n_ranks = ranks_of(spec, job);
    if (kind == &collective_kind)
        return collective_make(job, n_ranks, program, err);
    if (kind == &training_kind)
        return export_training_make(job->settings, n_ranks, program, err);
    if (!kind->raw)
        return err_add(err, "workload.kind",
                       "%s is not a program of nodes: program, llm and others with nodes, "
                       "collectives, training loops and lists of messages can be exported",
                       kind->name) == 0;
    *program = flows_make(job_flows(job), n_ranks);
    return true;
}

/* ---- export chakra ---- */

// True if both kinds have the key with the same meaning.
static bool key_kept(const char *key)
{
    static const char *const others[] = {"prefix",           "comm_groups",  "order",
                                         "comm_streams",     "window",       "peak_tflops",
                                         "memory_bandwidth", "mapping",      "stride",
                                         "missing_nodes",    "remote_share", "remote_latency",
                                         "remote_bandwidth", "library"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(key, others[i]) == 0)
            return false;
    return job_has_key(&chakra_kind, &chakra_reader, key);
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
