// SPDX-License-Identifier: MIT
// TCP connections (RFC 9293) between ranks.
//
// Each flow is a connection whose data goes one way, from struct tcp_sender to struct tcp_receiver.
// Handshake, SACK (RFC 2018, 6675), loss detection by RACK and tail loss probes (8985),
// Proportional Rate Reduction (6937), retransmission timeouts (6298), delayed ACKs, ECN (3168,
// 8257), receive window with probes, and close. The policy owns the target window; during fast
// recovery the transport moves its own window towards it. docs/tcp.md lists what is modelled and
// where it differs from Linux.
//
// Two units: struct sender counts segments (its sequence numbers) and bytes of the stream; packets
// carry the low 32 bits of byte numbers. The wire's sequence numbers, with a random start, exist
// only in the encoder (frame.c).
//
// Not modelled: urgent data, data in SYNs, path MTU discovery, undo of spurious recoveries, and
// segments that join the bytes of two messages.
#pragma once

#include "transport/host.h"
#include "transport/tcp/ranges.h"
#include "transport/tcp/segments.h"
#include "transport/tcp/tcp_spec.h"

// Bits of the TCP header in packet_meta.tcp_control. ACK and PSH follow from other fields, and ECE
// of an ACK is PACKET_ECHO_CE.
enum tcp_control {
    TCP_FIN = 0x01,
    TCP_SYN = 0x02,
    TCP_RST = 0x04,
    TCP_AFTER_FIN = 0x10, // the receiver has sent its FIN; the sender acknowledges it
    TCP_CWR = 0x80,
};

// Data of a duplex connection carries the ACK of the other direction in the places of SACK blocks:
// {number, window}, {low and high half of the echoed time}, then SACK blocks.
#define TCP_CARRIED 2
// A packet without data of such a connection has its own sequence number in the first place.
#define TCP_OWN_NUMBER 1

#define TCP_DUPLICATE_THRESHOLD 3       // segments out of order that show a loss (RFC 5681, 6675)
#define TCP_FIELD_MAX 65535u            // largest value of the header's window field
#define TCP_SCALE_MAX 14                // largest window scale (RFC 7323)
#define TCP_MAX_RTO_PS (120 * PS_PER_S) // Linux
#define TCP_WINDOW_AUTO UINT64_C(6291456)

/* ---- sender ---- */

enum tcp_phase {
    TCP_CLOSED,
    TCP_SYN_SENT,
    TCP_ESTABLISHED,
    TCP_FIN_SENT,  // waits for the ACK of its FIN and for the FIN of the receiver
    TCP_TIME_WAIT, // closed, but packets of the connection may still be in the network
};

// State of congestion and recovery. From TCP_CWR on the window must not be cut again.
enum tcp_congestion {
    TCP_OPEN,
    TCP_DISORDER, // segments have arrived out of order, none counts as lost
    TCP_REDUCING, // cut after ECN marks
    TCP_RECOVERY, // fast recovery
    TCP_LOSS,     // recovery after a timeout
};

// Purpose of a sender's timer.
enum tcp_timer { TCP_TIMER_RTO, TCP_TIMER_PROBE, TCP_TIMER_REORDER, TCP_TIMER_WINDOW };

struct tcp_receiver;

