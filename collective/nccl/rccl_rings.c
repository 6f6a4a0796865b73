// SPDX-License-Identifier: MIT
// The tables are facts of ROCm/rccl, commit 0cbce2a7, src/graph/rome_models.cc: of one server those
// of rome_model_79 (line 549), of several those of rome_model_81 (line 575), its ringBase,
// ringTail2 and ringTail1; which server takes which one, parseA2a8P (line 1867); bandwidth and the
// NICs of trees, parseGraph (line 1229).
#include "collective/nccl/rccl_rings.h"

#include <stdio.h>

#define RINGS 8     // of a table; channel c has ring (c + c / 8) % 8
#define CHANNELS 64 // of several servers

// GPUs in the order of a ring; it enters by the NIC of the first one and leaves by that of the
// last one.
static const uint8_t base[RINGS][RCCL_MESH_GPUS] = {
    {0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 2, 4, 3, 5, 7, 6}, {2, 5, 0, 3, 6, 1, 7, 4},
    {3, 7, 0, 4, 2, 1, 6, 5}, {4, 6, 2, 7, 3, 0, 5, 1}, {5, 4, 7, 1, 3, 2, 6, 0},
    {6, 3, 1, 4, 0, 7, 5, 2}, {7, 2, 0, 6, 4, 1, 5, 3}};
static const uint8_t last_but_one[RINGS][RCCL_MESH_GPUS] = {
    {7, 4, 1, 3, 2, 0, 6, 5}, {6, 3, 0, 7, 5, 1, 4, 2}, {4, 6, 2, 1, 7, 0, 5, 3},
    {5, 2, 7, 3, 1, 6, 0, 4}, {1, 0, 2, 4, 3, 5, 7, 6}, {0, 1, 2, 3, 4, 5, 6, 7},
    {2, 5, 0, 3, 6, 4, 7, 1}, {3, 7, 2, 6, 1, 5, 4, 0}};
static const uint8_t last[RINGS][RCCL_MESH_GPUS] = {
    {5, 4, 2, 7, 1, 6, 3, 0}, {2, 5, 0, 3, 7, 4, 6, 1}, {3, 6, 4, 0, 5, 1, 7, 2},
    {4, 7, 0, 6, 5, 2, 1, 3}, {6, 2, 0, 7, 5, 3, 1, 4}, {7, 3, 2, 6, 0, 4, 1, 5},
    {1, 0, 2, 4, 3, 5, 7, 6}, {0, 1, 2, 3, 4, 5, 6, 7}};

// Of one server: these, then the same the other way round, and all of them twice.
#define ONE_SERVER_RINGS 7
static const uint8_t alone[ONE_SERVER_RINGS][RCCL_MESH_GPUS] = {
    {0, 1, 2, 3, 4, 5, 6, 7}, {0, 1, 2, 3, 4, 5, 7, 6}, {0, 2, 4, 1, 3, 6, 5, 7},
    {0, 2, 4, 6, 1, 7, 3, 5}, {0, 3, 1, 5, 2, 7, 4, 6}, {0, 3, 5, 1, 6, 2, 7, 4},
    {0, 4, 1, 7, 3, 6, 2, 5}};

/* ---- which table ---- */

static uint32_t gpus_of(const struct nccl_members *m, uint32_t server)
{
    uint32_t n = 0;
    for (uint64_t set = m->gpus[server]; set != 0; set &= set - 1)
        n++;
    return n;
}

static bool is_whole(const struct nccl_members *m, uint32_t server)
{
    return gpus_of(m, server) == RCCL_MESH_GPUS;
}

#define LL128_GPUS 4 // of a server at most on which RCCL runs LL128 where it is forced

