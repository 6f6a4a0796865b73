// SPDX-License-Identifier: MIT
// Rules of graph/tuning.cc (ncclTopoGetAlgoTime) and enqueue.cc (topoGetAlgoInfo,
// scheduleCollTasks).
#include "collective/nccl/nccl_choice.h"

#include "collective/nccl/rccl.h"
#include "collective/nccl/rules.h"

#define CORRECTED 24 // sizes from 64 B on, by powers of two, at which trees lose bandwidth
static const double tree_correction[NCCL_PROTOCOLS][CORRECTED] = {
    {1, 1, 1, 1, .9, .8, .7, .7, .7, .7, .6, .5, .4, .4, .5, .6, .7, .8, .9, 1, 1, 1, 1, 1},
    {1, 1, 1, 1, 1, .9, .8, .8, .8, .7, .6, .6, .6, .6, .6, .6, .8, .9, .9, .9, .9, 1, 1, 1},
    {.9, .9, .9, .9, .9, .9, .9, .8, .7, .6, .6, .5,
     .5, .5, .5, .6, .7, .8, .7, .7, .8, .9, .9, .9}};

#define LONG_RING_LATENCY 1.4 // of Simple between servers, where each rank has 64 B a channel
#define LONG_RING_BYTES 64

// The factor of a tree's bandwidth at a size.
static double correction(const struct nccl_cluster *c, enum nccl_algorithm algorithm,
                         enum nccl_protocol protocol, uint64_t bytes)
{
    bool nvls_tree = algorithm == NCCL_NVLS_TREE && c->version == NCCL_2_30_7 &&
                     c->gpu == NCCL_BLACKWELL && c->cpu != NCCL_CPU_ARM;
    int step = nccl_log2(bytes >> 6), n = nvls_tree ? CORRECTED : CORRECTED - 1;
    bool corrected = (algorithm == NCCL_TREE || nvls_tree) && step >= 0 && step < n;
    return corrected ? tree_correction[protocol][step] : 1;
}

double nccl_cost_us(const struct nccl_model *model, enum nccl_function function,
                    enum nccl_algorithm algorithm, enum nccl_protocol protocol, uint64_t bytes)
{
    const struct nccl_cluster *c = &model->cluster;
    struct nccl_cost cost = model->costs[function][algorithm][protocol];
    if (cost.bw <= 0)
        return -1;
    if (c->rccl)
        return cost.latency_us +
               (double)bytes / (1000 * cost.bw * rccl_correction(c, algorithm, protocol, bytes));
    if (function == NCCL_ALL_REDUCE)
        cost.bw *= correction(c, algorithm, protocol, bytes);
    if (algorithm == NCCL_RING && protocol == NCCL_SIMPLE && c->nodes > 1 &&
        function == NCCL_ALL_REDUCE &&
        bytes / ((uint64_t)c->channels * c->ranks) >= LONG_RING_BYTES)
        cost.latency_us *= LONG_RING_LATENCY;
    return cost.latency_us + (double)bytes / (1000 * cost.bw);
}

/* ---- channels and threads ---- */

// Least bytes for a thread of a channel.
static uint64_t thread_bytes(const struct nccl_model *model, enum nccl_algorithm algorithm,
                             enum nccl_protocol protocol)
{
    if (algorithm == NCCL_COLLNET_DIRECT || algorithm == NCCL_COLLNET_CHAIN)
        return 512;
    if (protocol == NCCL_LL && algorithm == NCCL_RING)
        return 8 * (uint64_t)model->cluster.ranks;
    return protocol == NCCL_SIMPLE ? 64 : 8;
}

#define WARP 32
#define LEAST_WARPS 3
#define MOST_THREADS 640

static void size_channels(const struct nccl_model *model, uint64_t bytes, struct nccl_choice *o)
{
    bool nvls = o->algorithm == NCCL_NVLS || o->algorithm == NCCL_NVLS_TREE;
    uint32_t threads = model->threads[o->algorithm][o->protocol];
    uint64_t least = thread_bytes(model, o->algorithm, o->protocol);
    o->channels = nvls ? model->cluster.nvls_channels : model->cluster.channels;
    // Where a thread would have less than `least` bytes, the operation gets fewer channels, and
    // then fewer threads.
    while (!nvls && o->algorithm != NCCL_PAT && bytes < o->channels * threads * least) {
        if (o->channels >= 2)
            o->channels--;
        else if (threads % 128 == 0)
            threads /= 2;
        else
            break;
    }
    if (o->protocol == NCCL_SIMPLE && o->algorithm == NCCL_RING)
        threads += WARP; // which copies beside the others
    bool all = o->protocol == NCCL_SIMPLE || model->cluster.version != NCCL_2_21_5;
    if ((o->algorithm == NCCL_TREE && all) || o->algorithm == NCCL_PAT)
        threads = MOST_THREADS;
    o->threads = threads < LEAST_WARPS * WARP ? LEAST_WARPS * WARP : threads;
}

