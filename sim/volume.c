// SPDX-License-Identifier: MIT
// Counts what jobs will send: by the messages that their kinds estimate, else by their bytes.
#include "sim/volume.h"

#include "collective/traffic.h"
#include "sim/advice/advice.h"
#include "sim/simulation.h"

uint32_t sim_smallest_mtu(const struct sim *sim)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t t = 0; t < sim->fabric.hosts.n_transports; t++) {
        uint32_t mtu = hosts_dim(&sim->fabric.hosts, 0, t)->mtu_bytes;
        least = mtu < least ? mtu : least;
    }
    return least;
}

static void job_traffic(const struct sim *sim, const struct job_run *run, struct comm_traffic *t)
{
    const struct job_spec *job = run->spec;
    *t = (struct comm_traffic){.mtu_bytes = sim_smallest_mtu(sim)};
    if (job->kind->traffic)
        job->kind->traffic(job, t);
    else
        t->pairs = job_n_ranks(job, sim->fabric.graph.n_ranks);
    if (t->n == 0 && job->kind->program->sample)
        job->kind->program->sample(run->self, t);
    if (t->n > 0)
        return;
    // pairs of ranks anywhere in the network
    uint32_t n = job_n_ranks(job, sim->fabric.graph.n_ranks);
    for (uint32_t i = 1; i <= COMM_SAMPLE && n > 1; i++) {
        uint32_t src = (uint32_t)((uint64_t)i * 7919 % n);
        uint32_t dst = (uint32_t)((src + 1 + (uint64_t)i * 104729 % (n - 1)) % n);
        t->sample[t->n++] = (struct comm_message){src, dst, 1};
    }
}

// Means over the sample, by packets.
struct path_means {
    double hops, parts;
};

static struct path_means sample_means(const struct sim *sim, const struct job_spec *job,
                                      const struct comm_traffic *t)
{
    const struct fabric *fabric = &sim->fabric;
    struct path_means sum = {0, 0};
    double weight = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        const struct comm_message *m = &t->sample[i];
        uint32_t src = job_rank(job, m->src), dst = job_rank(job, m->dst);
        uint32_t dim = src == dst ? GRAPH_NONE : fabric_message_dim(fabric, src, dst, UINT64_MAX);
        if (dim == GRAPH_NONE)
            continue;
        void *ctx = (void *)(uintptr_t)fabric;
        sum.hops += m->weight * fabric_path(ctx, src, dst, dim, job->transport, 0).hops;
        sum.parts += m->weight * fabric_parts(fabric, src, dst, dim, job->transport);
        weight += m->weight;
    }
    if (weight == 0)
        return (struct path_means){1, 1};
    return (struct path_means){sum.hops / weight, sum.parts / weight};
}

// Payload that a job has in flight at the same time, at most: of each queue pair what its policy
// lets it send, and no more than its messages that are under way.
static double unacked_bytes(const struct sim *sim, const struct job_spec *job,
                            const struct comm_traffic *t, double flows)
{
    double each = (double)advice_flight_bytes(&sim->fabric, 0, job->transport);
    // a rank may begin the next message of a pair before the one before has been acknowledged
    double at_once = (t->listed ? 1 : 2) * (t->at_once > 1 ? t->at_once : 1);
    double message = t->messages > 0 ? t->bytes / t->messages * at_once : each;
    return flows * (each < message ? each : message);
}

static void add_job(const struct sim *sim, const struct job_run *run, struct volume *v,
                    double *known_bytes)
{
    const struct job_spec *job = run->spec;
    const struct transport_dim *dim = hosts_dim(&sim->fabric.hosts, 0, job->transport);
    struct comm_traffic t;
    job_traffic(sim, run, &t);
    struct path_means means = sample_means(sim, job, &t);
    double flows = t.pairs * (double)dim->connections_per_pair * means.parts;
    if (dim->spec.admission == ADMISSION_CTS) // plus one for the grants
        flows = flows * (double)dim->spec.channels + t.pairs;
    v->pairs += t.pairs;
    v->flows += flows;
    v->flow_bytes += flows * (double)hosts_flow_bytes(dim);
    v->messages += t.messages;
    v->packets += t.packets;
    v->unacked += unacked_bytes(sim, job, &t, flows);
    v->listed &= t.listed;
    double weight = t.packets > 0 ? t.packets : 1;
    v->hops += weight * means.hops;
    v->parts += weight * means.parts;
    *known_bytes += t.bytes;
}

static struct volume closed_form(const struct sim *sim)
{
    struct volume v = {.parts = 1};
    for (size_t j = 0; j < sim->spec->n_jobs; j++) {
        const struct job_spec *job = &sim->spec->jobs[j];
        struct comm_traffic t = {.mtu_bytes = UINT32_MAX};
        if (job->kind->traffic)
            job->kind->traffic(job, &t);
        v.messages += t.messages;
        v.phases += t.phases * job_n_ranks(job, sim->fabric.graph.n_ranks);
    }
    return v;
}

// Messages of jobs that libraries run, which cut an operation into pieces of some packets that
// cross some links each. Counted in runs of NCCL: 17 to 19 packet-hops a message, ACKs
// included.
#define PIECE_HOPS 18

static double pieces(const struct volume *v, double bytes)
{
    double packets = bytes > 0 ? bytes / (double)v->smallest_mtu : 0,
           n = 2 * packets * v->hops / PIECE_HOPS;
    return n > v->pairs ? n : v->pairs;
}

struct volume sim_volume(const struct sim *sim)
{
    struct volume v = {.listed = true, .smallest_mtu = sim_smallest_mtu(sim)};
    bool unknown = false, cut = false; // the messages of a job; by a library
    double known = 0, weight = 0, posted = (double)sim->workload.total_bytes;
    if (fabric_is_analytical(&sim->fabric))
        return closed_form(sim);
    for (size_t j = 0; j < sim->spec->n_jobs; j++) {
        double before = v.packets;
        add_job(sim, &sim->workload.jobs[j], &v, &known);
        unknown |= v.packets <= before;
        cut |= v.packets <= before && sim->workload.jobs[j].comm.library != NULL;
        weight += v.packets > before ? v.packets - before : 1;
    }
    v.hops = weight > 0 ? v.hops / weight : 1;
    v.parts = weight > 0 ? v.parts / weight : 1;
    if (unknown && posted > known)
        v.packets += (posted - known) / (double)v.smallest_mtu;
    else if (!unknown && known > 0) // a few ranks and steps stood for all
        v.packets *= posted / known;
    v.unacked = v.unacked < posted ? v.unacked : posted;
    v.posts = v.messages + (cut ? pieces(&v, posted - known) : unknown ? v.pairs : 0);
    if (unknown)
        v.messages += v.pairs > v.packets ? v.pairs : v.packets;
    return v;
}
