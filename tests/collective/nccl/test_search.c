// SPDX-License-Identifier: MIT
// Topology searches and layouts of communicators against what NCCL's own code gave
// (tests/data/nccl).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collective/nccl/layout.h"
#include "tests/collective/nccl/table.h"

#define DATA "tests/data/nccl/"
enum { SERVERS = 128, RANKS = SERVERS * NCCL_SERVER_GPUS };

/* ---- rows ---- */

static int32_t number(const struct table *t, unsigned column)
{
    return (int32_t)strtol(t->cells[column], NULL, 10);
}

static enum nccl_version version_of(const struct table *t)
{
    unsigned version = 0;
    while (strcmp(t->cells[0], nccl_version_name((enum nccl_version)version)) != 0)
        version++;
    return (enum nccl_version)version;
}

/* ---- layouts ---- */

// The layout of all GPUs of some servers.
static void make_layout(struct nccl_layout *layout, const char *machine, enum nccl_version version,
                        uint32_t servers)
{
    static struct nccl_member members[RANKS];
    const struct nccl_machine *m = nccl_machine_named(machine);
    struct nccl_settings settings = {
        .version = version, .cross_nic = NCCL_CROSS_NIC_AUTO, .pxn = true, .nvls = true};
    char error[200];
    uint32_t n = 0;
    assert_non_null(m);
    for (uint32_t s = 0; s < servers; s++)
        for (uint32_t g = 0; g < m->gpus; g++)
            members[n++] = (struct nccl_member){.server = s, .gpu = g};
    if (!nccl_layout_init(layout, m, &settings, members, n, error, sizeof error))
        fail_msg("%s: %s", machine, error);
}

// The layouts of the rows so far.
static struct known {
    char key[64];
    struct nccl_layout layout;
} all[96];
static unsigned n_all;

static int free_layouts(void **state)
{
    (void)state;
    while (n_all > 0)
        nccl_layout_free(&all[--n_all].layout);
    return 0;
}

// The layout of a row's version, machine and number of servers.
static const struct nccl_layout *layout_of_row(const struct table *t)
{
    static const char *const names[][2] = {{"dgxa100", "dgx_a100"},
                                           {"dgxh100", "dgx_h100"},
                                           {"dgxb200", "dgx_b200"},
                                           {"gh200x4", "gh200"},
                                           {"1gpu-a100-100", "1gpu_a100_100"},
                                           {"1gpu-h100-400", "1gpu_h100_400"},
                                           {"hgxh100-200-intel", "hgx_h100_200"}};
    char key[64];
    snprintf(key, sizeof key, "%.16s,%.32s,%.8s", t->cells[0], t->cells[1], t->cells[2]);
    for (unsigned k = 0; k < n_all; k++)
        if (strcmp(all[k].key, key) == 0)
            return &all[k].layout;
    assert_true(n_all < sizeof all / sizeof *all);
    struct known *known = &all[n_all++];
    memcpy(known->key, key, sizeof key);
    unsigned i = 0;
    while (strcmp(t->cells[1], names[i][0]) != 0)
        i++;
    make_layout(&known->layout, names[i][1], version_of(t), (uint32_t)number(t, 2));
    return &known->layout;
}

/* ---- vectors ---- */

static unsigned different;

static void expect(bool equal, const struct table *t, const char *what)
{
    if (equal)
        return;
    if (different++ < 40)
        print_message("%s,%s,%s,%s,%s: %s\n", t->cells[0], t->cells[1], t->cells[2], t->cells[3],
                      t->cells[4], what);
}

