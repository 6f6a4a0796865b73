// SPDX-License-Identifier: MIT
// The hooks of the lab into a simulation.
#include "tests/support/roce_lab.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "engine/base/memory.h"

struct lab_stub lab_stub;

static void stub_init(struct cc *cc, ps_t now)
{
    (void)now;
    lab_stub.inits++;
    cc->rate_bps = lab_stub.rate_bps ? lab_stub.rate_bps : cc->rate_bps;
    cc->cwnd_bytes = lab_stub.cwnd_bytes ? lab_stub.cwnd_bytes : cc->cwnd_bytes;
}
static void stub_on_ack(struct cc *cc, const struct cc_ack *ack)
{
    lab_stub.acks++;
    lab_stub.ce_bytes += ack->ce_bytes;
    cc->rate_bps = lab_stub.ack_rate_bps ? lab_stub.ack_rate_bps : cc->rate_bps;
    cc->cwnd_bytes = lab_stub.ack_cwnd_bytes ? lab_stub.ack_cwnd_bytes : cc->cwnd_bytes;
}
static void stub_on_signal(struct cc *cc, const struct cc_signal *signal)
{
    if (signal->kind != CC_SIGNAL_CNP)
        return;
    lab_stub.cnps++;
    cc->rate_bps = lab_stub.cnp_rate_bps ? lab_stub.cnp_rate_bps : cc->rate_bps;
}
static const struct cc_preset stub_preset = {.name = "default"};
const struct cc_ops lab_ack_ops = {.contract = CC_CONTRACT,
                                   .name = "stub",
                                   .presets = &stub_preset,
                                   .n_presets = 1,
                                   .init = stub_init,
                                   .on_ack = stub_on_ack,
                                   .on_signal = stub_on_signal};
const struct cc_ops lab_cnp_ops = {.contract = CC_CONTRACT,
                                   .name = "stub",
                                   .presets = &stub_preset,
                                   .n_presets = 1,
                                   .needs = CC_NEEDS_ECN | CC_NEEDS_CNP,
                                   .init = stub_init,
                                   .on_signal = stub_on_signal};

static void see(const struct lab *l, struct lab_seen **list, size_t *n, size_t *cap,
                const struct packet *p, ps_t at_ps)
{
    if (*n == *cap)
        *list = memory_grow(*list, cap, sizeof **list);
    (*list)[(*n)++] = (struct lab_seen){at_ps, *p, *meta_at(&l->sim->fabric.net.meta, p->meta)};
}

static void on_tap(void *ctx, uint32_t port, const struct packet *p, ps_t start, ps_t end)
{
    (void)end, (void)port;
    struct lab *l = ctx;
    see(l, &l->tx, &l->n_tx, &l->cap_tx, p, start);
    if (p->kind != PACKET_DATA)
        return;
    const struct sender *s = l->sim->fabric.hosts.senders[p->flow];
    uint32_t payload = l->tx[l->n_tx - 1].meta.payload_bytes;
    uint64_t before = s->nxt_bytes - s->una_bytes - payload;
    assert_true(l->window_shrinks ||
                before < s->cc->cwnd_bytes); // at most one packet beyond the window
    l->max_inflight = before + payload > l->max_inflight ? before + payload : l->max_inflight;
}

// The contexts of the nodes stay unchanged. The lab is found through the transport's client.
static void nic_arrive(void *ctx, uint32_t node, uint32_t local, struct packet *p, ps_t now)
{
    struct lab *l = ((struct hosts *)ctx)->client.ctx;
    see(l, &l->rx, &l->n_rx, &l->cap_rx, p, now);
    l->nic_arrive(ctx, node, local, p, now);
}

static void switch_arrive(void *ctx, uint32_t node, uint32_t local, struct packet *p, ps_t now)
{
    struct fabric *fabric = (struct fabric *)((char *)ctx - offsetof(struct fabric, switches));
    struct lab *l = fabric->hosts.client.ctx;
    if (!(l->lose && l->lose(l, p))) {
        l->switch_arrive(ctx, node, local, p, now);
        return;
    }
    l->lost++;
    packet_end(&fabric->net, p);
}

static void on_delivered(void *ctx, uint64_t token, ps_t now)
{
    struct lab *l = ctx;
    assert_int_equal(l->delivered_ps[token], -1); // delivered only once
    l->delivered_ps[token] = now;
}
static void on_sent(void *ctx, uint64_t token, ps_t now)
{
    struct lab *l = ctx;
    assert_true(l->delivered_ps[token] >= 0 && l->sent_ps[token] == -1);
    l->sent_ps[token] = now;
    if (l->on_end)
        l->on_end(l, token, now);
}
static void on_failed(void *ctx, uint64_t token, ps_t now)
{
    struct lab *l = ctx;
    assert_true(l->sent_ps[token] == -1 && l->failed_ps[token] == -1);
    l->failed_ps[token] = now;
    if (l->on_end)
        l->on_end(l, token, now);
}

// The simulation's ledger of messages is not used, because it would mistake the tests' tokens for
// its own.
static void on_message_ended(void *ctx, const struct message_end *end, ps_t now)
{
    (void)ctx, (void)end, (void)now;
}

