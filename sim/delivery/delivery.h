// SPDX-License-Identifier: MIT
// The layers through which messages go between the workload and the hosts, each a client of the one
// below: relay, clear-to-send admission, stripes, completions, ledger. In closed form one layer
// takes the place of all. Every message leaves a record.
#pragma once

#include <stdio.h>

#include "engine/critical_path.h"
#include "net/transfer.h"
#include "sim/analytical/analytical.h"
#include "sim/fabric/fabric.h"
#include "sim/ideal/ideal.h"
#include "sim/result/result_distribution.h"

// Sums over the finished messages posted by a rank. The sums of all ranks are added in rank order,
// since the sum of doubles depends on the order, and the order of simultaneous events of different
// ranks must not affect results.
struct rank_sums {
    double slowdown, goodput, goodput_square;
};

struct message_stats { // statistics of finished messages
    struct distribution fct_ns, slowdown;
    struct rank_sums *ranks; // [rank or aggregator]
};

// Statistics of the messages of one job, where there are several jobs.
struct job_stats {
    struct distribution fct_ns, slowdown;
    ps_sum_t slowdown_millionths; // an exact sum, so that it does not depend on the order
    uint64_t failed, running, bytes;
    ps_t end_ps; // of the last completed message
};

struct records {
    struct flow_record *flows;
    size_t n_flows, cap_flows;
    size_t n_unlisted; // number of those beyond report.flows_max that did not complete
    struct message_stats stats;
    struct job_stats *job_stats; // [n_jobs]
    uint64_t failed, running;    // numbers of messages with these records
};

// Observer of messages; each function may be NULL.
struct delivery_watch {
    void (*posted)(void *ctx, const struct transfer_request *request, ps_t now);
    void (*failed)(void *ctx);
    void *ctx;
};

struct clear_to_send;
struct completions;
struct hybrid;
struct ledger;
struct replica;
struct relay;
struct stripes;

struct delivery {
    struct fabric *fabric;
    struct ideals *ideals;
    struct delivery_watch watch;
    struct path_book path_book;          // critical paths of messages and jobs
    struct transfer hosts;               // below the ledger
    struct transfer transfer;            // for messages between ranks that share a dimension
    struct transfer entry;               // for all messages of the workload
    struct transfer_client client;       // of the upper layer; valid while the layers are connected
    struct ledger *ledger;               // NULL if the network is analytical
    struct hybrid *hybrid;               // at the hosts; NULL = every message is packets
    struct replica *replica;             // below the ledger; NULL = there is one process
    struct completions *completions;     // between the ledger and its client
    struct stripes *stripes;             // NULL if no message is striped
    struct clear_to_send *clear_to_send; // NULL if every message is sent at once
    struct relay *relay;                 // NULL if relaying is off, so such messages are errors
    struct analytical analytical;
    struct records records;
};

// delivery_connect() connects the layers for a workload, after the fabric is built.
void delivery_init(struct delivery *delivery, struct fabric *fabric, struct ideals *ideals);
void delivery_connect(struct delivery *delivery, struct transfer_client workload);
// Let the shards of the network handle the messages of their ranks at the same time, without the
// lock. To be called before any message is posted and before the hosts are divided. Returns false
// if a layer needs the lock; then nothing has changed.
bool delivery_shard(struct delivery *delivery, uint32_t n_shards);
void delivery_free(struct delivery *delivery); // before the fabric

double delivery_bandwidth(const struct delivery *delivery, uint32_t src, uint32_t dst); // bit/s

// Make records of all messages that have not ended.
void delivery_running(struct delivery *delivery);
// Name flows by other handles in all records and critical paths, at the end of the run.
void delivery_renumber(struct delivery *delivery, const struct flow_numbers *numbers);
// Returns true if a layer has work pending that needs no packet.
bool delivery_pending(const struct delivery *delivery);
void delivery_describe(const struct delivery *delivery, FILE *out); // in closed form
// Collect the counters of admission; adds bytes that were never posted to r->summary.
void clear_to_send_collect(const struct delivery *delivery, struct result *r);

/* ---- several processes (engine/calls.h) ---- */

// Stand between the ledger and the hosts, before these are divided; and end.
void replica_attach(struct delivery *delivery, uint32_t n_processes);
void replica_free(struct delivery *delivery);
// Repeat a call of another process; shards_hooks.call.
void replica_call(struct delivery *delivery, unsigned kind, const void *args);

/* ---- the ledger ---- */

// Keep the origin of each message, such as its collective, for the notes of packets. To be called
// before the run.
void ledger_keep_origins(struct delivery *delivery);
uint64_t ledger_messages(const struct delivery *delivery);
// The ends of a message, by its token below the ledger.
struct ledger_message {
    uint32_t src, dst;
};
struct ledger_message ledger_message(const struct delivery *delivery, uint64_t token);
// Returns true if entry `slot` of the ledger is the message with the client's `token`.
bool ledger_is(const struct delivery *delivery, uint64_t slot, uint64_t token);
// A lower bound of the time from the post of a message to its delivery.
ps_t ledger_least_ps(const struct delivery *delivery, const struct transfer_request *request);
bool ledger_is_delivered(const struct delivery *delivery, uint64_t token);
// The tokens of a message have to be the same in all processes: each of them gives its own ones.
void ledger_share(struct delivery *delivery, uint32_t n_processes);
// Returns the path of a message up to its post, with a reference, before its last packet is sent.
uint32_t ledger_posted_path(struct delivery *delivery, uint64_t token);
