// SPDX-License-Identifier: MIT
// Packets and credit that cross to another process: letters with all that belongs to a packet. The
// description of a flow goes to a process with the first of its packets, and again when it has
// changed.
#pragma once

#include "net/credit_balance.h"
#include "net/flow_id.h"
#include "net/network.h"

struct mailbox;

struct passage {
    struct flow_ids *flows; // of all processes
    // Set the field of a received description that cannot be sent: the pointer to its encoder of
    // frames.
    void (*complete)(void *ctx, struct flow_id *id);
    void *ctx;
    _Atomic uint64_t **told; // [process] a bit for each flow: its description has been sent
    size_t told_bytes;
    uint32_t *seen;             // [process] its flows below this number may have been described
    uint32_t n;                 // processes
    uint32_t flows_per_process; // process k numbers its flows from k * flows_per_process on
    struct leaving *leaving;    // [shard]
};

struct passage *passage_new(struct flow_ids *flows, uint32_t n_processes, uint32_t flows_max,
                            uint32_t n_shards);
void passage_free(struct passage *passage);

// Send a packet that leaves by `port`, whose link ends in another process, and free its meta-data.
// Its letter is written a few packets later, when the meta-data have come into the cache.
// passage_close writes the letters that are left of a shard, before its mailboxes are read.
void passage_send(struct network *net, struct mailbox *box, uint32_t process, uint32_t port,
                  const struct packet *p);
void passage_send_credit(struct network *net, struct mailbox *box, uint32_t port,
                         const struct credit_return *r);
void passage_close(struct network *net);

// Read a letter: credit for a port, or a packet that has left by it, whose meta-data are put into
// the pool of `net`.
uint32_t passage_port(const void *letter);
bool passage_is_credit(const void *letter);
struct packet passage_packet(struct network *net, uint32_t process, const void *letter);
const struct credit_return *passage_credit(const void *letter);

// Called when all flows of other processes have handles of this process, so that old handles are
// void.
void passage_settle(struct passage *passage);

// The description of a flow has changed: send it again with the flow's next packet.
void passage_forget(struct passage *passage, uint32_t flow);
