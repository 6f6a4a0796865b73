// SPDX-License-Identifier: MIT
// What a job will send, estimated before the run from the steps of a few ranks: messages, packets,
// pairs of ranks, and a sample of messages for the lengths of their paths.
#pragma once

#include "collective/algorithm/schedule.h"

#define COMM_SAMPLE 64

// A message of a sample; the ends are indices into the job's ranks. It stands for `weight` packets.
struct comm_message {
    uint32_t src, dst;
    double weight;
};

struct comm_traffic {
    /* config */
    uint32_t mtu_bytes; // payload of a full packet
    /* estimates */
    double pairs;    // queue pairs
    bool listed;     // all messages are known before the run, and each has a queue pair of its own
    double messages; // of all ranks; 0 = not known
    double packets;  // of these messages; one without payload has a packet, too
    double bytes;    // of these messages
    double phases;   // of a rank: for each collective, its chunks times the phases of a chunk
    double at_once;  // messages of a pair that are under way at the same time, at most; 0 = 1
    /* the sample */
    struct comm_message sample[COMM_SAMPLE];
    uint32_t n;
};

// Count `times` messages of `bytes`, and add them to the sample if there is room and `sampled`.
void comm_traffic_add(struct comm_traffic *t, uint32_t src, uint32_t dst, uint64_t bytes,
                      double times, bool sampled);

// Count the messages and phases of `times` collectives over the dimensions of the bit set `dims`,
// from the steps of a few members. Queue pairs are not counted: collectives share them.
void comm_traffic_collective(struct comm_traffic *t, const struct coll_schedule *s, enum coll_op op,
                             uint32_t dims, uint64_t bytes, double times);

// Estimate the queue pairs that one such collective will use, from the plan of one chunk and the
// peers of a few members.
double comm_queue_pairs(const struct coll_schedule *s, enum coll_op op, uint32_t dims,
                        uint64_t bytes);
