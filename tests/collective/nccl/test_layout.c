// SPDX-License-Identifier: MIT
// Layouts of communicators on all machines of the table, on subsets of their GPUs and on machines
// of no product: rings and trees that reach every rank, and NICs where they leave a server.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "collective/nccl/layout.h"

enum { SERVERS = 5, RANKS = SERVERS * NCCL_SERVER_GPUS };

static struct nccl_settings settings_of(enum nccl_version version)
{
    return (struct nccl_settings){
        .version = version, .cross_nic = NCCL_CROSS_NIC_AUTO, .pxn = true, .nvls = true};
}

/* ---- properties ---- */

// Whether two ranks are in one server.
static bool together(const struct nccl_member *members, int32_t a, int32_t b)
{
    return members[a].server == members[b].server;
}

static void check_ring(const struct nccl_layout *l, const struct nccl_member *members,
                       uint32_t channel)
{
    int32_t rank = 0;
    for (uint32_t i = 0; i < l->cluster.ranks; i++) {
        struct nccl_ring_links at = nccl_layout_ring(l, channel, (uint32_t)rank);
        struct nccl_ring_links next = nccl_layout_ring(l, channel, (uint32_t)at.next);
        bool inside = together(members, rank, at.next);
        assert_int_equal(next.previous, rank);
        assert_int_equal(at.send_nic == NCCL_NONE, inside);
        assert_int_equal(next.receive_nic == NCCL_NONE, inside);
        assert_int_equal(at.send_proxy == NCCL_NONE, inside);
        assert_true(inside || together(members, rank, at.send_proxy));
        rank = at.next;
        assert_true(rank != 0 || i + 1 == l->cluster.ranks); // no ring is shorter
    }
    assert_int_equal(rank, 0);
}

static void check_tree(const struct nccl_layout *l, const struct nccl_member *members,
                       uint32_t channel)
{
    uint32_t roots = 0, children = 0, ranks = l->cluster.ranks;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        struct nccl_tree_links at = nccl_layout_tree(l, channel, rank);
        bool outside = at.up != NCCL_NONE && !together(members, (int32_t)rank, at.up);
        roots += at.up == NCCL_NONE;
        for (unsigned i = 0; i < 3; i++) {
            if (at.down[i] == NCCL_NONE)
                continue;
            children++;
            assert_int_equal(nccl_layout_tree(l, channel, (uint32_t)at.down[i]).up, rank);
            outside = outside || !together(members, (int32_t)rank, at.down[i]);
        }
        assert_int_equal(at.nic != NCCL_NONE, outside);
        assert_true(!outside || together(members, (int32_t)rank, at.proxy));
        uint32_t steps = 0;
        for (int32_t up = at.up; up != NCCL_NONE; steps++)
            up = nccl_layout_tree(l, channel, (uint32_t)up).up;
        assert_true(steps < ranks);
    }
    assert_int_equal(roots, 1);
    assert_int_equal(children, ranks - 1);
}

static void check_nvls(const struct nccl_layout *l, uint32_t channel)
{
    uint32_t heads = 0, roots = 0, children = 0;
    for (uint32_t rank = 0; rank < l->cluster.ranks; rank++) {
        struct nccl_nvls_links at = nccl_layout_nvls(l, channel, rank);
        heads += at.head != NCCL_NONE;
        roots += at.head != NCCL_NONE && at.up == NCCL_NONE;
        assert_int_equal(at.nic != NCCL_NONE, at.head != NCCL_NONE && l->cluster.nodes > 1);
        for (unsigned i = 0; i < 2; i++) {
            if (at.down[i] == NCCL_NONE)
                continue;
            struct nccl_nvls_links down = nccl_layout_nvls(l, channel, (uint32_t)at.down[i]);
            assert_int_equal(down.up, rank);
            assert_int_equal(down.head, at.head);
            children++;
        }
    }
    uint32_t n = nccl_layout_nvls_heads(l);
    assert_int_equal(heads, n * l->cluster.nodes);
    assert_int_equal(roots, l->cluster.nodes > 1 ? n : heads);
    assert_int_equal(children, heads - roots);
}

static void check_pairs(const struct nccl_layout *l, const struct nccl_member *members)
{
    uint32_t last = l->cluster.ranks - 1;
    for (uint32_t rank = 0; rank < last; rank++) {
        if (together(members, (int32_t)rank, (int32_t)last))
            continue;
        struct nccl_p2p_links pair = nccl_layout_p2p(l, 0, rank, last);
        assert_true(pair.send_nic >= 0 && pair.receive_nic >= 0);
        assert_true(together(members, (int32_t)rank, pair.send_proxy));
    }
}

