// SPDX-License-Identifier: MIT
// The end of a run in several processes: the metrics are the same, byte for byte, if a simulation
// gets the state of its network from another one that has run the same scenario.
//
// The reader has run the scenario too, because what is above the network is the same in all
// processes. Then all that it knows of the network is wiped, as if it owned no node.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/base/memory.h"
#include "report/metrics.h"
#include "sim/gather.h"
#include "sim/observe/sample_internal.h"
#include "tests/support/random.h"
#include "transport/nic/adapter.h"

#define SCENARIOS 24 // of each sort
#define ANY (-1)     // no particular feature

static uint32_t n_running, n_stuck; // scenarios with messages that have not ended; with deadlocks

static void make(struct fixture *f, uint64_t seed, int feature)
{
    if (feature != ANY)
        random_feature(f, seed, (enum random_feature)feature);
    else if (seed % 3 == 0)
        random_bounds(f, seed);
    else
        random_any(f, seed);
    if (seed % 4 == 0)
        f->spec.report.sample_ps = 2 * PS_PER_US;
    if (seed % 5 == 1 && f->spec.duration_ps == PS_NEVER)
        f->spec.limits.sim_time_ps = 40 * PS_PER_US;
}

static struct fixture *start(struct fixture *f)
{
    struct err err = {0};
    f->sim = sim_new(&f->spec, &err);
    assert_non_null(f->sim);
    err_free(&err); // warnings
    sim_set_tiles(f->sim, 1);
    sim_run(f->sim, NULL);
    return f;
}

static struct fixture *run(uint64_t seed, int feature)
{
    struct fixture *f = malloc(sizeof *f);
    make(f, seed, feature);
    return start(f);
}

/* ---- a simulation that owns no node ---- */

static void wipe_port(struct network *net, uint32_t index)
{
    struct port *port = &net->ports[index];
    struct port_cold *cold = &net->cold[index];
    struct port_pfc *pfc = &net->pfc[index];
    port->busy_until_ps = 0;
    port->tx_bytes = port->tx_packets = 0;
    port->waiting = port->paused = 0;
    port->queued_bytes = port->max_queued_bytes = 0;
    port->wait_byte_ps = cold->wait_wraps = 0;
    cold->earlier_bytes = 0;
    cold->earlier_ps = 0;
    cold->dropped = cold->lost = (struct drops){0};
    memset(pfc->cls, 0, sizeof pfc->cls);
    pfc->tx_pause = pfc->tx_resume = pfc->rx_frames = 0;
    pfc->stopped = 0;
    for (unsigned slot = 0; slot < net->n_slots; slot++)
        port_queue(net, index, slot)->fifo = fifo_empty();
    if (!net->faults)
        return;
    net->faults[index].retry = (struct link_retry){0};
    net->faults[index].pfc_frames = 0;
}

static void wipe_network(struct network *net)
{
    for (uint32_t p = 0; p < net->n_ports; p++)
        wipe_port(net, p);
    net->packet_hops = 0;
    memset(net->drops, 0, sizeof net->drops);
}

static void wipe_mmu(struct mmu *mmu) { mmu->shared_used = mmu->max_shared_used = mmu->n_xoff = 0; }

static void wipe_switches(struct switches *sw)
{
    for (uint32_t i = 0; i < sw->n_switches + sw->n_routers; i++) {
        struct switch_node *s = &sw->nodes[i];
        s->counters.markable = 0;
        wipe_mmu(&s->mmu);
        memset(s->mmu.ingress, 0, (size_t)s->n_ports * s->mmu.n_classes * sizeof *s->mmu.ingress);
        for (uint32_t k = 0; s->slices && k < s->n_slices; k++)
            wipe_mmu(&s->slices[k]);
    }
    for (uint32_t p = 0; p < sw->net->n_ports; p++) {
        sw->ports[p].counters.marked = 0;
        sw->ports[p].xoff_cause = sw->ports[p].xoff_votes = 0;
        if (sw->trims)
            sw->trims[p].trimmed = (struct drops){0}, sw->trims[p].last_hop = 0;
    }
    for (uint32_t i = 0; sw->watchdogs && i < sw->net->n_ports * sw->net->n_data; i++)
        sw->watchdogs[i].fired = 0;
}

static void wipe_adapter(struct adapter *a)
{
    memset(a->free_ps, 0, sizeof a->free_ps);
    a->counters = (struct adapter_counters){0};
    a->held_bytes = 0;
}

static void wipe_hosts(struct hosts *hosts)
{
    hosts->counters = (struct host_counters){0};
    hosts->n_running = 0;
    hosts->last_delivery_ps = 0;
    for (uint32_t d = 0; d < hosts->n_dims; d++)
        hosts->dims[d].counters = (struct transport_counters){0};
    for (uint32_t i = 0; i < hosts->n_nics; i++) {
        hosts->nics[i].paused = hosts->nics[i].needs_credit = false;
    }
    for (uint32_t i = 0; hosts->adapters && i < hosts->adapters->n; i++)
        wipe_adapter(&hosts->adapters->list[i]);
    memset(hosts->n_opened, 0, hosts->net->n_ranks * sizeof *hosts->n_opened);
}

