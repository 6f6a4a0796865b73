// SPDX-License-Identifier: MIT
// All layouts of a transformer's training on a number of GPUs: those that fit into their memory, by
// the time of an iteration in closed form.
//
// Degrees that are tried: tensor degrees within a server that divide the heads, numbers of stages
// that divide the layers, or the layers and the two tables, expert degrees that divide the
// experts, and context degrees of powers of two up to 16; the data degree is the number of GPUs
// divided by the product of the others. For each combination of degrees these settings are tried:
// micro-batches of powers of two up to 16, up to 8 virtual stages (the interleaved schedule), ZeRO
// 0 to 3, and recomputation none, selective and full. Only the fastest layout of each combination
// of degrees is kept.
#pragma once

#include "cli/plan/iteration.h"

struct plan_question {
    struct llm_params job; // resolved; its degrees and what follows from them are not used
    uint32_t gpus;
    uint64_t capacity_bytes; // of a GPU; 0 = not known, everything fits
    struct plan_network network;
};

struct plan_layout {
    struct llm_params params;
    struct iteration_time time;
    uint64_t memory_bytes; // of the fullest rank
};

struct plan_found {
    struct plan_layout *layouts; // by time, the fastest first; free()
    size_t n, cap;
    // Numbers of layouts (degrees with all their settings): those that are legal, and of them those
    // that fit into the memory of a GPU.
    uint64_t legal, fit;
    uint64_t least_bytes; // memory of the legal layout that needs least
};

void plan_search(const struct plan_question *q, struct plan_found *found);