static void check(const struct nccl_machine *machine, const struct nccl_settings *settings,
                  const struct nccl_member *members, uint32_t n)
{
    struct nccl_layout layout;
    char error[200];
    if (!nccl_layout_init(&layout, machine, settings, members, n, error, sizeof error))
        fail_msg("%s: %s", machine->name, error);
    assert_int_equal(layout.cluster.ranks, n);
    assert_true(layout.channels.all > 0 && layout.channels.p2p_per_peer > 0);
    for (uint32_t c = 0; c < layout.channels.all; c++) {
        check_ring(&layout, members, c);
        check_tree(&layout, members, c);
    }
    check_nvls(&layout, 0);
    check_nvls(&layout, 1);
    check_pairs(&layout, members);
    nccl_layout_free(&layout);
}

// Members of some servers in which `use` says which GPUs they have.
static uint32_t members_of(const struct nccl_machine *m, uint32_t servers, uint64_t even,
                           uint64_t odd, struct nccl_member *members)
{
    uint32_t n = 0;
    for (uint32_t s = 0; s < servers; s++)
        for (uint32_t g = 0; g < m->gpus; g++)
            if ((s % 2 == 0 ? even : odd) >> g & 1)
                members[n++] = (struct nccl_member){.server = 7 - s, .gpu = g};
    return n;
}

static void test_machines(void **state)
{
    (void)state;
    static const uint64_t sets[][2] = {{UINT64_MAX, UINT64_MAX}, {1, 1}, {0x5a, 0x5a}, {0xff, 0x3}};
    static struct nccl_member members[RANKS];
    unsigned n = 0;
    for (uint32_t i = 0; nccl_machine_at(i) != NULL; i++) {
        const struct nccl_machine *machine = nccl_machine_at(i);
        assert_ptr_equal(nccl_machine_named(machine->name), machine);
        for (unsigned version = 0; version < NCCL_VERSIONS; version++)
            for (unsigned set = 0; set < sizeof sets / sizeof *sets; set++)
                for (uint32_t servers = 1; servers <= 3; servers += 2) {
                    struct nccl_settings settings = settings_of((enum nccl_version)version);
                    uint32_t ranks =
                        members_of(machine, servers, sets[set][0], sets[set][1], members);
                    if (ranks == 0)
                        continue;
                    check(machine, &settings, members, ranks);
                    n++;
                }
    }
    assert_int_equal(n, 228);
    assert_null(nccl_machine_named("tpu_v4"));
}

static void make_layout(struct nccl_layout *layout, const char *machine,
                        const struct nccl_settings *settings)
{
    struct nccl_member members[2 * NCCL_SERVER_GPUS];
    const struct nccl_machine *m = nccl_machine_named(machine);
    char error[200];
    uint32_t n = members_of(m, 2, UINT64_MAX, UINT64_MAX, members);
    assert_true(nccl_layout_init(layout, m, settings, members, n, error, sizeof error));
}

// Ranks in any order, and settings that change the search.
static void test_settings(void **state)
{
    (void)state;
    const struct nccl_machine *machine = nccl_machine_named("dgx_h100");
    struct nccl_member members[32];
    for (uint32_t r = 0; r < 32; r++)
        members[r] = (struct nccl_member){.server = r % 4, .gpu = 7 - r / 4};
    for (unsigned version = 0; version < NCCL_VERSIONS; version++)
        for (uint32_t cross = 0; cross <= NCCL_CROSS_NIC_AUTO; cross++)
            for (unsigned bits = 0; bits < 8; bits++) {
                struct nccl_settings settings = settings_of((enum nccl_version)version);
                settings.cross_nic = cross;
                settings.pxn = bits & 1;
                settings.nvls = bits & 2;
                settings.max_channels = bits & 4 ? 3 : 0;
                settings.min_channels = bits & 4 ? 5 : 0;
                check(machine, &settings, members, 32);
            }
    struct nccl_layout layout;
    struct nccl_settings settings = settings_of(NCCL_2_30_7);
    settings.max_channels = 3;
    settings.min_channels = 5;
    make_layout(&layout, "dgx_h100", &settings);
    assert_int_equal(layout.channels.rings, 5);
    for (uint32_t rank = 0; rank < 16; rank++) // the copies have the same neighbours
        assert_int_equal(nccl_layout_ring(&layout, 4, rank).next,
                         nccl_layout_ring(&layout, 1, rank).next);
    nccl_layout_free(&layout);
    settings = settings_of(NCCL_2_27_7);
    settings.nvls = false;
    make_layout(&layout, "dgx_h100", &settings);
    assert_int_equal(layout.channels.nvls, 0);
    assert_int_equal(nccl_layout_nvls_heads(&layout), 0);
    nccl_layout_free(&layout);
}

