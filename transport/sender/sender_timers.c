// SPDX-License-Identifier: MIT
// Timers of senders: the retransmission timer, and those of the policy. The clock of a
// retransmission timer stops while PFC pauses the sender's class at the NIC, because a pause is not
// a loss.
#include "engine/base/memory.h"
#include "transport/host.h"

static void set_state(struct sender *s, enum rto_state state)
{
    struct hosts *hosts = sender_hosts(s);
    hosts->n_rto_armed -= s->rto_state == RTO_ARMED;
    hosts->n_rto_armed += state == RTO_ARMED;
    if (state == RTO_PARKED && s->rto_state != RTO_PARKED)
        nic_park(s->nic, s);
    s->rto_state = (uint8_t)state;
}

void sender_rto_restart(struct sender *s, ps_t rto_ps, ps_t now)
{
    const struct nic *nic = s->nic;
    s->rto_due_ps = nic_active_ps(nic, now) + rto_ps;
    if (nic->paused) {
        set_state(s, RTO_PARKED);
        sim_timer_stop(&s->rto);
        return;
    }
    if (s->rto_state == RTO_ARMED && s->rto.at_ps <= now + rto_ps)
        return; // the later deadline is checked when the timer fires
    set_state(s, RTO_ARMED);
    sim_timer_start(sender_hosts(s)->net->engine, &s->rto, now + rto_ps);
}

void sender_rto_stop(struct sender *s)
{
    set_state(s, RTO_OFF);
    sim_timer_stop(&s->rto);
}

void sender_rto_resumed(struct sender *s, ps_t now)
{
    set_state(s, RTO_ARMED);
    sim_timer_start(sender_hosts(s)->net->engine, &s->rto,
                    now + (s->rto_due_ps - nic_active_ps(s->nic, now)));
}

static void on_rto(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct sender *s = timer->data;
    struct hosts *hosts = sender_hosts(s);
    sender_catch_up(s, e->now_ps);
    ps_t left = s->rto_due_ps - nic_active_ps(s->nic, e->now_ps);
    if (left > 0) {
        if (s->nic->paused)
            set_state(s, RTO_PARKED);
        else
            sim_timer_start(e, &s->rto, e->now_ps + left);
        return;
    }
    set_state(s, RTO_OFF); // the timer has fired
    if (s->cold.cut_off)
        hosts_try_other_port(hosts, s, e->now_ps);
    sender_begin(s);
    s->dim->ops->on_timeout(s, e->now_ps);
    sender_end(s, e->now_ps);
}

void sender_count_timeout(struct sender *s)
{
    struct hosts *hosts = sender_hosts(s);
    ps_t now = hosts->net->engine->now_ps;
    sender_time_timeout(s, now);
    if (hosts->observer.timed_out) {
        hosts_begin_call(hosts);
        hosts->observer.timed_out(hosts->observer.ctx, s, now);
        hosts_end_call(hosts);
    }
    s->cold.timeouts++;
    hosts->counters.timeouts++;
    if (s->oldest != MESSAGE_NIL)
        hosts_message(hosts, s->oldest)->timeouts++;
}

uint32_t sender_retry(struct sender *s)
{
    sender_hosts(s)->n_retrying += s->retries == 0;
    return s->retries++;
}

void sender_end_retries(struct sender *s)
{
    sender_hosts(s)->n_retrying--;
    s->retries = 0;
}

static void on_cc_timer(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct sender *s = timer->data;
    struct cc *cc = s->cc;
    sender_catch_up(s, e->now_ps);
    for (unsigned t = 0; t < CC_TIMERS; t++)
        if (cc->timer_at_ps[t] <= e->now_ps) {
            cc->timer_at_ps[t] = PS_NEVER;
            cc->ops->on_timer(cc, t, e->now_ps);
        }
    sender_apply_cc(s, e->now_ps);
    sender_wake(s, e->now_ps);
}

void sender_init_timers(struct sender *s)
{
    struct engine *engine = sender_hosts(s)->net->engine;
    uint32_t rank = sender_id(s)->src;
    sim_timer_init(engine, &s->rto, rank, on_rto, s);
    s->cold.cc_timer = sim_timer_reserve(engine, rank);
}

void sender_stop_policy(struct sender *s)
{
    for (unsigned t = 0; t < CC_TIMERS; t++)
        s->cc->timer_at_ps[t] = PS_NEVER;
    if (s->cold.rare)
        sim_timer_stop(&s->cold.rare->cc_timer);
}

const struct sender_rare sender_no_rare = {.cc_timer = {.at_ps = PS_NEVER}};

struct sender_rare *sender_rare_make(struct sender *s)
{
    if (!s->cold.rare) {
        s->cold.rare = memory_zeroed(1, sizeof *s->cold.rare);
        sim_timer_init_reserved(sender_hosts(s)->net->engine, &s->cold.rare->cc_timer,
                                sender_id(s)->src, s->cold.cc_timer, on_cc_timer, s);
    }
    return s->cold.rare;
}