static void wipe_series(struct sampler *s)
{
    for (int kind = 0; s && kind < SERIES_KINDS; kind++)
        for (size_t i = 0; i < s->series.n_lines[kind]; i++) {
            struct series_line *line = &s->series.lines[kind][i];
            memset(line->values, 0, s->series.n_samples * sizeof *line->values);
            if (kind == SERIES_QUEUE || kind == SERIES_PAUSED)
                continue;
            free(line->values);
            free(line->field);
        }
    if (!s)
        return;
    s->series.n_lines[SERIES_RATE] = s->series.n_lines[SERIES_CWND] = 0;
    s->series.n_lines[SERIES_OBSERVE] = 0;
    s->n_sampled = 0;
}

// The flows of a simulation that has run, while others have their places.
struct aside {
    uint32_t n;
    struct sender **senders;
    struct receiver **receivers;
};

static void *take_out(void *list, uint32_t n, size_t size)
{
    void *copy = memory_zeroed(n + 1, size);
    memcpy(copy, list, n * size);
    memset(list, 0, n * size);
    return copy;
}

static struct aside flows_aside(struct hosts *hosts)
{
    struct aside a = {.n = hosts->flows.n};
    a.senders = take_out(hosts->senders, a.n, sizeof *hosts->senders);
    a.receivers = take_out(hosts->receivers, a.n, sizeof *hosts->receivers);
    memset(hosts->flows.ids, 0, a.n * sizeof *hosts->flows.ids);
    hosts->flows.n = 0;
    return a;
}

// Free the flows that have been read, and put back the others, which the simulation frees.
static void flows_back(struct hosts *hosts, struct aside *a)
{
    assert_int_equal(hosts->flows.n, a->n);
    for (uint32_t flow = 0; flow < a->n; flow++) {
        struct sender *s = hosts->senders[flow];
        struct receiver *r = hosts->receivers[flow];
        if (r && r != a->receivers[flow] && s->dim->ops->close_receiver)
            s->dim->ops->close_receiver(r);
        if (s->dim->ops->close_sender)
            s->dim->ops->close_sender(s);
        free(s->cold.rare);
    }
    memcpy(hosts->senders, a->senders, a->n * sizeof *hosts->senders);
    memcpy(hosts->receivers, a->receivers, a->n * sizeof *hosts->receivers);
    free(a->senders);
    free(a->receivers);
}

// Another process gives its flows handles from here on.
#define FIRST 5000

static void move_tables(struct hosts *hosts, uint32_t from, uint32_t to)
{
    uint32_t n = hosts->flows.n - hosts->flows.first;
    memmove(hosts->senders + to, hosts->senders + from, n * sizeof *hosts->senders);
    memmove(hosts->receivers + to, hosts->receivers + from, n * sizeof *hosts->receivers);
    memmove(hosts->flows.ids + to, hosts->flows.ids + from, n * sizeof *hosts->flows.ids);
    hosts->flows.first = to;
    hosts->flows.n = to + n;
    for (uint32_t flow = to; flow < to + n; flow++) {
        hosts->senders[flow]->flow = flow;
        if (hosts->receivers[flow])
            hosts->receivers[flow]->flow = flow;
    }
}

// The reader has the receivers of every other flow: that is where their destinations are.
static bool has_receiver(uint32_t flow) { return flow % 2 == 0; }

static void own_receivers(struct hosts *hosts, const struct aside *a)
{
    for (uint32_t flow = 0; flow < a->n; flow++)
        if (has_receiver(flow))
            hosts->receivers[FIRST + flow] = a->receivers[flow];
}

/* ---- the comparison ---- */

static uint32_t *running_flows(const struct sim *sim, size_t *n)
{
    const struct hosts *hosts = &sim->fabric.hosts;
    uint32_t *flows = memory_zeroed(hosts->flows.n + 1, sizeof *flows);
    for (uint32_t flow = hosts->flows.first; flow < hosts->flows.n; flow++)
        if (hosts->senders[flow]->oldest != MESSAGE_NIL && !has_receiver(flow - FIRST))
            flows[(*n)++] = flow;
    return flows;
}

