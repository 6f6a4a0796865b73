// SPDX-License-Identifier: MIT
// Random scenarios.
#include "tests/support/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cc/registry.h"
#include "engine/base/rng.h"

#define GBPS UINT64_C(1000000000)

static uint64_t pick(struct rng *rng, const uint64_t *list, size_t n)
{
    return list[rng_below(rng, n)];
}
#define PICK(rng, list) pick(rng, list, sizeof list / sizeof *list)

static const uint64_t rates[] = {25, 40, 100, 100, 200, 400, 800};
static const uint64_t mtus[] = {256, 1000, 1448, 4096, 9000};

static struct link_spec random_link(struct rng *rng)
{
    return (struct link_spec){.rate_bps = PICK(rng, rates) * GBPS,
                              .delay_ps = (ps_t)rng_below(rng, 4 * PS_PER_US)};
}

// Every fourth scenario has links between the ranks only.
static bool is_direct(uint64_t seed) { return seed % 4 == 0; }

static uint32_t random_fabric(struct fixture *f, struct rng *rng, uint64_t seed)
{
    uint32_t ranks = 3 + (uint32_t)rng_below(rng, 10);
    if (is_direct(seed)) { // only kinds whose buffers cannot wait for each other in a cycle
        struct link_spec link = random_link(rng);
        ranks = ranks < 10 ? ranks : 9; // few enough ranks for 8 INT records
        fixture_direct(f, rng_below(rng, 4) ? "mesh" : "fully_connected", ranks, link.rate_bps,
                       link.delay_ps);
        return ranks;
    }
    if (rng_below(rng, 2)) {
        struct link_spec link = random_link(rng);
        fixture_switch(f, ranks, link.rate_bps, link.delay_ps);
        return ranks;
    }
    uint32_t per_leaf = 1 + (uint32_t)rng_below(rng, 4), leaves = 2 + (uint32_t)rng_below(rng, 3);
    uint32_t spines = 1 + (uint32_t)rng_below(rng, 3);
    fixture_leaf_spine(f, per_leaf * leaves, per_leaf, spines, random_link(rng), random_link(rng));
    return per_leaf * leaves;
}

// Any preset of any policy; in a third of the cases `none`, because only that fills buffers
// reliably.
static void random_policy(struct fixture *f, struct rng *rng)
{
    size_t n = 0;
    while (cc_registry[n])
        n++;
    const struct cc_ops *ops = cc_registry[rng_below(rng, 3) ? rng_below(rng, n) : 0];
    fixture_cc(f, ops->name, ops->presets[rng_below(rng, ops->n_presets)].name, NULL);
}

void random_classes(struct fixture *f, uint64_t seed)
{
    struct rng rng = rng_init(seed, RNG_WORKLOAD, 9);
    if (rng_below(&rng, 2))
        return;
    size_t n = f->lists[0].list.n, jobs = 2 + rng_below(&rng, 2);
    unsigned first = (unsigned)rng_below(&rng, SWITCH_CLASSES);
    for (size_t j = 0; j < jobs; j++) {
        // 1 and 3 apart
        fixture_flow_job(f, j, f->jobs[0].name, (first + (uint32_t)(j * j)) % SWITCH_CLASSES,
                         n * j / jobs, n * (j + 1) / jobs - n * j / jobs);
        f->spec.dims[0].sw.classes[f->jobs[j].cls] =
            (struct class_spec){.lossless = LOSSLESS_ON,
                                .weight = 1 + rng_below(&rng, 6),
                                .alpha = rng_below(&rng, 2) ? PARAM_AUTO_RATIO : 0.3};
    }
    f->spec.n_jobs = jobs;
    f->spec.dims[0].sw.buffer_bytes *= jobs; // headroom for each class
}

