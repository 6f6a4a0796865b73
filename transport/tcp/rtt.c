// SPDX-License-Identifier: MIT
// The round-trip time and the retransmission timeout (RFC 6298).
//
// As in Linux, RTO = SRTT + max(4 * deviation, rto_min): the minimum bounds the variation, not the
// sum. The deviation is the largest of the last round trip, and decays by a quarter per round trip,
// so that RTO does not fall while samples of one window differ little. RFC 6298 has max(SRTT + 4 *
// RTTVAR, minimum) without this rule.
#include "transport/tcp/tcp.h"

static void set_rto(struct sender *s)
{
    struct tcp_sender *t = tcp_of(s);
    ps_t tick = tcp_sender_spec(s)->tick_ps, rto_ps = t->srtt_ps + t->rttvar_ps;
    t->rto_ps = tick > 0 ? (rto_ps + tick - 1) / tick * tick : rto_ps;
}

static void first_sample(struct sender *s, ps_t rtt_ps)
{
    struct tcp_sender *t = tcp_of(s);
    ps_t min_ps = tcp_sender_spec(s)->rto_min_ps;
    t->srtt_ps = rtt_ps;
    t->mdev_ps = 2 * rtt_ps; // four times the deviation of RTT / 2
    t->rttvar_ps = t->mdev_ps > min_ps ? t->mdev_ps : min_ps;
    t->mdev_max_ps = t->rttvar_ps;
    t->rtt_end = s->nxt;
    t->min_rtt_ps = rtt_ps;
}

// mdev_ps is four times the smoothed deviation.
static void later_sample(struct sender *s, ps_t rtt_ps)
{
    struct tcp_sender *t = tcp_of(s);
    ps_t min_ps = tcp_sender_spec(s)->rto_min_ps;
    ps_t error = rtt_ps - t->srtt_ps;
    t->srtt_ps += error / 8;
    ps_t excess = (error < 0 ? -error : error) - t->mdev_ps / 4;
    // A fall of the RTT raises the deviation eight times more slowly.
    t->mdev_ps += error < 0 && excess > 0 ? excess / 8 : excess;
    if (t->mdev_ps > t->mdev_max_ps) {
        t->mdev_max_ps = t->mdev_ps;
        if (t->mdev_max_ps > t->rttvar_ps)
            t->rttvar_ps = t->mdev_max_ps;
    }
    if (s->una > t->rtt_end) {
        if (t->mdev_max_ps < t->rttvar_ps)
            t->rttvar_ps -= (t->rttvar_ps - t->mdev_max_ps) / 4;
        t->rtt_end = s->nxt;
        t->mdev_max_ps = min_ps;
    }
}

void tcp_rtt_sample(struct sender *s, ps_t rtt_ps)
{
    struct tcp_sender *t = tcp_of(s);
    if (t->srtt_ps == 0)
        first_sample(s, rtt_ps);
    else
        later_sample(s, rtt_ps);
    set_rto(s);
    t->backoff = 0;
}
