// SPDX-License-Identifier: MIT
// Records of messages as they end, and the statistics over them.
#include <stdlib.h>

#include "engine/memory.h"
#include "sim/sim_internal.h"

static uint64_t delivered_bytes(const struct sim *sim, const struct message *m)
{
    if (m->delivered_ps != PS_NEVER)
        return m->bytes;
    const struct qp *qp = qp_at(&sim->roce.qps, m->qp);
    uint64_t expected = qp->rcv.expected_psn;
    if (expected <= m->first_psn)
        return 0;
    return message_offset(m, expected, sim->spec->dims[m->dim].transport.mtu_bytes) - m->start_byte;
}

static void keep_stats(struct sim *sim, const struct flow_record *f)
{
    struct message_stats *s = &sim->stats;
    distribution_add(&s->fct_ns, (double)ns_of_ps(f->fct_ps));
    if (f->fct_ps == 0) // in closed form, without latency
        return;
    double goodput = (double)f->bytes / (double)f->fct_ps;
    if (f->ideal_ps > 0)
        distribution_add(&s->slowdown, (double)f->fct_ps / (double)f->ideal_ps);
    s->goodput_sum += goodput;
    s->goodput_square_sum += goodput * goodput;
}

void sim_keep_record(struct sim *sim, const struct flow_record *record)
{
    if (record->status == MESSAGE_DONE)
        keep_stats(sim, record);
    else if (record->status == MESSAGE_FAILED)
        sim->failed++;
    if (sim->n_flows >= sim->spec->report.flows_max) {
        if (record->status == MESSAGE_DONE || sim->n_unlisted == SIM_WAITING_MAX)
            return;
        sim->n_unlisted++; // the list is left out, but the run's end is to be explained
    }
    if (sim->n_flows == sim->cap_flows)
        sim->flows = memory_grow(sim->flows, &sim->cap_flows, sizeof *sim->flows);
    sim->flows[sim->n_flows++] = *record;
}

// Also for messages that are still running when the run ends.
void sim_message_ended(void *ctx, const struct message *m)
{
    struct sim *sim = ctx;
    struct flow_record record = {
        .id = m->id,
        .bytes = m->bytes,
        .delivered_bytes = delivered_bytes(sim, m),
        .packets = m->packets,
        .retransmitted = m->retransmitted,
        .job = m->job,
        .qp = m->qp,
        .src = m->src,
        .dst = m->dst,
        .cnps = m->cnps,
        .timeouts = m->timeouts,
        .start_ps = m->posted_ps,
        .fct_ps = m->status == MESSAGE_DONE ? m->done_ps - m->posted_ps : -1,
        .delivered_ps = m->delivered_ps == PS_NEVER ? -1 : m->delivered_ps - m->posted_ps,
        .status = m->status};
    if (!sim_stripes_record(sim, m->token, &record))
        return;
    record.ideal_ps = sim_ideal_ps(sim, m->src, m->dst, m->dim, record.bytes, NULL);
    sim_keep_record(sim, &record);
}
