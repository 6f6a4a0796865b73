// SPDX-License-Identifier: MIT
// Account of a sender's time: waiting for its window, its pace or its retransmission timer, stopped
// by PFC, or waiting for the NIC itself; the rest is transmission, and packets of other flows of
// the NIC port.
//
// The account covers a busy period: from the post of a message to a sender with nothing to send
// until the last packet of the last message has been sent. Waits are counted when they end. They do
// not overlap: a wait for the window ends before one for the pace begins, and PFC counts for the
// time in which only it stops the sender.
#pragma once

#include "engine/critical_path.h"

struct sender;
struct packet;

// Counters over the busy period; part of struct sender.
struct sender_time {
    ps_t begin_ps;
    ps_t window_ps, pace_ps, paused_ps, timeout_ps;
    ps_t counted_ps;     // waits until this time have been counted
    ps_t paused_mark_ps; // value of nic.paused_total_ps up to which pauses have been counted
    uint64_t sent_bytes; // wire bytes, retransmissions included
};
_Static_assert(sizeof(struct sender_time) == 64, "struct sender_time is a cache line");

// The account when the last packet of the busy period's previous message was sent, and waits of
// NICs that are not ideal and of delayed ACKs; part of struct sender_rare.
struct sender_time_mark {
    struct sender_time time;
    uint64_t resent_bytes;
    ps_t host_ps;       // waited for the NIC
    ps_t at_ps;         // when the transmission of that packet ended
    ps_t doorbell_ps;   // waited for doorbells, in the busy period
    ps_t stack_ps;      // waited for the host to write data, in the busy period
    ps_t stack_mark_ps; // stack_ps when that packet was sent
    // waited for acknowledgements that the receiver's timer held, in the busy period
    ps_t ack_delay_ps;
    ps_t ack_delay_mark_ps; // ack_delay_ps when that packet was sent
    ps_t held_before_ps;    // adapter_held_ps() of its port at the beginning
};

// Lowered rates and windows, over all messages; part of struct sender_rare.
struct sender_cuts {
    uint32_t n;
    ps_t first_ps, last_ps;
    uint64_t rate_bps, window_bytes; // after the last cut
};

// A message is posted to a sender that has nothing to send.
void sender_time_begin(struct sender *s, ps_t now);
// The sender's last message has ended: its account is void, and its memory is given back.
void sender_time_end(struct sender *s);

// The sender may send again after it could not.
void sender_time_woken(struct sender *s, ps_t now);

// The receiver has held back the arrived ACK for `held_ps` until its timer expired: this part of
// the wait that the ACK ends is its delay. To be called when the sender's state is up to date.
void sender_time_ack_held(struct sender *s, ps_t held_ps, ps_t now);

// The host has written data for which the sender may have waited. To be called before the sender's
// state changes.
void sender_time_written(struct sender *s, ps_t now);

// The retransmission timer has expired.
void sender_time_timeout(struct sender *s, ps_t now);

// A packet is about to start after a wait for the pace or a pause.
void sender_time_gap(struct sender *s, ps_t now);

// Totals since the beginning of a busy period.
struct sender_totals {
    ps_t at_ps; // of the whole account: the beginning; of a mark: when the transmission ended
    ps_t window_ps, pace_ps, paused_ps, timeout_ps, host_ps, stack_ps, ack_delay_ps;
    uint64_t sent_bytes, resent_bytes; // wire bytes
};

// The account of a message at the start of its last packet, without that packet's transmission.
struct sender_account {
    uint32_t path, flow; // of the busy period
    bool marked;         // `mark` is of this busy period
    bool needs_credit;   // what stops the sender is a lack of credit, not PFC
    struct byte_time byte_time;
    ps_t transit_ps;           // least time from here to the receiver
    struct sender_totals now;  // up to the present
    struct sender_totals mark; // up to the last packet of the message before
};

// Write the time from `from_ps`, when the totals were `from`, to `now` by cause. It adds up.
void sender_account_split(const struct sender_account *a, const struct sender_totals *from,
                          ps_t from_ps, ps_t parts[PATH_CAUSES], ps_t now);

// A retransmission, or the last packet of a message for the first time, has been pulled. For the
// latter the observer of the hosts gets the account.
void sender_time_sent(struct sender *s, const struct packet *p, ps_t now);