static void test_graphs(void **state)
{
    (void)state;
    static const char *const paths[] = {"LOC", "NVL", "NVB", "C2C", "PIX",
                                        "PXB", "P2C", "PXN", "PHB", "SYS"};
    static const char *const patterns[] = {"ring", "tree", "split_tree", "balanced_tree", "nvls"};
    struct table t;
    unsigned n = 0;
    different = 0;
    table_open(&t, DATA "search.csv");
    for (; table_next(&t); n++) {
        const struct nccl_cluster *c = &layout_of_row(&t)->cluster;
        const struct nccl_graph *g = strcmp(t.cells[3], "ring") == 0   ? &c->ring
                                     : strcmp(t.cells[3], "tree") == 0 ? &c->tree
                                                                       : &c->nvls;
        expect(g->pattern == word(t.cells[4], patterns, NCCL_PATTERNS), &t, "pattern");
        expect(g->cross_nic == number(&t, 5), &t, "NICs");
        expect((int32_t)g->channels == number(&t, 6), &t, "channels");
        expect(g->bw_intra == real(&t, 7), &t, "rate inside");
        expect(g->bw_inter == real(&t, 8), &t, "rate between servers");
        expect(g->type_intra == word(t.cells[9], paths, NCCL_PATHS), &t, "type inside");
        expect(g->type_inter == word(t.cells[10], paths, NCCL_PATHS), &t, "type between servers");
        expect(g->same_channels == (number(&t, 11) != 0), &t, "same channels");
    }
    assert_int_equal(different, 0);
    assert_int_equal(n, 153);
}

static void test_counts(void **state)
{
    (void)state;
    struct table t;
    unsigned n = 0;
    different = 0;
    table_open(&t, DATA "channels_count.csv");
    for (; table_next(&t); n++) {
        const struct nccl_channels *c = &layout_of_row(&t)->channels;
        expect((int32_t)c->all == number(&t, 3), &t, "channels");
        expect((int32_t)c->rings == number(&t, 4), &t, "rings");
        expect((int32_t)c->nvls == number(&t, 5), &t, "NVLS");
        expect((int32_t)c->p2p == number(&t, 6), &t, "p2p");
        expect((int32_t)c->p2p_per_peer == number(&t, 7), &t, "p2p per peer");
    }
    assert_int_equal(different, 0);
    assert_int_equal(n, 65);
}

static void test_rings(void **state)
{
    (void)state;
    struct table t;
    unsigned n = 0;
    different = 0;
    table_open(&t, DATA "rings.csv");
    for (; table_next(&t); n++) {
        const struct nccl_layout *layout = layout_of_row(&t);
        int32_t rank = 0;
        bool equal = (int32_t)layout->channels.all == number(&t, 3);
        char *at = t.cells[5];
        for (uint32_t i = 0; i < layout->cluster.ranks; i++) {
            equal = equal && strtol(at, &at, 10) == rank;
            rank = nccl_layout_ring(layout, (uint32_t)number(&t, 4), (uint32_t)rank).next;
        }
        expect(equal && rank == 0, &t, "ring");
    }
    assert_int_equal(different, 0);
    assert_int_equal(n, 612);
}

static void test_links(void **state)
{
    (void)state;
    struct table t;
    unsigned n = 0;
    different = 0;
    table_open(&t, DATA "links.csv");
    for (; table_next(&t); n++) {
        const struct nccl_layout *layout = layout_of_row(&t);
        uint32_t channel = (uint32_t)number(&t, 3), rank = (uint32_t)number(&t, 4);
        struct nccl_ring_links r = nccl_layout_ring(layout, channel, rank);
        struct nccl_tree_links l = nccl_layout_tree(layout, channel, rank);
        expect(r.previous == number(&t, 5) && r.next == number(&t, 6), &t, "ring");
        expect(r.receive_nic == number(&t, 7), &t, "NIC to receive from");
        expect(r.send_nic == number(&t, 8), &t, "NIC to send by");
        expect(r.send_proxy == number(&t, 9), &t, "proxy of the ring");
        expect(l.up == number(&t, 10), &t, "parent");
        expect(l.down[0] == number(&t, 11) && l.down[1] == number(&t, 12) &&
                   l.down[2] == number(&t, 13),
               &t, "children");
        expect(l.nic == number(&t, 14), &t, "NIC of the tree");
        expect(l.proxy == number(&t, 15), &t, "proxy of the tree");
    }
    assert_int_equal(different, 0);
    assert_int_equal(n, 8586);
}

