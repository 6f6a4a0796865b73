// SPDX-License-Identifier: MIT
// RoCE and TCP in one network: an unused transport changes nothing, each has its own times, classes
// share a port by their weights, each class is marked for its policy, and switches provide for the
// largest packets.
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "sim/fabric/fabric_internal.h"
#include "sim/result/result.h"
#include "sim/simulation.h"
#include "tests/config/load.h"

#define LINE 100e9

struct outcome {
    struct scenario *scenario;
    struct sim *sim;
    struct result *result;
};

// Run a scenario over one switch of 6 ranks at 100G with links of 1 us.
static struct outcome run(const char *settings, const char *jobs)
{
    char text[4096];
    struct err err = {0};
    snprintf(text, sizeof text,
             "{\"name\":\"t\",%s,\"topology\":{\"dims\":[{\"kind\":\"switch\",\"size\":6}]},"
             "\"workload\":%s}",
             settings, jobs);
    struct outcome o = {.scenario = load(text, &err)};
    for (size_t i = 0; i < err.n_items; i++)
        print_message("%s\n", err.items[i].text);
    assert_non_null(o.scenario);
    o.sim = sim_new(scenario_spec(o.scenario), &err);
    assert_non_null(o.sim);
    sim_run(o.sim, NULL);
    o.result = sim_result(o.sim);
    err_free(&err);
    return o;
}

static void outcome_free(struct outcome *o)
{
    result_free(o->result);
    sim_free(o->sim);
    scenario_free(o->scenario);
}

#define ROCE "{\"kind\":\"roce\"}"
#define TCP "{\"kind\":\"tcp\"}"
#define FLOWS(transport, list)                                                                     \
    "{\"kind\":\"flows\",\"transport\":\"" transport "\",\"flows\":[" list "]}"
#define FLOW(src, dst, bytes) "{\"src\":" #src ",\"dst\":" #dst ",\"bytes\":\"" bytes "\"}"

// A transport that no job uses changes no record of the other's messages.
static void test_unused_transport(void **state)
{
    (void)state;
    static const struct {
        const char *alone, *listed, *jobs;
    } cases[] = {
        {"\"transport\":" ROCE ",\"cc\":{\"kind\":\"dcqcn\"}",
         "\"transport\":[" ROCE "," TCP "],\"cc\":[{\"transport\":\"roce\",\"kind\":\"dcqcn\"}]",
         FLOWS("roce", FLOW(0, 5, "900KB") "," FLOW(1, 5, "1MB") "," FLOW(2, 5, "3B"))},
        {"\"transport\":" ROCE ",\"cc\":{\"kind\":\"dcqcn\"}",
         "\"transport\":[" TCP "," ROCE "],\"cc\":[{\"transport\":\"roce\",\"kind\":\"dcqcn\"}]",
         FLOWS("roce", FLOW(0, 5, "900KB") "," FLOW(1, 5, "1MB") "," FLOW(2, 5, "3B"))},
        {"\"transport\":" TCP ",\"cc\":{\"kind\":\"dctcp\"}",
         "\"transport\":[" ROCE "," TCP "],\"cc\":[{\"transport\":\"tcp\",\"kind\":\"dctcp\"}]",
         FLOWS("tcp", FLOW(0, 5, "900KB") "," FLOW(1, 5, "1MB") "," FLOW(2, 5, "3B"))},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct outcome alone = run(cases[i].alone, cases[i].jobs);
        struct outcome listed = run(cases[i].listed, cases[i].jobs);
        assert_int_equal(alone.result->n_flows, 3);
        assert_int_equal(listed.result->n_flows, 3);
        for (size_t f = 0; f < 3; f++) {
            const struct flow_record *a = &alone.result->flows[f], *b = &listed.result->flows[f];
            assert_int_equal(a->fct_ps, b->fct_ps);
            assert_int_equal(a->delivered_ps, b->delivered_ps);
            assert_int_equal(a->ideal_ps, b->ideal_ps);
            assert_int_equal(a->packets, b->packets);
            assert_int_equal(a->cnps, b->cnps);
        }
        assert_true(alone.result->marked_packets > 0);
        assert_int_equal(alone.result->marked_packets, listed.result->marked_packets);
        outcome_free(&alone);
        outcome_free(&listed);
    }
}

