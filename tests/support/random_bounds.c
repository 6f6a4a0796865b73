// SPDX-License-Identifier: MIT
// Random scenarios for the test of ideal times.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cc/registry.h"
#include "engine/base/rng.h"
#include "net/topology/graph_kind.h"
#include "tests/support/random.h"

#define LINKS_MAX 96

static uint64_t one_of(struct rng *rng, const uint64_t *list, size_t n)
{
    return list[rng_below(rng, n)];
}
#define ONE_OF(rng, list) one_of(rng, list, sizeof list / sizeof *list)

static struct link_spec any_link(struct rng *rng)
{
    static const uint64_t rates[] = {1000000000,   3700000000,   25000000000,  100000000000,
                                     100000000000, 400000000000, 2400000000000};
    // The other direction is drawn apart, so that a link that differs by direction is the only
    // change.
    struct rng other = rng_init(rng->seed, RNG_WORKLOAD, 20 + (uint32_t)rng->counter);
    uint64_t rate = ONE_OF(rng, rates), reverse = rng_below(&other, 3) ? 0 : ONE_OF(&other, rates);
    return (struct link_spec){
        .rate_bps = rate,
        .delay_ps = rng_below(rng, 4) ? (ps_t)rng_below(rng, 2 * PS_PER_US) : 0,
        .reverse_rate_bps = reverse,
        .reverse_delay_ps = reverse > 0 ? (ps_t)rng_below(&other, 2 * PS_PER_US) : 0};
}

// Sizes of one byte, one packet, several packets with a small last one, and many packets.
static uint64_t any_bytes(struct rng *rng, uint64_t mtu)
{
    switch (rng_below(rng, 5)) {
    case 0:
        return 1 + rng_below(rng, 64);
    case 1:
        return 1 + rng_below(rng, mtu);
    case 2:
        return (1 + rng_below(rng, 6)) * mtu + rng_below(rng, 3);
    case 3:
        return 1 + rng_below(rng, 20 * mtu);
    default:
        return 1 + rng_below(rng, 300000);
    }
}

static void set_param(struct dim_spec *dim, const char *name, uint64_t value)
{
    struct err err = {0};
    char text[32];
    struct param p = param_find(dim->kind->params, dim->kind->n_params, name);
    snprintf(text, sizeof text, "%llu", (unsigned long long)value);
    if (p.name)
        assert_int_equal(param_set(&p, dim->params, text, name, &err), 0);
}

// Ranks with one to three links each to switches, which are joined in a row and by some random
// links.
static void unequal_graph(struct fixture *f, struct rng *rng, uint32_t ranks)
{
    static struct graph_link links[LINKS_MAX]; // used by the scenario drawn last
    uint32_t n = 0, switches = 1 + (uint32_t)rng_below(rng, 5);
    for (uint32_t s = 1; s < switches; s++)
        links[n++] = (struct graph_link){{{s - 1, true}, {s, true}}, any_link(rng)};
    for (uint32_t extra = (uint32_t)rng_below(rng, 6); extra > 0 && switches > 1; extra--) {
        uint32_t a = (uint32_t)rng_below(rng, switches), b = (uint32_t)rng_below(rng, switches);
        if (a != b)
            links[n++] = (struct graph_link){{{a, true}, {b, true}}, any_link(rng)};
    }
    for (uint32_t r = 0; r < ranks; r++)
        for (uint64_t i = 1 + rng_below(rng, 3); i > 0; i--)
            links[n++] = (struct graph_link){
                {{r, false}, {(uint32_t)rng_below(rng, switches), true}}, any_link(rng)};
    fixture_kind(&f->spec.dims[0], "graph");
    struct graph_params params = {
        .file = "random", .switches = switches, .n_links = n, .links = links};
    memcpy(f->spec.dims[0].params, &params, sizeof params);
}

static uint32_t any_network(struct fixture *f, struct rng *rng)
{
    static const char *const direct[] = {"ring", "mesh", "fully_connected"};
    uint32_t ranks = 2 + (uint32_t)rng_below(rng, 9);
    struct link_spec link = any_link(rng);
    switch (rng_below(rng, 4)) {
    case 0:
        fixture_switch(f, ranks, link.rate_bps, link.delay_ps);
        f->spec.dims[0].links[0] = link;
        set_param(&f->spec.dims[0], "planes", 1 + rng_below(rng, 4));
        break;
    case 1:
        fixture_direct(f, direct[rng_below(rng, 3)], ranks, link.rate_bps, link.delay_ps);
        f->spec.dims[0].links[0] = link;
        set_param(&f->spec.dims[0], "parallel", 1 + rng_below(rng, 3));
        break;
    case 2:
        fixture_switch(f, ranks, link.rate_bps, link.delay_ps);
        unequal_graph(f, rng, ranks);
        break;
    default:
        ranks = 2 * (2 + ranks % 4);
        fixture_leaf_spine(f, ranks, 2, 1 + (uint32_t)rng_below(rng, 3), link, any_link(rng));
    }
    if (!f->spec.dims[0].kind->direct && rng_below(rng, 3) == 0)
        f->spec.dims[0].ranks_per_port = ranks % 2 == 0 ? 2 : 1;
    return ranks;
}

