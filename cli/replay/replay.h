// SPDX-License-Identifier: MIT
// From a capture of RoCEv2 or TCP to a list of flows: messages of queue pairs, transfers of
// connections, and ranks for their addresses.
#pragma once

#include <stdio.h>

#include "cli/replay/captured_host.h"
#include "cli/replay/dissect.h"
#include "cli/replay/flow_rows.h"
#include "engine/base/err.h"

enum bth_operation { BTH_SEND, BTH_WRITE, BTH_READ_REQUEST, BTH_READ_RESPONSE };

struct bth {
    enum bth_operation operation;
    bool first, last;       // of the packets of a message
    bool sized;             // message_bytes is known
    uint32_t qpn, psn;      // 24 bits; qpn is the destination's
    uint32_t payload;       // bytes of this packet
    uint32_t message_bytes; // DMA length of the RETH
};

struct address_map; // cli/replay/address_map.h

struct replay {
    uint64_t packets, used;         // packets of the capture; packets that carry flows
    uint64_t skipped[SKIP_REASONS]; // the others
    uint64_t unordered;             // packets with a time before the one before
    int64_t first_ns, last_ns;      // earliest and latest time of a packet
    struct flow_rows flows;
    char *failure; // why the capture could not be read to its end; NULL = it could
};

extern const char *const skip_words[SKIP_REASONS], *const left_words[LEFT_REASONS];

// Read a capture ("-" = stdin). `gap_ns` divides transfers of TCP (cli/replay/tcp_transfers.h).
// Counts what each address sent and received in `hosts`, which is the caller's; NULL = not wanted.
// Returns 0, or -1 with an error if the file is not a capture. Release with replay_free() in both
// cases.
int replay_read(struct replay *r, const char *path, int64_t gap_ns, struct captured_hosts *hosts,
                struct err *err);
void replay_free(struct replay *r);

// Give the endpoints ranks, by the map or, if that is NULL, by address: those of captures of
// collwire their own ranks, others ranks in ascending order. Then leave out what cannot be a flow,
// make starts relative to the first packet, and sort the flows by start.
void replay_rank(struct replay *r, const struct address_map *map);

// Write the flows as CSV: src,dst,bytes,start_ns.
void replay_write(const struct replay *r, FILE *out);

// Write the addresses of all ranks that have flows as CSV: address,rank.
void replay_write_map(const struct replay *r, FILE *out);
