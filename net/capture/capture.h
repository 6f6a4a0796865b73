// SPDX-License-Identifier: MIT
// Captures: packets of some ports, encoded as frames and written to one file in order of time.
#pragma once

#include "engine/base/err.h"
#include "engine/parcel.h"
#include "net/capture/capture_facts.h"
#include "net/capture/capture_file.h"
#include "net/capture/trigger.h"
#include "net/flow_id.h"
#include "net/meta.h"
#include "net/tap.h"

enum capture_stamp { CAPTURE_FIRST_BIT, CAPTURE_LAST_BIT };

// One direction of one link at the capture point, a source of packets.
struct capture_port {
    uint32_t port;  // global index of the transmitting port
    uint32_t drops; // interface of packets that are dropped there; that of others is the port's
                    // index in the capture
    bool far_end;   // the capture point is where packets arrive: times are later by delay_ps
    ps_t delay_ps;
    uint64_t src_mac; // MAC of the transmitting node, the source of PFC frames
};

struct capture_config {
    const char *path; // file to create; "-" = stdout; NULL = none: capture_hand_over() takes all
    const char *name; // name of the file in messages; NULL = path
    enum capture_format format;
    bool gzip;
    const char *filter; // pcap filter expression; NULL = all packets
    uint32_t snaplen;   // bytes kept of each frame, >= 14; 80 bytes contain all headers
    enum capture_stamp stamp;
    ps_t from_ps, to_ps; // packets outside are not written
    uint64_t ring_bytes; // keep only the last packets, of this size in the file, before the trigger
                         // or, without one, the end; 0 = write all
    struct trigger trigger;
    const struct capture_port *ports; // packets of the same time are in this order
    size_t n_ports;
    struct capture_file_config file; // interfaces and names
    struct facts_names names;
    const struct flow_ids *flows; // borrowed; may grow while the capture is open
};

// A packet that a port has started, or that has been dropped at start_ps.
struct capture_packet {
    uint32_t source; // index into the capture's ports
    const struct packet *packet;
    const struct meta_pool *meta; // of its meta-data
    ps_t start_ps, end_ps;
    ps_t held_ps;         // pause that it waited for as the first of its class, its length; else 0
    uint64_t queue_bytes; // bytes queued behind it at the port
};

struct capture;

// Check a filter without opening a file. Returns 0, or -1 with an error at `path`.
int capture_check_filter(const char *filter, uint32_t snaplen, const char *path, struct err *err);

// Open the file and start the capture. Returns NULL with one error that names the file on failure.
struct capture *capture_open(const struct capture_config *config, struct err *err);

// Record a packet. Write errors are kept for capture_error().
void capture_seen(struct capture *c, const struct capture_packet *seen);

// Record a dropped packet (see net/tap.h). Only pcapng files have them.
void capture_dropped(struct capture *c, const struct capture_packet *seen, enum drop_reason reason,
                     struct drop_level level);

// A class of one of its ports has been paused for this time (see net/tap.h).
void capture_paused(struct capture *c, ps_t length_ps, ps_t now);

// No packet with a first bit before `now` will follow: write all records that are now in final
// order. Also flushes stdout, so that a live reader sees them.
void capture_advance(struct capture *c, ps_t now);

// One run in several processes: hand the records of packets, and the time of the trigger if it has
// come, to the process that writes the file. Each packet must have been reported in one process
// only: one that a port sends in the process of the port, one that is lost on its link in the
// process of the far end.
void capture_hand_over(struct capture *c, struct parcel *p);

// Returns errno of the first failed write, 0 = none. A capture on stdout always returns 0, because
// its reader may end at any time.
int capture_error(const struct capture *c);

struct capture_count {
    uint64_t packets; // written
    ps_t trigger_ps;  // PS_NEVER = there was no trigger
};

// Write the remaining records, close the file, and set *count. Returns 0, or -1 with an error that
// names the file if any write failed (such as a full disk). Frees `c` in both cases.
int capture_close(struct capture *c, struct capture_count *count, struct err *err);

// Write a CSV table to `path`: number, job, dimension, ranks, addresses, connection numbers and
// source ports of every flow. `order` has the handles of the flows in the order of the rows.
// Returns 0, or -1 with an error that names the file.
int capture_write_qpmap(const char *path, const struct flow_ids *flows, const uint32_t *order,
                        struct err *err);
