// SPDX-License-Identifier: MIT
// The layout of RCCL on MI300X against facts of its source (ROCm/rccl, commit 0cbce2a7): rings and
// their NICs (src/graph/rome_models.cc, models 79 and 81), trees and channels
// (src/graph/connect.cc, init.cc).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collective/nccl/trees.h"
#include "tests/collective/nccl/rccl.h"

/* ---- rings ---- */

#define TABLE 8
static const char *const base[TABLE] = {"01234567", "10243576", "25036174", "37042165",
                                        "46273051", "54713260", "63140752", "72064153"};
static const char *const last_but_one[TABLE] = {"74132065", "63075142", "46217053", "52731604",
                                                "10243576", "01234567", "25036471", "37261540"};
static const char *const last[TABLE] = {"54271630", "25037461", "36405172", "47065213",
                                        "62075314", "73260415", "10243576", "01234567"};
static const char *const alone[28] = {
    "01234567", "01234576", "02413657", "02461735", "03152746", "03516274", "04173625",
    "76543210", "67543210", "75631420", "53716420", "64725130", "47261530", "52637140",
    "01234567", "01234576", "02413657", "02461735", "03152746", "03516274", "04173625",
    "76543210", "67543210", "75631420", "53716420", "64725130", "47261530", "52637140"};

// GPU `i` of a channel's ring in a server.
static uint32_t expected_gpu(uint32_t servers, uint32_t server, uint32_t channel, uint32_t i)
{
    uint32_t ring = (channel + channel / 8) % 8;
    if (servers == 1)
        return (uint32_t)(alone[channel % 28][i] - '0');
    if (servers % 2 == 1 && server == servers - 1)
        return (uint32_t)(last[ring][i] - '0');
    if (servers % 2 == 1 && server == servers - 2)
        return (uint32_t)(last_but_one[ring][i] - '0');
    return (uint32_t)(base[ring][server % 2 == 1 ? GPUS - 1 - i : i] - '0');
}

static void check_ring(const struct nccl_communicator *c, uint32_t servers, uint32_t channel)
{
    uint32_t rank = expected_gpu(servers, 0, channel, 0);
    bool visited[RANKS_MAX] = {false};
    int32_t left_by = NCCL_NONE;
    for (uint32_t at = 0; at < servers * GPUS; at++) {
        uint32_t server = at / GPUS, i = at % GPUS, gpu = expected_gpu(servers, server, channel, i);
        struct nccl_ring_links links = nccl_layout_ring(&c->layout, channel, rank);
        assert_int_equal(rank, server * GPUS + gpu);
        assert_false(visited[rank]);
        visited[rank] = true;
        // It enters and leaves a server by the NIC of the GPU, which the GPU drives itself.
        assert_int_equal(links.receive_nic, servers > 1 && i == 0 ? (int32_t)gpu : NCCL_NONE);
        assert_int_equal(links.send_nic, servers > 1 && i == GPUS - 1 ? (int32_t)gpu : NCCL_NONE);
        assert_int_equal(links.send_proxy,
                         servers > 1 && i == GPUS - 1 ? (int32_t)rank : NCCL_NONE);
        if (at > 0 && links.receive_nic != NCCL_NONE)
            assert_int_equal(links.receive_nic, left_by); // it stays on its rail
        if (links.send_nic != NCCL_NONE)
            left_by = links.send_nic;
        rank = (uint32_t)links.next;
    }
    assert_int_equal(rank, expected_gpu(servers, 0, channel, 0));
    if (servers > 1)
        assert_int_equal(left_by, nccl_layout_ring(&c->layout, channel, rank).receive_nic);
}

static void test_rings(void **state)
{
    (void)state;
    for (uint32_t servers = 1; servers <= SERVERS_MAX; servers++) {
        struct nccl_communicator c;
        make(&c, &defaults, servers, GPUS);
        assert_int_equal(c.layout.channels.all, servers == 1 ? 56 : 64);
        for (uint32_t channel = 0; channel < c.layout.channels.all; channel++)
            check_ring(&c, servers, channel);
        nccl_communicator_free(&c);
    }
}

/* ---- trees ---- */

// A chain in each server, along the ring that the table has for the first server; parents and the
// second children at its first GPU, the first children at its second one. Of 64 channels the first
// 32 have one tree, the others the other one.
static void check_tree(const struct nccl_communicator *c, uint32_t servers, uint32_t channel)
{
    unsigned tree = servers > 1 && channel >= 32;
    uint32_t first = expected_gpu(servers, 0, channel, 0),
             second = expected_gpu(servers, 0, channel, 1);
    for (uint32_t server = 0; server < servers; server++) {
        struct nccl_tree_node node = nccl_tree_node(servers, server, tree);
        for (uint32_t i = 0; i < GPUS; i++) {
            uint32_t gpu = expected_gpu(servers, 0, channel, i), at = server * GPUS;
            int32_t want[4] = {NCCL_NONE, NCCL_NONE, NCCL_NONE, NCCL_NONE}, n = 1;
            bool outside = false;
            if (i > 0)
                want[0] = (int32_t)(at + expected_gpu(servers, 0, channel, i - 1));
            else if (node.up != NCCL_NO_NODE) {
                want[0] = (int32_t)(node.up * GPUS + (node.child == 0 ? second : first));
                outside = true;
            }
            if (i < GPUS - 1)
                want[n++] = (int32_t)(at + expected_gpu(servers, 0, channel, i + 1));
            for (uint32_t k = 0; k < 2; k++)
                if (i == 1 - k && node.down[k] != NCCL_NO_NODE) {
                    want[n++] = (int32_t)(node.down[k] * GPUS + first);
                    outside = true;
                }
            struct nccl_tree_links got = nccl_layout_tree(&c->layout, channel, at + gpu);
            assert_int_equal(got.up, want[0]);
            for (uint32_t k = 0; k < 3; k++)
                assert_int_equal(got.down[k], want[k + 1]);
            assert_int_equal(got.nic, outside ? (int32_t)gpu : NCCL_NONE);
            assert_int_equal(got.proxy, outside ? (int32_t)(at + gpu) : NCCL_NONE);
        }
    }
}

