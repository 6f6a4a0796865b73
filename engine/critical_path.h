// SPDX-License-Identifier: MIT
// Critical paths: time by cause along the chain of events that led to the present one.
//
// A path is the account of one chain: for every cause the time for which the chain waited for it,
// since the chain's beginning. A chain continues with whatever came last: the delivery of a
// message, the end of a computation, a timer. A waiting object keeps the path of the event that
// began the wait, and extends it by the cause of the wait. So the times of all causes add up to the
// time of the chain, exactly.
//
// While an event is handled, its path is the book's `current` one; whatever the event starts
// (messages, computations, collectives) continues it. A collective begins a path of its own when a
// rank issues it; when the rank's part has ended, the path is joined to that of the rank that
// issued it on this chain (path_join).
//
// Paths only observe: no result of the simulation depends on them.
#pragma once

#include <stdalign.h>
#include <stdbool.h>
#include <stddef.h>

#include "engine/base/units.h"
#include "engine/engine.h"

// Causes of time. One line of PATH_LIST is one cause: its constant, its key in metrics, its
// meaning, and the words for it in sentences ("waiting for the pace").
#define PATH_LIST(X)                                                                               \
    X(COMPUTE, "compute", "computing", "computing")                                                \
    X(SCHEDULED, "scheduled", "before a planned start, and fixed delays",                          \
      "planned starts and fixed delays")                                                           \
    X(MEMORY, "memory", "copies through memories (`tiers`), their latencies and waits for them",   \
      "copying through memories")                                                                  \
    X(SENDING, "sending", "the sender transmitted", "transmitting")                                \
    X(RESENDING, "resending",                                                                      \
      "the sender transmitted lost packets again, or waited to learn of a loss",                   \
      "recovering lost packets")                                                                   \
    X(NIC, "nic", "other packets, of other flows or acknowledgements, had the NIC port",           \
      "waiting for other packets of the NIC port")                                                 \
    X(WINDOW, "window", "the sender waited for its window, or an acknowledgement",                 \
      "waiting for the window or an acknowledgement")                                              \
    X(ACK_DELAY, "ack_delay",                                                                      \
      "the sender waited for an acknowledgement that the receiver's timer held back "              \
      "(transport.delayed_ack, sack_compression)",                                                 \
      "waiting for a delayed acknowledgement")                                                     \
    X(PACE, "pace", "the sender waited for its pace", "waiting for the pace")                      \
    X(PAUSED, "paused", "PFC had stopped the sender", "stopped by PFC")                            \
    X(CREDIT, "credit",                                                                            \
      "the far end of the sender's link had no room for a packet (switch.flow_control credit)",    \
      "waiting for credit")                                                                        \
    X(HOST, "host",                                                                                \
      "NICs that are not ideal: their bus, packet rate, contexts of queue pairs, doorbells and "   \
      "completions (`nic`)",                                                                       \
      "waiting for the NIC itself")                                                                \
    X(STACK, "stack", "the cores of a host: its network stack copied and handled data (`host`)",   \
      "in the network stack of hosts")                                                             \
    X(LIBRARY, "library",                                                                          \
      "a library of collectives: launch of kernels, copies, its threads (`library`)",              \
      "in the library of collectives")                                                             \
    X(TIMEOUT, "timeout", "the sender waited for its retransmission timer",                        \
      "waiting for the retransmission timer")                                                      \
    X(NETWORK, "network", "propagation, transmission by switches, and delays of switches",         \
      "propagation and switches")                                                                  \
    X(QUEUED, "queued", "in queues of switches", "in queues of switches")                          \
    X(BEHIND, "behind", "only of messages: earlier messages of the flow were sent",                \
      "behind earlier messages")                                                                   \
    X(OTHERS, "others", "waiting for other ranks", "waiting for other ranks")

#define PATH_CONSTANT(constant, key, help, words) PATH_##constant,
enum path_cause { PATH_LIST(PATH_CONSTANT) PATH_CAUSES };
#undef PATH_CONSTANT

// The words of a cause for sentences.
const char *path_cause_phrase(enum path_cause cause);

// Kind of a place on a path.
enum path_place_kind { PLACE_NONE, PLACE_PORT, PLACE_FLOW, PLACE_RANK };

// A cause at one place: an output port, a flow, or a rank.
struct path_place {
    ps_t ps;
    uint32_t index; // of the port, flow or rank
    uint8_t kind;   // enum path_place_kind
    uint8_t cause;  // enum path_cause
};

// Times at places on a chain, in blocks. As with steps, paths with a common past share their
// blocks: each path has the number of times of its newest block that belong to it, and the first
// path that adds a time fills the block. A list that has grown long is summed up by place. If there
// are more places than the book keeps for a path, those with the least times are dropped; the path
// counts their time in `dropped_ps`, so all times by place are exact where this is 0.
#define PATH_BLOCK 7