/* ---- the data of each channel ---- */

#define CELL_ALIGN 16

static uint64_t traffic_per_byte(const struct nccl_cluster *c, enum nccl_function function)
{
    if (function == NCCL_ALL_REDUCE)
        return 2;
    return nccl_scatters(function) ? c->ranks : 1;
}

// `bytes`: the data that channels share; of an all-gather or reduce-scatter that of one rank.
static struct nccl_split split_of(const struct nccl_model *model, enum nccl_function function,
                                  enum nccl_protocol protocol, uint64_t bytes, uint32_t channels)
{
    const struct nccl_cluster *c = &model->cluster;
    uint64_t least = c->version == NCCL_2_30_7 ? 32768 : 16384,
             per_byte = traffic_per_byte(c, function) * (protocol == NCCL_LL ? 4 : 1),
             traffic = bytes * per_byte, share = traffic / channels;
    share = share > least ? share : least;
    uint64_t cell = nccl_round_up((least + per_byte - 1) / per_byte, CELL_ALIGN),
             cells = (bytes + cell - 1) / cell, each = share / (cell * per_byte);
    each = each > 0 ? each : 1;
    uint64_t n = (cells + each - 1) / each;
    // Rounding down may result in more channels than there are. Then the cells are divided evenly.
    if (n > channels) {
        each = (cells + channels - 1) / channels;
        n = (cells + each - 1) / each;
    }
    struct nccl_split split = {.channels = (uint32_t)n};
    split.first = n == 1 ? bytes : each * cell;
    split.middle = n > 2 ? each * cell : 0;
    split.last = n == 1 ? 0 : bytes - split.first - (n - 2) * split.middle;
    return split;
}

/* ---- the choice ---- */

// graph/tuning.cc of RCCL (ncclTopoTuneModel, "at least set ring algo available")
struct nccl_allowed nccl_allowed(const struct nccl_model *model, enum nccl_function function,
                                 unsigned algorithms, unsigned protocols)
{
    bool any = !model->cluster.rccl;
    for (unsigned a = 0; a < NCCL_ALGORITHMS; a++)
        for (unsigned p = 0; p < NCCL_PROTOCOLS; p++)
            any = any ||
                  (algorithms >> a & protocols >> p & 1 && model->costs[function][a][p].bw > 0);
    return any ? (struct nccl_allowed){algorithms, protocols}
               : (struct nccl_allowed){1u << NCCL_RING, NCCL_ANY_PROTOCOL};
}

bool nccl_choose(const struct nccl_model *model, enum nccl_function function, uint64_t bytes,
                 unsigned algorithms, unsigned protocols, struct nccl_choice *choice)
{
    const struct nccl_cluster *c = &model->cluster;
    struct nccl_allowed allowed = nccl_allowed(model, function, algorithms, protocols);
    *choice = (struct nccl_choice){.cost_us = -1};
    for (unsigned a = 0; a < NCCL_ALGORITHMS; a++)
        for (unsigned p = 0; p < NCCL_PROTOCOLS; p++) {
            double us =
                nccl_cost_us(model, function, (enum nccl_algorithm)a, (enum nccl_protocol)p, bytes);
            // Of equal costs the first one is kept, as NCCL compares with less-than.
            if (us < 0 || !(allowed.algorithms >> a & 1) || !(allowed.protocols >> p & 1) ||
                (choice->cost_us >= 0 && us >= choice->cost_us))
                continue;
            *choice = (struct nccl_choice){.algorithm = (enum nccl_algorithm)a,
                                           .protocol = (enum nccl_protocol)p,
                                           .bytes = bytes,
                                           .cost_us = us};
        }
    if (choice->cost_us < 0)
        return false;
    uint64_t shared = nccl_scatters(function) ? bytes / c->ranks : bytes;
    if (c->rccl)
        rccl_size_channels(model, bytes, choice);
    else
        size_channels(model, bytes, choice);
    if (shared == 0) // no channel has data: taskAppend() in enqueue.cc drops an empty operation
        return true;
    choice->split = c->rccl ? rccl_split(choice->protocol, shared, choice->channels)
                            : split_of(model, function, choice->protocol, shared, choice->channels);
    return true;
}
