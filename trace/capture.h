// SPDX-License-Identifier: MIT
// Captures: taps of some ports, then header encoders, then one nanosecond pcap file for each
// capture point.
#pragma once

#include "engine/err.h"
#include "net/flow_id.h"
#include "net/meta.h"
#include "net/tap.h"

enum capture_stamp { CAPTURE_FIRST_BIT, CAPTURE_LAST_BIT };

// One direction of one link at the capture point: the transmitting port, and whether the capture
// point is at the far end (times are then later by delay_ps).
struct capture_port {
    uint32_t port; // global index of the transmitting port
    bool far_end;
    ps_t delay_ps;
    uint64_t src_mac; // MAC of the transmitting node, the source of PFC frames
};

struct capture_config {
    const char *path;   // file to create; "-" = stdout
    const char *name;   // name of the file in messages; NULL = path
    const char *filter; // pcap filter expression; NULL = all packets
    uint32_t snaplen;   // bytes kept of each frame, >= 14; 80 bytes contain all headers
    enum capture_stamp stamp;
    const struct capture_port *ports;
    size_t n_ports;
    const struct flow_ids *flows; // borrowed; may grow while the capture is open
    const struct meta_pool *meta; // borrowed; meta-data of the packets
};

struct capture;

// Check a filter without opening a file. Returns 0, or -1 with an error at `path`.
int capture_check_filter(const char *filter, uint32_t snaplen, const char *path, struct err *err);

// Open the file and start the capture. Returns NULL with one error that names the file on failure.
struct capture *capture_open(const struct capture_config *config, struct err *err);

// Record a packet of `port` (see net/tap.h). Ports that are not part of the capture are ignored. A
// port listed at both ends gives two records. Write errors are kept for capture_error().
void capture_seen(struct capture *c, uint32_t port, const struct packet *packet, ps_t start_ps,
                  ps_t end_ps);

// No packet with a first bit before `now` will follow: write all records that are now in final
// order. Also flushes stdout, so that a live reader sees them.
void capture_advance(struct capture *c, ps_t now);

// Returns errno of the first failed write, 0 = none. A capture on stdout always returns 0, because
// its reader may end at any time.
int capture_error(const struct capture *c);

// Write the remaining records, close the file, and set *packets to the number of packets written.
// Returns 0, or -1 with an error that names the file if any write failed (such as a full disk or a
// closed pipe). Frees `c` in both cases.
int capture_close(struct capture *c, uint64_t *packets, struct err *err);

// Write a CSV table to `path`: number, job, dimension, ranks, addresses, connection numbers and
// source ports of every flow. `order` has the handles of the flows in the order of the rows.
// Returns 0, or -1 with an error that names the file.
int capture_write_qpmap(const char *path, const struct flow_ids *flows, const uint32_t *order,
                        struct err *err);
