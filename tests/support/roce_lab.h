// SPDX-License-Identifier: MIT
// A lab for the RoCE transport: one switch at which a test can watch, drop or mark every packet.
// There is no workload: tests post messages and run the engine themselves.
#pragma once

#include "tests/support/fixture.h"
#include "transport/roce/roce.h"

#define LAB_LINE UINT64_C(100000000000) // rate of every link: 80 ps per byte; the delay is 1 us
#define LAB_MTU 1000
#define LAB_WIRE (LAB_MTU + 82) // wire bytes of a full packet without RETH
#define LAB_TOKENS 64

struct lab_seen {
    ps_t at_ps; // NICs: start of transmission; arrivals: last byte
    struct packet p;
    struct packet_meta meta;
};

struct lab {
    struct fixture f;
    struct sim *sim;
    // Called for packets that arrive at the switch. Returns true to drop the packet; may mark it.
    bool (*lose)(struct lab *lab, struct packet *p);
    unsigned lost;
    unsigned lose_psn, lose_times; // set by lab_lose_psn
    struct lab_seen *tx, *rx;      // packets sent by NICs, packets that arrived at NICs
    size_t n_tx, n_rx, cap_tx, cap_rx;
    ps_t delivered_ps[LAB_TOKENS], sent_ps[LAB_TOKENS], failed_ps[LAB_TOKENS]; // -1 = did not
                                                                               // happen
    void (*on_end)(struct lab *lab, uint64_t token, ps_t now);                 // called when a
                                                                               // message was sent
                                                                               // or has failed
    uint64_t max_inflight;
    bool window_shrinks; // the bytes in flight may exceed the window
    void (*nic_arrive)(void *, uint32_t, uint32_t, struct packet *, ps_t); // the original operation
                                                                           // of the NICs
    void (*switch_arrive)(void *, uint32_t, uint32_t, struct packet *, ps_t);
};

// A policy whose actions the test sets. lab_begin() zeroes it.
struct lab_stub {
    uint64_t rate_bps, cwnd_bytes, ack_rate_bps, ack_cwnd_bytes, cnp_rate_bps; // 0 = do not change
    uint64_t inits, cnps, acks, ce_bytes;                                      // counters
};
extern struct lab_stub lab_stub;
extern const struct cc_ops lab_ack_ops; // acts on ACKs
extern const struct cc_ops lab_cnp_ops; // acts on CNPs, and needs them

// Build `ranks` ranks on one switch under a policy (NULL = none). Returns the transport's settings,
// to be changed.
struct roce_spec *lab_begin(struct lab *l, uint32_t ranks, const struct cc_ops *ops);
struct hosts *lab_build(struct lab *l);
void lab_end(struct lab *l); // runs to the end; nothing may be left in the network

void lab_run(struct lab *l);
void lab_run_to(struct lab *l, ps_t at_ps); // processes all events up to at_ps and sets the clock
                                            // to it
ps_t lab_now(const struct lab *l);
void lab_post(struct lab *l, uint32_t src, uint32_t dst, uint64_t bytes, uint64_t token);

// Drop data packet lose_psn lose_times times.
bool lab_lose_psn(struct lab *l, struct packet *p);

// Deliver a PFC frame of the data class to rank 0's NIC now.
void lab_pause(struct lab *l, uint16_t quanta);

uint32_t lab_psn(const struct lab *l, const struct packet *p);
size_t lab_failed(const struct lab *l); // number of failed messages

bool lab_is_data(const struct packet *p);
bool lab_is_retx(const struct packet *p);
bool lab_is_ack(const struct packet *p); // true for NAKs too
bool lab_is_nak(const struct packet *p);
bool lab_is_cnp(const struct packet *p);
size_t lab_count(const struct lab *l, bool (*is)(const struct packet *)); // packets sent by NICs
// Returns the k-th of them (from 0); the test fails if there is none.
const struct lab_seen *lab_nth(const struct lab *l, bool (*is)(const struct packet *), size_t k);
