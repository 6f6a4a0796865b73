// SPDX-License-Identifier: MIT
// The order of popularity is a seeded shuffle.
#include "workload/llm/llm_moe.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"

// A token goes to different experts, so that none receives more than `most` of all copies: the
// excess is divided among the others in proportion to their shares.
static void limit_shares(double *shares, uint32_t n, double most)
{
    for (bool above = true; above;) {
        double full = 0, rest = 0;
        above = false;
        for (uint32_t i = 0; i < n; i++)
            *(shares[i] >= most ? &full : &rest) += shares[i] >= most ? most : shares[i];
        for (uint32_t i = 0; i < n; i++) {
            double scaled = shares[i] >= most ? most : shares[i] * (1 - full) / rest;
            above = above || scaled > most * (1 + 1e-12);
            shares[i] = scaled;
        }
    }
}

// The share of all token copies that each expert receives.
static double *shares_of(const struct llm_spec *s, uint32_t layer, uint64_t seed)
{
    uint32_t n = (uint32_t)s->p.experts;
    struct rng rng = rng_init(seed, RNG_EXPERTS, layer);
    uint32_t *order = memory_zeroed(n, sizeof *order);
    double *shares = memory_zeroed(n, sizeof *shares), sum = 0;
    rng_permutation(&rng, order, n);
    for (uint32_t i = 0; i < n; i++)
        sum += pow(i + 1, -s->p.skew);
    for (uint32_t i = 0; i < n; i++)
        shares[order[i]] = pow(i + 1, -s->p.skew) / sum;
    free(order);
    limit_shares(shares, n, 1.0 / (double)s->p.top_k);
    return shares;
}

void llm_load_init(struct llm_load *load, const struct llm_spec *s, uint32_t layer, uint32_t ranks,
                   uint64_t seed)
{
    uint32_t experts = (uint32_t)s->p.experts, each = experts / ranks;
    double copies = (double)llm_tokens(s) * (double)s->p.top_k * ranks;
    double most = s->p.capacity > 0 ? s->p.capacity * copies / experts : copies;
    double bytes = (double)s->p.hidden * (double)s->p.activation_bytes;
    double *shares = shares_of(s, layer, seed);
    bytes /= s->p.sequence_parallel ? (double)s->p.degrees[LLM_TENSOR] : 1;
    load->tokens = memory_zeroed(ranks, sizeof *load->tokens);
    load->bytes = memory_zeroed(ranks, sizeof *load->bytes);
    for (uint32_t rank = 0; rank < ranks; rank++) {
        for (uint32_t i = 0; i < each; i++)
            load->tokens[rank] += fmin(shares[rank * each + i] * copies, most);
        load->bytes[rank] = (uint64_t)(load->tokens[rank] * bytes + 0.5);
    }
    load->to = (struct coll_uneven){load->bytes, true};
    load->from = (struct coll_uneven){load->bytes, false};
    free(shares);
}

void llm_load_free(struct llm_load *load)
{
    free(load->tokens);
    free(load->bytes);
}