// Jobs on disjoint ranks of a switch do not meet: each takes the time that it takes alone.
static void test_disjoint_jobs(void **state)
{
    (void)state;
#define RDMA FLOWS("roce", FLOW(0, 1, "1MB") "," FLOW(2, 1, "1MB"))
#define STORAGE FLOWS("tcp", FLOW(3, 4, "1MB") "," FLOW(5, 4, "1MB"))
    static const char both[] = "\"transport\":[" ROCE "," TCP "]";
    struct outcome rdma = run(both, RDMA), storage = run(both, STORAGE);
    struct outcome mixed = run(both, "[" RDMA "," STORAGE "]");
    assert_int_equal(mixed.result->n_flows, 4);
    for (size_t f = 0; f < 4; f++) {
        const struct flow_record *r = &mixed.result->flows[f];
        const struct result *alone = r->job == 0 ? rdma.result : storage.result;
        bool found = false;
        for (size_t k = 0; k < 2; k++)
            found |= alone->flows[k].src == r->src && alone->flows[k].fct_ps == r->fct_ps &&
                     alone->flows[k].ideal_ps == r->ideal_ps;
        assert_true(found);
    }
    assert_int_equal(mixed.result->n_tcp, 1);
    assert_int_equal(mixed.result->tcp->connections, 2);
    outcome_free(&rdma);
    outcome_free(&storage);
    outcome_free(&mixed);
}

// Both transports fill one link: their classes get shares of it by weight (DRR), counted in wire
// bytes. RoCE ends first, after bytes / share; then TCP has the link alone, and it is never idle
// until the last byte. Receive windows, not policies, bound what is in flight.
static void test_weights(void **state)
{
    (void)state;
    static const struct {
        const char *weights;
        double share; // of RoCE's class 3
    } cases[] = {{"\"3\":{\"weight\":1}", 1 / 2.0},
                 {"\"3\":{\"weight\":3}", 3 / 4.0},
                 {"\"3\":{\"weight\":2},\"0\":{\"weight\":3}", 2 / 5.0}};
    const double roce_wire = 4096 + 14 + 20 + 8 + 12 + 4 + 4 + 20; // RETH of the first is nothing
    const double tcp_wire = 1448 + 14 + 20 + 20 + 12 + 4 + 20, bytes = 10e6;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char settings[1024];
        snprintf(settings, sizeof settings,
                 "\"switch\":{\"classes\":{%s}},\"transport\":[" ROCE "," TCP
                 "],\"cc\":[{\"transport\":\"roce\",\"kind\":\"none\"},{\"transport\":\"tcp\","
                 "\"kind\":\"none\"}]",
                 cases[i].weights);
        struct outcome o =
            run(settings,
                "[" FLOWS("roce", FLOW(0, 5, "10MB")) "," FLOWS("tcp", FLOW(1, 5, "10MB")) "]");
        double roce_s = bytes * roce_wire / 4096 * 8 / LINE / cases[i].share;
        double all_s = (bytes * roce_wire / 4096 + bytes * tcp_wire / 1448) * 8 / LINE;
        double first_s = 1e9, last_s = 0;
        for (size_t f = 0; f < 2; f++) {
            const struct flow_record *r = &o.result->flows[f];
            double s = (double)r->delivered_ps / 1e12;
            assert_int_equal(r->retransmitted, 0);
            first_s = s < first_s ? s : first_s;
            last_s = s > last_s ? s : last_s;
        }
        double tcp_s = bytes * tcp_wire / 1448 * 8 / LINE / (1 - cases[i].share);
        double expected_s = roce_s < tcp_s ? roce_s : tcp_s;
        print_message(
            "share %.2f: the first ends after %.1f us, theory %.1f; the last %.1f, %.1f\n",
            cases[i].share, first_s * 1e6, expected_s * 1e6, last_s * 1e6, all_s * 1e6);
        assert_true(fabs(first_s / expected_s - 1) < 0.01);
        assert_true(fabs(last_s / all_s - 1) < 0.01);
        outcome_free(&o);
    }
}

// Each class is marked as the policy of its flows expects: RED for DCQCN, a step for DCTCP, nothing
// for CUBIC.
static void test_marking_by_class(void **state)
{
    (void)state;
    static const struct {
        const char *policy;
        bool marks;
        uint64_t kmin, kmax;
    } cases[] = {{"dctcp", true, 300000, 300000}, {"cubic", false, 0, 0}};
    for (size_t i = 0; i < 2; i++) {
        char settings[512];
        snprintf(settings, sizeof settings,
                 "\"transport\":[" ROCE "," TCP
                 "],\"cc\":[{\"transport\":\"roce\",\"kind\":\"dcqcn\"},{\"transport\":\"tcp\","
                 "\"kind\":\"%s\"}]",
                 cases[i].policy);
        struct outcome o = run(
            settings, "[" FLOWS("roce", FLOW(0, 5, "1KB")) "," FLOWS("tcp", FLOW(1, 5, "1KB")) "]");
        const struct network *net = &o.sim->fabric.net;
        uint32_t port = o.sim->fabric.switches.nodes[0].first_port;
        assert_int_equal(net->n_data, 2);
        for (uint32_t c = 0; c < 2; c++) {
            const struct marking *m = &o.sim->fabric.switches.markings[port * net->n_data + c];
            bool tcp = net->class_of_slot[net->data_slot + c] == 0;
            assert_int_equal(m->enabled, tcp ? cases[i].marks : true);
            if (m->enabled) { // at 100G: RED from 400 KB to 1.6 MB
                assert_int_equal(m->kmin_bytes, tcp ? cases[i].kmin : 400000);
                assert_int_equal(m->kmax_bytes, tcp ? cases[i].kmax : 1600000);
            }
        }
        outcome_free(&o);
    }
}

