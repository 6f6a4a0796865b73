// SPDX-License-Identifier: MIT
// The timer of a sender. It serves one purpose at a time: a retransmission timeout (RFC 6298), a
// tail loss probe or a reordering timeout (RFC 8985), or a probe of a closed receive window (RFC
// 9293, section 3.8.6.1).
#include "transport/tcp/tcp.h"

ps_t tcp_rto_ps(const struct sender *s)
{
    const struct tcp_sender *t = tcp_of(s);
    ps_t rto_ps = t->rto_ps;
    for (uint32_t i = 0; i < t->backoff && rto_ps < TCP_MAX_RTO_PS; i++)
        rto_ps *= 2;
    return rto_ps < TCP_MAX_RTO_PS ? rto_ps : TCP_MAX_RTO_PS;
}

void tcp_arm(struct sender *s, enum tcp_timer timer, ps_t delay_ps, ps_t now)
{
    tcp_of(s)->timer = (uint8_t)timer;
    sender_rto_restart(s, tcp_tick_delay(tcp_sender_spec(s)->tick_ps, delay_ps, now), now);
}

// The time until the oldest segment's retransmission timeout.
static ps_t rto_left_ps(const struct sender *s, ps_t now)
{
    return segment_at(&tcp_of(s)->segs, s->una)->sent_ps + tcp_rto_ps(s) - now;
}

// RFC 8985, section 7.2: a probe is sent after two RTTs, allowing for a delayed ACK if one segment
// is outstanding, but not after the retransmission timeout, unless that is nearer than any timer
// may be that a transmission starts (tcp.c).
static bool arm_probe(struct sender *s, bool progress, ps_t now)
{
    const struct tcp_sender *t = tcp_of(s);
    const struct tcp_spec *spec = tcp_sender_spec(s);
    if (!spec->tail_loss_probe || !spec->sack || t->srtt_ps == 0 ||
        (t->state != TCP_OPEN && t->state != TCP_REDUCING))
        return false;
    ps_t delay_ps = 2 * t->srtt_ps;
    delay_ps += tcp_outstanding(s) == 1 ? spec->rto_min_ps : spec->probe_slack_ps;
    ps_t rto_ps = progress ? tcp_rto_ps(s) : rto_left_ps(s, now);
    if (rto_ps >= t->shortest_timer_ps && delay_ps > rto_ps)
        delay_ps = rto_ps;
    tcp_arm(s, TCP_TIMER_PROBE, delay_ps, now);
    return true;
}

void tcp_arm_for_data(struct sender *s, bool progress, ps_t now)
{
    if (tcp_of(s)->probe_due || arm_probe(s, progress, now))
        return;
    // RFC 6298, section 5: the timer starts with the first outstanding segment, and starts again
    // when new data is acknowledged; further transmissions do not change it.
    if (progress || s->rto_state == RTO_OFF || tcp_outstanding(s) == 1)
        tcp_arm(s, TCP_TIMER_RTO, tcp_rto_ps(s), now);
}

bool tcp_arm_for_window(struct sender *s, ps_t now)
{
    if (s->una < s->nxt || s->nxt == s->tail || tcp_fits_receiver(s))
        return false;
    if (tcp_of(s)->timer != TCP_TIMER_WINDOW || s->rto_state == RTO_OFF)
        tcp_arm(s, TCP_TIMER_WINDOW, tcp_rto_ps(s), now);
    return true;
}

static void on_reorder_timeout(struct sender *s, ps_t now)
{
    struct tcp_ack_facts none = {.first_rtt_ps = -1, .last_rtt_ps = -1, .sack_rtt_ps = -1};
    tcp_recover(s, &none, now);
    if (s->rto_state == RTO_OFF)
        tcp_arm(s, TCP_TIMER_RTO, tcp_rto_ps(s), now);
}

static void on_probe_timeout(struct sender *s, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    // No probe is outstanding, so one is due; tcp_update() lets it be sent whatever the window.
    if (t->tlp_end == 0) {
        t->probe_due = true;
        return;
    }
    // While a probe is outstanding the timeout of the oldest segment is not restarted
    // (tcp_rearm_rto()).
    ps_t left_ps = rto_left_ps(s, now);
    tcp_arm(s, TCP_TIMER_RTO, left_ps > 0 ? left_ps : 1, now);
}

// Probe a closed receive window with a segment without payload before the next expected byte, which
// the receiver acknowledges at once.
static void on_window_timeout(struct sender *s, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    tcp_counters(s)->window_probes++;
    tcp_send_control(s, 0, s->una_bytes - 1, now);
    t->backoff++;
    tcp_arm(s, TCP_TIMER_WINDOW, tcp_rto_ps(s), now);
}

static void on_rto(struct sender *s, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    sender_count_timeout(s);
    tcp_counters(s)->timeouts++;
    if (sender_retry(s) >= tcp_sender_spec(s)->retries) {
        sender_fail(s, now);
        return;
    }
    tcp_enter_loss(s, now);
    t->backoff++;
    tcp_arm(s, TCP_TIMER_RTO, tcp_rto_ps(s), now);
}

void tcp_on_timeout(struct sender *s, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    if (t->phase != TCP_ESTABLISHED)
        tcp_connection_timeout(s, now);
    else if (t->timer == TCP_TIMER_WINDOW)
        on_window_timeout(s, now);
    else if (t->timer == TCP_TIMER_PROBE)
        on_probe_timeout(s, now);
    else if (t->timer == TCP_TIMER_REORDER)
        on_reorder_timeout(s, now);
    else
        on_rto(s, now);
    tcp_update(s, now);
}

// Idle time counts from the last data sent (RFC 5681, section 4.1).
uint32_t tcp_idle_rtos(const struct sender *s, ps_t now)
{
    const struct tcp_sender *t = tcp_of(s);
    if (!tcp_sender_spec(s)->slow_start_after_idle || t->rto_ps <= 0 || s->nxt == 0)
        return 0;
    ps_t idle_ps = now - t->last_sent_ps;
    return idle_ps > 0 ? (uint32_t)((idle_ps - 1) / t->rto_ps) : 0;
}
