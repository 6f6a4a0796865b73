// SPDX-License-Identifier: MIT
// A simulation cut into tiles, each with some of its nodes, and into shards, each with some of the
// tiles, an engine and a thread.
//
// An event at a node of one tile affects another tile at least `lookahead_ps` later. So the events
// of a window of this length are processed tile by tile, all of one tile before the next, while
// what they touch stays in the cache of the processor; and all shards do so independently. What
// happens in one shard reaches another only by mail (engine/mailbox.h), which each reads at the
// window's end. Events of no tile (samples, faults, the stall rule) are in the common engine; they
// end a window, and are processed while no shard is being processed.
//
// Decisions that involve several tiles at one instant need the order of events. Before each window
// the owner of the shards reports whether such a decision is possible in it (`alone`); if so,
// one thread processes the events of all tiles, in order. Other shared state, which does not
// depend on order, is behind one lock: engine_lock().
//
// The results are therefore the same, byte for byte, for any number of tiles and shards.
#pragma once

#include "collwire/processes.h"
#include "engine/engine.h"
#include "engine/loop.h"
#include "engine/mailbox.h"

struct shards_counts {
    uint64_t windows; // all of them
    uint64_t alone;   // windows that one thread processed
    uint64_t chosen; // of `alone`: several threads were allowed, but one had been faster in a trial
    uint64_t events; // in windows
    uint64_t together_events; // of those in windows of several threads
    uint64_t largest_sum;     // sum over the latter of the events of the busiest shard
    double wait_s,
        together_s; // waited for other shards, sum over threads; wall time of the windows
    double cpu_s;   // of the threads but the first; known when they have ended
};

// Facts about the nodes of a process between two windows, or their sum over all processes.
struct process_facts {
    uint64_t holds;    // 1 if one of its messages cannot end within a window
    uint64_t retrying; // senders that have timed out and may fail
    uint64_t flows;    // that it has opened
};

enum shards_order {
    ORDER_NONE,     // no order is needed: shards process their events independently
    ORDER_INSTANTS, // the events of an instant precede those of the next instant
    ORDER_EVENTS    // all events, one after the other
};

struct shards_hooks {
    // A tile is about to be processed: add the events that other tiles have sent to it to the queue
    // of its shard's engine.
    void (*enter)(void *ctx, uint32_t tile);
    // The events of a shard before `until_ps` have been processed: send the mail of the window.
    // Returns when the shard has something to send that is not an event, or PS_NEVER.
    ps_t (*send)(void *ctx, uint32_t shard, ps_t until_ps);
    // Read the mail of a shard: mailboxes [*][shard].
    void (*receive)(void *ctx, uint32_t shard);
    // Returns which order across shards the events before `until_ps` may depend on.
    enum shards_order (*order)(void *ctx, ps_t until_ps);
    /* of several processes (engine/calls.h, engine/processes.c) */
    // The mailboxes of a shard to other processes are about to be read: write the letters that are
    // still missing.
    void (*close)(void *ctx, uint32_t shard);
    // Packets have arrived from another process.
    void (*arrive)(void *ctx, uint32_t shard, const struct mailbox *letters);
    // Repeat a call of another process.
    void (*call)(void *ctx, unsigned kind, const void *args);
    // Returns the facts that the other processes need before the next window.
    struct process_facts (*facts)(void *ctx);
    void *ctx;
};

// Trials of two ways to process windows (trial.c): one thread against several, or all events in
// their order against tiles.
struct trial {
    struct pace {
        double s, events;
    } paces[2]; // times of windows of the first and of the second way; old windows have less weight
    uint32_t windows;     // of the present turn
    uint32_t skipped;     // windows before the first turn
    uint64_t turns;       // turns that have ended
    uint32_t clear;       // turns in a row in which one way was faster by far
    bool alone_is_faster; // the result of the last turn
    bool never;           // no trial: the second way gets every window that permits it
};

// The log of calls (engine/calls.h).
struct call_timers {
    struct sim_timer **list; // [ordinal] NULL = free
    size_t cap;
    uint32_t n;
};
struct calls {
    struct mailbox log;            // of this process, in the present window
    const struct mailbox *reading; // of another one, up to `at`
    size_t at;
    uint32_t shard;             // that stands for it
    uint32_t depth;             // calls that have not returned
    struct call_timers *timers; // [node]
    uint32_t n_nodes;
};

// What each process hands to process 0 at the end of a window, of what happened before `done_ps`.
struct parcel;
struct process_report {
    void (*hand_over)(void *ctx, struct parcel *p, ps_t done_ps); // NULL = nothing
    void *ctx;
};

struct threads; // shard_threads.c
struct deferral;

// How nodes are cut; [node], and behind the last node the number of shards or tiles.
struct shards_cut {
    uint32_t shards, tiles;
    uint32_t own; // shards of this process, if there are several processes
    const struct collwire_processes *processes; // NULL = there is one
    uint16_t *shard_of, *tile_of;
    ps_t lookahead_ps; // between tiles
};

struct tile {
    struct event_queue queue;
    uint32_t shard;
};

