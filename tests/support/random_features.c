// SPDX-License-Identifier: MIT
// Random scenarios with one further feature each, which most scenarios do not have.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/rng.h"
#include "net/topology/circuit_schedule.h"
#include "tests/support/random.h"
#include "transport/tcp/tcp_spec.h"
#include "transport/transport.h"

// A link that loses packets and sends them again; in a third of the cases it gives packets up.
static void link_retry(struct fixture *f, struct rng *rng)
{
    struct dim_spec *dim = &f->spec.dims[0];
    static const char *const places[] = {"*", "rank1", "*->rank0", "rank0->*"};
    bool hopeless = rng_below(rng, 3) == 0;
    dim->sw.llr = true;
    roce_spec_of(&dim->transport)->rto_ps = 100 * PS_PER_US;
    roce_spec_of(&dim->transport)->retry_limit = 3;
    if (f->spec.n_faults == 0)
        f->spec.faults = f->faults;
    f->spec.n_faults = f->spec.n_faults == 0 ? 1 : f->spec.n_faults;
    f->faults[0] = fixture_fault(places[rng_below(rng, 4)]);
    f->faults[0].loss = 0.001 * (double)rng_below(rng, 100);
    f->faults[0].corruption = 0.001 * (double)rng_below(rng, 20);
    f->faults[0].one_way = rng_below(rng, 2);
    f->faults[0].pfc = rng_below(rng, 2);
    f->faults[0].every = rng_below(rng, 2) ? 0 : 2 + rng_below(rng, 100);
    f->faults[0].times = hopeless ? 1000 : 1 + rng_below(rng, 3);
    f->faults[0].down_ps = rng_below(rng, 3) ? PS_NEVER : (ps_t)rng_below(rng, 40 * PS_PER_US);
    f->faults[0].up_ps =
        f->faults[0].down_ps == PS_NEVER ? PS_NEVER : f->faults[0].down_ps + 30 * PS_PER_US;
}

static void timeline(struct fixture *f, struct rng *rng)
{
    f->spec.report.timeline = true;
    f->spec.report.timeline_ranks = 1 + rng_below(rng, 12);
}

// All ranks at one circuit switch with a random schedule, in place of the network.
static void circuits(struct fixture *f, struct rng *rng)
{
    struct dim_spec *dim = &f->spec.dims[0];
    struct link_spec link = dim->links[0];
    fixture_kind(dim, "circuit");
    dim->links[0] = link;
    dim->links[0].reverse_rate_bps = 0;
    dim->ranks_per_port = 1;
    struct circuit_params *params = (struct circuit_params *)(void *)dim->params;
    params->schedule = rng_below(rng, 3) ? "rotation" : "ring";
    params->ports = 2 + 2 * rng_below(rng, 2);
    params->duration_ps = (ps_t)(10 + rng_below(rng, 60)) * PS_PER_US;
    params->reconfiguration_ps = (ps_t)rng_below(rng, 10) * PS_PER_US;
    f->spec.n_faults = 0;
    dim->sw.telemetry = TELEMETRY_OFF;
}

// NICs with some of their limits.
static void nics(struct fixture *f, struct rng *rng)
{
    struct nic_spec *nic = &f->spec.dims[0].nic;
    static const char *const places[] = {"", "", "rank1", "rank0,rank1"};
    nic->at = places[rng_below(rng, 4)];
    nic->message_rate = rng_below(rng, 2) ? 0 : UINT64_C(500000) + rng_below(rng, 20000000);
    nic->bus_rate_bps =
        rng_below(rng, 2) ? 0 : UINT64_C(20000000000) + rng_below(rng, UINT64_C(400000000000));
    nic->buffer_bytes = 8000000 + rng_below(rng, 2) * 24000000;
    nic->bus_duplex = (int)rng_below(rng, 2);
    nic->qp_cache = rng_below(rng, 2) ? 0 : 1 + rng_below(rng, 6);
    nic->qp_miss_ps = (ps_t)rng_below(rng, 2 * PS_PER_US);
    nic->doorbell_ps = rng_below(rng, 2) ? 0 : (ps_t)rng_below(rng, 2 * PS_PER_US);
    nic->completion_ps = rng_below(rng, 3) == 0 ? 0 : (ps_t)rng_below(rng, 3 * PS_PER_US);
}

static void admission(struct fixture *f, struct rng *rng)
{
    struct transport_spec *t = &f->spec.dims[0].transport;
    t->admission = ADMISSION_CTS;
    t->channels = 1 + rng_below(rng, 3);
    t->slots = 1 + rng_below(rng, 4);
    t->slot_bytes = 2000 + rng_below(rng, 60000);
    t->grant_bytes = 1 + rng_below(rng, 60);
    t->slot_copy_ps = rng_below(rng, 2) ? 0 : (ps_t)rng_below(rng, 2 * PS_PER_US);
}

static void credits(struct fixture *f, struct rng *rng)
{
    (void)rng;
    f->spec.dims[0].sw.flow_control = FLOW_CONTROL_CREDIT;
    f->spec.dims[0].sw.pfc.enabled = true;
}

static struct host_stack random_stack(struct rng *rng)
{
    return (struct host_stack){
        .rate_bps = rng_below(rng, 2) ? 0 : UINT64_C(5000000000) + rng_below(rng, 90000000000),
        .packet_ps = (ps_t)rng_below(rng, 300 * PS_PER_NS),
        .call_ps = (ps_t)rng_below(rng, 2 * PS_PER_US),
        .segment_bytes = rng_below(rng, 2) ? 0 : 64000};
}

// TCP, where sending and receiving takes time of the CPU cores that the ranks of a host share.
static void hosts(struct fixture *f, struct rng *rng)
{
    struct transport_spec *t = &f->spec.dims[0].transport;
    size_t i = 0;
    while (strcmp(transport_registry[i]->name, "tcp") != 0)
        i++;
    transport_spec_init(t, transport_registry[i]);
    t->overhead = OVERHEAD_ETHERNET;
    tcp_spec_of(t)->retries = 1000;
    tcp_spec_of(t)->rto_min_ps = PS_PER_MS;
    fixture_cc(f, rng_below(rng, 2) ? "cubic" : "dctcp", NULL, NULL);
    f->spec.host = (struct host_spec){.given = true,
                                      .ranks = 1 + rng_below(rng, 3),
                                      .cores = rng_below(rng, 4),
                                      .threads = rng_below(rng, 3),
                                      .send = random_stack(rng),
                                      .receive = random_stack(rng)};
}

static void (*const features[])(struct fixture *,
                                struct rng *) = {[FEATURE_LINK_RETRY] = link_retry,
                                                 [FEATURE_TIMELINE] = timeline,
                                                 [FEATURE_CIRCUITS] = circuits,
                                                 [FEATURE_NICS] = nics,
                                                 [FEATURE_ADMISSION] = admission,
                                                 [FEATURE_CREDITS] = credits,
                                                 [FEATURE_HOSTS] = hosts};

void random_feature(struct fixture *f, uint64_t seed, enum random_feature feature)
{
    struct rng rng = rng_init(seed, RNG_WORKLOAD, 11);
    random_any(f, seed);
    f->spec.dims[0].links[0].delay_ps += 100 * PS_PER_NS; // a link without delay is not cut
    features[feature](f, &rng);
    f->spec.dims[0].sw.buffer_bytes = fixture_buffer_for(f, 20000 + rng_below(&rng, 200000));
}
