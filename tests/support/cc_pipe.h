// SPDX-License-Identifier: MIT
// A TCP-like flow of a policy over a closed model of a path: one queue with a rate and a limit,
// fixed delays, and a receiver that acknowledges every `per_ack` packets. The model is exact:
// packets are sent when the window opens and leave the queue back to back. Losses are repaired in
// an ideal way: the third packet after a lost one reports the loss, the window is reduced once per
// window of data, and the flow recovers when all data sent before is acknowledged.
#pragma once

#include "tests/support/cc_lab.h"

struct cc_pipe {
    /* config */
    uint64_t rate_bps;
    ps_t delay_ps, back_ps;   // propagation of data and of ACKs
    uint32_t wire_bytes, mss; // of a full packet; its payload
    uint64_t per_ack;         // packets per ACK
    uint64_t limit_pkts;      // packets in the system, 0 = no limit
    uint64_t mark_pkts;       // from this many packets in the system on they are marked, 0 = none
    uint64_t lose_every;      // every n-th packet is lost, 0 = none
    uint64_t packets;         // that the flow has to send
    ps_t stop_ps;             // end of the run, 0 = all packets
    /* called after each ACK and each signal; may be NULL */
    void (*watch)(struct cc_pipe *pipe, const struct cc_flow *flow, void *ctx);
    void *ctx;
    /* state, for `watch` */
    ps_t now_ps;
    uint64_t sent, acked, lost; // packets
    uint64_t reductions;
    bool recovering, signalled; // the last call was a signal
    uint64_t cwnd_before;       // bytes, before the last signal
};

void cc_pipe_run(struct cc_pipe *pipe, struct cc_flow *flow);