struct shards {
    uint32_t n, n_tiles;
    uint32_t n_own; // shards of this process, the first ones; each other one is another process
    const uint16_t *shard_of; // [node], and behind the last node the number of shards
    const uint16_t *tile_of;  // tile of each node, and behind the last node the number of tiles
    struct tile *tiles;
    ps_t *tile_next_ps;   // [tile] its first event, or what has been sent to it, is not before this
    uint32_t *first_tile; // [shard] its tiles are a run; one more entry at the end
    // [shard], then the common one. The queue of a shard's engine is that of the tile that is being
    // processed; else it has what comes to the shard meanwhile, in a window in order its events,
    // and while the tiles are merged all events.
    struct engine **engines;
    ps_t done_ps;          // all events before it have been processed
    bool merged;           // the tiles' queues are empty: tiles do not pay at present
    unsigned merged_shift; // log2 of the width of slots in the queues of merged tiles
    struct mailbox *boxes; // [from * n + to]
    struct mailbox *logs;  // [shard] work that its events have deferred in the present window
    ps_t lookahead_ps;
    struct trial trial;    // one thread against several
    struct trial in_order; // all events in order against tiles, and threads
    ps_t *next_ps;         // [shard] as hooks.send has returned it
    struct shards_hooks hooks;
    struct engine *current; // whose event is being processed, unless several threads do so
    bool parallel;          // shards are processed apart: by threads, or one after the other
    bool in_turn;           // parallel, but one shard after the other
    struct threads *threads;
    struct deferral *deferred; // of the window that has ended
    size_t cap_deferred;
    struct shards_counts counts;
    /* several processes */
    const struct collwire_processes *processes; // NULL = there is one
    struct calls calls;
    struct process_report report;
    struct process_facts all; // of all processes, before the present window
    struct event first;       // likewise: the first event
    ps_t *sent_ps; // [own shard] earliest arrival of anything that was sent and not received yet
    enum loop_end wanted, agreed; // how the run is to end: as this process wants, and all do
    uint64_t limit_events;   // model events of all processes after which the run ends; 0 = none
    double began_s, busy_s;  // begin of the first window; spent in windows, without exchanges
    double look_s;           // of the processes' time, after which they compare it with busy_s
    uint32_t lost;           // 1 + number of a process that no longer responds
    struct mailbox *parcels; // [process] to it
    struct collwire_bytes *out, *in; // [process]
};

// Cut the events and timers of `common` into engines, one per shard, with handlers to be set by
// the caller, and queues, one per tile. The lists of the cut belong to the shards from now on.
struct shards *shards_new(struct engine *common, const struct shards_cut *cut, uint32_t n_nodes,
                          const struct shards_hooks *hooks);

// Enable lookahead in the queues of the tiles, for the prefetch functions of the engines.
void shards_look_ahead(struct shards *p);

// End the threads. No further step may follow; counters and engines remain.
void shards_rest(struct shards *p);

// Free the shards. Their engines are empty afterwards.
void shards_free(struct shards *p);

// Process the next window, or the next event of the common engine. Returns false if there is none
// before the horizon of the common engine, or if it has been stopped and its last instant is over.
// A window that one thread processes ends after `max` events.
bool shards_step(struct shards *p, size_t max);

// Returns the number of pending events in all engines.
size_t shards_pending(const struct shards *p);

// A tile has something to do at `at_ps`.
static inline void shards_note_next(const struct shards *p, uint32_t tile, ps_t at_ps)
{
    ps_t *next_ps = &p->tile_next_ps[tile];
    *next_ps = at_ps < *next_ps ? at_ps : *next_ps;
}

static inline struct mailbox *shards_box(const struct shards *p, uint32_t from, uint32_t to)
{
    return &p->boxes[from * p->n + to];
}

// True if a node belongs to this process; `p` may be NULL.
static inline bool shards_owns(const struct shards *p, uint32_t node)
{
    return !p || p->shard_of[node] < p->n_own;
}

// True if a node belongs to another process; `p` may be NULL.
static inline bool shards_is_elsewhere(const struct shards *p, uint32_t node)
{
    return p && p->shard_of[node] >= p->n_own && p->shard_of[node] < p->n;
}

// The shard that stands for another process, and back.
static inline uint32_t shards_shard_of_process(const struct shards *p, uint32_t process)
{
    return p->n_own + process - (process > p->processes->rank);
}
static inline uint32_t shards_process_of_shard(const struct shards *p, uint32_t shard)
{
    uint32_t process = shard - p->n_own;
    return shard < p->n_own ? p->processes->rank : process + (process >= p->processes->rank);
}

// True if several processes simulate; `p` may be NULL.
static inline bool shards_is_shared(const struct shards *p) { return p && p->processes; }

// Add up numbers over the processes, or take the latest of their times. All processes call these in
// the same place, between windows. With one process, or `p` NULL, nothing changes.
void shards_sum(struct shards *p, uint64_t *values, uint32_t n);
ps_t shards_latest(struct shards *p, ps_t time);

// True if two nodes are in different tiles; `p` may be NULL.
static inline bool shards_separate(const struct shards *p, uint32_t a, uint32_t b)
{
    return p && p->tile_of[a] != p->tile_of[b];
}

// False if shards are being processed apart, and the present event is that of another shard than
// the node's.
static inline bool shards_is_current(const struct shards *p, uint32_t node)
{
    struct engine *of = p->engines[p->shard_of[node]];
    return !p->parallel || engine_current_shard(of) == of;
}

static inline struct engine *shards_engine(const struct shards *p, uint32_t node)
{
    return p->engines[p->shard_of[node]];
}