bool rccl_runs_on(const struct nccl_machine *machine, const struct nccl_settings *settings,
                  const struct nccl_members *m, char *error, size_t error_bytes)
{
    bool ll128 = settings->protocols == 1u << NCCL_LL128,
         one_nic_each = machine->gpus == RCCL_MESH_GPUS && machine->nics == RCCL_MESH_GPUS;
    const char *why = NULL;
    if (!machine->gfx942)
        why = "RCCL's tables here are those of MI300X (gfx942).";
    for (uint32_t s = 0; s < m->servers && why == NULL; s++) {
        if (is_whole(m, s) != is_whole(m, 0))
            why = "RCCL's rules are known where all servers, or none, take part with 8 GPUs.";
        else if (is_whole(m, s) && m->servers > 1 && !one_nic_each)
            why = "RCCL's rings between servers are those of 8 GPUs with a NIC each.";
        else if (ll128 && gpus_of(m, s) <= LL128_GPUS)
            why = "RCCL's LL128 is not modelled, which it runs on up to 4 GPUs of a server.";
    }
    if (why != NULL)
        snprintf(error, error_bytes, "%s", why);
    return why == NULL;
}

enum rccl_table rccl_table_of(const struct nccl_members *m, uint32_t server)
{
    uint32_t servers = m->servers;
    if (!is_whole(m, server))
        return RCCL_SEARCHED;
    if (servers == 1)
        return RCCL_ONE_SERVER;
    if (servers % 2 == 1 && server + 1 == servers)
        return RCCL_LAST;
    if (servers % 2 == 1 && server + 2 == servers)
        return RCCL_LAST_BUT_ONE;
    return server % 2 == 1 ? RCCL_REVERSED : RCCL_FORWARD;
}

/* ---- rings and trees ---- */

static void write_order(struct nccl_order *order, const uint8_t *ring, bool reversed)
{
    for (uint32_t i = 0; i < RCCL_MESH_GPUS; i++)
        order->gpu[i] = ring[reversed ? RCCL_MESH_GPUS - 1 - i : i];
    order->nic[0] = order->nic[1] = -1;
}

static void write_orders(enum rccl_table table, struct nccl_search *out)
{
    const uint8_t(*rings)[RCCL_MESH_GPUS] = table == RCCL_LAST           ? last
                                            : table == RCCL_LAST_BUT_ONE ? last_but_one
                                                                         : base;
    if (table == RCCL_ONE_SERVER) {
        out->graph.channels = 4 * ONE_SERVER_RINGS;
        for (uint32_t c = 0; c < out->graph.channels; c++)
            write_order(&out->order[c], alone[c % ONE_SERVER_RINGS], c / ONE_SERVER_RINGS % 2 == 1);
        return;
    }
    out->graph.channels = CHANNELS;
    for (uint32_t c = 0; c < CHANNELS; c++) {
        struct nccl_order *order = &out->order[c];
        write_order(order, rings[(c + c / RINGS) % RINGS], table == RCCL_REVERSED);
        order->nic[0] = (int16_t)order->gpu[0];
        order->nic[1] = (int16_t)order->gpu[RCCL_MESH_GPUS - 1];
    }
}

// All links of a GPU together, shared by the channels; the distances are those with which a search
// would begin.
static void describe(struct nccl_graph *g, const struct nccl_wiring *w, enum nccl_pattern pattern,
                     bool cross_nic)
{
    g->bw_intra = g->bw_inter = (RCCL_MESH_GPUS - 1) * w->nvlink_mb / 1000.0 / (double)g->channels;
    g->pattern = (uint8_t)pattern;
    g->type_intra = NCCL_PATH_NVL;
    g->type_inter = NCCL_PATH_PIX;
    g->cross_nic = cross_nic;
    g->same_channels = true;
}

void rccl_rings(enum rccl_table table, const struct nccl_wiring *w,
                const struct nccl_settings *settings, struct nccl_search *ring,
                struct nccl_search *tree)
{
    bool cross_nic = settings->cross_nic == 1 && table != RCCL_ONE_SERVER;
    write_orders(table, ring);
    describe(&ring->graph, w, NCCL_PATTERN_RING, cross_nic);
    write_orders(table == RCCL_ONE_SERVER ? table : RCCL_FORWARD, tree);
    describe(&tree->graph, w, NCCL_PATTERN_BALANCED_TREE, cross_nic);
    // A tree has one child at its second GPU.
    for (uint32_t c = 0; table != RCCL_ONE_SERVER && c < CHANNELS; c++)
        tree->order[c].nic[1] = (int16_t)tree->order[c].gpu[1];
}