static void hand_over(struct sim *from, struct sim *to)
{
    struct parcel written = {0};
    struct flow_range range;
    size_t n = 0;
    uint32_t n_flows = from->fabric.hosts.flows.n;
    move_tables(&from->fabric.hosts, 0, FIRST);
    const struct flow_range elsewhere = {0, n_flows, FIRST};
    gather_renumber(to, &(struct flow_ranges){(struct flow_range[]){elsewhere}, 1});
    uint32_t *flows = running_flows(from, &n);
    gather_network(&written, from);
    gather_flows(&written, from, &range);
    gather_write_receivers(&written, from, flows, n);
    struct parcel p = parcel_read(written.bytes, written.n);
    gather_network(&p, to);
    gather_flows(&p, to, &range);
    const struct flow_ranges ranges = {&range, 1};
    gather_renumber(to, &ranges);
    gather_read_receivers(&p, to, &ranges);
    assert_true(parcel_is_read(&p));
    parcel_free(&written);
    free(flows);
    move_tables(&from->fabric.hosts, FIRST, 0);
    n_running += n > 0;
}

static void assert_same(uint64_t seed, int feature, const char *one, const char *other)
{
    size_t at = 0;
    while (one[at] != '\0' && one[at] == other[at])
        at++;
    if (one[at] != other[at])
        fail_msg("seed %llu, feature %d: ...%.300s\nnot ...%.300s", (unsigned long long)seed,
                 feature, other + (at > 200 ? at - 200 : 0), one + (at > 200 ? at - 200 : 0));
}

// `b` is wiped, gets the network of `a`, and has the same metrics. Frees both.
static void compare(struct fixture *a, struct fixture *b, uint64_t seed, int feature)
{
    struct sim *to = b->sim;
    wipe_network(&to->fabric.net);
    wipe_switches(&to->fabric.switches);
    wipe_hosts(&to->fabric.hosts);
    wipe_series(to->sampler);
    struct aside aside = flows_aside(&to->fabric.hosts);
    own_receivers(&to->fabric.hosts, &aside);
    hand_over(a->sim, to);
    a->result = sim_result(a->sim);
    b->result = sim_result(b->sim);
    n_stuck += a->result->n_deadlock > 0;
    char *one = metrics_json(a->result, "{}"), *other = metrics_json(b->result, "{}");
    assert_same(seed, feature, one, other);
    free(one);
    free(other);
    flows_back(&to->fabric.hosts, &aside);
    fixture_free(a);
    fixture_free(b);
    free(a);
    free(b);
}

static void compare_random(uint64_t seed, int feature)
{
    struct fixture *a = run(seed, feature);
    compare(a, run(seed, feature), seed, feature);
}

/* ---- the tests ---- */

static void test_metrics(void **state)
{
    (void)state;
    const char *n = getenv("COLLWIRE_RANDOM");
    uint64_t scenarios = n ? strtoull(n, NULL, 10) : SCENARIOS;
    for (int feature = ANY; feature < RANDOM_FEATURES; feature++)
        for (uint64_t seed = 1; seed <= (feature == ANY ? 4 * scenarios : scenarios); seed++)
            compare_random(seed, feature);
    print_message("%u scenarios with messages that had not ended, %u with deadlocks\n", n_running,
                  n_stuck);
    assert_true(n_running > 5);
    assert_true(n_stuck > 0);
}

/* ---- Ultra Ethernet with trimming ---- */

// Half of the messages have not ended: packets have been trimmed, and have arrived out of order.
static struct fixture *trimmed(ps_t until_ps)
{
    extern const struct transport_ops uec_transport;
    struct fixture *f = malloc(sizeof *f);
    const struct link_spec link = {.rate_bps = UINT64_C(100000000000), .delay_ps = PS_PER_US / 2};
    fixture_leaf_spine(f, 16, 4, 4, link, link);
    struct dim_spec *dim = &f->spec.dims[0];
    transport_spec_init(&dim->transport, &uec_transport);
    fixture_cc(f, "nscc", NULL, NULL);
    dim->sw.buffer_bytes = 400000;
    dim->sw.trimming.enabled = true;
    for (uint32_t r = 1; r < 16; r++)
        fixture_flow(f, r, 0, 20000 * (uint64_t)r, 0);
    f->jobs[0].cls = 0;
    f->spec.limits.sim_time_ps = until_ps;
    return start(f);
}

static void test_trimming(void **state)
{
    (void)state;
    struct fixture *a = trimmed(100 * PS_PER_US);
    const struct hosts *hosts = &a->sim->fabric.hosts;
    uint64_t trims = 0, partly = 0;
    for (uint32_t p = 0; p < a->sim->fabric.net.n_ports; p++)
        trims += a->sim->fabric.switches.trims[p].trimmed.packets;
    for (uint32_t flow = 0; flow < hosts->flows.n; flow++) {
        const struct sender *s = hosts->senders[flow];
        const struct message *m = s->oldest != MESSAGE_NIL ? hosts_message(hosts, s->oldest) : NULL;
        uint64_t bytes = m ? hosts_delivered_bytes(hosts, s, m) : 0;
        partly += bytes > 0 && bytes < m->bytes;
    }
    assert_true(trims > 0);
    assert_true(partly > 0);
    compare(a, trimmed(100 * PS_PER_US), 0, ANY);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_metrics),
                                       cmocka_unit_test(test_trimming)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
