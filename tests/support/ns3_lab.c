// SPDX-License-Identifier: MIT
// The comparison with simulators of the ns-3 HPCC lineage. Facts of that source tree: one ACK per
// packet in the data queue, CE echoed on every ACK, every message a fresh flow at line rate, 36 +
// 1000 B per data packet and 48 B per ACK (42 more for INT under HPCC) without preamble, 32 MiB per
// switch, alpha 1/8.
#include "tests/support/ns3_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

// The measured run is one draw of ECMP. If it comes from the same distribution as ours, one of its
// figures is outside of all of ours with probability 2 / (SEEDS + 1): 3 % for 60 seeds, and there
// are three figures and six policies.
#define SEEDS 60

const char *const ns3_policies[] = {
    "none", "window", "dctcp", "hpcc", "dcqcn (hpcc_sim)", "dcqcn (hpcc_sim) + window", NULL};

json_t *ns3_load(const struct ns3_setup *setup)
{
    char path[128];
    snprintf(path, sizeof path, "tests/data/ns3/%s", setup->file);
    json_t *root = json_load_file(path, 0, NULL);
    assert_non_null(root);
    return root;
}

struct ns3_figures ns3_theirs(const json_t *root, const char *policy)
{
    const json_t *p = json_object_get(json_object_get(root, "policies"), policy);
    return (struct ns3_figures){json_number_value(json_object_get(p, "mean_fct_us")),
                                json_number_value(json_object_get(p, "max_fct_us")),
                                json_number_value(json_object_get(p, "maxq_kb"))};
}

static void set_policy(struct fixture *f, const struct ns3_setup *setup, const char *policy)
{
    struct ecn_spec *ecn = &f->spec.dims[0].sw.ecn;
    char window[64], cap[64];
    snprintf(window, sizeof window, "bytes=%s", setup->window);
    snprintf(cap, sizeof cap, "window_bytes=%s", setup->window);
    if (strcmp(policy, "none") == 0) {
        fixture_cc(f, "none", NULL, NULL);
    } else if (strcmp(policy, "window") == 0) {
        fixture_cc(f, "window", NULL, window, NULL);
    } else if (strcmp(policy, "hpcc") == 0) {
        fixture_cc(f, "hpcc", "hpcc_sim", NULL);
        f->spec.dims[0].sw.int_encoding = INT_ENCODING_HPCC64;
    } else if (strcmp(policy, "dctcp") == 0) {
        fixture_cc(f, "dctcp", "hpcc_sim", cap, NULL);
        *ecn = (struct ecn_spec){.mode = ECN_ON,
                                 .kmin_bytes = setup->step_bytes,
                                 .kmax_bytes = setup->step_bytes,
                                 .pmax = 1};
    } else {
        if (strstr(policy, "window"))
            fixture_cc(f, "dcqcn", "hpcc_sim", cap, "window_scales=true", NULL);
        else
            fixture_cc(f, "dcqcn", "hpcc_sim", NULL);
        *ecn = (struct ecn_spec){.mode = ECN_ON,
                                 .kmin_bytes = setup->kmin_bytes,
                                 .kmax_bytes = setup->kmax_bytes,
                                 .pmax = 0.2};
    }
}

// That tree rounds serialization to whole ns, up to 1 % of a packet. The links therefore get the
// rate at which a data packet takes the same time.
static void round_rates(struct fixture *f, uint32_t wire_bytes)
{
    for (unsigned i = 0; i < TOPOLOGY_MAX_LINKS && f->spec.dims[0].links[i].rate_bps > 0; i++) {
        struct link_spec *link = &f->spec.dims[0].links[i];
        uint64_t ns = (UINT64_C(8000000000) * wire_bytes + link->rate_bps / 2) / link->rate_bps;
        link->rate_bps = UINT64_C(8000000000) * wire_bytes / ns;
    }
}

struct ns3_figures ns3_ours(const struct ns3_setup *setup, const char *policy, uint64_t seed)
{
    struct fixture f;
    setup->build(&f);
    f.spec.seed = seed;
    struct dim_spec *dim = &f.spec.dims[0];
    roce_spec_of(&dim->transport)->mtu_bytes = 1000;
    dim->transport.overhead = OVERHEAD_CUSTOM;
    dim->transport.overhead_data = 36;
    dim->transport.overhead_ack = 48;
    roce_spec_of(&dim->transport)->qp = QP_PER_MESSAGE;
    roce_spec_of(&dim->transport)->cnp = CNP_PER_ACK;
    dim->sw.buffer_bytes = 32 << 20;
    dim->sw.reserve_bytes = 4096;
    dim->sw.pfc.xon_offset_bytes = 3072;
    dim->sw.pfc.headroom_bytes = setup->headroom_bytes;
    dim->sw.ecn.mode = ECN_OFF;
    set_policy(&f, setup, policy);
    round_rates(&f, 1000 + 36 + (strcmp(policy, "hpcc") == 0 ? 42 : 0));
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    struct ns3_figures figures = {f.result->summary.fct_ns.mean / 1e3,
                                  f.result->summary.fct_ns.max / 1e3,
                                  (double)f.result->max_queue_bytes / 1e3};
    fixture_free(&f);
    return figures;
}

struct range {
    double low, high;
};

static void widen(struct range *r, double x)
{
    r->low = x < r->low ? x : r->low;
    r->high = x > r->high ? x : r->high;
}

static bool holds(const struct range *r, double x) { return x >= r->low && x <= r->high; }

void ns3_check_range(const struct ns3_setup *setup, const json_t *root, const char *policy)
{
    struct range mean = {1e300, 0}, max = {1e300, 0}, queue = {1e300, 0};
    struct ns3_figures t = ns3_theirs(root, policy);
    bool inside = false;
    unsigned seeds = 0;
    while (!inside && seeds < SEEDS) { // more seeds would only widen the range
        struct ns3_figures o = ns3_ours(setup, policy, ++seeds);
        widen(&mean, o.mean_us);
        widen(&max, o.max_us);
        widen(&queue, o.max_queue_kb);
        inside = holds(&mean, t.mean_us) && holds(&max, t.max_us) && holds(&queue, t.max_queue_kb);
    }
    print_message("%s %-26s %2u seeds: mean FCT %.1f..%.1f us, theirs %.1f; max %.1f..%.1f, "
                  "theirs %.1f; largest queue %.0f..%.0f KB, theirs %.0f%s\n",
                  setup->file, policy, seeds, mean.low, mean.high, t.mean_us, max.low, max.high,
                  t.max_us, queue.low, queue.high, t.max_queue_kb, inside ? "" : " OUTSIDE");
    assert_true(inside);
}
