// SPDX-License-Identifier: MIT
// What a run will cost, estimated before it begins: memory by part, packets, wall time, output.
//
// The volume of the work and the queue pairs are counted; packets in flight are bounded by the links and
// the buffers; times come from measured figures of this engine (docs/performance.md) and hold within a
// factor of about two on a machine of 2024.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct sim;

enum estimate_part {
    ESTIMATE_QUEUE_PAIRS,
    ESTIMATE_MESSAGES,
    ESTIMATE_PACKETS, // in flight and queued
    ESTIMATE_SERIES,
    ESTIMATE_RECORDS, // of messages, in memory and as JSON
    ESTIMATE_PARTS
};

struct estimate {
    uint64_t part_bytes[ESTIMATE_PARTS];
    uint64_t queue_pairs;
    double packets, packet_hops, wall_s;
    uint64_t output_bytes;
};

extern const char *const estimate_part_names[]; // by enum estimate_part

struct estimate sim_estimate(const struct sim *sim);
uint64_t estimate_bytes(const struct estimate *e); // sum of the parts
enum estimate_part estimate_largest(const struct estimate *e);

// Three lines for people, the second and third beginning with `prefix`; to be freed.
char *estimate_text(const struct estimate *e, const char *prefix);