// The head of each object that a path consists of: its number of references, and the index of the
// object before it on the chain. In a free object `before` is the index of the next free object.
struct path_link {
    uint32_t refs, before;
};

struct path_spells {
    struct path_link link; // before: the block before it on the chain
    uint32_t thread;       // the only one that may fill the block up, while several paths share it
    uint16_t n, n_before;  // times in this block, and of the one before it
    struct path_place at[PATH_BLOCK];
};
#define PATH_PLACES_MAX 4096 // places of a path
#define PATH_PLACES_MIN 64
#define PATH_PLACES_ALL (128u << 10) // of the paths of all ranks together, a path for each rank

// The end of a stage: a part of a chain, such as a phase of a collective or an iteration.
struct path_mark {
    struct path_link link;   // before: the mark before it on the chain
    uint32_t stage;          // that ended
    ps_t parts[PATH_CAUSES]; // of the chain up to this end
};

struct path {
    struct path_link link; // nothing is before a path that is in use
    uint32_t parent;       // path that the collective's issue ended; 0 = none
    uint32_t owner;        // 1 + index of the collective's record; 0 = not in a collective
    uint32_t steps;        // newest of the steps that labelled work left on the chain; 0 = none
    uint32_t rank;         // rank at which the chain began
    uint32_t label;        // of the collective
    uint32_t flow;         // of a message
    uint32_t spells;       // newest block of times at places; 0 = none
    uint32_t n_spells;     // times of this block that are the path's
    uint32_t fresh;        // times added since the list was summed up
    uint32_t stage;        // to which the time of the chain now belongs; 0 = none
    uint32_t marks;        // newest of the ends of earlier stages; 0 = none
    ps_t dropped_ps;       // time at places that are no longer among the spells
    ps_t begin_ps, end_ps; // parts add up to the time between them
    ps_t transit_ps;       // of a message: least time from its sender to its receiver
    ps_t parts[PATH_CAUSES];
    ps_t life[PATH_CAUSES]; // of a message: its own time from its post on
};

// Work with a label (a layer's part) on a chain: computation or communication. A list that chains
// with a common past share. So that memory does not grow with the length of a run, a long list is
// folded: all work with one label becomes one step.
struct path_step {
    struct path_link link; // before: the step before it on the chain
    uint32_t label;
    uint32_t communicates : 1;
    uint32_t fresh : 31; // steps up to this one that are not folded
    ps_t ps, end_ps;     // of folded work: the sum, the last end
};
#define PATH_FRESH_MAX 1024

// What a path consists of: kinds of objects in arrays of their own.
enum path_object { PATHS, PATH_STEPS, PATH_SPELLS, PATH_MARKS, PATH_OBJECTS };

// What each thread of a simulation has for itself. Paths and their lists go from thread to thread
// with the messages; an object that several paths share is not changed, but for its references.
struct path_thread {
    alignas(64) uint32_t current; // path of the event that is being handled; 0 = unknown
    enum path_cause late;         // cause of the time between the end of `current` and the present
    // the receiver held back the last ACK of a message, so the message had ended this long before
    // the present
    ps_t held_ps;
    uint32_t free[PATH_OBJECTS];                      // first of the list of free objects; 0 = none
    uint32_t next[PATH_OBJECTS], until[PATH_OBJECTS]; // numbers that have not been used yet
};

struct path_book {
    union {
        struct {
            struct path *paths; // [0] is no path
            struct path_step *steps;
            struct path_spells *spells;
            struct path_mark *marks;
        };
        void *arrays[PATH_OBJECTS]; // the same arrays, by enum path_object
    };
    size_t cap[PATH_OBJECTS]; // lengths of the arrays
    uint32_t n[PATH_OBJECTS]; // objects with numbers from here on have never been used
    uint32_t places_max;      // that a path keeps
    bool keep_steps;          // lists are not folded
    uint32_t n_threads;
    struct path_thread *threads;         // [n_threads]
    size_t reserved_bytes[PATH_OBJECTS]; // of the arrays, where several threads use them
};

// `n_ranks`: of the network, which bounds the places that a path keeps.
void path_book_init(struct path_book *b, uint32_t n_ranks);
// Let several threads (engine_thread()) use the book at the same time.
void path_book_share(struct path_book *b, uint32_t n_threads);
void path_book_free(struct path_book *b);

static inline struct path *path_at(const struct path_book *b, uint32_t id) { return &b->paths[id]; }

static inline struct path_thread *path_thread(const struct path_book *b)
{
    return &b->threads[engine_thread_of(b->n_threads)];
}

