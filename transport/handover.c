// SPDX-License-Identifier: MIT
// The fields of hosts that reports read.
#include "transport/handover.h"

#include "engine/base/memory.h"
#include "transport/nic/adapter.h"
#include "transport/sender/envs.h"

/* ---- sums ---- */

void hosts_hand_over(struct parcel *p, struct hosts *hosts)
{
    PARCEL_SUM(p, hosts->counters);
    PARCEL_SUM(p, hosts->n_running);
    parcel_latest(p, &hosts->last_delivery_ps);
    for (uint32_t d = 0; d < hosts->n_dims; d++)
        PARCEL_SUM(p, hosts->dims[d].counters);
}

/* ---- NICs ---- */

void rank_hand_over(struct parcel *p, struct hosts *hosts, uint32_t rank)
{
    PARCEL(p, hosts->n_opened[rank]);
}

void nic_port_hand_over(struct parcel *p, struct hosts *hosts, uint32_t port)
{
    uint32_t first = port * hosts->nics_per_port;
    for (uint32_t i = first; i < first + hosts->nics_per_port; i++) {
        PARCEL(p, hosts->nics[i].paused);
        PARCEL(p, hosts->nics[i].needs_credit);
    }
}

void adapter_hand_over(struct parcel *p, struct hosts *hosts, uint32_t index)
{
    struct adapter *a = &hosts->adapters->list[index];
    PARCEL(p, a->free_ps);
    PARCEL(p, a->counters);
}

/* ---- flows ---- */

// Hand over the description of a flow, except for the pointer to its encoder of frames.
static void hand_over_id(struct parcel *p, const struct hosts *hosts, struct flow_id *id)
{
    struct flow_id copy = *id;
    copy.frames = NULL;
    PARCEL(p, copy);
    if (!p->reads)
        return;
    *id = copy;
    id->frames = hosts_dim(hosts, copy.dim, copy.transport)->ops->frames;
}

static void hand_over_env(struct parcel *p, const struct hosts *hosts, struct cc *cc)
{
    struct cc_env env = {0};
    if (!p->reads)
        env = *cc->env;
    env.helpers = NULL;
    env.watch = NULL;
    PARCEL(p, env);
    if (!p->reads)
        return;
    env.helpers = &cc_helpers;
    env.watch = hosts->cc_watch;
    cc->env = cc_envs_keep(hosts->envs, &env);
}

static void hand_over_policy(struct parcel *p, const struct hosts *hosts, struct sender *s)
{
    struct cc *cc = s->cc;
    cc->ops = s->dim->cc;
    cc->params = s->dim->cc_params;
    hand_over_env(p, hosts, cc);
    PARCEL(p, cc->rate_bps);
    PARCEL(p, cc->cwnd_bytes);
    parcel_value(p, cc->priv, cc->ops->priv_bytes);
}

static void hand_over_cuts(struct parcel *p, struct sender *s)
{
    struct sender_cuts cuts = sender_rare(s)->cuts;
    PARCEL(p, cuts);
    if (p->reads && cuts.n > 0)
        (s->cold.rare = memory_zeroed(1, sizeof *s->cold.rare))->cuts = cuts;
}

static void hand_over_bits(struct parcel *p, struct sender *s)
{
    uint8_t bits[3] = {s->cls, s->failed, s->special_due};
    PARCEL(p, bits);
    s->cls = (unsigned)bits[0] & 7u;
    s->failed = bits[1] != 0;
    s->special_due = bits[2] != 0;
}

static void hand_over_sender(struct parcel *p, const struct hosts *hosts, struct sender *s)
{
    PARCEL(p, s->una);
    PARCEL(p, s->nxt);
    PARCEL(p, s->tail);
    PARCEL(p, s->una_bytes);
    PARCEL(p, s->nxt_bytes);
    PARCEL(p, s->window_bytes);
    PARCEL(p, s->ackreq_end);
    PARCEL(p, s->port);
    PARCEL(p, s->retries);
    PARCEL(p, s->cwnd_bytes);
    PARCEL(p, s->cold.timeouts);
    PARCEL(p, s->cold.cap_bytes);
    hand_over_bits(p, s);
    hand_over_cuts(p, s);
    hand_over_policy(p, hosts, s);
    s->nic = hosts_nic(hosts, s->port, s->cls);
}

static void append(struct hosts *hosts, struct sender *s, const struct message *m)
{
    uint32_t at = message_alloc(&hosts->messages);
    struct message *copy = hosts_message(hosts, at);
    *copy = *m;
    copy->next = MESSAGE_NIL;
    if (s->oldest == MESSAGE_NIL)
        s->oldest = at;
    else
        hosts_message(hosts, s->cold.newest)->next = at;
    s->cold.newest = at;
}

static uint32_t count(const struct hosts *hosts, const struct sender *s)
{
    uint32_t n = 0;
    for (uint32_t m = s->oldest; m != MESSAGE_NIL; m = hosts_message(hosts, m)->next)
        n++;
    return n;
}

static void hand_over_messages(struct parcel *p, struct hosts *hosts, struct sender *s)
{
    uint32_t n = parcel_number(p, count(hosts, s));
    uint32_t at = s->oldest;
    for (uint32_t i = 0; i < n && !p->torn; i++) {
        struct message m = {0};
        if (!p->reads) {
            m = *hosts_message(hosts, at);
            at = m.next;
        }
        PARCEL(p, m);
        if (p->reads)
            append(hosts, s, &m);
    }
}

uint32_t flow_hand_over(struct parcel *p, const struct hosts_of *of, uint32_t flow)
{
    struct flow_id id = {0};
    const struct hosts *any = of->of(of->ctx, 0);
    if (!p->reads)
        id = any->flows.ids[flow];
    hand_over_id(p, any, &id);
    struct hosts *hosts = of->of(of->ctx, id.src);
    if (p->reads) {
        flow = hosts_new_sender(hosts, id.dim, id.transport)->flow;
        hosts->flows.ids[flow] = id;
    }
    struct sender *s = hosts->senders[flow];
    hand_over_sender(p, hosts, s);
    hand_over_messages(p, hosts, s);
    return flow;
}

void receiver_hand_over(struct parcel *p, const struct hosts_of *of, uint32_t flow)
{
    const struct hosts *any = of->of(of->ctx, 0);
    const struct flow_id *id = &any->flows.ids[flow];
    struct hosts *hosts = of->of(of->ctx, id->dst);
    struct transport_dim *dim = hosts_dim(hosts, id->dim, id->transport);
    if (p->reads && !hosts->receivers[flow]) {
        struct receiver *r = slab_alloc(&dim->receivers, dim->ops->receiver_bytes);
        r->dim = dim;
        r->flow = flow;
        hosts->receivers[flow] = r;
    }
    dim->ops->hand_over_receiver(p, hosts->receivers[flow]);
}