void random_lossless(struct fixture *f, uint64_t seed)
{
    struct rng rng = rng_init(seed, RNG_WORKLOAD, 7);
    uint32_t ranks = random_fabric(f, &rng, seed);
    struct dim_spec *dim = &f->spec.dims[0];
    f->spec.seed = seed;
    dim->sw.int_hops = 8;
    roce_spec_of(&dim->transport)->mtu_bytes = PICK(&rng, mtus);
    roce_spec_of(&dim->transport)->ack_interval = 1 + rng_below(&rng, 8);
    roce_spec_of(&dim->transport)->ack_class = (int)rng_below(&rng, 2);
    dim->transport.start_jitter_ps = (ps_t)rng_below(&rng, 2) * PS_PER_US;
    dim->transport.clock_ppm = rng_below(&rng, 2) ? 100 : 0;
    dim->sw.pfc.response_ps = (ps_t)rng_below(&rng, 2) * (ps_t)rng_below(&rng, 500 * PS_PER_NS);
    dim->sw.pfc.alpha = rng_below(&rng, 2) ? 0.125 : 1;
    dim->sw.buffer_bytes = UINT64_C(3000000) + rng_below(&rng, 4000000);
    if (rng_below(&rng, 2)) // little above the sum of reserve and headroom, so that senders are
                            // paused all the time
        dim->sw.buffer_bytes = 0;
    random_policy(f, &rng);
    uint32_t hot = (uint32_t)rng_below(&rng, ranks), n = 2 + (uint32_t)rng_below(&rng, 3 * ranks);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t src = (uint32_t)rng_below(&rng, ranks);
        uint32_t dst = rng_below(&rng, 3) ? hot : (uint32_t)rng_below(&rng, ranks);
        if (src == dst)
            dst = (dst + 1) % ranks;
        fixture_flow(f, src, dst, 1 + rng_below(&rng, 400000),
                     (ps_t)rng_below(&rng, 50 * PS_PER_US));
    }
    random_classes(f, seed);
}

uint64_t fixture_buffer_for(const struct fixture *f, uint64_t shared)
{
    struct fixture probe = *f;
    struct err err = {0};
    uint64_t buffer = 0;
    probe.spec.jobs = probe.jobs;
    probe.spec.dims[0].sw.buffer_bytes = UINT64_C(100000000000);
    struct sim *sim = sim_new(&probe.spec, &err);
    assert_non_null(sim);
    err_free(&err); // warnings
    for (uint32_t s = 0; s < sim->fabric.switches.n_switches + sim->fabric.switches.n_routers;
         s++) {
        uint64_t taken = UINT64_C(100000000000) - sim->fabric.switches.nodes[s].mmu.shared_bytes;
        buffer = taken + shared > buffer ? taken + shared : buffer;
    }
    sim_free(sim);
    return buffer;
}

// Two dimensions whose sizes multiply to the number of ranks, under a random schedule. Nothing if
// the number is prime.
static void random_dims(struct fixture *f, struct rng *rng, uint32_t ranks)
{
    static const char *const algorithms[] = {"ring", "direct", "halving_doubling"};
    const char *chosen[] = {algorithms[rng_below(rng, 3)], algorithms[rng_below(rng, 3)]};
    struct coll_schedule *s = &f->collectives[0].schedule;
    uint32_t inner = 2;
    while (inner < ranks && ranks % inner != 0)
        inner++;
    if (inner >= ranks)
        return;
    fixture_dims(f, 2, (uint32_t[]){inner, ranks / inner}, chosen);
    s->active_chunks = rng_below(rng, 3);
    s->phases = (int)rng_below(rng, 2);
    s->order = (int)rng_below(rng, 3);
    s->queueing = (int)rng_below(rng, 3);
    s->endpoint_ps = rng_below(rng, 2) ? (ps_t)rng_below(rng, 2 * PS_PER_US) : 0;
    s->reduce_bps = rng_below(rng, 2) ? UINT64_C(100000000000) : 0;
}

static void random_collective(struct fixture *f, struct rng *rng)
{
    static const char *const algorithms[] = {"ring", "direct", "halving_doubling",
                                             "tree", "bruck",  "double_binary_tree"};
    const char *algorithm = algorithms[rng_below(rng, 6)], *why;
    enum coll_op op = (enum coll_op)rng_below(rng, COLL_OPS);
    uint64_t bytes = 1 + rng_below(rng, 2000000);
    uint64_t chunks = 1 + rng_below(rng, 4);
    size_t jobs = f->spec.n_jobs;
    struct coll_shape shape = {.op = op, .ranks = f->spec.dims[0].size, .bytes = bytes};
    if (!coll_find(algorithm)->supports(&shape, &why))
        algorithm = "direct";
    fixture_collective(f, op, algorithm, bytes, chunks);
    f->spec.n_jobs = jobs;
    f->collectives[0].params.repeat = 1 + rng_below(rng, 3);
    static const char *const pieces[] = {"auto", "1", "2", "3"};
    fixture_setting(f, "pieces", pieces[rng_below(rng, 4)]);
    fixture_setting(f, "ring_directions", rng_below(rng, 2) == 1 ? "2" : "1");
    if (op <= COLL_ALL_GATHER && rng_below(rng, 2))
        random_dims(f, rng, shape.ranks);
}