// Servers without NVLink, without switches, or with as much as there can be.
static void test_other_machines(void **state)
{
    (void)state;
    static struct nccl_member members[3 * NCCL_SERVER_GPUS];
    struct nccl_machine machine = *nccl_machine_named("dgx_a100");
    for (unsigned version = 0; version < NCCL_VERSIONS; version++) {
        struct nccl_settings settings = settings_of((enum nccl_version)version);
        for (unsigned cpu = NCCL_CPU_INTEL; cpu <= NCCL_CPU_ARM; cpu++) {
            machine = *nccl_machine_named("dgx_a100");
            machine.cpu = (enum nccl_cpu)cpu;
            machine.nvlink = NCCL_NVLINK_NONE;
            check(&machine, &settings, members,
                  members_of(&machine, 3, UINT64_MAX, UINT64_MAX, members));
            check(&machine, &settings, members, members_of(&machine, 1, 3, 3, members));
        }
        machine.nics = 1;
        check(&machine, &settings, members,
              members_of(&machine, 3, UINT64_MAX, UINT64_MAX, members));
        machine = *nccl_machine_named("gh200");
        machine.nvlink = NCCL_NVLINK_SWITCH;
        machine.gpus = NCCL_SERVER_GPUS;
        machine.nics = NCCL_SERVER_NICS;
        for (uint32_t g = 0; g < NCCL_SERVER_GPUS; g++) {
            machine.gpu_slot[g] = machine.nic_slot[g] =
                (struct nccl_slot){.at_cpu = true, .parent = (uint8_t)(g / 16), .bw = 48};
            machine.nic_gbps[g] = 400;
        }
        check(&machine, &settings, members,
              members_of(&machine, 2, UINT64_MAX, UINT64_MAX, members));
    }
}

/* ---- errors ---- */

static void refused(const struct nccl_machine *machine, const struct nccl_member *members,
                    uint32_t n, const char *sentence)
{
    struct nccl_layout layout;
    struct nccl_settings settings = settings_of(NCCL_2_27_7);
    char error[200] = "";
    assert_false(nccl_layout_init(&layout, machine, &settings, members, n, error, sizeof error));
    assert_string_equal(error, sentence);
}

static void test_errors(void **state)
{
    (void)state;
    const struct nccl_machine *dgx = nccl_machine_named("dgx_h100");
    static const struct nccl_member members[] = {{0, 0}, {1, 3}, {1, 3}, {2, 8}};
    struct nccl_machine m = *dgx;
    refused(dgx, members, 0, "A communicator has 1 to 2147483647 ranks, not 0.");
    refused(dgx, members, 3, "Two ranks use GPU 3 of server 1.");
    refused(dgx, members + 3, 1, "Rank 0 uses GPU 8, but a server has 8.");
    m.nics = 0;
    refused(&m, members, 2, "Ranks are in several servers, but these have no NICs.");
    m.nics = 65;
    refused(&m, members, 2, "A server has at most 64 NICs and 32 switches.");
    m = *dgx;
    m.gpus = 65;
    refused(&m, members, 2, "A server has 1 to 64 GPUs, not 65.");
    m = *dgx;
    m.cpus = 0;
    refused(&m, members, 2, "A server has 1 to 16 CPUs, not 0.");
    m.cpus = 1;
    refused(&m, members, 2, "Switch 4 has no CPU or no rate in range.");
    m = *dgx;
    m.gpu_slot[2].parent = 8;
    refused(&m, members, 2, "GPU 2 is under switch 8, which the machine lacks.");
    m = *dgx;
    m.nic_slot[5] = (struct nccl_slot){.at_cpu = true, .parent = 2, .bw = 1};
    refused(&m, members, 2, "NIC 5 is under CPU 2, which the machine lacks.");
    m = *dgx;
    m.gpu_slot[1].bw = 0;
    refused(&m, members, 2, "The PCIe of GPU 1 has no rate in range.");
    m = *dgx;
    m.nic_gbps[7] = 1e300;
    refused(&m, members, 2, "NIC 7 has no rate in range.");
    m = *dgx;
    m.cpu_bw = -1;
    refused(&m, members, 2, "A rate of NVLink, C2C or CPUs is out of range.");
    m = *dgx;
    m.nvlinks = UINT32_MAX;
    refused(&m, members, 2, "The NVLinks of a GPU are none or too many.");
    m = *dgx;
    m.nvlink = (enum nccl_nvlink)9;
    refused(&m, members, 2, "The kind of GPU, CPU or NVLink is unknown.");
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_machines),
        cmocka_unit_test(test_settings),
        cmocka_unit_test(test_other_machines),
        cmocka_unit_test(test_errors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
