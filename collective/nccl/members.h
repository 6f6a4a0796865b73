// SPDX-License-Identifier: MIT
// The ranks of a communicator by server: servers in the order of their first ranks, and the GPUs
// that are used of each. Private to the room.
//
// The GPUs that a communicator uses in a server are numbered from 0 in the order of the machine;
// nccl_paths.h uses these numbers as its vertices.
#pragma once

#include <stddef.h>

#include "collective/nccl/layout.h"

struct nccl_members {
    uint32_t ranks, servers;
    uint32_t *server_of; // of a rank
    uint8_t *gpu_of;     // of a rank, its number in the machine
    uint64_t *gpus;      // of a server, a set of bits
    uint32_t *first;     // of a server, its place in by_server
    uint32_t *by_server; // ranks, by server and GPU
};

// Sorts `n` members; free with nccl_members_free(). Returns false, with one sentence in `error`,
// where one has no GPU in the machine, or two have the same one.
bool nccl_members_init(struct nccl_members *members, const struct nccl_machine *machine,
                       const struct nccl_member *list, uint32_t n, char *error, size_t error_bytes);
void nccl_members_free(struct nccl_members *members);

// The vertex of a rank among the GPUs of its server, and the rank at a vertex.
uint32_t nccl_members_vertex(const struct nccl_members *members, uint32_t rank);
uint32_t nccl_members_rank(const struct nccl_members *members, uint32_t server, uint32_t vertex);