static inline void path_ref_add(const struct path_book *b, struct path_link *link)
{
    if (b->n_threads > 1)
        __atomic_fetch_add(&link->refs, 1, __ATOMIC_RELAXED);
    else
        link->refs++;
}

// Returns true if it was the last reference.
static inline bool path_ref_drop(const struct path_book *b, struct path_link *link)
{
    return b->n_threads > 1 ? __atomic_sub_fetch(&link->refs, 1, __ATOMIC_ACQ_REL) == 0
                            : --link->refs == 0;
}

// True if there is one reference, the caller's.
static inline bool path_ref_only(const struct path_link *link)
{
    return __atomic_load_n(&link->refs, __ATOMIC_ACQUIRE) == 1;
}

// Begin a path at `begin_ps`, with one reference.
uint32_t path_new(struct path_book *b, ps_t begin_ps, uint32_t rank);
static inline uint32_t path_hold(struct path_book *b, uint32_t id)
{
    path_ref_add(b, &b->paths[id].link);
    return id;
}
void path_drop(struct path_book *b, uint32_t id); // 0 is legal

// Returns a path equal to `id` that the caller may change; takes over the reference to `id`.
uint32_t path_own(struct path_book *b, uint32_t id);

// Add the time from the path's end to `until` (not before it) to a cause, at a place. The caller
// owns the path alone (path_own).
void path_extend(struct path_book *b, uint32_t id, enum path_cause cause, ps_t until);
void path_extend_at(struct path_book *b, uint32_t id, enum path_cause cause, ps_t until,
                    enum path_place_kind kind, uint32_t index);

// Add `ps` to a cause of path `p` without moving the path's end.
void path_add(struct path_book *b, struct path *p, enum path_cause cause, ps_t ps,
              enum path_place_kind kind, uint32_t index);

// Make `id` the current path, taking over the reference. Returns the earlier one, for path_leave().
uint32_t path_enter(struct path_book *b, uint32_t id);
void path_leave(struct path_book *b, uint32_t before);

// Returns the current path with a reference for the caller. It ends at `now`: time after its end is
// of the cause `late` of the thread.
uint32_t path_take(struct path_book *b, ps_t now);

// Returns a path that begins at `now`, when `rank` issues collective `owner`, and holds the time
// since then. `parent` is the path up to now, whose reference it takes over; path_join() adds both.
uint32_t path_fork(struct path_book *b, uint32_t parent, uint32_t rank, uint32_t owner,
                   uint32_t label, ps_t now);

// Returns the path of the whole chain that ends with the collective's path `id`; takes over the
// reference to `id`.
uint32_t path_join(struct path_book *b, uint32_t id);

// Note that the last `ps` of the path were work with a label. The caller owns the path alone.
void path_label(struct path_book *b, uint32_t id, uint32_t label, bool communicates, ps_t ps);

// Replace the handles of flows in all paths by new ones.
struct flow_numbers {
    uint32_t (*of)(const void *ctx, uint32_t flow);
    const void *ctx;
};
void path_book_renumber(struct path_book *b, const struct flow_numbers *numbers);
void path_places_renumber(struct path_place *places, size_t n, const struct flow_numbers *numbers);

/* ---- places and stages ---- */

// Returns the path's `most` largest times by place, the largest first, to be freed; NULL if there
// are none. Sets *n to their number, and *elsewhere_ps to the time at all other places.
struct path_place *path_places(const struct path_book *b, const struct path *p, size_t most,
                               size_t *n, ps_t *elsewhere_ps);

// From now on the time of the chain belongs to a stage. If `late` is not NULL, so does the newest
// part of its earlier time, which `late` states by cause. The caller owns the path alone.
void path_stage(struct path_book *b, uint32_t id, uint32_t stage, const ps_t late[PATH_CAUSES]);

// Assign the time of the current path from `now` on to a stage, as path_stage() does.
void path_stage_current(struct path_book *b, uint32_t stage, ps_t now);

// Add the path's times by cause to sums[stage]; stages from `n` on are left out.
void path_stages(const struct path_book *b, const struct path *p, ps_t (*sums)[PATH_CAUSES],
                 size_t n);

/* for the functions of paths: path_book.c */

// Take the number of an object that is not in use; its contents are not set, and arrays may move.
uint32_t path_object_take(struct path_book *b, enum path_object kind);
void path_object_give(struct path_book *b, enum path_object kind, uint32_t number);
// Drop a reference to the newest object of a list, which may be 0 (empty), and give back what has
// none left.
void path_list_drop(struct path_book *b, enum path_object kind, uint32_t newest);

// Add a time at a place, and all those of another path, to a path.
void path_spell_add(struct path_book *b, struct path *p, const struct path_place *add);
void path_spells_join(struct path_book *b, struct path *p, const struct path *from);