// The first child of a head is the NVSwitch itself, which NCCL numbers after the ranks.
static void test_nvls_trees(void **state)
{
    (void)state;
    struct table t;
    unsigned n = 0;
    different = 0;
    table_open(&t, DATA "nvlstree.csv");
    for (; table_next(&t); n++) {
        const struct nccl_layout *layout = layout_of_row(&t);
        struct nccl_nvls_links l =
            nccl_layout_nvls(layout, (uint32_t)number(&t, 3), (uint32_t)number(&t, 4));
        int32_t own = (int32_t)layout->cluster.ranks + 1 + l.head;
        expect(l.head == number(&t, 5), &t, "head");
        expect((int32_t)nccl_layout_nvls_heads(layout) == number(&t, 6), &t, "heads");
        expect(l.up == number(&t, 7), &t, "parent");
        expect((layout->cluster.nodes == 1 ? -1 : own) == number(&t, 8), &t, "NVSwitch");
        expect(l.down[0] == number(&t, 9) && l.down[1] == number(&t, 10), &t, "children");
    }
    assert_int_equal(different, 0);
    assert_int_equal(n, 1344);
}

/* ---- some GPUs of each server ---- */

// The layout of a row of subsets.csv: two servers, the GPUs in a set of bits of each.
static void layout_of_subset(struct nccl_layout *layout, const struct table *t)
{
    const struct nccl_machine *m = nccl_machine_named(t->cells[1]);
    uint64_t gpus = strtoull(t->cells[2], NULL, 16);
    struct nccl_member members[2 * NCCL_SERVER_GPUS];
    struct nccl_settings settings = {
        .version = version_of(t), .cross_nic = NCCL_CROSS_NIC_AUTO, .pxn = true, .nvls = true};
    char error[200];
    uint32_t n = 0;
    for (uint32_t i = 0; i < 2 * m->gpus; i++)
        if (gpus >> i % m->gpus & 1)
            members[n++] = (struct nccl_member){.server = i / m->gpus, .gpu = i % m->gpus};
    assert_true(nccl_layout_init(layout, m, &settings, members, n, error, sizeof error));
}

// Whether the ring of a channel passes the first server as written: NIC, ranks, NIC.
static bool passes(const struct nccl_layout *layout, uint32_t channel, char **at)
{
    uint32_t ranks = layout->cluster.ranks / 2;
    bool equal = true;
    long nic = strtol(*at, at, 10), before = -1;
    for (uint32_t i = 0; i < ranks; i++) {
        long rank = strtol(*at, at, 10);
        struct nccl_ring_links l = nccl_layout_ring(layout, channel, (uint32_t)rank);
        equal = equal && (i == 0 ? l.receive_nic == nic : l.previous == before);
        before = rank;
    }
    nic = strtol(*at, at, 10);
    return equal && nccl_layout_ring(layout, channel, (uint32_t)before).send_nic == nic;
}

static void test_subsets(void **state)
{
    (void)state;
    struct table t;
    unsigned n = 0;
    different = 0;
    table_open(&t, DATA "subsets.csv");
    for (; table_next(&t); n++) {
        struct nccl_layout layout;
        layout_of_subset(&layout, &t);
        const struct nccl_graph *ring = &layout.cluster.ring, *tree = &layout.cluster.tree;
        int32_t channels = number(&t, 3) < number(&t, 10) ? number(&t, 3) : number(&t, 10);
        expect((int32_t)ring->channels == channels, &t, "channels");
        expect(ring->bw_intra == real(&t, 4) && ring->bw_inter == real(&t, 5), &t, "ring's rate");
        expect(ring->type_intra == number(&t, 6), &t, "ring's type inside");
        expect(ring->type_inter == number(&t, 7), &t, "ring's type between servers");
        expect(ring->cross_nic == number(&t, 8), &t, "NICs");
        expect(tree->pattern == number(&t, 9), &t, "pattern");
        expect(tree->bw_intra == real(&t, 11) && tree->bw_inter == real(&t, 12), &t, "tree's rate");
        expect(tree->type_intra == number(&t, 13), &t, "tree's type inside");
        expect(tree->type_inter == number(&t, 14), &t, "tree's type between servers");
        char *at = t.cells[15];
        for (uint32_t c = 0; c < ring->channels; c++)
            expect(passes(&layout, c, &at), &t, "ring");
        nccl_layout_free(&layout);
    }
    assert_int_equal(different, 0);
    assert_int_equal(n, 77);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_graphs),     cmocka_unit_test(test_counts),
        cmocka_unit_test(test_rings),      cmocka_unit_test(test_links),
        cmocka_unit_test(test_nvls_trees), cmocka_unit_test(test_subsets),
    };
    return cmocka_run_group_tests(tests, NULL, free_layouts);
}
