// SPDX-License-Identifier: MIT
// Sends and receives of a job's ranks: the k-th send from a rank to another with a tag is for the k-th
// receive of it, in whatever order the messages arrive. What is kept is the sends and receives that are
// not over.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct matching {
    struct channel *channels; // of a source, a destination and a tag, as they were first used
    size_t n_channels, cap_channels;
    uint32_t *buckets; // open addressing: index into channels + 1, or 0
    size_t n_buckets;  // a power of two
    struct matched_message *messages;
    size_t n_messages, cap_messages;
    uint32_t free_message; // index + 1, or 0
};

void matching_free(struct matching *m);

// A message is posted; its number, for the two below.
uint32_t matching_send(struct matching *m, uint32_t src, uint32_t dst, uint32_t tag, uint32_t step);

// A receive is posted. True: its message has arrived already, and the receive is over.
bool matching_receive(struct matching *m, uint32_t src, uint32_t dst, uint32_t tag, uint32_t step);

// The message has arrived. True: `*rank` had posted the receive, as its step `*step`.
bool matching_delivered(struct matching *m, uint32_t message, uint32_t *rank, uint32_t *step);

// The sender is done with the message, as its step `*step`; the number is free.
void matching_sent(struct matching *m, uint32_t message, uint32_t *rank, uint32_t *step);