// Loss everywhere, or failing links of a switch, with or without detection and repair.
static void random_faults(struct fixture *f, struct rng *rng)
{
    static const char *const places[] = {"*", "rank1", "*->rank0", "spine0", "leaf0->spine*"};
    f->spec.n_faults = 1 + rng_below(rng, 2);
    f->spec.faults = f->faults;
    for (size_t i = 0; i < f->spec.n_faults; i++) {
        bool fails = rng_below(rng, 2);
        ps_t down = (ps_t)rng_below(rng, 60 * PS_PER_US);
        f->faults[i] = (struct fault_spec){
            .at = places[rng_below(rng, f->spec.dims[0].kind->fabric ? 5 : 3)],
            .one_way = rng_below(rng, 2),
            .loss = fails ? 0 : 0.001 * (double)rng_below(rng, 20),
            .corruption = fails ? 0 : 0.001 * (double)rng_below(rng, 20),
            .pfc = rng_below(rng, 2),
            .down_ps = fails ? down : PS_NEVER,
            .up_ps = fails && rng_below(rng, 2) ? down + 50 * PS_PER_US : PS_NEVER,
            .detect_ps = rng_below(rng, 2) ? 10 * PS_PER_US : PS_NEVER,
            .storm_ps = rng_below(rng, 4) ? PS_NEVER : (ps_t)rng_below(rng, 100 * PS_PER_US),
            .storm_end_ps = 150 * PS_PER_US};
    }
    roce_spec_of(&f->spec.dims[0].transport)->rto_ps = 100 * PS_PER_US;
    roce_spec_of(&f->spec.dims[0].transport)->retry_limit = 3;
}

static void random_lossy_classes(struct fixture *f, struct rng *rng)
{
    for (size_t j = 1; j < f->spec.n_jobs; j++)
        f->spec.dims[0].sw.classes[f->jobs[j].cls].lossless =
            rng_below(rng, 2) ? LOSSLESS_ON : LOSSLESS_OFF;
}

// Properties of fabrics that are compared with measured runs: fixed queue limits, listed losses,
// links that differ by direction.
static void random_measured(struct fixture *f, uint64_t seed)
{
    struct rng rng = rng_init(seed, RNG_WORKLOAD, 9);
    struct dim_spec *dim = &f->spec.dims[0];
    static uint64_t packets[] = {1, 4, 5, 30};
    if (rng_below(&rng, 6) == 0)
        dim->sw.queue_limit.packets = 1 + rng_below(&rng, 40);
    if (rng_below(&rng, 6) == 0)
        dim->sw.queue_limit.bytes = 1 + rng_below(&rng, 100000);
    dim->sw.ecn.at = (int)rng_below(&rng, 4) == 0 ? ECN_AT_ARRIVAL : ECN_AT_DEPARTURE;
    dim->sw.ecn.not_ect = (int)rng_below(&rng, 4) == 0 ? NOT_ECT_DROP : NOT_ECT_FORWARD;
    for (unsigned l = 0; l < 2 && rng_below(&rng, 5) == 0; l++) {
        dim->links[l].reverse_rate_bps = (1 + rng_below(&rng, 400)) * GBPS;
        dim->links[l].reverse_delay_ps = (ps_t)rng_below(&rng, 4 * PS_PER_US);
    }
    for (size_t i = 0; i < f->spec.n_faults; i++) {
        struct fault_spec *fault = &f->faults[i];
        fault->times = 1 + rng_below(&rng, 3);
        fault->every = rng_below(&rng, 2) ? 0 : 1 + rng_below(&rng, 200);
        fault->packets = packets;
        fault->n_packets = rng_below(&rng, 5);
        fault->blackout_packet = rng_below(&rng, 2) ? 0 : 1 + rng_below(&rng, 100);
        fault->blackout_ps = (ps_t)rng_below(&rng, 30 * PS_PER_US);
    }
}

