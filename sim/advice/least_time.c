// SPDX-License-Identifier: MIT
// A lower bound of the time of a run.
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "sim/advice/advice_internal.h"
#include "workload/flows.h"

struct load {
    const struct fabric *fabric;
    double *out, *in; // [rank] payload bytes
    ps_t start_ps;    // the last planned start
};

static bool is_list(const struct job_spec *job) { return job->kind->raw; }

static void add_list(struct load *l, const struct job_spec *job)
{
    const struct flow_list *list = job_flows(job);
    for (size_t i = 0; i < list->n; i++) {
        const struct raw_flow *f = &list->flows[i];
        ps_t start_ps = job->start_ps + f->start_ps;
        l->out[job_rank(job, f->src)] += (double)f->bytes;
        l->in[job_rank(job, f->dst)] += (double)f->bytes;
        l->start_ps = start_ps > l->start_ps ? start_ps : l->start_ps;
    }
}

// The messages of a collective are spread over its ranks.
static void add_even(struct load *l, const struct job_spec *job, double bytes)
{
    uint32_t n = job_n_ranks(job, l->fabric->graph.n_ranks);
    for (uint32_t i = 0; i < n; i++) {
        l->out[job_rank(job, i)] += bytes / n;
        l->in[job_rank(job, i)] += bytes / n;
    }
    l->start_ps = job->start_ps > l->start_ps ? job->start_ps : l->start_ps;
}

// Rates of all ports of a rank, in all dimensions; 0 if it uses those of another rank.
static double rate_of(const struct graph *g, uint32_t rank)
{
    double bps = 0;
    for (uint32_t d = 0; d < g->n_dims; d++) {
        uint32_t first = 0, n = graph_ports_in(g, rank, d, &first);
        for (uint32_t p = first; p < first + n; p++)
            bps += (double)g->ports[p].rate_bps;
    }
    return bps;
}

static ps_t longest_rank(const struct load *l)
{
    const struct graph *g = &l->fabric->graph;
    double most = 0;
    for (uint32_t r = 0; r < g->n_ranks; r++) {
        // A rank sends and receives at the same time, so the larger of the two takes longest. 8e12
        // converts bytes at bit/s to picoseconds.
        double bps = rate_of(g, r), bytes = l->out[r] > l->in[r] ? l->out[r] : l->in[r];
        if (bps > 0 && bytes * 8e12 / bps > most)
            most = bytes * 8e12 / bps;
    }
    return l->start_ps + (ps_t)most;
}

ps_t advice_least_time(const struct fabric *fabric, const struct workload *workload)
{
    const struct spec *spec = fabric->spec;
    if (spec->duration_ps != PS_NEVER)
        return spec->duration_ps;
    for (size_t j = 0; j < spec->n_jobs; j++)
        if (!is_list(&spec->jobs[j]) && strcmp(spec->jobs[j].kind->name, "collective") != 0)
            return 0;
    struct load l = {.fabric = fabric,
                     .out = memory_zeroed(fabric->graph.n_ranks, sizeof *l.out),
                     .in = memory_zeroed(fabric->graph.n_ranks, sizeof *l.in)};
    for (size_t j = 0; j < spec->n_jobs; j++) {
        const struct job_spec *job = &spec->jobs[j];
        if (is_list(job))
            add_list(&l, job);
        else
            add_even(&l, job, (double)job->kind->program->bytes(workload->jobs[j].self));
    }
    ps_t least_ps = longest_rank(&l);
    free(l.out);
    free(l.in);
    return least_ps;
}
