// SPDX-License-Identifier: MIT
// All layouts of a transformer's training on a number of GPUs: those that fit into their memory, by
// the time of an iteration in closed form.
//
// Degrees: every tensor degree within a server that divides the heads, every number of stages that
// divides the layers, expert degrees that divide the experts, context degrees up to 16, and data
// parallelism of what is left. With each: micro-batches of powers of two, virtual stages up to 8
// (the interleaved schedule), ZeRO 0 to 3, and recomputation none, selective and full. Of the
// layouts with equal degrees the fastest one is kept.
#pragma once

#include "plan/iteration.h"

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
    uint64_t legal, fit;  // layouts looked at, those that fit, with all of their settings
    uint64_t least_bytes; // memory of the legal layout that needs least
};

void plan_search(const struct plan_question *q, struct plan_found *found);
