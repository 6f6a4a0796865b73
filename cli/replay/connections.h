// SPDX-License-Identifier: MIT
// The directions of queue pairs and TCP connections of a capture, found by addresses and numbers.
#pragma once

#include "cli/replay/roce_messages.h"
#include "cli/replay/tcp_transfers.h"

enum connection_kind { CONNECTION_REQUESTS, CONNECTION_RESPONSES, CONNECTION_TCP };

struct connection_key {
    struct address src, dst;
    uint32_t number; // destination QP, or source port << 16 | destination port
    uint32_t kind;   // enum connection_kind: requests and responses of RoCE count PSNs of their own
};

struct connection {
    struct connection_key key;
    uint32_t peer; // TCP: the connection of the other direction + 1; 0 = not captured
    union {
        struct roce_messages roce;
        struct tcp_transfers tcp;
    };
};

#define CONNECTIONS_MAX (1u << 20)

struct connections {
    struct connection *list;
    size_t n, cap;
    uint32_t *buckets; // numbers + 1; 0 = empty
    size_t n_buckets;  // a power of two
};

// The connection with this key, made if it is new. Returns NULL if there are CONNECTIONS_MAX. The
// pointer is valid until the next call.
struct connection *connection_get(struct connections *all, const struct connection_key *key,
                                  bool *made);

// The connection with this key; NULL = there is none.
struct connection *connection_find(const struct connections *all, const struct connection_key *key);

// End all of them and free.
void connections_finish(struct connections *all, struct flow_rows *rows);
