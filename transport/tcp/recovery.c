// SPDX-License-Identifier: MIT
// Recovery from loss: when an episode starts and ends (RFC 5681, 6582, 6675), and the window during
// a reduction (Proportional Rate Reduction, RFC 6937).
//
// enum tcp_congestion has the states of Linux (tcp_input.c): Open, Disorder, CWR, which is called
// TCP_REDUCING here, Recovery and Loss. While a reduction is under way no further reduction starts.
#include "transport/tcp/tcp.h"

static bool reducing(const struct tcp_sender *t)
{
    return t->state == TCP_REDUCING || t->state == TCP_RECOVERY;
}

void tcp_cut(struct sender *s, enum cc_signal_kind kind, ps_t now)
{
    sender_signal(s, kind, false, now);
    sender_apply_cc(s, now);
    tcp_of(s)->ssthresh = tcp_policy_window(s);
}

/* ---- reductions ---- */

// Start to move the window to the one that the policy sets for `kind`.
static void start_reduction(struct sender *s, enum tcp_congestion state, enum cc_signal_kind kind,
                            ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    t->prior_cwnd = t->cwnd;
    t->prr_delivered = t->prr_out = 0;
    t->state = (uint8_t)state; // before the cut, which must not change the window at once
    tcp_cut(s, kind, now);
    if (kind == CC_SIGNAL_ECE)
        t->cwr_due = true;
}

// RFC 6937, section 3, with the safeACK rule of RFC 9937 that Linux uses: below the target the
// window grows beyond the segments delivered only by ACKs that advance and show no further loss.
static void reduce(struct sender *s, const struct tcp_ack_facts *facts)
{
    struct tcp_sender *t = tcp_of(s);
    uint32_t in_flight = tcp_in_flight(s);
    t->prr_delivered += facts->delivered;
    int64_t send;
    // Above the target ssthresh segments leave for each prior_cwnd delivered ones; below it the
    // window grows back to the target.
    if (in_flight > t->ssthresh) {
        uint64_t due = (uint64_t)t->ssthresh * t->prr_delivered + t->prior_cwnd - 1;
        send = (int64_t)(due / t->prior_cwnd) - t->prr_out;
    } else {
        send = (int64_t)t->prr_delivered - t->prr_out;
        if (send < (int64_t)facts->delivered)
            send = facts->delivered;
        send += facts->advanced && facts->lost == 0;
        if (send > (int64_t)(t->ssthresh - in_flight))
            send = t->ssthresh - in_flight;
    }
    if (send < (t->prr_out == 0)) // the first retransmission is sent at once
        send = t->prr_out == 0;
    t->cwnd = in_flight + (uint32_t)send;
}

static void open_again(struct sender *s, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    if (!tcp_sender_spec(s)->sack)
        t->segs.sacked = 0; // estimates of the episode
    t->state = TCP_OPEN;
    tcp_on_window(s, now);
}

// End an episode that is over. Without SACK, recovery is held until data beyond it is acknowledged,
// since further duplicate ACKs could start a false one (RFC 6582, section 4.1).
static void end_episode(struct sender *s, ps_t now)
{
    const struct tcp_sender *t = tcp_of(s);
    bool beyond = s->una > t->high;
    if (s->una < t->high || t->state <= TCP_DISORDER)
        return;
    if (t->state == TCP_REDUCING && !beyond)
        return;
    if (t->state == TCP_RECOVERY && !beyond && !tcp_sender_spec(s)->sack)
        return;
    open_again(s, now);
}

/* ---- loss detection ---- */

static void detect_by_time(struct sender *s, struct tcp_ack_facts *facts, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    ps_t wait_ps;
    // RACK finds losses only when a segment that was sent later has arrived, or when a reordering
    // window has passed.
    if (!t->rack_advanced && t->timer != TCP_TIMER_REORDER)
        return;
    facts->lost = tcp_rack_lose(s, now, &wait_ps);
    if (wait_ps > 0) {
        tcp_arm(s, TCP_TIMER_REORDER, wait_ps + tcp_sender_spec(s)->probe_slack_ps, now);
        facts->timer_set = true;
    }
}

