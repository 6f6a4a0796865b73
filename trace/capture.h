// SPDX-License-Identifier: MIT
// Captures: taps of some ports -> header encoders -> one nanosecond pcap file a place.
#pragma once

#include "engine/err.h"
#include "net/flow_id.h"
#include "net/meta.h"
#include "net/tap.h"

enum capture_stamp { CAPTURE_FIRST_BIT, CAPTURE_LAST_BIT };

// One direction of one link seen at the capture point: the transmitting port, and whether the point
// is its far end (then times are later by delay_ps).
struct capture_port {
    uint32_t port; // global index of the transmitting port
    bool far_end;
    ps_t delay_ps;
    uint64_t src_mac; // of the transmitting node: source of PFC frames
};

struct capture_config {
    const char *path;   // file to create, "-" = stdout
    const char *name;   // of the file, for messages; NULL = path
    const char *filter; // pcap filter expression, NULL = all
    uint32_t snaplen;   // bytes kept of each frame, >= 14; 80 keeps every header
    enum capture_stamp stamp;
    const struct capture_port *ports;
    size_t n_ports;
    const struct flow_ids *flows; // borrowed, may grow while the capture is open
    const struct meta_pool *meta; // borrowed: what packets carry
};

struct capture;

// Check a filter without opening anything; 0, or -1 with an error at `path`.
int capture_check_filter(const char *filter, uint32_t snaplen, const char *path, struct err *err);

// Open the file. NULL with one error naming the file on failure.
struct capture *capture_open(const struct capture_config *config, struct err *err);

// A packet was seen on `port` (see tap.h); ports not of the capture are ignored. A port listed
// at both ends gives two records. No failure: a write error is kept.
void capture_seen(struct capture *c, uint32_t port, const struct packet *packet, ps_t start_ps,
                  ps_t end_ps);

// No packet will be seen any more whose first bit is before `now`: write what is settled. On stdout
// also flush, so that a reader sees it.
void capture_advance(struct capture *c, ps_t now);

// errno of the first write that failed, 0 = none; 0 for a capture on stdout, whose reader may leave.
int capture_error(const struct capture *c);

// Write the rest, close, report the packets written. 0, or -1 with an error naming the file when
// any write failed (a full disk, a closed pipe). Frees `c` either way.
int capture_close(struct capture *c, uint64_t *packets, struct err *err);

// `path` as CSV: number, job, dimension, ranks, addresses, connection numbers and source ports of every flow, in
// the order of their handles in `order`. 0, or -1 with an error naming the file.
int capture_write_qpmap(const char *path, const struct flow_ids *flows, const uint32_t *order,
                        struct err *err);
