// SPDX-License-Identifier: MIT
// The window law of network signal congestion control (NSCC) of Ultra Ethernet, with its
// parameters; for the policies nscc and nscc_rccc.
//
// Every ACK brings the RTT and the ECN mark of one packet. With the queueing delay d = RTT - base
// RTT and the target T, the window then changes as follows:
//
//              if d < T                             if d >= T
//   no mark    an increase proportional to T - d    a constant increase ("fair increase")
//   mark       no change                            multiplicative decrease, at most once per base
//     RTT
//
// Increases collect in a sum and are added to the window once per RTT or 8 packets ("fulfil").
// If d is below `fast_limit` for a whole window, the window grows with every ACK ("fast increase").
// A trimmed packet costs the window its size. If hardly anything was delivered in a base RTT and T
// while packets were trimmed or delayed by more than 4 T, the window becomes what was delivered
// ("quick adapt"), and marks of packets sent before are ignored.
//
// A receiver with a full NIC requests a smaller window (destination flow control): with a penalty
// of p in every ACK of an RTT the window shrinks to about 1 - p / 128 of itself and does not grow.
// When the receiver takes packets at once again, the window returns to its earlier value. The
// specification shrinks the bytes in flight after the ACK, so any penalty would lead to a window of
// one packet; here the bytes in flight before the ACK are shrunk, so that a penalty of 64 halves
// the window per RTT, as the text of the specification says.
//
// The scale of all steps is a = BDP / 150,000 B, which is 1 at 100 Gb/s and 12 us; BDP and T refer
// to the largest base RTT of the network, as the specification configures one base RTT for all.
//
// Units: windows and steps are wire bytes; the transport gets W times the payload share of a full
// packet. Where the reference implementation rounds to integers, so does this one: fed with the
// events of a recorded run of it, it has the same window after each, to the byte. The one
// exception: its sum of increases wraps at 2^32, which costs throughput above a BDP of 585 KB; here
// it does not.
//
// Source: uet-htsim of the Ultra Ethernet Consortium (commit 40ccb05), the public reference
// implementation of UEC 1.0, section 3.6.13. Where it and the specification differ, the
// specification holds.
#pragma once

#include "collwire/cc.h"

struct nscc_params {
    ps_t target_ps; // PARAM_AUTO_TIME: 0.75 RTT where switches trim, else 1 RTT
    double max_bdp, gamma, alpha, fi, eta, fast_scale, delay_weight, qa_delay, qa_gate;
    ps_t fast_limit_ps;
    uint64_t fulfil_packets;
};

struct nscc {
    /* config, resolved for this line; bytes are wire bytes */
    ps_t network_rtt_ps, target_ps, qa_delay_ps;
    double alpha, fi, eta, fast_scale; // in bytes per byte and ps, bytes, bytes, ratio
    uint64_t packet_bytes, fulfil_bytes;
    double payload_share, wire_share; // of a full packet: payload per wire byte, and the inverse
    bool spares_last_hop;             // trims by the last switch do not change the window
    /* state */
    uint64_t cwnd_bytes, max_bytes;
    uint64_t saved_bytes; // window to restore after the receiver's request; 0 = none is active
    ps_t base_rtt_ps, mean_delay_ps;
    uint64_t achieved_bytes; // delivered since the last check of quick adapt
    uint64_t received_bytes; // delivered since the last fulfil
    uint64_t increase;       // sum of increases, in bytes^2
    uint64_t fast_bytes;     // delivered in a row with a delay below fast_limit
    bool fast;
    uint64_t ignore_bytes, ignored_bytes; // quick adapt: marks to ignore
    bool qa_due;                          // a packet was trimmed
    ps_t qa_end_ps, fulfilled_ps, decreased_ps;
};

// Rows of a struct nscc_params, to include in a policy's table.
extern const struct param nscc_window_params[];

void nscc_window_init(struct cc *cc, struct nscc *s, const struct nscc_params *p,
                      bool spares_last_hop);
void nscc_window_ack(struct cc *cc, struct nscc *s, const struct nscc_params *p,
                     const struct cc_ack *ack);
void nscc_window_signal(struct cc *cc, struct nscc *s, const struct nscc_params *p,
                        const struct cc_signal *signal);

// Names of the values for ops->observe.
extern const char *const nscc_observed[];
size_t nscc_window_observe(const struct nscc *s, double *out, size_t cap);

// The switch profile: RED from 0.2 to 0.8 BDP, where every packet is marked.
#define NSCC_MARKING "uet-htsim, UEC 1.0: RED from 0.2 to 0.8 BDP"
#define NSCC_PROFILE .ecn = true, .kmin_bdp = 0.2, .kmax_bdp = 0.8, .pmax = 1
