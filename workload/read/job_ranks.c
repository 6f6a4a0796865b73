// SPDX-License-Identifier: MIT
// Checks of a job's ranks and of pairs of them.
#include "workload/read/job_ranks.h"

#include <inttypes.h>

uint32_t job_size(const struct reader *r, const struct job_spec *job)
{
    return job->ranks != NULL ? (uint32_t)job->n_ranks : r->site->ranks.n_ranks;
}

bool rank_check(struct reader *r, const struct place *place, const struct job_spec *job,
                int64_t value)
{
    uint32_t n = job_size(r, job);
    if (value >= 0 && (n == 0 || value < n))
        return true;
    if (n == 0)
        place_error(r->err, place, "%" PRId64 " is not a rank", value);
    else
        place_error(r->err, place, "rank %" PRId64 " is not one of the %s's %u (0 to %u)", value,
                    job->ranks != NULL ? "job" : "network", n, n - 1);
    return false;
}

bool pairs_all_joined(const struct reader *r)
{
    const struct graph *g = &r->site->ranks;
    bool joined = g->n_dims == 1;
    for (uint32_t d = 0; d < g->n_dims; d++)
        joined = joined || g->dim_fabric[d];
    return joined;
}

bool pair_check(struct reader *r, const struct place *place, const struct job_spec *job, uint32_t a,
                uint32_t b)
{
    uint32_t from = job->ranks != NULL ? job->ranks[a] : a;
    uint32_t to = job->ranks != NULL ? job->ranks[b] : b;
    if (graph_joining_dim(&r->site->ranks, from, to) != GRAPH_NONE || r->site->relays ||
        r->site->analytical)
        return true;
    place_error(r->err, place,
                "ranks %u and %u differ in more than one dimension; set switch.routing.relay or "
                "use a dimension that connects all ranks",
                from, to);
    return false;
}
