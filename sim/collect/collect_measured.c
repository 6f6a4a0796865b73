// SPDX-License-Identifier: MIT
// Messages from a capture: how long they took there and in the simulation.
//
// A capture has the time from the first to the last packet of a message at one point. In the
// simulation this is the time from the post to the last byte at the receiver, less the time of the
// first packet alone, which is the way of a packet to the receiver: exact within the transmission
// of a packet, wherever the point is, as long as the queue behind it does not grow or shrink
// meanwhile.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "sim/collect/collect_internal.h"
#include "sim/result/result_distribution.h"
#include "workload/flows.h"

// A flow of a job's list as its record shows it.
struct wanted {
    uint32_t src, dst;
    uint64_t bytes;
    ps_t start_ps, measured_ps;
    bool found;
};

static int by_message(const void *a, const void *b)
{
    const struct wanted *x = a, *y = b;
    if (x->src != y->src)
        return x->src < y->src ? -1 : 1;
    if (x->dst != y->dst)
        return x->dst < y->dst ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    return (x->start_ps > y->start_ps) - (x->start_ps < y->start_ps);
}

static struct wanted *list_of(const struct job_run *job, size_t *n)
{
    const struct flow_list *list = job_flows(job->spec);
    struct wanted *wanted = memory_zeroed(list->n, sizeof *wanted);
    *n = list->n;
    for (size_t i = 0; i < list->n; i++) {
        const struct raw_flow *f = &list->flows[i];
        wanted[i] = (struct wanted){.src = job_rank(job->spec, f->src),
                                    .dst = job_rank(job->spec, f->dst),
                                    .bytes = f->bytes,
                                    .start_ps = job_start_ps(job, f->src) + f->start_ps,
                                    .measured_ps = f->measured_ps};
    }
    qsort(wanted, list->n, sizeof *wanted, by_message);
    return wanted;
}

// Returns the flow of a record that no other record has; NULL if there is none. Flows that are
// alike come in any order.
static struct wanted *flow_of(struct wanted *list, size_t n, const struct flow_record *record)
{
    struct wanted key = {.src = record->src,
                         .dst = record->dst,
                         .bytes = record->bytes,
                         .start_ps = record->start_ps};
    struct wanted *at = bsearch(&key, list, n, sizeof *list, by_message);
    while (at && at > list && by_message(&key, at - 1) == 0)
        at--;
    for (; at && at < list + n && by_message(&key, at) == 0; at++)
        if (!at->found)
            return at;
    return NULL;
}

static ps_t first_packet_ps(const struct sim *sim, const struct flow_record *record)
{
    uint32_t transport = sim->spec->jobs[record->job].transport;
    uint32_t dim = fabric_message_dim(&sim->fabric, record->src, record->dst, record->bytes);
    uint32_t mtu = hosts_dim(&sim->fabric.hosts, dim, transport)->mtu_bytes;
    ps_t delivered_ps;
    ideal_message_ps(&sim->ideals, record->src, record->dst, dim, transport,
                     record->bytes < mtu ? record->bytes : mtu, &delivered_ps);
    return delivered_ps;
}

static void of_job(const struct sim *sim, struct result *r, uint32_t job,
                   struct distribution *ratio)
{
    size_t n;
    struct wanted *list = list_of(&sim->workload.jobs[job], &n);
    for (size_t i = 0; i < r->n_flows; i++) {
        struct flow_record *record = &r->flows[i];
        struct wanted *flow = record->job == job ? flow_of(list, n, record) : NULL;
        if (!flow)
            continue;
        flow->found = true;
        record->measured_ps = flow->measured_ps;
        if (flow->measured_ps == 0 || record->delivered_ps < 0)
            continue;
        ps_t simulated_ps = record->delivered_ps - first_packet_ps(sim, record);
        // A message of one packet takes no time beyond that of the packet. Ratios need a positive
        // time.
        record->simulated_ps = simulated_ps > 0 ? simulated_ps : 1;
        r->measured.count++;
        r->measured.measured_ns += (double)record->measured_ps / PS_PER_NS;
        r->measured.simulated_ns += (double)record->simulated_ps / PS_PER_NS;
        distribution_add(ratio, (double)record->simulated_ps / (double)record->measured_ps);
    }
    free(list);
}

void collect_measured(const struct sim *sim, struct result *r)
{
    struct distribution ratio = {.limit = r->n_flows};
    if (fabric_is_analytical(&sim->fabric))
        return;
    for (uint32_t j = 0; j < sim->spec->n_jobs; j++)
        if (job_is_measured(&sim->spec->jobs[j]))
            of_job(sim, r, j, &ratio);
    if (r->measured.count > 0)
        r->measured.ratio = distribution_stats(&ratio);
    distribution_free(&ratio);
}
