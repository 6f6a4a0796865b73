// SPDX-License-Identifier: MIT
// What RCCL chooses on MI300X, and its messages: costs worked out here from the numbers of its
// src/graph/tuning.cc (ROCm/rccl, commit 0cbce2a7), splits and chunks by enqueue.cc.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/collective/nccl/rccl.h"

/* ---- costs and choices ---- */

#define BUS 336.0 // GB/s: seven links of 48

static void test_costs(void **state)
{
    (void)state;
    const struct {
        uint32_t servers;
        enum nccl_function function;
        enum nccl_algorithm algorithm;
        enum nccl_protocol protocol;
        uint64_t bytes;
        double us; // latency, and bytes by bandwidth and correction
    } rows[] = {
        {1, NCCL_ALL_REDUCE, NCCL_RING, NCCL_LL, 1 << 20,
         12 + 14 * 0.8 + 1048.576 / (BUS * 0.08 * 8 / 14)},
        {1, NCCL_ALL_REDUCE, NCCL_RING, NCCL_SIMPLE, 1 << 20,
         17 + 14 * 2.1 + 1048.576 / (BUS * 8 / 14)},
        {1, NCCL_ALL_REDUCE, NCCL_TREE, NCCL_LL, 32,
         12 + 14 * 0.9 + 0.032 / (BUS * 0.06 / 2 * 0.1)},
        {1, NCCL_ALL_REDUCE, NCCL_TREE, NCCL_LL, 131072,
         12 + 14 * 0.9 + 131.072 / (BUS * 0.06 / 2 * 0.6)},
        {1, NCCL_BROADCAST, NCCL_RING, NCCL_LL, 65536,
         12 + 0.8 + 65.536 / (BUS * 0.08 * 1.65)}, // one server: LL chains are faster
        {1, NCCL_REDUCE, NCCL_RING, NCCL_SIMPLE, 65536, 17 + 2.1 + 65.536 / BUS},
        {1, NCCL_ALL_GATHER, NCCL_RING, NCCL_SIMPLE, 1 << 26,
         17 + 7 * 2.1 + 67108.864 / (BUS * 8 / 7)},
        // Between servers a step inside a server takes the overhead of a post at least: 2 us on a
        // CPU of AMD, three times as much under Simple.
        {2, NCCL_ALL_REDUCE, NCCL_RING, NCCL_LL, 1 << 20,
         12 + 26 * 2 + 4 * 9.5 + 1048.576 / (BUS * 0.08 * 16 / 30 * 0.4)},
        {2, NCCL_ALL_REDUCE, NCCL_RING, NCCL_SIMPLE, UINT64_C(1) << 29,
         17 + 26 * 6 + 4 * 320 + 536870.912 / (BUS * 16 / 30 * 0.8)},
        {2, NCCL_ALL_REDUCE, NCCL_TREE, NCCL_SIMPLE, 1 << 21,
         17 + 2 * (7 * 2.3 + 25) + 2097.152 / (BUS * 0.11 / 2 * 0.7)},
        {2, NCCL_ALL_REDUCE, NCCL_TREE, NCCL_LL, 1 << 20,
         12 + 2 * (7 * 0.9 + 10.5) + 1048.576 / (BUS * 0.06 / 2)},
        {2, NCCL_BROADCAST, NCCL_RING, NCCL_LL, 65536, 12 + 9.5 + 65.536 / (BUS * 0.08 * 0.1)},
        {4, NCCL_ALL_REDUCE, NCCL_TREE, NCCL_SIMPLE, 1 << 26,
         17 + 2 * (7 * 2.3 + 2 * 25) + 67108.864 / (BUS * 0.59 / 2)},
        {4, NCCL_REDUCE_SCATTER, NCCL_RING, NCCL_SIMPLE, 64 * GIB, // above the table: its last
         17 + 28 * 6 + 3 * 320 + 64 * 1073741.824 / (BUS * 32 / 31)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nccl_communicator c;
        make(&c, &defaults, rows[i].servers, GPUS);
        double us = nccl_cost_us(&c.model, rows[i].function, rows[i].algorithm, rows[i].protocol,
                                 rows[i].bytes);
        if (us < rows[i].us * (1 - 1e-12) || us > rows[i].us * (1 + 1e-12))
            fail_msg("row %zu: %.12g us, not %.12g", i, us, rows[i].us);
        nccl_communicator_free(&c);
    }
}

// Trees are for an all-reduce, under Simple only between servers; LL128 is not used.
static void test_impossible(void **state)
{
    (void)state;
    for (uint32_t servers = 1; servers <= 2; servers++) {
        struct nccl_communicator c;
        make(&c, &defaults, servers, GPUS);
        for (unsigned f = 0; f < NCCL_FUNCTIONS; f++)
            for (unsigned a = 0; a < NCCL_ALGORITHMS; a++)
                for (unsigned p = 0; p < NCCL_PROTOCOLS; p++) {
                    bool tree = a == NCCL_TREE && f == NCCL_ALL_REDUCE &&
                                (p == NCCL_LL || servers > 1),
                         want = (tree || a == NCCL_RING) && p != NCCL_LL128;
                    double us = nccl_cost_us(&c.model, (enum nccl_function)f,
                                             (enum nccl_algorithm)a, (enum nccl_protocol)p, 4096);
                    assert_int_equal(us >= 0, want);
                }
        nccl_communicator_free(&c);
    }
}

// What cannot be done as it was forced is a ring of any protocol.
static void test_forced(void **state)
{
    (void)state;
    static const struct {
        uint32_t servers;
        enum nccl_function function;
        unsigned algorithms, protocols;
        uint64_t bytes;
        enum nccl_algorithm algorithm;
        enum nccl_protocol protocol;
    } rows[] = {
        {1, NCCL_ALL_REDUCE, NCCL_ANY_ALGORITHM, 1u << NCCL_LL128, 4096, NCCL_RING, NCCL_LL},
        {1, NCCL_ALL_REDUCE, NCCL_ANY_ALGORITHM, 1u << NCCL_LL128, 1 << 26, NCCL_RING, NCCL_SIMPLE},
        {2, NCCL_ALL_REDUCE, NCCL_ANY_ALGORITHM, 1u << NCCL_LL128, 4096, NCCL_RING, NCCL_LL},
        {2, NCCL_ALL_GATHER, 1u << NCCL_TREE, NCCL_ANY_PROTOCOL, 4096, NCCL_RING, NCCL_LL},
        {1, NCCL_ALL_REDUCE, 1u << NCCL_TREE, 1u << NCCL_SIMPLE, 4096, NCCL_RING, NCCL_LL},
        {2, NCCL_ALL_REDUCE, 1u << NCCL_TREE, 1u << NCCL_SIMPLE, 4096, NCCL_TREE, NCCL_SIMPLE},
        {1, NCCL_ALL_REDUCE, 1u << NCCL_TREE, NCCL_ANY_PROTOCOL, 1 << 26, NCCL_TREE, NCCL_LL},
        {2, NCCL_ALL_REDUCE, NCCL_ANY_ALGORITHM, NCCL_ANY_PROTOCOL, 4096, NCCL_TREE, NCCL_LL},
        {2, NCCL_ALL_REDUCE, NCCL_ANY_ALGORITHM, NCCL_ANY_PROTOCOL, 1 << 26, NCCL_TREE,
         NCCL_SIMPLE},
        {2, NCCL_ALL_REDUCE, NCCL_ANY_ALGORITHM, NCCL_ANY_PROTOCOL, GIB, NCCL_RING, NCCL_SIMPLE},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nccl_communicator c;
        struct nccl_choice choice;
        make(&c, &defaults, rows[i].servers, GPUS);
        assert_true(nccl_choose(&c.model, rows[i].function, rows[i].bytes, rows[i].algorithms,
                                rows[i].protocols, &choice));
        if (choice.algorithm != rows[i].algorithm || choice.protocol != rows[i].protocol)
            fail_msg("row %zu: %s %s", i, nccl_algorithm_name(choice.algorithm),
                     nccl_protocol_name(choice.protocol));
        assert_int_equal(choice.threads, 256);
        nccl_communicator_free(&c);
    }
}

/* ---- channels of a size, splits and chunks ---- */

static void test_sizes(void **state)
{
    (void)state;
    static const struct {
        uint32_t servers;
        enum nccl_function function;
        enum nccl_algorithm algorithm;
        enum nccl_protocol protocol;
        uint64_t bytes;
        uint32_t channels, used; // allowed, and with data
        uint64_t first, last, chunk;
    } rows[] = {
        // 8 bytes of each of 8 ranks for each of 256 threads: 16 KiB a channel
        {1, NCCL_ALL_REDUCE, NCCL_RING, NCCL_LL, 65536, 4, 4, 16384, 16384, 16384},
        {1, NCCL_ALL_REDUCE, NCCL_RING, NCCL_LL, 65535, 3, 3, 22528, 20479, 16384},
        {1, NCCL_ALL_REDUCE, NCCL_RING, NCCL_LL, 50000, 3, 3, 18432, 13136, 16384},
        {1, NCCL_ALL_REDUCE, NCCL_RING, NCCL_LL, 1000, 1, 1, 1000, 0, 16384},
        // 64 bytes a thread; shares are multiples of 8 KiB, so not all channels get data
        {1, NCCL_ALL_REDUCE, NCCL_RING, NCCL_SIMPLE, 1 << 20, 56, 43, 24576, 16384, 1 << 21},
        {1, NCCL_ALL_REDUCE, NCCL_RING, NCCL_SIMPLE, 1 << 24, 56, 56, 303104, 106496, 1 << 21},
        // of an all-gather the channels share what one rank has
        {1, NCCL_ALL_GATHER, NCCL_RING, NCCL_SIMPLE, 1 << 24, 56, 52, 40960, 8192, 1 << 21},
        // 8 bytes a thread of a tree: 2 KiB a channel
        {2, NCCL_ALL_REDUCE, NCCL_TREE, NCCL_LL, 16384, 8, 8, 2048, 2048, 16384},
        // 8 steps deep: halved below 8 chunks a channel of 64 KiB, 32 of 128 KiB, 64 of 256 or 512
        {2, NCCL_ALL_REDUCE, NCCL_TREE, NCCL_SIMPLE, UINT64_C(64) * 516096, 64, 64, 516096, 516096,
         1 << 15},
        {2, NCCL_ALL_REDUCE, NCCL_TREE, NCCL_SIMPLE, UINT64_C(64) * 524288, 64, 64, 524288, 524288,
         1 << 16},
        {2, NCCL_ALL_REDUCE, NCCL_TREE, NCCL_SIMPLE, UINT64_C(64) * 4186112, 64, 64, 4186112,
         4186112, 1 << 16},
        {2, NCCL_ALL_REDUCE, NCCL_TREE, NCCL_SIMPLE, UINT64_C(64) * 4194304, 64, 64, 4194304,
         4194304, 1 << 17},
        {2, NCCL_ALL_REDUCE, NCCL_TREE, NCCL_SIMPLE, UINT64_C(64) * 16769024, 64, 64, 16769024,
         16769024, 1 << 17},
        {2, NCCL_ALL_REDUCE, NCCL_TREE, NCCL_SIMPLE, UINT64_C(64) * 16777216, 64, 64, 16777216,
         16777216, 1 << 18},
        {2, NCCL_ALL_REDUCE, NCCL_TREE, NCCL_SIMPLE, UINT64_C(64) * 33546240, 64, 64, 33546240,
         33546240, 1 << 18},
        {2, NCCL_ALL_REDUCE, NCCL_TREE, NCCL_SIMPLE, UINT64_C(64) * 33554432, 64, 64, 33554432,
         33554432, 1 << 19},
        // a chain: below 8 of 64 KiB, 16 of 128 KiB, 32 of 256 KiB, 64 of 512 KiB
        {1, NCCL_REDUCE, NCCL_RING, NCCL_SIMPLE, UINT64_C(56) * 516096, 56, 56, 516096, 516096,
         1 << 15},
        {1, NCCL_BROADCAST, NCCL_RING, NCCL_SIMPLE, UINT64_C(56) * 524288, 56, 56, 524288, 524288,
         1 << 16},
        {1, NCCL_REDUCE, NCCL_RING, NCCL_SIMPLE, UINT64_C(56) * 2088960, 56, 56, 2088960, 2088960,
         1 << 16},
        {1, NCCL_BROADCAST, NCCL_RING, NCCL_SIMPLE, UINT64_C(56) * 2097152, 56, 56, 2097152,
         2097152, 1 << 17},
        {1, NCCL_REDUCE, NCCL_RING, NCCL_SIMPLE, UINT64_C(56) * 8380416, 56, 56, 8380416, 8380416,
         1 << 17},
        {1, NCCL_BROADCAST, NCCL_RING, NCCL_SIMPLE, UINT64_C(56) * 8388608, 56, 56, 8388608,
         8388608, 1 << 18},
        {1, NCCL_REDUCE, NCCL_RING, NCCL_SIMPLE, UINT64_C(56) * 33546240, 56, 56, 33546240,
         33546240, 1 << 18},
        {1, NCCL_BROADCAST, NCCL_RING, NCCL_SIMPLE, UINT64_C(56) * 33554432, 56, 56, 33554432,
         33554432, 1 << 19},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nccl_settings settings = defaults;
        struct nccl_communicator c;
        struct nccl_operation o;
        settings.algorithms = 1u << rows[i].algorithm;
        settings.protocols = 1u << rows[i].protocol;
        make(&c, &settings, rows[i].servers, GPUS);
        assert_true(nccl_operation_init(&o, &c, rows[i].function, rows[i].bytes, 0));
        if (o.choice.channels != rows[i].channels || o.choice.split.channels != rows[i].used ||
            o.choice.split.first != rows[i].first || o.choice.split.last != rows[i].last ||
            o.first.chunk_bytes != rows[i].chunk)
            fail_msg("row %zu: %u, %u, %llu, %llu, %llu", i, o.choice.channels,
                     o.choice.split.channels, (unsigned long long)o.choice.split.first,
                     (unsigned long long)o.choice.split.last,
                     (unsigned long long)o.first.chunk_bytes);
        nccl_communicator_free(&c);
    }
}

/* ---- messages ---- */

// Bytes on the wire of all that leaves a server on a channel, and its messages.
static uint64_t leaving(const struct nccl_operation *o, uint32_t channel, uint32_t *messages)
{
    struct nccl_block blocks[NCCL_BLOCKS];
    uint64_t sum = 0;
    *messages = 0;
    for (uint32_t rank = 0; rank < o->comm->ranks; rank++) {
        uint32_t n = nccl_blocks(o, channel, rank, blocks);
        for (uint32_t b = 0; b < n; b++)
            for (uint64_t i = 0; i < blocks[b].length; i++) {
                struct nccl_primitive p = nccl_primitive(o, &blocks[b], i);
                for (uint32_t k = 0; k < blocks[b].n_to; k++)
                    if (p.sends >> k & 1 && blocks[b].to[k] / GPUS != rank / GPUS) {
                        sum += nccl_wire_bytes(o->choice.protocol, p.bytes);
                        ++*messages;
                    }
            }
    }
    return sum;
}

static void test_traffic(void **state)
{
    (void)state;
    static const struct {
        uint32_t servers;
        enum nccl_function function;
        enum nccl_algorithm algorithm;
        enum nccl_protocol protocol;
        uint64_t bytes, of_channel; // that leaves servers on a channel
        uint32_t messages;
    } rows[] = {
        // 16 chunks of 16 KiB, all but one in each of two rounds, over two hops; two slices each
        {2, NCCL_ALL_REDUCE, NCCL_RING, NCCL_SIMPLE, 1 << 24, 2 * 30 * 16384, 2 * 30 * 2},
        // 16 chunks of 2 KiB, twice as large on the wire
        {2, NCCL_ALL_REDUCE, NCCL_RING, NCCL_LL, 64 << 15, 2 * 2 * 30 * 2048, 2 * 30},
        // up and down over one link between two servers
        {2, NCCL_ALL_REDUCE, NCCL_TREE, NCCL_SIMPLE, 1 << 24, 2 << 18, 2 * 8},
        {2, NCCL_ALL_REDUCE, NCCL_TREE, NCCL_LL, 1 << 20, 2 * 2 * 16384, 2},
        // and over two between three
        {3, NCCL_ALL_REDUCE, NCCL_TREE, NCCL_SIMPLE, 1 << 24, 4 << 18, 4 * 8},
        {2, NCCL_ALL_GATHER, NCCL_RING, NCCL_SIMPLE, 1 << 24, 2 * 15 * 16384, 2 * 15 * 2},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nccl_settings settings = defaults;
        struct nccl_communicator c;
        struct nccl_operation o;
        uint32_t messages;
        settings.algorithms = 1u << rows[i].algorithm;
        settings.protocols = 1u << rows[i].protocol;
        make(&c, &settings, rows[i].servers, GPUS);
        assert_true(nccl_operation_init(&o, &c, rows[i].function, rows[i].bytes, 0));
        assert_int_equal(o.choice.split.channels, 64);
        for (uint32_t channel = 0; channel < 64; channel++) {
            uint64_t bytes = leaving(&o, channel, &messages);
            if (bytes != rows[i].of_channel || messages != rows[i].messages)
                fail_msg("row %zu, channel %u: %llu bytes, %u messages", i, channel,
                         (unsigned long long)bytes, messages);
        }
        nccl_communicator_free(&c);
    }
}

// A short loop of a ring has chunks of whole 8 KiB: of 16 shares of 12 KiB, 12 have 16 KiB.
static void test_short_loop(void **state)
{
    (void)state;
    struct nccl_settings settings = defaults;
    struct nccl_communicator c;
    struct nccl_operation o;
    struct nccl_block b[NCCL_BLOCKS];
    settings.algorithms = 1u << NCCL_RING;
    settings.protocols = 1u << NCCL_SIMPLE;
    make(&c, &settings, 2, GPUS);
    assert_true(nccl_operation_init(&o, &c, NCCL_ALL_REDUCE, UINT64_C(64) * 16 * 12288, 0));
    uint64_t sum = 0, empty = 0;
    for (uint32_t rank = 0; rank < 16; rank++) {
        assert_int_equal(nccl_blocks(&o, 0, rank, b), 1);
        struct nccl_primitive first = nccl_primitive(&o, &b[0], 0);
        assert_true(first.bytes == 0 || first.bytes == 16384);
        assert_int_equal(nccl_primitive(&o, &b[0], 1).bytes, 0); // the second slice
        sum += first.bytes;
        empty += first.bytes == 0;
    }
    assert_int_equal(sum, 16 * 12288); // what the ranks send first is all of the channel's data
    assert_int_equal(empty, 4);
    nccl_communicator_free(&c);
}

// A tree under Simple is one block, which sends all chunks up before it sends any down.
static void test_up_then_down(void **state)
{
    (void)state;
    struct nccl_settings settings = defaults;
    struct nccl_communicator c;
    struct nccl_operation o;
    settings.algorithms = 1u << NCCL_TREE;
    settings.protocols = 1u << NCCL_SIMPLE;
    make(&c, &settings, 2, GPUS);
    assert_true(nccl_operation_init(&o, &c, NCCL_ALL_REDUCE, 1 << 24, 0));
    for (uint32_t rank = 0; rank < 16; rank++) {
        struct nccl_block b[NCCL_BLOCKS];
        struct nccl_tree_links links = nccl_layout_tree(&c.layout, 5, rank);
        uint32_t children = 0;
        assert_int_equal(nccl_blocks(&o, 5, rank, b), 1);
        assert_int_equal(b[0].length, 16); // 8 chunks of 32 KiB, twice
        while (children < 3 && links.down[children] != NCCL_NONE)
            children++;
        for (uint64_t i = 0; i < 16; i++) {
            struct nccl_primitive p = nccl_primitive(&o, &b[0], i);
            uint32_t received = 0, sent = 0;
            bool from_parent = false, to_parent = false;
            for (uint32_t k = 0; k < b[0].n_from; k++)
                if (p.receives >> k & 1) {
                    received++;
                    from_parent = from_parent || (int32_t)b[0].from[k] == links.up;
                }
            for (uint32_t k = 0; k < b[0].n_to; k++)
                if (p.sends >> k & 1) {
                    sent++;
                    to_parent = to_parent || (int32_t)b[0].to[k] == links.up;
                }
            bool up = i < 8, has_parent = links.up != NCCL_NONE;
            assert_int_equal(received, up ? children : has_parent);
            assert_int_equal(sent, up ? has_parent : children);
            assert_int_equal(from_parent, !up && has_parent);
            assert_int_equal(to_parent, up && has_parent);
            assert_int_equal(p.bytes, 32768);
            assert_int_equal(p.reduces, up && children > 0);
        }
    }
    nccl_communicator_free(&c);
}

/* ---- pairs ---- */

static void test_pairs(void **state)
{
    (void)state;
    // distances between servers, in turn
    static const uint32_t turns[][SERVERS_MAX] = {{0},
                                                  {0, 1},
                                                  {0, 1, 2},
                                                  {0, 2, 1, 3},
                                                  {0, 2, 3, 1, 4},
                                                  {0, 3, 1, 5, 2, 4},
                                                  {0, 3, 4, 1, 6, 2, 5}};
    for (uint32_t servers = 1; servers <= SERVERS_MAX; servers++) {
        struct nccl_p2p p = {.nodes = servers,
                             .per_node = GPUS,
                             .channels = {.p2p = 64, .p2p_per_peer = 2},
                             .rccl = true,
                             .one_server = servers == 1};
        static struct nccl_round plans[RANKS_MAX][RANKS_MAX];
        uint32_t n = servers * GPUS;
        for (uint32_t rank = 0; rank < n; rank++)
            nccl_p2p_rounds(&p, rank, plans[rank]);
        for (uint32_t rank = 0; rank < n; rank++)
            for (uint32_t r = 0; r < n; r++) {
                uint32_t far = turns[servers - 1][r / GPUS], near = r % GPUS,
                         to = (rank / GPUS + far) % servers * GPUS + (rank + near) % GPUS;
                assert_int_equal(plans[rank][r].to, to);
                assert_int_equal(plans[to][r].from, rank);
                assert_int_equal(plans[to][r].channel, plans[rank][r].channel);
            }
        assert_int_equal(plans[0][1].channel, 32); // 1, with its 6 bits in reverse
        assert_int_equal(plans[0][3].channel, 48);
        assert_int_equal(nccl_p2p_channel(&p, &plans[0][1], 1), 33);
    }
}

static void test_parts(void **state)
{
    (void)state;
    static const struct {
        uint32_t servers, per_peer;
        uint64_t bytes;
        uint32_t parts;
        uint64_t part, message, local_message;
    } rows[] = {
        {2, 2, 1000, 1, 1000, 32768, 131072},
        {2, 2, 131072, 2, 65536, 32768, 131072}, // at least half a step of 128 KiB
        {2, 2, 1 << 20, 2, 1 << 19, 65536, 131072},
        {2, 2, 1 << 22, 2, 1 << 21, 131072, 131072},
        {7, 2, 131072, 1, 131072, 65536, 131072}, // more than 32 ranks: one part, up to a step,
        {7, 2, 131073, 2, 131072, 65536, 131072}, // then two, of whole 64 KiB
        {1, 8, 65536, 1, 65536, 524288, 524288},  // one server: at least 64 KiB, steps of 512 KiB
        {1, 8, 65537, 2, 65536, 524288, 524288},
        {1, 8, 1 << 20, 8, 1 << 17, 524288, 524288},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nccl_p2p p = {.nodes = rows[i].servers,
                             .per_node = GPUS,
                             .channels = {.p2p = 64, .p2p_per_peer = rows[i].per_peer},
                             .rccl = true,
                             .one_server = rows[i].servers == 1};
        struct nccl_p2p_split s = nccl_p2p_split(&p, rows[i].bytes, 0);
        if (s.parts != rows[i].parts || s.part_bytes != rows[i].part ||
            s.chunk_bytes != rows[i].message || s.local_chunk_bytes != rows[i].local_message ||
            s.batch != 2)
            fail_msg("row %zu: %u, %llu, %llu, %llu", i, s.parts, (unsigned long long)s.part_bytes,
                     (unsigned long long)s.chunk_bytes, (unsigned long long)s.local_chunk_bytes);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_costs),        cmocka_unit_test(test_impossible),
        cmocka_unit_test(test_forced),       cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_traffic),      cmocka_unit_test(test_short_loop),
        cmocka_unit_test(test_up_then_down), cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