struct roce_spec *lab_begin(struct lab *l, uint32_t ranks, const struct cc_ops *ops)
{
    memset(l, 0, sizeof *l);
    memset(&lab_stub, 0, sizeof lab_stub);
    fixture_switch(&l->f, ranks, LAB_LINE, PS_PER_US);
    struct dim_spec *dim = &l->f.spec.dims[0];
    roce_spec_of(&dim->transport)->mtu_bytes = LAB_MTU;
    dim->sw.ecn.mode = ECN_OFF;
    if (ops) {
        dim->cc = ops;
        dim->cc_preset = ops->presets;
    }
    return roce_spec_of(&dim->transport);
}

struct hosts *lab_build(struct lab *l)
{
    struct err err = {0};
    l->sim = l->f.sim = sim_new(&l->f.spec, &err);
    assert_non_null(l->sim);
    err_free(&err); // warnings
    struct network *net = &l->sim->fabric.net;
    l->nic_arrive = net->ops[NET_RANK].arrive;
    l->switch_arrive = net->ops[NET_SWITCH].arrive;
    net->ops[NET_RANK].arrive = nic_arrive;
    net->ops[NET_SWITCH].arrive = switch_arrive;
    net->tap = (struct tap){.seen = on_tap, .ctx = l};
    for (uint32_t p = 0; p < l->sim->fabric.hosts.n_nics; p++)
        network_tap_port(net, p);
    l->sim->fabric.hosts.client = (struct host_client){
        .delivered = on_delivered, .sent = on_sent, .failed = on_failed, .ctx = l};
    l->sim->fabric.hosts.observer =
        (struct host_observer){.message_ended = on_message_ended, .ctx = l};
    for (size_t t = 0; t < LAB_TOKENS; t++)
        l->delivered_ps[t] = l->sent_ps[t] = l->failed_ps[t] = -1;
    return &l->sim->fabric.hosts;
}

void lab_end(struct lab *l)
{
    engine_drain(&l->sim->fabric.engine, SIZE_MAX);
    assert_int_equal(network_held(&l->sim->fabric.net), 0);
    assert_int_equal(l->sim->fabric.net.meta.n_used, 0);
    fixture_free(&l->f);
    free(l->tx);
    free(l->rx);
}

ps_t lab_now(const struct lab *l) { return l->sim->fabric.engine.now_ps; }

void lab_run_to(struct lab *l, ps_t at_ps)
{
    l->sim->fabric.engine.horizon_ps = at_ps;
    engine_drain(&l->sim->fabric.engine, SIZE_MAX);
    l->sim->fabric.engine.horizon_ps = PS_NEVER;
    l->sim->fabric.engine.now_ps = at_ps;
}

void lab_run(struct lab *l) { engine_drain(&l->sim->fabric.engine, SIZE_MAX); }

void lab_post(struct lab *l, uint32_t src, uint32_t dst, uint64_t bytes, uint64_t token)
{
    struct transfer_request r = {
        .src = src, .dst = dst, .bytes = bytes, .cls = NET_CLASS_DATA, .token = token};
    hosts_post(&l->sim->fabric.hosts, &r, lab_now(l));
}

uint32_t lab_psn(const struct lab *l, const struct packet *p)
{
    return meta_at(&l->sim->fabric.net.meta, p->meta)->seq;
}

size_t lab_failed(const struct lab *l)
{
    size_t n = 0;
    for (size_t t = 0; t < LAB_TOKENS; t++)
        n += l->failed_ps[t] >= 0;
    return n;
}

bool lab_is_nak(const struct packet *p) { return p->kind == PACKET_ACK && p->flags & PACKET_NAK; }
bool lab_is_data(const struct packet *p) { return p->kind == PACKET_DATA; }
bool lab_is_ack(const struct packet *p) { return p->kind == PACKET_ACK; }
bool lab_is_cnp(const struct packet *p) { return p->kind == PACKET_CNP; }
bool lab_is_retx(const struct packet *p) { return lab_is_data(p) && p->flags & PACKET_RETX; }

size_t lab_count(const struct lab *l, bool (*is)(const struct packet *))
{
    size_t n = 0;
    for (size_t i = 0; i < l->n_tx; i++)
        n += is(&l->tx[i].p);
    return n;
}

const struct lab_seen *lab_nth(const struct lab *l, bool (*is)(const struct packet *), size_t k)
{
    for (size_t i = 0; i < l->n_tx; i++)
        if (is(&l->tx[i].p) && k-- == 0)
            return &l->tx[i];
    fail();
    return NULL;
}

bool lab_lose_psn(struct lab *l, struct packet *p)
{
    return lab_is_data(p) && lab_psn(l, p) == l->lose_psn && l->lost < l->lose_times;
}

void lab_pause(struct lab *l, uint16_t quanta)
{
    struct packet p = {.kind = PACKET_PFC, .pfc = packet_pfc(1u << NET_CLASS_DATA, quanta)};
    port_receive_pfc(&l->sim->fabric.net, 0, &p, lab_now(l));
}