void random_any(struct fixture *f, uint64_t seed)
{
    random_lossless(f, seed);
    struct rng rng = rng_init(seed, RNG_WORKLOAD, 8);
    struct dim_spec *dim = &f->spec.dims[0];
    static const char *const direct[] = {"ring", "ring", "mesh", "dln"};
    if (is_direct(seed))
        fixture_kind(dim, direct[rng_below(&rng, 4)]);
    uint64_t shared = dim->sw.buffer_bytes ? dim->sw.buffer_bytes : 60000;
    struct param planes = param_find(dim->kind->params, dim->kind->n_params, "planes");
    if (planes.name && rng_below(&rng, 3) == 0) { // two parallel switches, with messages over both
        struct err err = {0};
        param_set(&planes, dim->params, "2", "planes", &err);
        dim->transport.stripe = rng_below(&rng, 2);
    }
    if (rng_below(&rng, 3) == 0)
        random_collective(f, &rng);
    if (rng_below(&rng, 4) == 0) { // loss, recovered by go-back-N
        dim->sw.pfc.enabled = false;
        shared = 20000 + rng_below(&rng, 300000);
        roce_spec_of(&dim->transport)->rto_ps = (ps_t)(1 + rng_below(&rng, 300)) * PS_PER_US;
        roce_spec_of(&dim->transport)->retry_limit = rng_below(&rng, 8);
    }
    if (rng_below(&rng, 2)) {
        uint64_t kmin = rng_below(&rng, 60000);
        dim->sw.ecn = (struct ecn_spec){.mode = ECN_ON,
                                        .kind = rng_below(&rng, 3) ? MARKING_RED : MARKING_PI,
                                        .kmin_bytes = kmin,
                                        .kmax_bytes = kmin + rng_below(&rng, 100000),
                                        .pmax = 0.3,
                                        .qref_bytes = kmin,
                                        .pi_a = 0.002,
                                        .pi_b = 0.0019,
                                        .pi_interval_ps = PS_PER_US};
    }
    if (rng_below(&rng, 4) == 0) {
        dim->sw.telemetry = TELEMETRY_ON;
        dim->sw.int_encoding = (int)rng_below(&rng, 2);
        dim->sw.int_hops = is_direct(seed) ? 8 : dim->sw.int_hops;
        if (is_direct(seed) && dim->size > 10) // more hops than INT has records for
            dim->sw.telemetry = TELEMETRY_OFF;
    }
    if (rng_below(&rng, 4) == 0) {
        dim->sw.pfc.watchdog = true;
        dim->sw.pfc.watchdog_detect_ps = 20 * PS_PER_US;
        dim->sw.pfc.watchdog_restore_ps = 30 * PS_PER_US;
    }
    if (rng_below(&rng, 3) == 0)
        dim->sw.pfc.quanta = 10 + rng_below(&rng, 1000); // so that pauses expire and are refreshed
    if (rng_below(&rng, 3) == 0) {
        static const char *const presets[] = {"scaled", "paper", "nic", "hpcc_sim", "khan2022"};
        fixture_cc(f, "dcqcn", presets[rng_below(&rng, 5)], NULL);
        roce_spec_of(&dim->transport)->cnp = CNP_NP_TIMER + (int)rng_below(&rng, 2);
        roce_spec_of(&dim->transport)->cnp_scope = (int)rng_below(&rng, 4); // auto and the three
                                                                            // scopes
    }
    if (rng_below(&rng, 4) == 0)
        random_faults(f, &rng);
    if (rng_below(&rng, 3) == 0) {
        roce_spec_of(&dim->transport)->recovery = RECOVERY_SELECTIVE_REPEAT;
        roce_spec_of(&dim->transport)->bdp_cap = rng_below(&rng, 2);
        roce_spec_of(&dim->transport)->reorder_packets = rng_below(&rng, 5);
        if (rng_below(&rng, 2))
            roce_spec_of(&dim->transport)->rto_low_ps = roce_spec_of(&dim->transport)->rto_high_ps =
                100 * PS_PER_US;
    }
    dim->sw.routing.kind = rng_below(&rng, 2) ? ROUTING_ECMP : (int)rng_below(&rng, 5);
    dim->sw.routing.spray = (int)rng_below(&rng, 2);
    dim->sw.routing.flowlet_gap_ps = PS_PER_US;
    roce_spec_of(&dim->transport)->qp = (int)rng_below(&rng, 2);
    roce_spec_of(&dim->transport)->qps_per_pair = 1 + rng_below(&rng, 3);
    if (rng_below(&rng, 3) == 0)
        f->spec.duration_ps = (ps_t)(1 + rng_below(&rng, 200)) * PS_PER_US;
    random_lossy_classes(f, &rng);
    random_measured(f, seed);
    dim->sw.buffer_bytes = fixture_buffer_for(f, shared); // last, because it depends on the rest
}
