// SPDX-License-Identifier: MIT
// Between the files of a partition: threads (shard_threads.c), deferred decisions (deferral.c),
// trials (trial.c).
#pragma once

#include "engine/loop.h"
#include "engine/partition.h"

/* shard_threads.c */
void threads_start(struct partition *p);
// Process a window on all threads.
void threads_window(struct partition *p, ps_t until_ps);
// The same on the calling thread: the shards in turn.
void threads_window_alone(struct partition *p, ps_t until_ps);

/* deferral.c */
// Do the deferred work, in the order of events.
void deferral_catch_up(struct partition *p);

/* trial.c */
bool trial_wants_alone(const struct trial *t);
// A window that may be processed either way took `s` for its events.
void trial_note(struct trial *t, bool together, double s, uint64_t events);
