// SPDX-License-Identifier: MIT
// Background traffic: every rank of the job starts flows to the others at random times.
//
// Sizes come from a distribution. The gaps between the starts of a rank are exponential, with the
// mean that loads its NIC as requested: mean size * 8 / (load * rate), payload only. Each rank has
// its own random stream, so its start times and sizes do not depend on the number of ranks; the
// destinations do.
#include <math.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "workload/flows.h"
#include "workload/read/cdf_file.h"
#include "workload/read/job_reader.h"

#define FLOWS_MAX 4000000

struct drawn_flows {
    struct raw_flow *flows;
    size_t n, cap;
};

static void rank_flows(struct drawn_flows *list, const struct cdf *cdf, uint32_t rank,
                       uint32_t n_ranks, double gap_ps, ps_t duration_ps, uint64_t seed)
{
    struct rng rng = rng_init(seed, RNG_POISSON, rank);
    double at = 0;
    for (;;) {
        at -= gap_ps * log(1 - rng_unit(&rng));
        if (at >= (double)duration_ps || list->n >= FLOWS_MAX)
            return;
        uint32_t other = (uint32_t)rng_below(&rng, n_ranks - 1);
        if (list->n == list->cap)
            list->flows = memory_grow(list->flows, &list->cap, sizeof *list->flows);
        list->flows[list->n++] = (struct raw_flow){.src = rank,
                                                   .dst = other + (other >= rank),
                                                   .bytes = cdf_bytes(cdf, rng_unit(&rng)),
                                                   .start_ps = (ps_t)at};
    }
}

static void read_poisson(struct reader *r, const struct place *place, struct job_spec *job)
{
    const struct poisson_settings *settings = job->settings;
    char path[PLACE_TEXT];
    const struct site *site = r->site;
    struct place file = place_key(place, "cdf"), duration = place_key(place, "duration");
    struct cdf cdf;
    struct drawn_flows list = {0};
    uint32_t n = job_size(r, job);
    if (settings->cdf == NULL ||
        cdf_file_read(r->dir, settings->cdf, place_text(&file, path), &cdf, r->err) != 0)
        return;
    if (n == 1)
        place_error(r->err, place, "needs at least two ranks");
    double rate = n > 0 ? (double)site->dims[site->n_dims - 1].rate_bps : 1;
    double gap_ps = cdf_mean_bytes(&cdf) * 8 / (settings->load * rate) * (double)PS_PER_S;
    for (uint32_t rank = 0; rank < n && n > 1; rank++)
        rank_flows(&list, &cdf, rank, n, gap_ps, settings->duration_ps, site->seed);
    if (list.n >= FLOWS_MAX)
        place_error(r->err, &duration, "makes more than %d flows", FLOWS_MAX);
    *job_flows(job) = (struct flow_list){list.flows, list.n, FLOW_OWN};
    for (size_t i = 0; i < list.n; i++)
        if (!pair_check(r, place, job, list.flows[i].src, list.flows[i].dst))
            break; // other pairs of this kind would give the same error
    cdf_free(&cdf);
}

const struct job_reader poisson_reader = {.read = read_poisson};
