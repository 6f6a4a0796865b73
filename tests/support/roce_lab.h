// SPDX-License-Identifier: MIT
// A laboratory for the RoCE transport: one switch whose every packet a test may watch, lose or mark,
// without a workload: tests post messages themselves and drain the engine.
#pragma once

#include "tests/support/fixture.h"
#include "transport/roce/roce.h"

#define LAB_LINE UINT64_C(100000000000) // of every link; 80 ps a byte, 1 us of delay
#define LAB_MTU 1000
#define LAB_WIRE (LAB_MTU + 82) // of a full packet without RETH
#define LAB_TOKENS 64

struct lab_seen {
    ps_t at_ps; // NICs: start of transmission; arrivals: last byte
    struct packet p;
    struct packet_meta meta;
};

struct lab {
    struct fixture f;
    struct sim *sim;
    // Of what comes to the switch: true = it is lost. May mark it.
    bool (*lose)(struct lab *lab, struct packet *p);
    unsigned lost;
    unsigned lose_psn, lose_times; // for lab_lose_psn
    struct lab_seen *tx, *rx;      // sent by NICs, arrived at NICs
    size_t n_tx, n_rx, cap_tx, cap_rx;
    ps_t delivered_ps[LAB_TOKENS], sent_ps[LAB_TOKENS], failed_ps[LAB_TOKENS]; // -1 = not
    void (*on_end)(struct lab *lab, uint64_t token, ps_t now);                 // sent or failed
    uint64_t max_inflight;
    bool window_shrinks; // what is in flight may be more than the window
    void (*nic_arrive)(void *, uint32_t, uint32_t, struct packet *, ps_t); // as built
    void (*switch_arrive)(void *, uint32_t, uint32_t, struct packet *, ps_t);
};

// A policy that does what the test says; zeroed by lab_begin().
struct lab_stub {
    uint64_t rate_bps, cwnd_bytes, ack_rate_bps, ack_cwnd_bytes, cnp_rate_bps; // 0 = leave
    uint64_t inits, cnps, acks, ce_bytes;                                      // counted
};
extern struct lab_stub lab_stub;
extern const struct cc_ops lab_ack_ops; // hears ACKs
extern const struct cc_ops lab_cnp_ops; // needs and hears CNPs

// `ranks` on one switch under a policy (NULL = none). The transport's settings, to be changed.
struct roce_spec *lab_begin(struct lab *l, uint32_t ranks, const struct cc_ops *ops);
struct hosts *lab_build(struct lab *l);
void lab_end(struct lab *l); // drains; nothing may be left in the network

void lab_run(struct lab *l);
void lab_run_to(struct lab *l, ps_t at_ps); // everything up to it happens; then it is that time
ps_t lab_now(const struct lab *l);
void lab_post(struct lab *l, uint32_t src, uint32_t dst, uint64_t bytes, uint64_t token);

// Data packet lose_psn is lost, lose_times times.
bool lab_lose_psn(struct lab *l, struct packet *p);

// A PFC frame of the data class has just arrived at rank 0's NIC.
void lab_pause(struct lab *l, uint16_t quanta);

uint32_t lab_psn(const struct lab *l, const struct packet *p);
size_t lab_failed(const struct lab *l); // messages

bool lab_is_data(const struct packet *p);
bool lab_is_retx(const struct packet *p);
bool lab_is_ack(const struct packet *p); // NAKs too
bool lab_is_nak(const struct packet *p);
bool lab_is_cnp(const struct packet *p);
size_t lab_count(const struct lab *l, bool (*is)(const struct packet *)); // sent by NICs
// The k-th of them (from 0); the test fails when there is none.
const struct lab_seen *lab_nth(const struct lab *l, bool (*is)(const struct packet *), size_t k);