static void test_trees(void **state)
{
    (void)state;
    for (uint32_t servers = 1; servers <= SERVERS_MAX; servers++) {
        struct nccl_communicator c;
        make(&c, &defaults, servers, GPUS);
        for (uint32_t channel = 0; channel < c.layout.channels.all; channel++)
            check_tree(&c, servers, channel);
        nccl_communicator_free(&c);
    }
}

/* ---- numbers of channels ---- */

static void test_channels(void **state)
{
    (void)state;
    static const struct {
        uint32_t servers, gpus, least, most, least_ctas, most_ctas;
        uint32_t all, p2p, per_peer;
    } rows[] = {
        {1, 8, 0, 0, 0, 0, 56, 64, 8},    // twice 28 rings
        {1, 8, 112, 0, 0, 0, 112, 64, 8}, // what AMD's tuning guide advises for one server
        {1, 8, 0, 20, 0, 0, 20, 32, 8},
        {1, 8, 0, 1, 0, 0, 2, 2, 2}, // at least two
        {1, 8, 0, 0, 128, 0, 128, 64, 8},
        {1, 8, 0, 0, 0, 4, 56, 64, 8}, // the first 4 rings, copied up to the number found
        {2, 8, 0, 0, 0, 0, 64, 64, 2},
        {2, 8, 0, 16, 0, 4, 4, 4, 1},
        {2, 8, 112, 0, 0, 0, 64, 64, 2}, // not above 64 between servers
        {2, 8, 0, 16, 0, 0, 16, 16, 2},
        {2, 8, 24, 16, 0, 0, 24, 32, 2},
        {7, 8, 0, 16, 0, 0, 16, 16, 1}, // 2 * 56 ranks are more than four a channel
        // init.cc names the numbers that two and four ranks get: 32 and 24.
        {1, 2, 0, 0, 0, 0, 32, 32, 8},
        {1, 4, 0, 0, 0, 0, 24, 32, 8},
        {1, 2, 100, 0, 0, 0, 32, 32, 8}, // fewer than eight ranks may not set more than 64
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct nccl_settings settings = defaults;
        struct nccl_communicator c;
        settings.min_channels = rows[i].least;
        settings.max_channels = rows[i].most;
        settings.min_ctas = rows[i].least_ctas;
        settings.max_ctas = rows[i].most_ctas;
        make(&c, &settings, rows[i].servers, rows[i].gpus);
        if (c.layout.channels.all != rows[i].all || c.layout.channels.p2p != rows[i].p2p ||
            c.layout.channels.p2p_per_peer != rows[i].per_peer)
            fail_msg("row %zu: %u, %u, %u", i, c.layout.channels.all, c.layout.channels.p2p,
                     c.layout.channels.p2p_per_peer);
        nccl_communicator_free(&c);
    }
}

// Copies of channels repeat their rings.
static void test_copies(void **state)
{
    (void)state;
    struct nccl_settings settings = defaults;
    struct nccl_communicator c;
    settings.min_channels = 112;
    make(&c, &settings, 1, GPUS);
    for (uint32_t channel = 0; channel < 112; channel++)
        check_ring(&c, 1, channel);
    nccl_communicator_free(&c);
}

/* ---- where it does not run ---- */

static void refuse(const struct nccl_machine *machine, const struct nccl_settings *settings,
                   const struct nccl_member *members, uint32_t n, const char *why)
{
    struct nccl_communicator c;
    char error[200] = "";
    assert_false(nccl_communicator_init(&c, machine, settings, members, n, error, sizeof error));
    assert_string_equal(error, why);
}

static void test_refused(void **state)
{
    (void)state;
    struct nccl_member members[2 * GPUS];
    struct nccl_settings ll128 = defaults;
    struct nccl_machine few_nics = *nccl_machine_named("mi300x");
    for (uint32_t r = 0; r < 2 * GPUS; r++)
        members[r] = (struct nccl_member){r / GPUS, r % GPUS};
    ll128.protocols = 1u << NCCL_LL128;
    few_nics.nics = 4;
    refuse(nccl_machine_named("dgx_h100"), &defaults, members, 16,
           "RCCL's tables here are those of MI300X (gfx942).");
    refuse(nccl_machine_named("mi300x"), &defaults, members, 12,
           "RCCL's rules are known where all servers, or none, take part with 8 GPUs.");
    refuse(&few_nics, &defaults, members, 16,
           "RCCL's rings between servers are those of 8 GPUs with a NIC each.");
    refuse(nccl_machine_named("mi300x"), &ll128, members, 4,
           "RCCL's LL128 is not modelled, which it runs on up to 4 GPUs of a server.");
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rings),    cmocka_unit_test(test_trees),
        cmocka_unit_test(test_channels), cmocka_unit_test(test_copies),
        cmocka_unit_test(test_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
