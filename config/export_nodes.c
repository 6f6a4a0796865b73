// SPDX-License-Identifier: MIT
// A collective is a node on every rank; a message is a send, after a wait until its start, and a
// receive. Messages of a pair share a connection in a program, and have one of their own as flows.
#include "config/export_nodes.h"

#include <inttypes.h>

#include "collective/algorithm/grid.h"
#include "config/export_training.h"
#include "engine/base/memory.h"
#include "workload/collective_job.h"
#include "workload/flows.h"
#include "workload/nodes/node_list.h"

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

bool export_nodes_make(const struct spec *spec, const struct job_spec *job,
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