struct tcp_sender {
    struct tcp_segments segs;
    struct tcp_receiver *back; // duplex: the receiver of the other direction; NULL = none yet
    uint32_t cwnd;             // window in segments
    uint8_t phase;             // enum tcp_phase
    uint8_t state;             // enum tcp_congestion
    uint32_t entering;         // first message whose last byte has not entered the send buffer
    uint64_t buffer_bytes;     // of the send buffer
    uint8_t timer;             // enum tcp_timer
    uint8_t connection;        // low bits of the number of the connection
    bool probe_due;            // a tail loss probe must be sent now, whatever the window
    bool cwr_due;              // the next new segment carries CWR
    bool writes;               // a thread writes its data into the send buffer (send_buffer.c)
    bool limited;              // the window was full since the data before usage_end was sent
    uint64_t cwr_end;          // DCTCP: segment number after which CWR may be set again
    uint64_t edge;             // bytes of the stream before it fit into the receive window
    uint64_t usage_end;        // segment number
    uint32_t max_out;          // most segments outstanding since then
    uint32_t ssthresh;         // target of the reduction, in segments
    uint64_t high;             // highest segment number when the state was entered
    ps_t last_sent_ps;         // of data
    /* RTT (RFC 6298) */
    ps_t srtt_ps, mdev_ps, mdev_max_ps, rttvar_ps, min_rtt_ps;
    ps_t rto_ps;      // without backoff
    uint64_t rtt_end; // segment number at which the period of mdev_max ends
    /* PRR (RFC 6937), in segments */
    uint32_t prior_cwnd, prr_delivered, prr_out;
    /* RACK (RFC 8985): the delivered segment that was sent last */
    ps_t rack_sent_ps, rack_rtt_ps;
    uint64_t rack_number;
    uint32_t reo_steps; // reordering window in quarters of the minimal RTT
    uint64_t reo_round; // segment number at which it may grow again
    bool rack_advanced, reordering;
    /* SACK blocks of the last ACK */
    struct sack_block seen[META_SACKS];
    uint8_t n_seen;
    /* segmentation offload, in segments; 0 or 1 = off */
    uint32_t burst, burst_left;
    /* tail loss probe */
    bool tlp_is_retx;
    uint64_t tlp_end; // highest segment number when the probe was sent; 0 = none outstanding
    /* connection */
    uint32_t backoff;
    uint32_t peer_clock_ms; // timestamp of the last ACK, which data echoes
    uint32_t last_ack;      // as in the last ACK that arrived, to recognise duplicates
    uint64_t last_window_bytes;
    uint64_t base_byte; // number of the connection's first byte in the stream
    bool fin_acked, peer_closed;
    ps_t shortest_timer_ps; // shortest timer that a transmission may start
    ps_t linger_ps;         // longest time that a packet can stay in the network
    ps_t control_ps;        // time of the last SYN
};

static inline struct tcp_sender *tcp_of(const struct sender *s)
{
    return (struct tcp_sender *)(void *)((char *)(uintptr_t)s + sizeof *s);
}

static inline uint32_t tcp_outstanding(const struct sender *s)
{
    return (uint32_t)(s->nxt - s->una);
}

// Segments in the network (RFC 6675, "pipe").
static inline uint32_t tcp_in_flight(const struct sender *s)
{
    const struct tcp_segments *segs = &tcp_of(s)->segs;
    return tcp_outstanding(s) - segs->sacked - segs->lost + segs->retx;
}

// The policy's window in segments, at least one.
static inline uint32_t tcp_policy_window(const struct sender *s)
{
    uint64_t segments = s->cwnd_bytes / s->dim->mtu_bytes;
    return segments >= UINT32_MAX ? UINT32_MAX : segments > 0 ? (uint32_t)segments : 1;
}

static inline const struct tcp_spec *tcp_sender_spec(const struct sender *s)
{
    return tcp_spec_const(&s->dim->spec);
}

static inline struct transport_counters *tcp_counters(const struct sender *s)
{
    return &((struct transport_dim *)(uintptr_t)s->dim)->counters;
}

// Facts that an ACK has shown.
struct tcp_ack_facts {
    uint32_t delivered; // segments that have newly arrived
    uint64_t delivered_bytes;
    uint32_t lost;  // segments that newly count as lost
    bool advanced;  // the cumulative ACK has advanced
    bool sacked;    // a SACK block covers new segments
    bool resent;    // a segment cumulatively acknowledged had been retransmitted
    bool dsack;     // a block reports a duplicate
    bool duplicate; // the ACK repeats the last one
    bool ece;
    bool timer_set; // the reordering timer has been set
    /* RTTs; -1 = none */
    ps_t first_rtt_ps, last_rtt_ps;     // of the first and the last segment acknowledged
    ps_t sack_rtt_ps, last_sack_rtt_ps; // of the first and the last segment SACKed
};

/* ---- receiver ---- */

// Data beyond the next expected byte.
struct tcp_early {
    struct byte_ranges ranges;
    struct byte_range recent[TCP_SACK_BLOCKS]; // most recently changed first (RFC 2018, section 4)
    uint32_t n_recent;
    struct tcp_end { // ends of messages
        uint64_t byte, token;
    } * ends;
    size_t n_ends, cap_ends;
};

// Reason to report in the next ACK how long it was held: something may have waited for it.
enum tcp_hold {
    TCP_HOLD_HIDDEN, // none: it is not reported
    TCP_HOLD_END,    // a message ended with the data that the ACK covers
    TCP_HOLD_TIMER,  // the delayed-ACK timer has sent it
};

