// SPDX-License-Identifier: MIT
// Rounds, channels and messages of pairs: against a re-statement of NCCL's rules (tests/data/nccl),
// and what must hold for any number of servers and ranks.
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "collective/nccl/p2p.h"

// gh200x4, whose GPUs have a NIC each: 8 channels, two for a pair on up to three servers.
static void test_all_to_all(void **state)
{
    (void)state;
    struct nccl_round rounds[64];
    uint32_t nodes, per_node, from, to, round, channel, message, payload, n = 0;
    uint64_t bytes;
    FILE *in = fopen("tests/data/nccl/a2a_sends.csv", "r");
    assert_non_null(in);
    assert_int_equal(fscanf(in, "%*s"), 0); // names of the columns
    while (fscanf(in, "%u,%u,%" SCNu64 ",%u,%u,%u,%u,%u,%u", &nodes, &per_node, &bytes, &from, &to,
                  &round, &channel, &message, &payload) == 9) {
        struct nccl_p2p p = {
            .nodes = nodes, .per_node = per_node, .channels = {.p2p = 8, .p2p_per_peer = 2}};
        nccl_p2p_rounds(&p, from, rounds);
        const struct nccl_round *r = &rounds[round];
        struct nccl_p2p_split s = nccl_p2p_split(&p, bytes, 0);
        assert_int_equal(r->to, to);
        assert_int_equal(nccl_p2p_channel(&p, r, 0), channel);
        assert_int_equal(s.parts, 1);
        assert_true((message + 1) * s.chunk_bytes <= s.part_bytes);
        assert_int_equal(s.chunk_bytes, payload);
        n++;
    }
    fclose(in);
    assert_int_equal(n, 288);
}

// In every round what one rank sends is what another one receives, and all pairs meet once.
static void test_rounds(void **state)
{
    (void)state;
    for (uint32_t nodes = 1; nodes <= 9; nodes++)
        for (uint32_t per_node = 1; per_node <= 9; per_node++) {
            struct nccl_p2p p = {
                .nodes = nodes, .per_node = per_node, .channels = {.p2p = 16, .p2p_per_peer = 2}};
            uint32_t n = nodes * per_node;
            static struct nccl_round plans[81][81];
            for (uint32_t rank = 0; rank < n; rank++)
                nccl_p2p_rounds(&p, rank, plans[rank]);
            for (uint32_t rank = 0; rank < n; rank++) {
                bool met[81] = {false};
                assert_int_equal(plans[rank][0].to, rank);
                for (uint32_t r = 0; r < n; r++) {
                    assert_false(met[plans[rank][r].to]);
                    met[plans[rank][r].to] = true;
                    assert_int_equal(plans[plans[rank][r].to][r].from, rank);
                }
            }
        }
}

// Parts cover the bytes of a pair, in units of 4 KiB, on channels of their own.
static void test_parts(void **state)
{
    (void)state;
    struct nccl_p2p p = {.nodes = 2, .per_node = 8, .channels = {.p2p = 16, .p2p_per_peer = 4}};
    struct nccl_round round = {.channel = 3};
    for (uint64_t bytes = 1; bytes < 3000000; bytes = bytes * 5 / 4 + 1) {
        struct nccl_p2p_split s = nccl_p2p_split(&p, bytes, 0);
        assert_in_range(s.parts, 1, 4);
        assert_true(s.part_bytes * s.parts >= bytes && s.part_bytes * (s.parts - 1) < bytes);
        assert_true(s.parts == 1 ||
                    (s.part_bytes % 4096 == 0 && bytes >= s.parts * UINT64_C(65536)));
        assert_true(bytes < 4 * 65536 || s.parts == 4);
    }
    assert_int_equal(nccl_p2p_channel(&p, &round, 0), 3);
    assert_int_equal(nccl_p2p_channel(&p, &round, 1), 3 + 8);
    assert_int_equal(nccl_p2p_channel(&p, &round, 2), 3 + 4);
    assert_int_equal(nccl_p2p_channel(&p, &round, 3), 3 + 12);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_to_all),
        cmocka_unit_test(test_rounds),
        cmocka_unit_test(test_parts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
