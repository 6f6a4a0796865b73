// SPDX-License-Identifier: MIT
// The settings of the TCP transport.
#pragma once

#include "transport/transport_spec.h"

enum tcp_connections { TCP_CONNECTIONS_AUTO, TCP_POOLED, TCP_CONNECTED, TCP_PER_MESSAGE };

struct tcp_spec {
    uint64_t mss_bytes; // payload of a full segment
    uint64_t initial_window, retries, syn_retries, connections_per_pair, quick_ack;
    uint64_t window_bytes;      // receive buffer; PARAM_AUTO = computed from the path
    uint64_t send_buffer_bytes; // PARAM_AUTO = grows with the congestion window
    uint64_t offload_bytes;     // largest burst of segmentation offload; 0 = off
    uint64_t delack_segments;   // an ACK is due after so many full segments
    ps_t delack_ps;             // or after this time
    ps_t rto_min_ps, rto_initial_ps;
    ps_t tick_ps;                      // granularity of the timers; 0 = exact
    ps_t sack_compression_ps;          // 0 = off
    ps_t probe_slack_ps;               // added to two RTTs before a tail loss probe
    ps_t read_stop_ps, read_resume_ps; // PARAM_AUTO_TIME = never
    int connections;                   // enum tcp_connections
    int ecn;                           // enum tcp_ecn
    bool tail_loss_probe;
    bool sack, timestamps, slow_start_after_idle, pacing;
    bool packet_counting; // the policy counts packets
    bool duplex;          // a connection carries both directions of a pair
    /* derived */
    bool ect; // data packets are ECN capable
};
_Static_assert(sizeof(struct tcp_spec) <= TRANSPORT_OWN_BYTES, "TCP's settings fit");

enum tcp_ecn { TCP_ECN_AUTO, TCP_ECN_ON, TCP_ECN_OFF };

#define TCP_SACK_BLOCKS 4 // in an ACK; 3 beside timestamps

static inline struct tcp_spec *tcp_spec_of(struct transport_spec *t) { return (void *)t->own; }
static inline const struct tcp_spec *tcp_spec_const(const struct transport_spec *t)
{
    return (const void *)t->own;
}

static inline unsigned tcp_sack_room(const struct tcp_spec *spec)
{
    return spec->timestamps ? TCP_SACK_BLOCKS - 1 : TCP_SACK_BLOCKS;
}

// Return the sizes of packets: with payload; of ACKs with `sack_blocks` blocks, FINs and resets; of
// SYNs.
struct packet_sizes tcp_data_sizes(const struct transport_spec *t, uint32_t payload, bool first);
struct packet_sizes tcp_ack_sizes(const struct transport_spec *t, unsigned sack_blocks);
struct packet_sizes tcp_syn_sizes(const struct transport_spec *t);
