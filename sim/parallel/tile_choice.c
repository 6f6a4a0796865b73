// SPDX-License-Identifier: MIT
// Chooses the tiles of a simulation.
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "sim/parallel/parallel_internal.h"

// A tile of so many ports, with the ranks behind them, stays in a second-level cache of a megabyte:
// two to four hundred bytes of a port and its link, one to three thousand of a rank. A network with
// fewer ports than LEAST has no tiles: its caches of the next level still have it.
#define TILE_PORTS 400
#define LEAST_PORTS 3000
// What it costs to change from one tile to the next is little beside so many packets of a window.
#define LEAST_PACKETS 500

uint32_t parallel_tiles_of(uint32_t n_ports)
{
    return n_ports < LEAST_PORTS ? 1 : n_ports / TILE_PORTS + 1;
}

static uint32_t tiles_of_thread(const struct parallel *parallel, uint32_t threads)
{
    uint32_t n_ports = parallel->fabric->net.n_ports;
    if (parallel->tiles > 0)
        return parallel->tiles;
    // The threads share the tiles of the network.
    uint32_t tiles = parallel_tiles_of(n_ports);
    return tiles == 1 ? 1 : (tiles - 1) / threads + 1;
}

// Packets of 1500 bytes that the ports of a mean tile send in a window at most.
static double packets_of_window(const struct fabric *fabric, const struct cut_result *tiles)
{
    double sum = 0;
    for (uint32_t p = 0; p < fabric->net.n_ports; p++)
        sum += (double)tiles->lookahead_ps /
               (double)byte_time_span(&port_link(&fabric->net, p)->byte_time, 1500);
    return sum / tiles->shards;
}

// True if the network is to be cut into tiles: they must not make the windows of the threads
// shorter, and unless --tiles requests them, a tile must have enough packets in a window.
static bool pays(const struct parallel *parallel, const struct cut_result *shards,
                 const struct cut_result *tiles)
{
    if (tiles->shards <= shards->shards || tiles->lookahead_ps < shards->lookahead_ps)
        return false;
    return parallel->tiles > 0 || packets_of_window(parallel->fabric, tiles) >= LEAST_PACKETS;
}

// Give the shards of each process but this one, and its tiles, one number, behind those of this
// process.
static void cut_processes(struct shards_cut *cut, const struct collwire_processes *all,
                          uint32_t n_nodes)
{
    uint32_t first = UINT32_MAX, end = 0, first_tile = UINT32_MAX, end_tile = 0;
    for (uint32_t node = 0; node < n_nodes; node++) {
        uint32_t shard = cut->shard_of[node], tile = cut->tile_of[node];
        // Shards are numbered along the network, so those of a process are consecutive.
        if (shard * all->n / cut->shards != all->rank)
            continue;
        first = shard < first ? shard : first;
        end = shard >= end ? shard + 1 : end;
        first_tile = tile < first_tile ? tile : first_tile;
        end_tile = tile >= end_tile ? tile + 1 : end_tile;
    }
    for (uint32_t node = 0; node < n_nodes; node++) {
        uint32_t shard = cut->shard_of[node], tile = cut->tile_of[node];
        uint32_t process = shard * all->n / cut->shards, other = process - (process > all->rank);
        bool own = process == all->rank;
        cut->shard_of[node] = (uint16_t)(own ? shard - first : end - first + other);
        cut->tile_of[node] = (uint16_t)(own ? tile - first_tile : end_tile - first_tile + other);
    }
    cut->own = end - first;
    cut->processes = all;
    cut->shards = cut->own + all->n - 1;
    cut->tiles = end_tile - first_tile + all->n - 1;
}

struct shards_cut parallel_tiles(struct parallel *parallel)
{
    const struct fabric *fabric = parallel->fabric;
    const struct collwire_processes *all = parallel->processes;
    uint32_t n_nodes = fabric->graph.n_nodes, threads = parallel->threads;
    threads = (threads < 1 ? 1 : threads) * (all ? all->n : 1);
    threads = threads < SHARDS_MAX ? threads : SHARDS_MAX;
    struct shards_cut cut = {.shard_of = memory_zeroed(n_nodes + 1, sizeof *cut.shard_of),
                             .tile_of = memory_zeroed(n_nodes + 1, sizeof *cut.tile_of)};
    struct cut_result shards = {.shards = 1};
    if (threads > 1) {
        shards = parallel_cut(fabric, threads, threads, cut.shard_of);
        parallel_note_cut(parallel, threads, &shards);
    }
    uint32_t n = tiles_of_thread(parallel, shards.shards) * shards.shards;
    struct cut_result tiles = {.shards = 1};
    if (n > shards.shards)
        tiles = parallel_cut(fabric, n, n / 2 > 2 ? n / 2 : 2, cut.tile_of);
    bool several = pays(parallel, &shards, &tiles);
    cut.shards = shards.shards;
    cut.tiles = several ? tiles.shards : shards.shards;
    cut.lookahead_ps = several ? tiles.lookahead_ps : shards.lookahead_ps;
    for (uint32_t node = 0; node < n_nodes; node++) {
        // Shards are runs of tiles, so that a tile belongs to one thread.
        if (several)
            cut.shard_of[node] = (uint16_t)((uint32_t)cut.tile_of[node] * cut.shards / cut.tiles);
        else
            cut.tile_of[node] = cut.shard_of[node];
    }
    cut.own = cut.shards;
    if (all && cut.shards >= all->n)
        cut_processes(&cut, all, n_nodes);
    cut.shard_of[n_nodes] = (uint16_t)cut.shards;
    cut.tile_of[n_nodes] = (uint16_t)cut.tiles;
    return cut;
}
