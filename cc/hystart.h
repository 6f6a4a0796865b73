// SPDX-License-Identifier: MIT
// HyStart: the end of slow start before a loss, when round trips become longer.
//
// A round is the time in which the data sent by its beginning is acknowledged. Two forms:
//   classic  Ha & Rhee 2011, as Linux has it. Slow start ends, from a window of 16 segments on,
//            - by delay: the least RTT of the round's first samples, from the ninth on, exceeds the
//              path's least RTT by an eighth of it (at least 4 ms, at most 16 ms), or
//            - by the ACK train: ACKs that follow each other within 2 ms have gone on for half of
//              the path's least RTT plus a slack, since then the train of packets fills half of the
//              path. Slack: the time of four bursts of 64 KB at two windows per RTT, at most 1 ms.
//   rfc9406  HyStart++: delay only, against the round before. Then growth at a quarter of the speed
//            (conservative slow start) for five rounds, unless the RTT falls again.
// The thresholds are times of the Internet: below an RTT of some milliseconds only the ACK train
// can end slow start.
//
// Left out: the length of the train without halving that Linux uses where senders pace.
//
// Sources: Ha & Rhee, "Taming the elephants", Computer Networks 55, 2011; net/ipv4/tcp_cubic.c of
// Linux 6; RFC 9406.
#pragma once

#include "collwire/cc.h"

enum hystart_kind { HYSTART_OFF, HYSTART_CLASSIC, HYSTART_RFC9406 };

struct hystart {
    uint64_t round_end;            // the round ends when the data before it is acknowledged
    ps_t round_start_ps, train_ps; // beginning of the round; last ACK of the train
    ps_t least_ps;                 // least RTT of the path, 0 = no sample
    ps_t round_rtt_ps;             // least RTT of this round, PS_NEVER = no sample
    ps_t before_rtt_ps;            // least RTT of the round before
    ps_t baseline_ps;              // rfc9406: round_rtt_ps when conservative slow start began
    uint32_t samples;              // of this round
    uint32_t rounds;               // of conservative slow start
    bool found;                    // classic: slow start has ended; rfc9406: no further detection
    bool conservative;             // rfc9406: in conservative slow start
};

// Begin with a round that ends at `snd_nxt`.
void hystart_begin(struct hystart *h, uint64_t snd_nxt, ps_t now);

// A sample of the path's RTT, in slow start or later.
void hystart_rtt(struct hystart *h, ps_t rtt_ps);

// classic: true if slow start ends at this ACK, which has an RTT sample.
bool hystart_classic(struct hystart *h, const struct cc_env *env, const struct cc_ack *ack,
                     uint32_t cwnd);

// rfc9406: true if slow start ends at this ACK. hystart_growth_bytes() says how much it counts.
bool hystart_plus(struct hystart *h, const struct cc_ack *ack);
uint64_t hystart_growth_bytes(const struct hystart *h, const struct cc_env *env,
                              uint32_t acked_bytes);
