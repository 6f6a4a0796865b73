// SPDX-License-Identifier: MIT
// What each operation on a GPU waited for, from the times of a trace; and the nodes that follow.
//
// A profiler records when operations ran, not why. These rules use only
// times and the order of launches:
// 1. Operations of one stream run in its order.
// 2. Communication waits for the last computation that ended before it began and was launched
//    before it: NCCL's stream waits for an event of the stream that calls it.
// 3. An operation that begins after its stream was idle waits for what ended last in that gap on
//    another stream, if the GPU waited (it had been launched by then) or the CPU did
//    (cudaStreamSynchronize and others) before the launch. Otherwise the gap is the CPU's time.
// 4. Where the profiler recorded that a stream waits for an event of another, that holds.
// 5. The first computation of an iteration (ProfilerStep) waits for the communication that ended
//    before it.
// 6. A computation launched after the program waited for a collective (Work.wait(), with its
//    number) waits for it, if it had ended.
// What remains between the last of these and the beginning is a time without computing: launches
// and the CPU's own work.
//
// Computations of the stream that computes most become one node up to the next operation that
// something waits for. Deliberately left out: where waits were not recorded (4, 6), that a
// computation uses the result of communication that had ended long before; then only a stream's
// idle time shows that it waited.
#pragma once

#include "cli/import/recording.h"

// Make the nodes of a rank from its events; errors (clocks that run backwards) go to `r->err`.
void rank_nodes_make(struct recording *r, struct rank_recording *rank);
