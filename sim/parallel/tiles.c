// SPDX-License-Identifier: MIT
// Chooses the tiles of a simulation.
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "sim/parallel/parallel_internal.h"

static uint32_t wanted(const struct parallel *parallel)
{
    const char *text = getenv("TILES");
    if (text)
        return (uint32_t)atoi(text);
    return parallel->tiles > 0 ? parallel->tiles : 1;
}

struct partition_cut parallel_tiles(struct parallel *parallel)
{
    const struct fabric *fabric = parallel->fabric;
    uint32_t n_nodes = fabric->graph.n_nodes, threads = parallel->threads;
    threads = threads < 1 ? 1 : threads < SHARDS_MAX ? threads : SHARDS_MAX;
    struct partition_cut cut = {.shard_of = memory_zeroed(n_nodes + 1, sizeof *cut.shard_of),
                                .tile_of = memory_zeroed(n_nodes + 1, sizeof *cut.tile_of)};
    struct cut_result shards = {.shards = 1, .lookahead_ps = PS_NEVER};
    if (threads > 1) {
        shards = parallel_cut(fabric, threads, cut.shard_of);
        parallel_note_cut(parallel, &shards);
    }
    uint32_t n = wanted(parallel) * shards.shards;
    struct cut_result tiles = {.shards = 1};
    if (n > shards.shards)
        tiles = parallel_cut(fabric, n, cut.tile_of);
    bool several = tiles.shards > shards.shards;
    cut.shards = shards.shards;
    cut.tiles = several ? tiles.shards : shards.shards;
    cut.lookahead_ps = several ? tiles.lookahead_ps : shards.lookahead_ps;
    for (uint32_t node = 0; node < n_nodes; node++) {
        if (several)
            cut.shard_of[node] = (uint16_t)((uint32_t)cut.tile_of[node] * cut.shards / cut.tiles);
        else
            cut.tile_of[node] = cut.shard_of[node];
    }
    cut.shard_of[n_nodes] = (uint16_t)cut.shards;
    cut.tile_of[n_nodes] = (uint16_t)cut.tiles;
    return cut;
}
