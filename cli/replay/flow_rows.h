// SPDX-License-Identifier: MIT
// The addresses of a capture, and the messages between them.
#pragma once

#include <stddef.h>

#include "cli/replay/dissect.h"
#include "engine/base/table.h"

struct endpoint {
    struct address address;
    bool foreign; // a connection of it is not one of a capture of collwire
    bool used;    // a flow begins or ends there
    uint32_t rank;
};

enum flow_origin {
    FLOW_SENT,      // seen as packets with payload
    FLOW_REQUESTED, // known from a READ request: left out where responses were captured
    FLOW_READ_RESPONSE
};

struct flow_row {
    int64_t start_ns; // absolute time of its first packet
    int64_t span_ns;  // from its first to its last packet; -1 = the last one is not in the capture
    uint64_t bytes;
    uint32_t src;      // endpoint; a rank when ranks have been assigned
    uint32_t dst : 30; // as src
    uint32_t origin : 2;
};

#define FLOW_ROWS_MAX (1u << 24)
#define FLOW_RANKS_MAX (1u << 30)

struct flow_rows {
    struct endpoint *endpoints;
    size_t n_endpoints, cap_endpoints;
    struct table endpoint_of; // an address
    struct flow_row *rows;
    size_t n_rows, cap_rows;
    uint64_t left[LEFT_REASONS]; // messages that are left out
    uint64_t unended;            // of known size, although the end is not in the capture
};

void flow_rows_free(struct flow_rows *rows);

// The number of the endpoint with this address, made if it is new.
uint32_t endpoint_get(struct flow_rows *rows, const struct address *address);

#define FLOW_NO_END INT64_MIN

// Append a message, unless it has no payload. `end_ns` is the time of its last packet, FLOW_NO_END
// where that is not in the capture. Returns false if the message is left out.
bool flow_row_add(struct flow_rows *rows, uint32_t src, uint32_t dst, uint64_t bytes,
                  int64_t start_ns, int64_t end_ns, enum flow_origin origin);
