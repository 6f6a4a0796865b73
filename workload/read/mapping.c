// SPDX-License-Identifier: MIT
// Maps the ranks of a job to those of the network: a permutation of the job's ranks.
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "workload/read/algorithms.h"
#include "workload/read/job_ranks.h"

// Rank i gets element i of the sequence 0, stride, 2 stride, .., 1, stride + 1, ...
static void strided(uint32_t *places, uint32_t n, uint32_t stride)
{
    uint32_t i = 0;
    for (uint32_t first = 0; first < stride && first < n; first++)
        for (uint32_t place = first; place < n; place += stride)
            places[i++] = place;
}

static void shuffled(uint32_t *places, uint32_t n, uint64_t seed)
{
    struct rng rng = rng_init(seed, RNG_MAPPING, 0);
    rng_permutation(&rng, places, n);
}

void map_ranks(struct reader *r, const struct place *place, struct job_spec *job,
               const struct mapping_params *params)
{
    const struct site *spec = r->site;
    struct place stride = place_key(place, "stride");
    uint32_t n = job_size(r, job);
    if (params->stride != PARAM_AUTO && params->mapping != MAPPING_STRIDED)
        place_error(r->err, &stride, "is used only with mapping \"strided\"");
    if (n == 0 || params->mapping == MAPPING_LOCAL)
        return;
    uint32_t *places = memory_zeroed(n, sizeof *places), *ranks = memory_zeroed(n, sizeof *ranks);
    uint64_t apart = params->stride != PARAM_AUTO ? params->stride : spec->dims[0].size;
    if (params->mapping == MAPPING_STRIDED)
        strided(places, n, (uint32_t)apart);
    else
        shuffled(places, n, spec->seed);
    for (uint32_t i = 0; i < n; i++)
        ranks[i] = job->ranks != NULL ? job->ranks[places[i]] : places[i];
    free(places);
    free(job->ranks);
    job->ranks = ranks;
    job->n_ranks = n;
}
