// SPDX-License-Identifier: MIT
// Estimate of a run's cost before it begins: memory by part, packets, wall time, output.
//
// Messages and queue pairs are counted from the steps of a few ranks; packets in flight are bounded
// by links and buffers, by messages, and by windows and the marks that policies act on; times come
// from measurements of this engine (docs/validate.md).
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct sim;

enum estimate_part {
    ESTIMATE_QUEUE_PAIRS,
    ESTIMATE_MESSAGES,
    ESTIMATE_PACKETS, // in flight and in queues
    ESTIMATE_SERIES,
    ESTIMATE_RECORDS,       // records of messages, in memory and as JSON
    ESTIMATE_COLLECTIVES,   // records of collectives, which are all kept to the end of the run
    ESTIMATE_DISTRIBUTIONS, // histograms of the messages that have no record
    ESTIMATE_PORTS,         // queues and counters, and the list of links in the results
    ESTIMATE_TILES,         // event queues and pools of the parts that are processed in turn
    ESTIMATE_PARTS
};

struct estimate {
    uint64_t part_bytes[ESTIMATE_PARTS];
    uint64_t queue_pairs;
    double messages, packets, packet_hops, wall_s, payload_bytes;
    uint64_t output_bytes;
    bool closed_form; // there are no packets
    bool hybrid;      // packets and packet_hops are the most, and wall_s is without any
    double hops_s;    // wall time of all packet-hops
};

extern const char *const estimate_part_names[]; // by enum estimate_part

struct estimate sim_estimate(const struct sim *sim);
// Warn of captures that take more than 1 GB by the estimate `e` and less with a shorter snaplen.
void sim_warn_captures(const struct sim *sim, const struct estimate *e, struct err *err);
uint64_t estimate_bytes(const struct estimate *e); // sum over all parts
enum estimate_part estimate_largest(const struct estimate *e);

// Three lines of text for people, the second and third after `prefix`; to be freed.
char *estimate_text(const struct estimate *e, const char *prefix);
