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
    memcpy(cut.tile_of, cut.shard_of, n_nodes * sizeof *cut.tile_of);
    cut.shards = cut.tiles = shards.shards;
    cut.lookahead_ps = shards.lookahead_ps;
    uint32_t each = wanted(parallel);
    if (each > 1) {
        struct cut_result tiles = parallel_cut(fabric, each * shards.shards, cut.tile_of);
        if (tiles.shards > shards.shards) {
            cut.tiles = tiles.shards;
            cut.lookahead_ps = tiles.lookahead_ps;
            for (uint32_t node = 0; node < n_nodes; node++)
                cut.shard_of[node] = (uint16_t)(cut.tile_of[node] * cut.shards / cut.tiles);
        }
    }
    cut.shard_of[n_nodes] = (uint16_t)cut.shards;
    cut.tile_of[n_nodes] = (uint16_t)cut.tiles;
    return cut;
}
