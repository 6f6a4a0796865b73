// SPDX-License-Identifier: MIT
// Calls from the network to what is above it, in a simulation of several processes.
//
// Every process holds all of the state above the network (programs, collectives, messages), but
// only its own part of the network. Each process records in a log the calls that its own nodes make
// to that upper state. At the end of a window every other process repeats the calls of the log,
// with the clock of the event that made them, so that the upper state is the same in all processes.
//
// A call may lead to a post of a message, which is a call downwards, and within that post the
// network may make further calls upwards. The process that owns the posting node sends the message.
// The other processes repeat the calls that were made within the post (calls_within), up to the
// mark at their end (calls_mark).
#pragma once

#include "engine/shards.h"

enum { CALL_TIMER, CALL_MARK, CALL_KINDS }; // further kinds are the owner's, from CALL_KINDS on

// Record a call that the present event makes to the state above the network, with its arguments.
// The caller holds the lock, and calls calls_end() when the call has returned.
void calls_begin(struct shards *p, unsigned kind, const void *args, size_t bytes);
void calls_end(struct shards *p);

// A node of this process has posted: mark the end of the calls within the post, if the post was
// within a call of this process.
void calls_mark(struct shards *p);
// A node of another process posts: repeat the calls within the post, if the post is within a call
// of that process.
void calls_within(struct shards *p, uint32_t node);

// Repeat the calls of another process, which are in `log`.
void calls_repeat(struct shards *p, uint32_t shard, const struct mailbox *log);

/* ---- timers ---- */

// Timers that call what is above the network have an ordinal at their node, which is the same in
// all processes; their ids are not, since the network's timers of a node are in its process only.
void calls_timers_init(struct shards *p, uint32_t n_nodes);
void calls_timers_free(struct shards *p);
void calls_timer_add(struct shards *p, struct sim_timer *timer);
void calls_timer_remove(struct shards *p, const struct sim_timer *timer);
uint32_t calls_timer_ordinal(const struct shards *p, const struct sim_timer *timer);