struct tcp_receiver {
    struct receiver base;
    struct sender *back;     // duplex: the sender of the other direction; else NULL
    uint64_t expected;       // number of the next byte in order
    uint64_t acked;          // `expected` in the last ACK
    uint64_t edge;           // end of the advertised window
    uint64_t unread;         // bytes that the application has not read
    struct tcp_early *early; // NULL until a segment arrives out of order
    ps_t echo_ps;            // transmission of the segment whose timestamp the next ACK echoes
    ps_t rtt_ps;             // RTT of the handshake; 0 = unknown
    ps_t syn_ack_ps;
    ps_t owed_ps; // with `owes`: data arrived that no ACK covers yet
    uint32_t src_node, entropy, port;
    uint32_t quick;      // segments that are still acknowledged at once
    uint32_t sack_acks;  // ACKs sent for segments out of order since `expected` has advanced
    uint32_t held;       // segments in order since the last ACK
    uint32_t compressed; // segments out of order since the last ACK
    struct byte_range duplicate; // to report in the next ACK (D-SACK, RFC 2883); empty = none
    uint16_t fin_tries;
    unsigned cls : 3;
    uint8_t connection;
    bool open, closed;  // SYN received; own FIN sent
    bool owes;          // an ACK is held back
    bool arriving;      // a segment is being handled, after which data may carry its ACK
    bool due;           // the held ACK must be sent at once
    uint8_t shows_hold; // enum tcp_hold
    bool fin_received, fin_acked;
    bool ce;                // the segments not yet acknowledged carried CE
    bool echoes;            // ECE is echoed until CWR arrives (RFC 3168)
    bool exact_marks;       // ECE reports each segment's CE (RFC 8257)
    struct sim_timer timer; // delayed ACK, compressed ACK, or FIN
    struct sim_timer reader;
};

/* ---- between the files of this folder ---- */

/* tcp.c, connection.c */
void tcp_prepare(struct transport_dim *dim);
void tcp_name_connection(struct sender *s, uint32_t count);
void tcp_open_sender(struct sender *s, const struct transport_path *path);
size_t tcp_autos(const struct transport_dim *dim, const struct transport_path *path,
                 struct transport_auto *out);
uint64_t tcp_receive_window(const struct transport_dim *dim, const struct transport_path *path);
void tcp_close_sender(struct sender *s);
void tcp_on_post(struct sender *s, ps_t now);
void tcp_on_failed(struct sender *s, ps_t now);
// Send a packet without payload at once; `byte` is its sequence number in the stream.
void tcp_send_control(struct sender *s, uint8_t control, uint64_t byte, ps_t now);
// Handles SYN and FIN bits, and ACKs of FINs. Returns true if the packet's ACK must be handled too.
bool tcp_on_control(struct sender *s, const struct packet_meta *meta, ps_t now);
void tcp_on_peer_fin(struct sender *s, ps_t now);
// All data is acknowledged: close the connection if it carries one message.
void tcp_finish(struct sender *s, ps_t now);
void tcp_connection_timeout(struct sender *s, ps_t now);

/* send.c */
void tcp_fill(struct sender *s, struct packet *p, ps_t now);
void tcp_on_window(struct sender *s, ps_t now);
// Set the fields that decide whether the sender may send. Call after every change of its state.
void tcp_update(struct sender *s, ps_t now);
bool tcp_fits_receiver(const struct sender *s); // the next new segment fits into the window

// The pacing rate, in tenths of a window per round trip: 2 windows in slow start and 1.2 later, as
// Linux does with its fair queue (tcp_pacing_ss_ratio, tcp_pacing_ca_ratio).
static inline unsigned tcp_pacing_tenths(const struct tcp_sender *t)
{
    return t->cwnd < t->ssthresh / 2 ? 20 : 12;
}

/* send_buffer.c */
void tcp_writer_open(struct sender *s);
// Let the thread of the sender write what has been posted, if it does not do so already. Call only
// if tcp_sender.writes is set.
void tcp_write(struct sender *s, ps_t now);
// Bytes of the stream that it has written. Call only if tcp_sender.writes is set; otherwise writing
// takes no time.
uint64_t tcp_writer_bytes(const struct sender *s);