// Headroom and the offset of XON follow the largest packets, whichever transport has them; a base
// RTT is that of the flow's own.
static void test_largest_packets(void **state)
{
    (void)state;
    static const char small[] = "\"transport\":[{\"kind\":\"roce\",\"mtu\":\"512B\"},"
                                "{\"kind\":\"tcp\",\"mss\":\"8000B\"}]";
    static const char alone[] = "\"transport\":{\"kind\":\"roce\",\"mtu\":\"512B\"}";
    static const char jobs[] = FLOWS("roce", FLOW(0, 5, "1KB"));
    struct outcome mixed = run(small, jobs), one = run(alone, jobs);
    struct largest_packets most = fabric_largest_packets(&mixed.sim->fabric, 0);
    assert_int_equal(most.full_wire, hosts_dim(&mixed.sim->fabric.hosts, 0, 1)->full.wire);
    assert_true(most.full_wire > hosts_dim(&mixed.sim->fabric.hosts, 0, 0)->full.wire);
    const struct mmu *large = &mixed.sim->fabric.switches.nodes[0].mmu;
    const struct mmu *little = &one.sim->fabric.switches.nodes[0].mmu;
    assert_int_equal(large->config.xon_offset_bytes, 2 * most.full_frame);
    assert_true(large->ingress[large->n_classes - 1].headroom_limit >
                little->ingress[little->n_classes - 1].headroom_limit);
    struct transport_path roce = fabric_path(&mixed.sim->fabric, 0, 5, 0, 0, 0);
    struct transport_path tcp = fabric_path(&mixed.sim->fabric, 0, 5, 0, 1, 0);
    assert_int_equal(roce.base_rtt_ps, fabric_path(&one.sim->fabric, 0, 5, 0, 0, 0).base_rtt_ps);
    // two links of 1 us each way, and a data packet and an ACK on both
    const struct transport_dim *t = hosts_dim(&mixed.sim->fabric.hosts, 0, 1);
    assert_int_equal(tcp.base_rtt_ps, 4 * PS_PER_US + 2 * (ps_t)(t->full.wire + t->ack.wire) * 80);
    outcome_free(&mixed);
    outcome_free(&one);
}

// A collective over TCP has the ideal time of TCP's packets.
static void test_collectives(void **state)
{
    (void)state;
#define REDUCE(transport)                                                                          \
    "{\"kind\":\"collective\",\"op\":\"all_reduce\",\"bytes\":\"6MB\",\"transport\":\"" transport  \
    "\"}"
    static const char *const names[] = {"roce", "tcp"};
    static const char both[] =
        "\"transport\":[" ROCE "," TCP "],\"cc\":[{\"transport\":\"tcp\",\"kind\":\"none\"}]";
    ps_t ideal[2];
    for (size_t i = 0; i < 2; i++) {
        char alone[128];
        snprintf(alone, sizeof alone, "\"transport\":{\"kind\":\"%s\"},\"cc\":{\"kind\":\"none\"}",
                 names[i]);
        struct outcome listed = run(both, i == 0 ? REDUCE("roce") : REDUCE("tcp"));
        struct outcome single = run(alone, i == 0 ? REDUCE("roce") : REDUCE("tcp"));
        assert_int_equal(listed.result->n_collectives, 1);
        ideal[i] = listed.result->collectives[0].ideal_ps;
        assert_int_equal(ideal[i], single.result->collectives[0].ideal_ps);
        assert_int_equal(listed.result->collectives[0].end_ps,
                         single.result->collectives[0].end_ps);
        assert_true(listed.result->collectives[0].end_ps >= ideal[i]);
        outcome_free(&listed);
        outcome_free(&single);
    }
    assert_true(ideal[1] > ideal[0]); // more bytes of headers
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_unused_transport), cmocka_unit_test(test_disjoint_jobs),
        cmocka_unit_test(test_weights),          cmocka_unit_test(test_marking_by_class),
        cmocka_unit_test(test_largest_packets),  cmocka_unit_test(test_collectives),
    };
    return cmocka_run_group_tests_name("mixed", tests, folder_make, folder_remove);
}