// A second dimension around the first, and relays between pairs that neither dimension joins.
static uint32_t second_dim(struct fixture *f, struct rng *rng, uint32_t ranks)
{
    struct dim_spec *dims = f->spec.dims;
    if (dims[0].kind->fabric || rng_below(rng, 2))
        return ranks;
    struct fixture other;
    struct link_spec link = any_link(rng);
    fixture_switch(&other, 2, link.rate_bps, link.delay_ps);
    dims[1] = other.spec.dims[0];
    dims[1].links[0] = link;
    set_param(&dims[1], "planes", 1 + rng_below(rng, 3));
    f->spec.n_dims = 2;
    dims[0].sw.routing.relay = dims[1].sw.routing.relay = true;
    return 2 * ranks;
}

static void any_transport(struct dim_spec *dim, struct rng *rng)
{
    static const uint64_t mtus[] = {64, 256, 1000, 4096, 9000};
    struct transport_spec *t = &dim->transport;
    struct roce_spec *roce = roce_spec_of(t);
    roce->mtu_bytes = ONE_OF(rng, mtus);
    roce->ack_interval = rng_below(rng, 2) ? 1 : 1 + rng_below(rng, 20);
    roce->ack_class = (int)rng_below(rng, 2);
    roce->qp = (int)rng_below(rng, 2);
    roce->qps_per_pair = 1 + rng_below(rng, 3);
    t->stripe = rng_below(rng, 4) > 0;
    t->overhead = (int)rng_below(rng, 3);
    t->overhead_data = 1 + rng_below(rng, 100);
    t->overhead_ack = 1 + rng_below(rng, 100);
    t->clock_ppm = rng_below(rng, 4) ? 0 : 100;
    roce->recovery = (int)rng_below(rng, 2);
    dim->sw.routing.kind = (int)rng_below(rng, ROUTING_STATIC);
    dim->sw.routing.flowlet_gap_ps = PS_PER_US;
    dim->sw.buffer_bytes = UINT64_C(2000000000);
}

static void any_collective(struct fixture *f, struct rng *rng, uint32_t ranks)
{
    static const char *const algorithms[] = {"ring", "direct", "halving_doubling",
                                             "tree", "bruck",  "double_binary_tree"};
    const char *algorithm = algorithms[rng_below(rng, 6)], *why;
    enum coll_op op = (enum coll_op)rng_below(rng, COLL_OPS);
    uint64_t bytes = any_bytes(rng, roce_spec_of(&f->spec.dims[0].transport)->mtu_bytes) *
                     (1 + rng_below(rng, 9));
    struct coll_shape shape = {.op = op, .ranks = ranks, .bytes = bytes};
    if (!coll_find(algorithm)->supports(&shape, &why))
        algorithm = "direct";
    fixture_collective(f, op, algorithm, bytes, 1 + rng_below(rng, 4));
    f->collectives[0].params.repeat = 1 + rng_below(rng, 2);
    static const char *const pieces[] = {"auto", "1", "2", "3"};
    fixture_setting(f, "pieces", pieces[rng_below(rng, 4)]);
    fixture_setting(f, "ring_directions", rng_below(rng, 2) == 1 ? "2" : "1");
    f->collectives[0].schedule.endpoint_ps =
        rng_below(rng, 3) ? 0 : (ps_t)rng_below(rng, PS_PER_US);
}

static void other_networks(struct fixture *f, struct rng *rng)
{
    uint32_t ranks = any_network(f, rng);
    any_transport(&f->spec.dims[0], rng);
    uint32_t share = f->spec.dims[0].ranks_per_port;
    ranks = second_dim(f, rng, ranks);
    f->spec.seed = rng_below(rng, 1000);
    if (f->spec.n_dims > 1) {
        f->spec.dims[1].transport = f->spec.dims[0].transport;
        f->spec.dims[1].sw.buffer_bytes = f->spec.dims[0].sw.buffer_bytes;
        f->spec.dims[0].ranks_per_port = share;
    }
    if (rng_below(rng, 2)) {
        any_collective(f, rng, ranks);
        return;
    }
    bool alone = rng_below(rng, 2);
    for (uint32_t i = 0; i < 3 * ranks; i++) {
        uint32_t src = (uint32_t)rng_below(rng, ranks), dst = (uint32_t)rng_below(rng, ranks - 1);
        fixture_flow(f, src, dst + (dst >= src),
                     any_bytes(rng, roce_spec_of(&f->spec.dims[0].transport)->mtu_bytes),
                     alone ? i * 10 * PS_PER_MS : (ps_t)rng_below(rng, 20 * PS_PER_US));
    }
}

void random_bounds(struct fixture *f, uint64_t seed)
{
    struct rng rng = rng_init(seed, RNG_WORKLOAD, 10);
    if (seed % 2) {
        other_networks(f, &rng);
        return;
    }
    random_any(f, seed);
    f->spec.duration_ps = PS_NEVER;
    for (size_t i = 0; i < f->lists[0].list.n; i++)
        f->flows[i].bytes = any_bytes(&rng, roce_spec_of(&f->spec.dims[0].transport)->mtu_bytes);
}
