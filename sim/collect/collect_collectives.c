// SPDX-License-Identifier: MIT
// Makes the results of collectives from their records.
#include <stdlib.h>
#include <string.h>

#include "collective/algorithm/graph_collective.h"
#include "collective/algorithm/grid.h"
#include "collective/nccl/executor_spec.h"
#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "sim/collect/collect_internal.h"

static ps_t known(ps_t ps) { return ps == PS_NEVER ? -1 : ps; }

#define IDEALS_KEPT 16384 // a power of two

struct ideal { // a request of a communicator, and its ideal time
    const struct coll_schedule *schedule;
    struct comm_request request;
    ps_t ps;
};

static const char *executor_word(const struct coll_schedule *s)
{
    return executor_kind(s->library);
}

// "ring", or one name per dimension: "ring+halving_doubling".
static char *algorithm_text(const struct coll_schedule *s, const struct comm_request *request)
{
    char text[COLL_MAX_DIMS * 32] = "";
    if (s->library != NULL)
        return memory_text(executor_word(s));
    // A flat algorithm treats all ranks as one group; its choice stands behind those of the
    // dimensions.
    if (s->flat[request->op])
        return memory_text(s->choice[request->op][s->n_dims].algorithm->name);
    for (uint32_t d = 0; d < s->n_dims; d++) {
        if (!(request->dims >> d & 1))
            continue;
        strcat(text, text[0] != '\0' ? "+" : "");
        strncat(text, s->choice[request->op][d].algorithm->name, 30);
    }
    return memory_text(text);
}

static void collect_phases(const struct collective_record *record, struct collective_result *c)
{
    struct collective_record kinds = {0};
    record_kinds(record, &kinds);
    c->n_phases = kinds.n_phases;
    c->phases = memory_zeroed(c->n_phases, sizeof *c->phases);
    for (uint32_t i = 0; i < c->n_phases; i++) {
        const struct phase_record *p = &kinds.phases[i];
        c->phases[i] = (struct phase_result){
            .dim = p->dim,
            .op = coll_op_name((enum coll_op)p->op),
            .algorithm = record->schedule->library != NULL ? executor_word(record->schedule)
                                                           : p->algorithm->name,
            .bytes = p->bytes,
            .messages = p->messages,
            .start_ps = known(p->start_ps),
            .end_ps = known(p->end_ps),
            .queueing_ps = phase_record_queueing_ps(p),
            .network_ps =
                p->messages > 0 && p->end_ps != PS_NEVER ? phase_record_network_ps(p) : -1};
        struct critical_stage *critical = &c->phases[i].critical;
        critical->total_ps =
            record->critical.known ? collect_parts(p->critical, critical->parts) : -1;
    }
    record_free(&kinds);
}

// The last dimension, all ranks at once, is included only if it was used.
static void collect_dims(const struct collective_record *record, struct collective_result *c)
{
    double time = (double)(c->end_ps - c->start_ps);
    bool spans_all = record->dims[record->n_dims - 1].busy_ps > 0;
    c->n_dims = spans_all ? record->n_dims : record->n_dims - 1;
    c->dims = memory_zeroed(c->n_dims, sizeof *c->dims);
    for (uint32_t d = 0; d < c->n_dims; d++) {
        // The time is summed over the groups of a dimension, which work side by side.
        double busy = (double)record->dims[d].busy_ps / coll_n_groups(record->schedule, d);
        c->dims[d] = (struct dim_result){record->dims[d].bytes, time > 0 ? busy / time : 0};
    }
}

static void collect_rates(struct collective_result *c, enum coll_op op)
{
    // A collective without duration has no rates.
    if (c->end_ps <= c->start_ps)
        return;
    double seconds = (double)(c->end_ps - c->start_ps) / (double)PS_PER_S;
    c->algbw_bps = (double)c->bytes * 8 / seconds;
    c->busbw_bps = c->algbw_bps * coll_bus_factor(op, c->ranks);
    if (c->ideal_ps >= 0)
        c->efficiency = (double)c->ideal_ps / (double)(c->end_ps - c->start_ps);
}

static struct ideal *ideal_slot(struct ideal *kept, const struct collective_record *record)
{
    const struct comm_request *request = &record->request;
    uint64_t hash =
        hash_mix((uint64_t)(uintptr_t)record->schedule ^ hash_mix(request->bytes) ^
                 (uint64_t)request->op << 60 ^ (uint64_t)request->root << 32 ^ request->dims);
    return &kept[hash & (IDEALS_KEPT - 1)];
}

// Equal requests of one communicator have the same ideal time, which is kept as long as its slot
// holds no other. A collective that has not ended has no efficiency, so its ideal time is not
// computed, and an interrupted run ends sooner. That of a library or of a graph is not
// known.
static ps_t ideal_of(const struct sim *sim, struct ideal *kept, size_t i)
{
    const struct collective_record *record = &sim->workload.recorder.records[i];
    if (record->end_ps == PS_NEVER || record->end_ps < 0 || record->schedule->library != NULL ||
        coll_graph_of(record->schedule, record->request.op) != NULL)
        return -1;
    struct ideal *slot = ideal_slot(kept, record);
    if (slot->schedule != record->schedule ||
        !comm_requests_equal(&slot->request, &record->request))
        *slot = (struct ideal){.schedule = record->schedule,
                               .request = record->request,
                               .ps = ideal_collective_ps(&sim->ideals, record->ranks,
                                                         record->schedule, &record->request,
                                                         sim->spec->jobs[record->job].transport)};
    return slot->ps;
}

void collect_collectives(const struct sim *sim, struct result *r)
{
    const struct workload *w = &sim->workload;
    struct ideal *ideals = memory_zeroed(IDEALS_KEPT, sizeof *ideals);
    recorder_sort(&w->recorder);
    r->n_collectives = w->recorder.n;
    r->collectives_complete = w->recorder.n <= sim->spec->report.collectives_max;
    r->collectives = memory_zeroed(w->recorder.n, sizeof *r->collectives);
    for (size_t i = 0; i < w->recorder.n; i++) {
        const struct collective_record *record = &w->recorder.records[i];
        const struct comm_request *request = &record->request;
        struct collective_result *c = &r->collectives[i];
        *c = (struct collective_result){.job = record->job,
                                        .name = request->name,
                                        .op = coll_op_name(request->op),
                                        .algorithm = algorithm_text(record->schedule, request),
                                        .ranks = coll_span(record->schedule, request->dims),
                                        .bytes = request->bytes,
                                        .start_ps = record->start_ps,
                                        .last_start_ps = record->last_start_ps,
                                        .end_ps = known(record->end_ps),
                                        .ideal_ps = ideal_of(sim, ideals, i)};
        c->library = (struct executor_result){.algorithm = record->library.algorithm,
                                              .protocol = record->library.protocol,
                                              .channels = record->library.channels,
                                              .threads = record->library.threads,
                                              .chunk_bytes = record->library.chunk_bytes};
        collect_phases(record, c);
        collect_dims(record, c);
        collect_rates(c, request->op);
        collect_critical(sim, record, c);
    }
    free(ideals);
}
