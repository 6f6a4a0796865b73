// SPDX-License-Identifier: MIT
// The threads of network stacks: which connections share one, and how fast it is.
#pragma once

#include "engine/cores/cores.h"
#include "engine/cores/host_spec.h"

enum stack_direction { STACK_SENDS, STACK_RECEIVES };

// Threads that connections of a rank share, by direction and peer. All shards use one array of
// these; a rank belongs to one shard.
struct stack_shared {
    struct stack_slot *slots;
    size_t n, cap;
};

struct stack_threads {
    const struct host_spec *spec;
    struct cores *cores;
    uint64_t seed;
    struct stack_shared *shared; // [rank]
    struct stack_thread **own;   // threads that this shard has made, which it frees
    size_t n_own, cap_own;
};

// Which connection of a rank a thread is wanted for. Connections take threads in turn, by number.
struct stack_use {
    enum stack_direction direction;
    uint32_t rank, peer, number;
};
struct core_thread *stack_thread_for(struct stack_threads *t, struct stack_use use);

// What `takes_ps` of an average thread takes this one: `host.spread` makes some slower.
ps_t stack_thread_ps(const struct core_thread *thread, ps_t takes_ps);

void stack_threads_end(struct stack_threads *t); // before the cores
