// SPDX-License-Identifier: MIT
// Communicators of RCCL on MI300X, for its tests.
#pragma once

#include "collective/nccl/nccl_operation.h"

#define GPUS 8
#define SERVERS_MAX 7
#define RANKS_MAX (SERVERS_MAX * GPUS)
#define GIB (UINT64_C(1) << 30)

static const struct nccl_settings defaults = {.version = NCCL_2_21_5,
                                              .rccl = true,
                                              .algorithms = NCCL_ANY_ALGORITHM,
                                              .protocols = NCCL_ANY_PROTOCOL,
                                              .cross_nic = NCCL_CROSS_NIC_AUTO};

// A communicator of the first `gpus` GPUs of each of `servers`.
static inline void make(struct nccl_communicator *c, const struct nccl_settings *settings,
                        uint32_t servers, uint32_t gpus)
{
    struct nccl_member members[RANKS_MAX];
    char error[200] = "";
    for (uint32_t r = 0; r < servers * gpus; r++)
        members[r] = (struct nccl_member){r / gpus, r % gpus};
    if (!nccl_communicator_init(c, nccl_machine_named("mi300x"), settings, members, servers * gpus,
                                error, sizeof error))
        fail_msg("%u servers of %u: %s", servers, gpus, error);
}
