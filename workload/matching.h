// SPDX-License-Identifier: MIT
// Matches sends and receives of a job's ranks: the k-th send from one rank to another with a tag is
// for the k-th receive with the same pair and tag, in whatever order the messages arrive. Only
// sends and receives that have not ended are stored.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/slots.h"
#include "engine/base/units.h"

struct matching {
    struct channel *channels; // one for each source, destination and tag, in the order of first use
    size_t n_channels, cap_channels;
    uint32_t *buckets; // open addressing: index into channels + 1, or 0
    size_t n_buckets;  // a power of two
    struct matched_message *messages;
    struct slots numbers; // of messages
};

void matching_free(struct matching *m);

// The pair of ranks and the tag of a send or a receive, and its number among them. A channel has
// either given numbers only, or none.
#define MATCHING_NEXT UINT64_MAX // the next one
struct matching_key {
    uint32_t src, dst, tag;
    uint64_t number;
};

// A message is posted. Returns the name which matching_delivered() and matching_sent() take.
uint32_t matching_send(struct matching *m, struct matching_key key, uint32_t step, ps_t now);

// A receive is posted. Returns true if its message has arrived already, so the receive has ended.
bool matching_receive(struct matching *m, struct matching_key key, uint32_t step);

// The message has arrived. Returns true if `*rank` had posted the receive as its step `*step`.
bool matching_delivered(struct matching *m, uint32_t message, uint32_t *rank, uint32_t *step);

// The source of a message that has not ended, and the time of its post.
ps_t matching_posted_ps(const struct matching *m, uint32_t message, uint32_t *src);

// The sender's step `*step` of `*rank` has ended, and the message has not.
void matching_entered(struct matching *m, uint32_t message, uint32_t *rank, uint32_t *step);

// The message has ended; its number may be used again. Returns true if the sender's step `*step` of
// `*rank` has not ended before.
bool matching_sent(struct matching *m, uint32_t message, uint32_t *rank, uint32_t *step);