/* buffer.c */
// Acknowledgements, a larger window or a post have changed the send buffer: let it grow, and report
// messages whose last byte has entered it. The callbacks may post.
void tcp_buffer_update(struct sender *s, ps_t now);
// A message has been posted.
void tcp_buffer_post(struct sender *s, ps_t now);

/* ack.c, recovery.c, rack.c */
void tcp_on_feedback(struct sender *s, struct packet *p, ps_t now);
void tcp_on_written(struct sender *s, uint64_t bytes, ps_t now);
// Handle the ACK that a data packet carries; within sender_begin() and sender_end().
void tcp_on_carried(struct sender *s, const struct packet *p, ps_t now);
// Detect losses, begin and end episodes of recovery, and move the window during a reduction.
void tcp_recover(struct sender *s, struct tcp_ack_facts *facts, ps_t now);
// Report congestion to the policy, which cuts its window.
void tcp_cut(struct sender *s, enum cc_signal_kind kind, ps_t now);
// Recovery after a retransmission timeout begins.
void tcp_enter_loss(struct sender *s, ps_t now);
// Note a segment that has arrived, and a report of a needless retransmission.
void tcp_rack_delivered(struct tcp_sender *t, const struct tcp_segment *seg, uint64_t number,
                        ps_t now);
void tcp_rack_dsack(struct sender *s);
// Mark segments as lost. Returns their number, and in *wait_ps the time after which more may be, or
// 0.
uint32_t tcp_rack_lose(struct sender *s, ps_t now, ps_t *wait_ps);
// True if a segment was sent longer ago than the latest RTT.
bool tcp_rack_expired(const struct sender *s, const struct tcp_segment *seg, ps_t now);

/* timers.c, rtt.c */
// Update the RTT and the retransmission timeout.
void tcp_rtt_sample(struct sender *s, ps_t rtt_ps);
// Set the timer. The delay ends at a tick of timer_tick.
void tcp_arm(struct sender *s, enum tcp_timer timer, ps_t delay_ps, ps_t now);
ps_t tcp_rto_ps(const struct sender *s);                          // with backoff
void tcp_arm_for_data(struct sender *s, bool progress, ps_t now); // RTO or tail loss probe
// Start to probe the receive window if nothing is outstanding and the next segment does not fit
// into the window. Returns false otherwise.
bool tcp_arm_for_window(struct sender *s, ps_t now);
void tcp_on_timeout(struct sender *s, ps_t now);
uint32_t tcp_idle_rtos(const struct sender *s, ps_t now);
/* ticks.c */
// Returns the delay of a timeout on a timer wheel with ticks of tick_ps, more than 0.
ps_t tcp_tick_rounded(ps_t tick_ps, ps_t delay_ps, ps_t now);
// Returns tcp_tick_rounded(), or delay_ps itself if tick_ps is 0 and timeouts are exact.
static inline ps_t tcp_tick_delay(ps_t tick_ps, ps_t delay_ps, ps_t now)
{
    return tick_ps > 0 ? tcp_tick_rounded(tick_ps, delay_ps, now) : delay_ps;
}

/* receive.c, acknowledge.c */
void tcp_open_receiver(struct receiver *r);
void tcp_close_receiver(struct receiver *r);
uint64_t tcp_received_bytes(const struct receiver *r, const struct message *m);
void tcp_hand_over_receiver(struct parcel *p, struct receiver *r);
void tcp_on_data(struct receiver *r, uint32_t port, struct packet *p, ps_t now);
// Send an ACK with the control bits SYN or FIN, or none.
void tcp_reply(struct tcp_receiver *r, uint8_t control, ps_t now);
// Write the ACK of a duplex connection's other direction to a data packet, and count it as sent.
void tcp_carry_ack(struct tcp_receiver *r, struct packet *p, ps_t now);
// Send the ACK that became due while a segment was handled, unless data has carried it or will.
void tcp_flush_ack(struct tcp_receiver *r, ps_t now);
enum tcp_ack_kind {
    TCP_ACK_DELAYED, // in order
    TCP_ACK_GAP,     // data is out of order
    TCP_ACK_NOW,
};
// Acknowledge a segment that has arrived, now or later.
void tcp_acknowledge(struct tcp_receiver *r, enum tcp_ack_kind kind, ps_t now);
void tcp_receiver_timers_init(struct tcp_receiver *r);
