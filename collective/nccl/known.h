// SPDX-License-Identifier: MIT
// Communicators that have been made, by their members: the search for channels takes long, so
// groups with the same GPUs share its result, whatever their servers, and so do all runs of a
// scenario that was checked.
#pragma once

#include "collective/nccl/nccl_operation.h"

struct nccl_known {
    struct nccl_known_one *first;
};

// The members of a group of ranks, where each server has `gpus` ranks; servers are numbered in the
// order of their first member. To be freed.
struct nccl_member *nccl_members_of(const uint32_t *ranks, uint32_t n, uint32_t gpus);

// The communicator of these members; NULL = it is not known.
const struct nccl_communicator *nccl_known_find(const struct nccl_known *known,
                                                const struct nccl_member *members, uint32_t n);

// As nccl_known_find(); makes the communicator where it is not known. Returns NULL with one
// sentence in `error` as nccl_communicator_init() does. All of one list have this machine and these
// settings.
const struct nccl_communicator *nccl_known_make(struct nccl_known *known,
                                                const struct nccl_machine *machine,
                                                const struct nccl_settings *settings,
                                                const struct nccl_member *members, uint32_t n,
                                                char *error, size_t error_bytes);
void nccl_known_end(struct nccl_known *known);
