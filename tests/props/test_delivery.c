// SPDX-License-Identifier: MIT
// Properties over random graphs, rates, delays, losses, failures, policies, routings and
// recoveries: every message is delivered completely or reported as failed; every switch sends what
// it receives, except for packets counted as dropped or still queued; a lossless class loses
// nothing to full buffers unless PFC frames were lost; and every run ends. SEED=n runs a single
// scenario.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/support/random.h"

#define SCENARIOS 600

struct outcomes {
    unsigned completed, failed, waiting, lossy, down, paused;
};

static uint64_t waiting_packets(const struct network *net, uint32_t port, bool pfc)
{
    uint64_t n = 0;
    for (unsigned slot = 0; slot < net->n_slots; slot++)
        if ((slot == NET_PFC_SLOT) == pfc)
            n += port_queue(net, port, slot)->fifo.count;
    return n;
}

// Packets that arrived at switches, without PFC frames, and what became of them.
static void check_conservation(const struct sim *sim, uint32_t node, uint64_t seed)
{
    const struct network *net = &sim->fabric.net;
    uint64_t in = 0, out = 0, dropped = 0;
    for (uint32_t p = net->first_port[node]; p < net->first_port[node + 1]; p++) {
        uint32_t peer = net->cold[p].peer;
        in += net->ports[peer].tx_packets - net->ports[peer].flight.count -
              net->cold[peer].lost.packets - net->pfc[p].rx_frames;
        out += net->ports[p].tx_packets + waiting_packets(net, p, false) -
               (net->pfc[p].tx_pause + net->pfc[p].tx_resume - waiting_packets(net, p, true));
        dropped += net->cold[p].dropped.packets;
    }
    if (in != out + dropped)
        fail_msg("seed %llu: node %u took %llu packets, gave or holds %llu, dropped %llu",
                 (unsigned long long)seed, node, (unsigned long long)in, (unsigned long long)out,
                 (unsigned long long)dropped);
}

// A lost PFC frame, or a pause so short that it expires while its refresh waits for a transmission.
static bool pfc_may_be_lost(const struct spec *spec)
{
    bool may = spec->dims[0].sw.pfc.quanta < 65535 || spec->dims[0].sw.pfc.watchdog;
    for (size_t i = 0; i < spec->n_faults; i++)
        may |= spec->faults[i].pfc || spec->faults[i].down_ps != PS_NEVER ||
               spec->faults[i].blackout_packet > 0;
    return may;
}

static void check_flows(const struct result *r, uint64_t seed, struct outcomes *outcomes)
{
    for (size_t i = 0; i < r->n_flows; i++) {
        const struct flow_record *f = &r->flows[i];
        bool done = f->status == MESSAGE_DONE;
        if (done != (f->fct_ps >= 0))
            fail_msg("seed %llu: flow %zu has a time, or is done, but not both",
                     (unsigned long long)seed, i);
        if (done && f->delivered_bytes != f->bytes) // in other flows the last ACK may be in flight
            fail_msg("seed %llu: flow %zu is done with %llu of %llu bytes",
                     (unsigned long long)seed, i, (unsigned long long)f->delivered_bytes,
                     (unsigned long long)f->bytes);
        outcomes->failed += f->status == MESSAGE_FAILED;
        outcomes->waiting += f->status == MESSAGE_RUNNING;
        // A run that is complete has no waiting flow, and in any other run every waiting flow has a
        // reason.
        if (f->status != MESSAGE_DONE && r->status == RUN_COMPLETED)
            fail_msg("seed %llu: completed without flow %zu", (unsigned long long)seed, i);
    }
    if (r->status != RUN_COMPLETED && !r->reason)
        fail_msg("seed %llu: incomplete without a reason", (unsigned long long)seed);
}

static void run(uint64_t seed, struct outcomes *outcomes)
{
    struct fixture *f = malloc(sizeof *f);
    struct err err = {0};
    random_any(f, seed);
    f->spec.duration_ps = PS_NEVER;
    f->sim = sim_new(&f->spec, &err);
    assert_non_null(f->sim);
    err_free(&err); // warnings
    sim_run(f->sim, NULL);
    struct result *r = f->result = sim_result(f->sim);
    check_flows(r, seed, outcomes);
    for (uint32_t n = f->sim->fabric.graph.n_ranks; n < f->sim->fabric.graph.n_nodes; n++)
        check_conservation(f->sim, n, seed);
    if (r->drops[DROP_HEADROOM] > 0 && !pfc_may_be_lost(&f->spec))
        fail_msg("seed %llu: %llu lossless drops", (unsigned long long)seed,
                 (unsigned long long)r->drops[DROP_HEADROOM]);
    uint64_t whole = 0;
    for (size_t i = 0; i < r->n_flows; i++)
        whole += r->flows[i].status == MESSAGE_DONE ? r->flows[i].bytes : 0;
    if (whole > f->sim->fabric.hosts.counters.delivered_bytes)
        fail_msg("seed %llu: fewer bytes were delivered than the messages contain",
                 (unsigned long long)seed);
    if (r->status == RUN_COMPLETED && whole != f->sim->fabric.hosts.counters.delivered_bytes)
        fail_msg("seed %llu: bytes were delivered twice", (unsigned long long)seed);
    outcomes->completed += r->status == RUN_COMPLETED;
    outcomes->lossy += r->drops[DROP_LINK_LOSS] + r->drops[DROP_LINK_CORRUPTION] > 0;
    outcomes->down += r->drops[DROP_LINK_DOWN] > 0;
    outcomes->paused += r->pause_frames > 0;
    fixture_free(f);
    free(f);
}

static void test_delivered_or_reported(void **state)
{
    (void)state;
    struct outcomes outcomes = {0};
    const char *only = getenv("SEED");
    if (only) {
        run(strtoull(only, NULL, 10), &outcomes);
        return;
    }
    for (uint64_t seed = 1; seed <= SCENARIOS; seed++)
        run(seed, &outcomes);
    print_message("%u scenarios: %u completed; %u flows failed, %u were waiting; %u with loss, "
                  "%u with links down, %u paused\n",
                  SCENARIOS, outcomes.completed, outcomes.failed, outcomes.waiting, outcomes.lossy,
                  outcomes.down, outcomes.paused);
    assert_true(outcomes.completed > SCENARIOS / 2 && outcomes.failed > 0);
    assert_true(outcomes.lossy > SCENARIOS / 20 && outcomes.down > SCENARIOS / 50);
    assert_true(outcomes.paused > SCENARIOS / 5);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_delivered_or_reported)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