// Without SACK: the third duplicate ACK, and in recovery an ACK of a part, show that the first
// segment is lost (RFC 6582, section 3.2).
static void detect_by_duplicates(struct sender *s, struct tcp_ack_facts *facts)
{
    struct tcp_sender *t = tcp_of(s);
    const struct tcp_segment *head = segment_at(&t->segs, s->una);
    bool third = t->state < TCP_RECOVERY && t->segs.sacked >= TCP_DUPLICATE_THRESHOLD;
    bool partial = t->state == TCP_RECOVERY && facts->advanced && s->una < t->high;
    if (s->una < s->nxt && (third || partial) && !(head->state & SEGMENT_LOST)) {
        segment_lose(&t->segs, s->una);
        facts->lost = 1;
    }
}

static void detect(struct sender *s, struct tcp_ack_facts *facts, ps_t now)
{
    if (tcp_sender_spec(s)->sack)
        detect_by_time(s, facts, now);
    else
        detect_by_duplicates(s, facts);
}

/* ---- episodes ---- */

static void enter_recovery(struct sender *s, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    t->high = s->nxt;
    tcp_counters(s)->fast_retransmits++;
    // A reduction after ECN marks is under way, so the window is not cut a second time.
    if (t->state == TCP_REDUCING)
        t->state = TCP_RECOVERY;
    else
        start_reduction(s, TCP_RECOVERY, CC_SIGNAL_DUPACK, now);
}

// No loss: Open, or Disorder while segments are out of order.
static void settle(struct sender *s)
{
    struct tcp_sender *t = tcp_of(s);
    if (t->state == TCP_REDUCING)
        return;
    enum tcp_congestion state = t->segs.sacked > 0 ? TCP_DISORDER : TCP_OPEN;
    if (t->state != state)
        t->high = s->nxt;
    t->state = (uint8_t)state;
}

void tcp_recover(struct sender *s, struct tcp_ack_facts *facts, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    bool classic = tcp_sender_spec(s)->ect && !(s->dim->cc->needs & CC_NEEDS_CE_SHARE);
    end_episode(s, now);
    if (facts->ece && !classic && s->una >= t->cwr_end) { // RFC 8257, section 3.3
        t->cwr_due = true;
        t->cwr_end = s->nxt;
    }
    if (facts->ece && classic && t->state < TCP_REDUCING) {
        t->high = s->nxt;
        start_reduction(s, TCP_REDUCING, CC_SIGNAL_ECE, now);
    }
    if (t->state < TCP_RECOVERY && facts->advanced && !tcp_sender_spec(s)->sack)
        t->segs.sacked = 0;
    detect(s, facts, now);
    if (t->state < TCP_RECOVERY) {
        if (t->segs.lost > 0)
            enter_recovery(s, now);
        else
            settle(s);
    }
    if (reducing(t))
        reduce(s, facts);
}

// A retransmission timeout (RFC 5681, section 3.1; RFC 8985, section 6.3): segments that were sent
// long enough ago count as lost, and the window shrinks to one segment. Repeated timeouts, and
// those within an episode, do not lower the threshold again.
void tcp_enter_loss(struct sender *s, ps_t now)
{
    struct tcp_sender *t = tcp_of(s);
    bool first =
        t->state <= TCP_DISORDER || s->una > t->high || (t->state == TCP_LOSS && s->retries == 1);
    for (uint64_t number = s->una; number < s->nxt; number++) {
        const struct tcp_segment *seg = segment_at(&t->segs, number);
        if (!(seg->state & SEGMENT_SACKED) &&
            (number == s->una || !tcp_sender_spec(s)->sack || tcp_rack_expired(s, seg, now)))
            segment_lose(&t->segs, number);
    }
    if (!tcp_sender_spec(s)->sack)
        t->segs.sacked = 0;
    t->tlp_end = 0;
    t->state = TCP_LOSS;
    t->high = s->nxt;
    sender_signal(s, CC_SIGNAL_TIMEOUT, !first, now);
    sender_apply_cc(s, now);
    t->ssthresh = t->ssthresh == UINT32_MAX ? UINT32_MAX - 1 : t->ssthresh;
    t->cwnd = tcp_in_flight(s) + 1;
}
