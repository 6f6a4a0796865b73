// SPDX-License-Identifier: MIT
// Number of tokens that the experts of a layer receive.
//
// The popularity of experts follows Zipf's law with exponent `skew` (0 = uniform), in an order
// drawn for each layer; every sender's tokens have the same popularities. An expert takes at most
// capacity times its fair share (0 = no limit); tokens above it are dropped, as in GShard.
// Sources: Lepikhin et al., ICLR 2021 (GShard); Fedus et al., JMLR 2022 (capacity factor).
#pragma once

#include "collective/algorithm/collective.h"
#include "workload/llm/llm_spec.h"

// The load of the ranks of an expert group in one layer.
struct llm_load {
    double *tokens;              // [rank of the group] token copies that its experts compute
    uint64_t *bytes;             // [same] of the messages that carry them
    struct coll_uneven to, from; // all-to-all to the experts and back
};

// Fill the load of layer `layer` for a group of `ranks`; `seed` is the scenario's.
void llm_load_init(struct llm_load *load, const struct llm_spec *s, uint32_t layer, uint32_t ranks,
                   uint64_t seed);
void llm_load_free(struct llm_load *load);
