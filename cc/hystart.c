// SPDX-License-Identifier: MIT
// HyStart: the end of slow start before a loss.
#include "cc/hystart.h"

#define SAMPLES 8 // RTT samples per round, both forms
#define THRESHOLD_LEAST (4 * PS_PER_MS)
#define THRESHOLD_MOST (16 * PS_PER_MS)
#define THRESHOLD_SHARE 8
/* classic */
#define LOW_WINDOW 16             // segments
#define TRAIN_GAP (2 * PS_PER_MS) // between the ACKs of a train
#define SLACK_MOST PS_PER_MS
#define SLACK_BYTES (4 * 65536)
#define SLACK_WINDOWS 2 // per RTT
/* rfc9406 */
#define CONSERVATIVE_ROUNDS 5
#define CONSERVATIVE_DIVISOR 4
#define ACK_SEGMENTS 8 // L, without pacing

static ps_t threshold(ps_t rtt_ps)
{
    ps_t share = rtt_ps / THRESHOLD_SHARE;
    return share < THRESHOLD_LEAST  ? THRESHOLD_LEAST
           : share > THRESHOLD_MOST ? THRESHOLD_MOST
                                    : share;
}

static void round_begin(struct hystart *h, uint64_t snd_nxt, ps_t now)
{
    h->round_end = snd_nxt;
    h->round_start_ps = h->train_ps = now;
    h->before_rtt_ps = h->round_rtt_ps;
    h->round_rtt_ps = PS_NEVER;
    h->samples = 0;
}

void hystart_begin(struct hystart *h, uint64_t snd_nxt, ps_t now)
{
    *h = (struct hystart){.round_rtt_ps = PS_NEVER, .baseline_ps = PS_NEVER};
    round_begin(h, snd_nxt, now);
}

void hystart_rtt(struct hystart *h, ps_t rtt_ps)
{
    if (h->least_ps == 0 || rtt_ps < h->least_ps)
        h->least_ps = rtt_ps;
}

static void sample(struct hystart *h, ps_t rtt_ps)
{
    if (rtt_ps < h->round_rtt_ps)
        h->round_rtt_ps = rtt_ps;
    h->samples++;
}

// ---- classic ----

static ps_t train_slack(const struct cc_env *env, const struct cc_ack *ack, uint32_t cwnd)
{
    double rate = (double)SLACK_WINDOWS * cwnd * env->mtu_bytes / (double)ack->rtt_ps;
    double slack_ps = SLACK_BYTES / rate;
    return slack_ps < (double)SLACK_MOST ? (ps_t)slack_ps : SLACK_MOST;
}

static bool train_is_long(struct hystart *h, const struct cc_env *env, const struct cc_ack *ack,
                          uint32_t cwnd)
{
    if (ack->now_ps - h->train_ps > TRAIN_GAP)
        return false;
    h->train_ps = ack->now_ps;
    return ack->now_ps - h->round_start_ps > (h->least_ps + train_slack(env, ack, cwnd)) / 2;
}

bool hystart_classic(struct hystart *h, const struct cc_env *env, const struct cc_ack *ack,
                     uint32_t cwnd)
{
    if (ack->snd_una > h->round_end)
        round_begin(h, ack->snd_nxt, ack->now_ps);
    if (cwnd < LOW_WINDOW)
        return false;
    bool by_train = train_is_long(h, env, ack, cwnd), enough = h->samples >= SAMPLES;
    sample(h, ack->rtt_ps);
    bool by_delay = enough && h->round_rtt_ps > h->least_ps + threshold(h->least_ps);
    h->found = by_train || by_delay;
    return h->found;
}

// ---- rfc9406 ----

// Section 4.2: begin conservative slow start if the RTT exceeds that of the round before by the
// threshold.
static void conservative_begin(struct hystart *h)
{
    if (h->samples < SAMPLES || h->before_rtt_ps == PS_NEVER)
        return;
    if (h->round_rtt_ps < h->before_rtt_ps + threshold(h->before_rtt_ps))
        return;
    h->conservative = true;
    h->baseline_ps = h->round_rtt_ps;
    h->rounds = 0;
}

bool hystart_plus(struct hystart *h, const struct cc_ack *ack)
{
    if (ack->snd_una >= h->round_end) {
        round_begin(h, ack->snd_nxt, ack->now_ps);
        if (h->conservative && ++h->rounds >= CONSERVATIVE_ROUNDS) {
            h->found = true;
            return true;
        }
    }
    sample(h, ack->rtt_ps);
    if (!h->conservative)
        conservative_begin(h);
    else if (h->samples >= SAMPLES && h->round_rtt_ps < h->baseline_ps)
        h->conservative = false; // the increase was not lasting
    return false;
}

// Section 4.2: at most L segments per ACK, in conservative slow start a quarter.
uint64_t hystart_growth_bytes(const struct hystart *h, const struct cc_env *env,
                              uint32_t acked_bytes)
{
    uint64_t most = (uint64_t)ACK_SEGMENTS * env->mtu_bytes;
    uint64_t bytes = acked_bytes < most ? acked_bytes : most;
    return h->conservative ? bytes / CONSERVATIVE_DIVISOR : bytes;
}
