// SPDX-License-Identifier: MIT
// The hostile network: it takes the place of the operation by which ranks get packets.
#include "tests/fuzz/hostile.h"

#include <stdlib.h>
#include <string.h>

#include "cc/plugin/policies.h"
#include "sim/simulation.h"
#include "tests/fuzz/support.h"
#include "transport/host.h"

#define HELD_MAX 16

enum action {
    ACT_DELIVER,  // this packet alone
    ACT_RELEASE,  // the packet held longest, then this one
    ACT_OVERTAKE, // this one, then the packet held last
    ACT_HOLD,
    ACT_DROP,
    ACT_TWICE,
    ACT_MARK,
    ACT_TRIM,
    ACT_RATE,
    ACT_WINDOW,
    N_ACTIONS
};

struct hostile {
    const uint8_t *data;
    size_t n, at;
    struct sim *sim;
    void (*arrive)(void *, uint32_t, uint32_t, struct packet *, ps_t);
    struct held {
        struct packet packet;
        uint32_t node, local;
    } held[HELD_MAX];
    size_t n_held;
};

static struct hostile hostile; // the node's context is that of the hosts

static uint8_t next_byte(void) { return hostile.at < hostile.n ? hostile.data[hostile.at++] : 0; }

static void deliver(struct packet *p, uint32_t node, uint32_t local, ps_t now)
{
    hostile.arrive(&hostile.sim->fabric.hosts, node, local, p, now);
}

static void release(size_t index, ps_t now)
{
    struct held held = hostile.held[index];
    hostile.n_held--;
    memmove(&hostile.held[index], &hostile.held[index + 1],
            (hostile.n_held - index) * sizeof *hostile.held);
    deliver(&held.packet, held.node, held.local, now);
}

// A packet with meta-data of its own.
static struct packet copy_of(const struct packet *p)
{
    struct meta_pool *pool = &hostile.sim->fabric.net.meta;
    struct packet copy = *p;
    if (p->meta == 0)
        return copy;
    copy.meta = meta_alloc(pool);
    *meta_at(pool, copy.meta) = *meta_at(pool, p->meta);
    if (meta_at(pool, p->meta)->n_sacks > 0) {
        struct sack_block *to = meta_sacks(pool, copy.meta); // which may move the memory of all
        memcpy(to, meta_sacks(pool, p->meta), META_SACKS * sizeof *to);
    }
    if (p->flags & (PACKET_LAST | PACKET_RETX)) {
        meta_keep_waits(pool, copy.meta);
        pool->waits[copy.meta] = pool->waits[p->meta];
    }
    return copy;
}

// What policies do at any time: another rate or window, from a hundredth of the line to all of it.
static void change_policy(const struct packet *p, bool rate, ps_t now)
{
    struct sender *s = hostile.sim->fabric.hosts.senders[p->flow];
    uint64_t share = 1 + next_byte() % 100;
    if (s->failed || s->busy)
        return;
    sender_catch_up(s, now);
    if (rate)
        s->cc->rate_bps = sender_env(s)->line_bps * share / 100;
    else
        s->cc->cwnd_bytes = s->dim->mtu_bytes * share;
    sender_apply_cc(s, now);
    sender_wake(s, now);
}

static bool may_trim(const struct packet *p)
{
    const struct flow_id *id = &hostile.sim->fabric.hosts.flows.ids[p->flow];
    return p->kind == PACKET_DATA && p->cls == id->cls && p->cls != NET_CLASS_CONTROL &&
           hosts_dim(&hostile.sim->fabric.hosts, id->dim, id->transport)->trimmed;
}

static void act(enum action action, uint32_t node, uint32_t local, struct packet *p, ps_t now)
{
    struct packet twin;
    switch (action) {
    case ACT_HOLD:
        if (hostile.n_held < HELD_MAX) {
            hostile.held[hostile.n_held++] = (struct held){*p, node, local};
            return;
        }
        break;
    case ACT_DROP:
        packet_end(&hostile.sim->fabric.net, p);
        return;
    case ACT_TWICE:
        twin = copy_of(p);
        deliver(&twin, node, local, now);
        break;
    case ACT_MARK:
        p->flags |= p->flags & PACKET_ECT && p->kind == PACKET_DATA ? PACKET_CE : 0;
        break;
    case ACT_TRIM:
        if (may_trim(p))
            p->kind = PACKET_TRIMMED;
        break;
    case ACT_RATE:
    case ACT_WINDOW:
        change_policy(p, action == ACT_RATE, now);
        break;
    case ACT_RELEASE:
        if (hostile.n_held > 0)
            release(0, now);
        break;
    case ACT_DELIVER:
    case ACT_OVERTAKE:
    case N_ACTIONS:
        break;
    }
    deliver(p, node, local, now);
    if (action == ACT_OVERTAKE && hostile.n_held > 0)
        release(hostile.n_held - 1, now);
}

static void arrive(void *ctx, uint32_t node, uint32_t local, struct packet *p, ps_t now)
{
    (void)ctx;
    act((enum action)(next_byte() % N_ACTIONS), node, local, p, now);
    while (hostile.at == hostile.n && hostile.n_held > 0)
        release(0, now);
}

static void simulate(const struct scenario *scenario, struct err *err)
{
    struct sim *sim = hostile.sim = sim_new(scenario_spec(scenario), err);
    if (!sim)
        return;
    hostile.arrive = sim->fabric.net.ops[NET_RANK].arrive;
    sim->fabric.net.ops[NET_RANK].arrive = arrive;
    sim_run(sim, NULL);
    sim_free(sim);
}

#define FIXED                                                                                      \
    "{\"name\": \"hostile\", \"topology\": {\"dims\": [{\"kind\": \"switch\", \"size\": 3, "       \
    "\"link\": {\"rate\": \"10Gbps\", \"delay\": \"2us\"}}]}, "                                    \
    "\"switch\": {\"pfc\": {\"enabled\": false}}, "                                                \
    "\"workload\": {\"kind\": \"collective\", \"op\": \"all_to_all\", \"algorithm\": \"direct\", " \
    "\"bytes\": 60000, \"repeat\": 2}}"
#define CHOICES_MAX 16

void hostile_run(const char *transport, const struct hostile_choice *choices, size_t n_choices,
                 const uint8_t *data, size_t n)
{
    struct collwire_setting sets[CHOICES_MAX + 2] = {{"limits.events", FUZZ_EVENTS},
                                                     {"transport.kind", transport}};
    hostile = (struct hostile){.data = data, .n = n};
    for (size_t i = 0; i < n_choices && i < CHOICES_MAX; i++) {
        size_t n_values = 0;
        while (choices[i].values[n_values])
            n_values++;
        sets[i + 2] =
            (struct collwire_setting){choices[i].key, choices[i].values[next_byte() % n_values]};
    }
    fuzz_write_text("hostile.json", FIXED);
    struct err err = {0};
    struct policies policies = policies_builtin(NULL);
    struct scenario *scenario =
        scenario_load(fuzz_path("hostile.json"), sets, n_choices + 2, &policies, &err);
    if (scenario)
        simulate(scenario, &err);
    scenario_free(scenario);
    err_free(&err);
}
