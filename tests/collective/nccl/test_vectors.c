// SPDX-License-Identifier: MIT
// Costs, choices, splits and chunks against what NCCL's own code gave (tests/data/nccl).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collective/nccl/channels.h"
#include "collective/nccl/chunks.h"
#include "collective/nccl/ring_slices.h"
#include "collective/nccl/trees.h"
#include "tests/collective/nccl/table.h"

#define DATA "tests/data/nccl/"
enum { CLUSTERS = 200 };

/* ---- rows ---- */

static uint64_t number(const struct table *t, unsigned column)
{
    return strtoull(t->cells[column], NULL, 10);
}

#define WORD_OF(kind, upper)                                                                       \
    static enum nccl_##kind kind##_of(const char *text)                                            \
    {                                                                                              \
        unsigned i = 0;                                                                            \
        while (i < NCCL_##upper && strcmp(text, nccl_##kind##_name((enum nccl_##kind)i)) != 0)     \
            i++;                                                                                   \
        assert_true(i < NCCL_##upper);                                                             \
        return (enum nccl_##kind)i;                                                                \
    }
WORD_OF(version, VERSIONS)
WORD_OF(function, FUNCTIONS)
WORD_OF(algorithm, ALGORITHMS)
WORD_OF(protocol, PROTOCOLS)

/* ---- clusters ---- */

static struct known {
    char machine[32];
    bool counted;
    struct nccl_cluster cluster;
} all[CLUSTERS];
static unsigned n_all;

static struct known *find(const struct table *t)
{
    enum nccl_version version = version_of(t->cells[0]);
    for (unsigned i = 0; i < n_all; i++)
        if (all[i].cluster.version == version && strcmp(all[i].machine, t->cells[1]) == 0 &&
            all[i].cluster.nodes == number(t, 2))
            return &all[i];
    return NULL;
}

static struct known *add(const struct table *t)
{
    const char *machine = t->cells[1];
    struct known *k = &all[n_all++];
    struct nccl_cluster *c = &k->cluster;
    snprintf(k->machine, sizeof k->machine, "%s", machine);
    c->version = version_of(t->cells[0]);
    c->gpu = strstr(machine, "a100")   ? NCCL_AMPERE
             : strstr(machine, "b200") ? NCCL_BLACKWELL
                                       : NCCL_HOPPER;
    c->cpu = strcmp(machine, "dgxa100") == 0 ? NCCL_CPU_AMD
             : strstr(machine, "gh200")      ? NCCL_CPU_ARM
                                             : NCCL_CPU_INTEL;
    c->nodes = (uint32_t)number(t, 2);
    c->ranks = c->nodes * (strncmp(machine, "1gpu", 4) == 0 ? 1 : strstr(machine, "gh200") ? 4 : 8);
    return k;
}

static void read_clusters(void)
{
    static const char *const paths[] = {"LOC", "NVL", "NVB", "C2C", "PIX",
                                        "PXB", "P2C", "PXN", "PHB", "SYS"};
    static const char *const patterns[] = {"ring", "tree", "split_tree", "balanced_tree", "nvls"};
    struct table t;
    table_open(&t, DATA "search.csv");
    while (table_next(&t)) {
        struct known *k = find(&t) ? find(&t) : add(&t);
        struct nccl_graph *g = strcmp(t.cells[3], "ring") == 0   ? &k->cluster.ring
                               : strcmp(t.cells[3], "tree") == 0 ? &k->cluster.tree
                                                                 : &k->cluster.nvls;
        *g = (struct nccl_graph){.pattern = (uint8_t)word(t.cells[4], patterns, NCCL_PATTERNS),
                                 .cross_nic = (uint8_t)number(&t, 5),
                                 .channels = (uint32_t)number(&t, 6),
                                 .bw_intra = real(&t, 7),
                                 .bw_inter = real(&t, 8),
                                 .type_intra = (uint8_t)word(t.cells[9], paths, NCCL_PATHS),
                                 .type_inter = (uint8_t)word(t.cells[10], paths, NCCL_PATHS),
                                 .same_channels = number(&t, 11) != 0};
    }
    table_open(&t, DATA "channels_count.csv");
    while (table_next(&t)) {
        struct known *k = find(&t);
        if (!k)
            continue;
        k->counted = true;
        k->cluster.channels = (uint32_t)number(&t, 3);
        k->cluster.nvls_channels = (uint32_t)number(&t, 5);
    }
}

/* ---- tests ---- */

static bool near(double a, double b, double relative)
{
    double difference = a > b ? a - b : b - a;
    return difference <= relative * b;
}

static void test_costs(void **state)
{
    (void)state;
    struct table t;
    unsigned n = 0;
    table_open(&t, DATA "model.csv");
    while (table_next(&t)) {
        struct nccl_model model;
        enum nccl_algorithm algorithm = algorithm_of(t.cells[4]);
        enum nccl_protocol protocol = protocol_of(t.cells[5]);
        nccl_model_init(&model, &find(&t)->cluster);
        struct nccl_cost cost = model.costs[function_of(t.cells[3])][algorithm][protocol];
        assert_true(near(cost.latency_us, real(&t, 6), 1e-5));
        assert_true(near(cost.bw, real(&t, 7), 1e-5));
        assert_int_equal(model.threads[algorithm][protocol], number(&t, 8));
        n++;
    }
    assert_int_equal(n, 437);
}

static void test_choices(void **state)
{
    (void)state;
    struct table t;
    unsigned n = 0, split = 0;
    table_open(&t, DATA "tuning.csv");
    while (table_next(&t)) {
        struct nccl_model model;
        struct nccl_choice c;
        enum nccl_function function = function_of(t.cells[4]);
        nccl_model_init(&model, &find(&t)->cluster);
        assert_true(nccl_choose(&model, function, number(&t, 5), NCCL_ANY_ALGORITHM,
                                NCCL_ANY_PROTOCOL, &c));
        assert_string_equal(nccl_algorithm_name(c.algorithm), t.cells[6]);
        assert_string_equal(nccl_protocol_name(c.protocol), t.cells[7]);
        assert_int_equal(c.channels, number(&t, 8));
        assert_int_equal(c.threads, number(&t, 10));
        assert_true(near(c.cost_us, real(&t, 11), 1e-4));
        n++;
        if (t.cells[9][0] == '\0') // not known of 2.21.5
            continue;
        assert_int_equal(c.split.channels, number(&t, 9));
        assert_int_equal(c.split.first, number(&t, 12));
        assert_int_equal(c.split.middle, number(&t, 13));
        assert_int_equal(c.split.last, number(&t, 14));
        struct nccl_chunking k = nccl_chunking(&model, function, &c, c.split.first);
        assert_int_equal(k.chunk_bytes, number(&t, 15));
        if (c.algorithm != NCCL_PAT) // whose blocks are merged by distance
            assert_int_equal(k.steps, number(&t, 16));
        assert_int_equal(k.slice_steps, number(&t, 17));
        assert_int_equal(k.chunk_steps, number(&t, 18));
        split++;
    }
    assert_int_equal(n, 3071);
    assert_int_equal(split, 2171);
}

static void test_channels(void **state)
{
    (void)state;
    struct table t;
    unsigned n = 0;
    table_open(&t, DATA "channels_count.csv");
    while (table_next(&t)) {
        const struct known *k = find(&t);
        if (!k)
            continue;
        double net_bw = k->cluster.nodes == 1 ? 0
                        : strstr(k->machine, "100-100")
                            ? 12
                            : k->cluster.ring.bw_inter * (k->cluster.ring.channels == 2 ? 2 : 1);
        struct nccl_pair_limits limits = {.nics = 1, .net_bw = net_bw};
        struct nccl_channels c = nccl_channels_of(&k->cluster, NULL, &limits);
        assert_int_equal(c.all, number(&t, 3));
        assert_int_equal(c.rings, number(&t, 4));
        assert_int_equal(c.nvls, number(&t, 5));
        assert_int_equal(c.p2p, number(&t, 6));
        assert_int_equal(c.p2p_per_peer, number(&t, 7));
        n++;
    }
    assert_int_equal(n, 65);
}

/* ---- messages of rings ---- */

enum { SENDS = 4096 };
static struct nccl_slice sends[SENDS];
static unsigned n_sends;

static void sends_of(const struct nccl_model *model, enum nccl_function function,
                     const struct nccl_choice *choice, uint32_t channel, uint32_t at)
{
    const struct nccl_split *split = &choice->split;
    uint64_t bytes = channel == 0                    ? split->first
                     : channel + 1 < split->channels ? split->middle
                                                     : split->last;
    struct nccl_ring_part part = {.function = function,
                                  .protocol = choice->protocol,
                                  .chunking = nccl_chunking(model, function, choice, bytes),
                                  .ranks = model->cluster.ranks,
                                  .at = at,
                                  .bytes = bytes,
                                  .element_bytes = 4};
    uint64_t n = nccl_ring_length(&part);
    n_sends = 0;
    for (uint64_t i = 0; i < n; i++) {
        sends[n_sends] = nccl_ring_slice(&part, i);
        n_sends += sends[n_sends].sends;
        assert_true(n_sends < SENDS);
    }
}

// All ranks together send 2 (N - 1) times the bytes of an all-reduce, whatever remainders are left;
// Simple sends two slices a chunk, of which one is empty where the chunk is short.
static void test_ring_bytes(void **state)
{
    (void)state;
    struct nccl_cluster cluster = {.version = NCCL_2_27_7,
                                   .gpu = NCCL_HOPPER,
                                   .nodes = 5,
                                   .ranks = 5,
                                   .ring = {.channels = 1, .bw_intra = 24, .bw_inter = 24},
                                   .channels = 1};
    static const uint64_t sizes[] = {4, 1000, 99996, 10000000, 23456788};
    struct nccl_model model;
    nccl_model_init(&model, &cluster);
    for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct nccl_choice c = {.algorithm = NCCL_RING,
                                .protocol = NCCL_SIMPLE,
                                .split = {.channels = 1, .first = sizes[i]}};
        uint64_t sum = 0, empty = 0;
        for (uint32_t at = 0; at < cluster.ranks; at++) {
            sends_of(&model, NCCL_ALL_REDUCE, &c, 0, at);
            for (unsigned k = 0; k < n_sends; k++) {
                sum += sends[k].bytes;
                empty += sends[k].bytes == 0;
                assert_true(sends[k].bytes <= 1 << 20);
            }
            uint64_t loops = (sizes[i] + 5 * (2 << 20) - 1) / (5 * (2 << 20));
            assert_int_equal(n_sends, loops * 8 * 2);
        }
        assert_int_equal(sum, 8 * sizes[i]);
        assert_true(sizes[i] >= 5 * 2 * 32768 || empty >= (uint64_t)5 * 8);
    }
}

/* ---- trees ---- */

static int64_t or_none(uint32_t node) { return node == NCCL_NO_NODE ? -1 : (int64_t)node; }

static void test_trees(void **state)
{
    (void)state;
    struct table t;
    unsigned n = 0;
    table_open(&t, DATA "trees.csv");
    while (table_next(&t)) {
        struct nccl_tree_node at = nccl_tree_node((uint32_t)number(&t, 0), (uint32_t)number(&t, 2),
                                                  (unsigned)number(&t, 1));
        bool only_second = at.down[0] == NCCL_NO_NODE;
        assert_int_equal(or_none(at.up), strtoll(t.cells[3], NULL, 10));
        assert_int_equal(or_none(at.down[only_second]), strtoll(t.cells[4], NULL, 10));
        assert_int_equal(only_second ? -1 : or_none(at.down[1]), strtoll(t.cells[5], NULL, 10));
        n++;
    }
    assert_int_equal(n, 76);
}

// Every node but the root has one parent, which knows it as a child, and no node is inner in both.
static void test_two_trees(void **state)
{
    (void)state;
    for (uint32_t nodes = 2; nodes <= 130; nodes++)
        for (uint32_t node = 0; node < nodes; node++) {
            unsigned inner = 0;
            for (unsigned tree = 0; tree < 2; tree++) {
                struct nccl_tree_node at = nccl_tree_node(nodes, node, tree);
                bool two = at.down[0] != NCCL_NO_NODE && at.down[1] != NCCL_NO_NODE;
                inner += two;
                if (at.up == NCCL_NO_NODE)
                    continue;
                assert_int_equal(nccl_tree_node(nodes, at.up, tree).down[at.child], node);
            }
            assert_true(inner <= 1);
        }
}

// What a user forces is taken, or refused where the cluster does not have it.
static void test_forced(void **state)
{
    (void)state;
    struct nccl_model model;
    struct nccl_choice c;
    for (unsigned i = 0; i < n_all; i++) {
        const struct nccl_cluster *cluster = &all[i].cluster;
        if (!all[i].counted)
            continue;
        nccl_model_init(&model, cluster);
        assert_true(
            nccl_choose(&model, NCCL_ALL_REDUCE, 1 << 30, 1u << NCCL_RING, 1u << NCCL_LL, &c));
        assert_int_equal(c.algorithm, NCCL_RING);
        assert_int_equal(c.protocol, NCCL_LL);
        assert_false(
            nccl_choose(&model, NCCL_ALL_GATHER, 1 << 20, 1u << NCCL_TREE, NCCL_ANY_PROTOCOL, &c));
        bool pat = cluster->ranks == cluster->nodes && cluster->version != NCCL_2_21_5;
        assert_int_equal(
            nccl_choose(&model, NCCL_ALL_GATHER, 1 << 20, 1u << NCCL_PAT, NCCL_ANY_PROTOCOL, &c),
            pat);
    }
}

// A line of LL carries 8 of its 16 bytes, one of LL128 120 of 128.
static void test_wire(void **state)
{
    (void)state;
    assert_int_equal(nccl_wire_bytes(NCCL_SIMPLE, 1000), 1000);
    assert_int_equal(nccl_wire_bytes(NCCL_LL, 1000), 2000);
    assert_int_equal(nccl_wire_bytes(NCCL_LL, 1), 16);
    assert_int_equal(nccl_wire_bytes(NCCL_LL128, 1920), 2048);
    assert_int_equal(nccl_wire_bytes(NCCL_LL128, 1921), 4096);
    // a step of each buffer, full: 64 KiB, 614,400 B, 512 KiB
    assert_int_equal(
        nccl_wire_bytes(NCCL_LL, nccl_step_bytes(&(struct nccl_cluster){.ranks = 2}, NCCL_LL)),
        65536);
    assert_int_equal(nccl_wire_bytes(NCCL_LL128, nccl_step_bytes(&(struct nccl_cluster){.ranks = 2},
                                                                 NCCL_LL128)),
                     614400);
    assert_int_equal(
        nccl_wire_bytes(NCCL_SIMPLE,
                        nccl_step_bytes(&(struct nccl_cluster){.ranks = 2}, NCCL_SIMPLE)),
        524288);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_costs),     cmocka_unit_test(test_choices),
        cmocka_unit_test(test_channels),  cmocka_unit_test(test_trees),
        cmocka_unit_test(test_two_trees), cmocka_unit_test(test_ring_bytes),
        cmocka_unit_test(test_forced),    cmocka_unit_test(test_wire),
    };
    read_clusters();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
