// SPDX-License-Identifier: MIT
#include "collective/nccl/known.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

struct nccl_known_one {
    struct nccl_member *members; // [n]
    uint32_t n;
    struct nccl_communicator comm;
    struct nccl_known_one *next;
};

struct nccl_member *nccl_members_of(const uint32_t *ranks, uint32_t n, uint32_t gpus)
{
    struct nccl_member *members = memory_zeroed(n, sizeof *members);
    uint32_t most = 0;
    for (uint32_t m = 0; m < n; m++)
        most = ranks[m] / gpus > most ? ranks[m] / gpus : most;
    uint32_t *numbers = memory_zeroed((size_t)most + 1, sizeof *numbers), servers = 0;
    for (uint32_t m = 0; m < n; m++) {
        uint32_t *number = &numbers[ranks[m] / gpus]; // 1 + the server's; 0 = none yet
        *number = *number > 0 ? *number : ++servers;
        members[m] = (struct nccl_member){*number - 1, ranks[m] % gpus};
    }
    free(numbers);
    return members;
}

const struct nccl_communicator *nccl_known_find(const struct nccl_known *known,
                                                const struct nccl_member *members, uint32_t n)
{
    for (const struct nccl_known_one *one = known->first; one != NULL; one = one->next)
        if (one->n == n && memcmp(one->members, members, n * sizeof *members) == 0)
            return &one->comm;
    return NULL;
}

static void one_free(struct nccl_known_one *one)
{
    free(one->members);
    free(one);
}

const struct nccl_communicator *nccl_known_make(struct nccl_known *known,
                                                const struct nccl_machine *machine,
                                                const struct nccl_settings *settings,
                                                const struct nccl_member *members, uint32_t n,
                                                char *error, size_t error_bytes)
{
    const struct nccl_communicator *comm = nccl_known_find(known, members, n);
    if (comm != NULL)
        return comm;
    struct nccl_known_one *one = memory_zeroed(1, sizeof *one);
    *one = (struct nccl_known_one){
        .members = memory_zeroed(n, sizeof *members), .n = n, .next = known->first};
    memcpy(one->members, members, n * sizeof *members);
    if (!nccl_communicator_init(&one->comm, machine, settings, members, n, error, error_bytes)) {
        one_free(one);
        return NULL;
    }
    known->first = one;
    return &one->comm;
}

void nccl_known_end(struct nccl_known *known)
{
    while (known->first != NULL) {
        struct nccl_known_one *one = known->first;
        known->first = one->next;
        nccl_communicator_free(&one->comm);
        one_free(one);
    }
}
