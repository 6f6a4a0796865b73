// SPDX-License-Identifier: MIT
#include "collective/nccl/members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    const struct nccl_member *x = *(const struct nccl_member *const *)a;
    const struct nccl_member *y = *(const struct nccl_member *const *)b;
    if (x->server != y->server)
        return x->server < y->server ? -1 : 1;
    // Both are in one array, so the order of their addresses is that of the ranks.
    return x < y ? -1 : x > y;
}

// Writes to `leader` the first rank of the server of each rank.
static bool find_leaders(const struct nccl_member *list, uint32_t n, uint32_t *leader)
{
    const struct nccl_member **sorted = malloc(n * sizeof *sorted);
    if (sorted == NULL)
        return false;
    for (uint32_t r = 0; r < n; r++)
        sorted[r] = &list[r];
    qsort(sorted, n, sizeof *sorted, compare);
    uint32_t first = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t rank = (uint32_t)(sorted[i] - list);
        if (i == 0 || sorted[i]->server != sorted[i - 1]->server)
            first = rank;
        leader[rank] = first;
    }
    free(sorted);
    return true;
}

static uint32_t count_bits(uint64_t set)
{
    uint32_t n = 0;
    for (; set != 0; set &= set - 1)
        n++;
    return n;
}

static bool place(struct nccl_members *m, const struct nccl_member *list, char *error,
                  size_t error_bytes)
{
    // `by_server` holds the leaders until the end of this function, which fills it.
    const uint32_t *leader = m->by_server;
    for (uint32_t r = 0; r < m->ranks; r++) {
        uint32_t server = leader[r] == r ? m->servers++ : m->server_of[leader[r]];
        uint64_t bit = UINT64_C(1) << list[r].gpu;
        m->server_of[r] = server;
        m->gpu_of[r] = (uint8_t)list[r].gpu;
        if (m->gpus[server] & bit) {
            snprintf(error, error_bytes, "Two ranks use GPU %u of server %u.", list[r].gpu,
                     list[r].server);
            return false;
        }
        m->gpus[server] |= bit;
    }
    uint32_t sum = 0;
    for (uint32_t s = 0; s < m->servers; s++) {
        m->first[s] = sum;
        sum += count_bits(m->gpus[s]);
    }
    for (uint32_t r = 0; r < m->ranks; r++)
        m->by_server[m->first[m->server_of[r]] + nccl_members_vertex(m, r)] = r;
    return true;
}

bool nccl_members_init(struct nccl_members *m, const struct nccl_machine *machine,
                       const struct nccl_member *list, uint32_t n, char *error, size_t error_bytes)
{
    *m = (struct nccl_members){.ranks = n};
    if (n == 0 || n > INT32_MAX) {
        snprintf(error, error_bytes, "A communicator has 1 to %d ranks, not %u.", INT32_MAX, n);
        return false;
    }
    for (uint32_t r = 0; r < n; r++)
        if (list[r].gpu >= machine->gpus) {
            snprintf(error, error_bytes, "Rank %u uses GPU %u, but a server has %u.", r,
                     list[r].gpu, machine->gpus);
            return false;
        }
    m->server_of = calloc(n, sizeof *m->server_of);
    m->gpu_of = calloc(n, sizeof *m->gpu_of);
    m->gpus = calloc(n, sizeof *m->gpus);
    m->first = calloc(n, sizeof *m->first);
    m->by_server = calloc(n, sizeof *m->by_server);
    bool made = m->server_of && m->gpu_of && m->gpus && m->first && m->by_server &&
                find_leaders(list, n, m->by_server);
    if (!made)
        snprintf(error, error_bytes, "There is no memory for a layout of NCCL.");
    if (made && place(m, list, error, error_bytes))
        return true;
    nccl_members_free(m);
    return false;
}

void nccl_members_free(struct nccl_members *m)
{
    free(m->server_of);
    free(m->gpu_of);
    free(m->gpus);
    free(m->first);
    free(m->by_server);
    *m = (struct nccl_members){0};
}

uint32_t nccl_members_vertex(const struct nccl_members *m, uint32_t rank)
{
    // Vertices number the GPUs of the server that are in use, in their order.
    uint64_t below = (UINT64_C(1) << m->gpu_of[rank]) - 1;
    return count_bits(m->gpus[m->server_of[rank]] & below);
}

uint32_t nccl_members_rank(const struct nccl_members *m, uint32_t server, uint32_t vertex)
{
    return m->by_server[m->first[server] + vertex];
}
