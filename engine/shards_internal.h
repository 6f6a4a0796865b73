// SPDX-License-Identifier: MIT
// Between the files of the shards: tiles (tiles.c), threads (shard_threads.c), deferred decisions
// (deferral.c), trials (trial.c).
#pragma once

#include "engine/loop.h"
#include "engine/shards.h"

/* tiles.c */
// Process the events of a shard before `until_ps`, tile by tile, from `began_ps` on.
void tiles_window(struct shards *p, uint32_t shard, ps_t began_ps, ps_t until_ps);
// Move the events of all tiles before `until_ps` to the queues of their shards' engines.
void tiles_gather(struct shards *p, ps_t until_ps);
// Move the events in the queues of the shards' engines to their tiles, unless these are merged.
void tiles_settle(struct shards *p);
// Move all events to the queues of the shards' engines, or back to their tiles.
void tiles_merge(struct shards *p, bool merged);
// Returns a time before which no tile has an event, and no shard anything to send.
ps_t tiles_first_ps(const struct shards *p);
// Returns the first event of the tiles of this process. No packet in flight that is not an event
// yet precedes it.
struct event tiles_first_event(struct shards *p);
// Process this event alone, as the first of its tile.
void tiles_process(struct shards *p, struct event first);

/* shard_threads.c */
void threads_start(struct shards *p);
// Process a window on all threads.
void threads_window(struct shards *p, ps_t began_ps, ps_t until_ps);
// Process a window on the calling thread, one shard after the other.
void threads_window_alone(struct shards *p, ps_t began_ps, ps_t until_ps);

/* deferral.c */
// Do the deferred work, in the order of events.
void deferral_catch_up(struct shards *p);

/* shards.c */
// Let the shards send what has happened before `until_ps`, and read their mail.
void shards_exchange(struct shards *p, ps_t until_ps);
// Process the first event of the common engine, which is at `at_ps`.
void shards_common_event(struct shards *p, ps_t at_ps);
// Process the window of the shards of this process, of several; `alone`: on one thread.
void shards_window(struct shards *p, ps_t began_ps, ps_t until_ps, bool alone);

/* present.c */
void engine_set_thread(uint32_t number); // set the number of the calling thread

/* processes.c */
void processes_init(struct shards *p, uint32_t n_nodes);
void processes_free(struct shards *p);
// Does the work of shards_step() for a simulation of several processes.
bool processes_step(struct shards *p);

/* trial.c */
bool trial_wants_alone(const struct trial *t);
// Record that a window that permits both ways took `s` seconds for its events.
void trial_note(struct trial *t, bool together, double s, uint64_t events);
