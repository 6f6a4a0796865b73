// SPDX-License-Identifier: MIT
// Sends and receives of execution traces, sorted so that those which match stand together.
#pragma once

#include <stddef.h>
#include <stdint.h>

struct trace_message {
    uint32_t rank, peer; // sender and receiver; `rank` is the one by which the list is sorted first
    uint64_t tag, bytes;
    uint32_t turn; // orders messages that are equal in all of the above
    uint32_t node;
};

// Compare ranks, tag and bytes: below, equal to or above 0, as for qsort().
int trace_message_compare(const struct trace_message *x, const struct trace_message *y);
void trace_messages_sort(struct trace_message *list, size_t n);
