// SPDX-License-Identifier: MIT
// Programs: what each rank of a job does, as steps that the runner pulls one by one.
//
// The runner calls next() until it answers that nothing is ready or that there is nothing more, starts
// every step that it gets, and calls done() when one of them has ended; then it pulls again. Steps of a
// rank that have started run side by side, but for computing and delays, of which a rank does one at a
// time. Dependencies are the program's: a step is given out when all that it depends on is done. Ranks
// may have different programs. A program that can compute its next step stores none.
//
// A program may look at the state of its own rank only: what a rank knows of others came in a message
// or a collective.
// Source: the interface follows CODES' workload generators (Mubarak et al., 2017; get_next), the kinds
// of steps Chakra's execution traces (Sridharan et al., 2023).
#pragma once

#include "comm/communicator.h"

struct job_run;

enum step_kind {
    STEP_COMPUTE,    // the rank computes for takes_ps
    STEP_DELAY,      // the same time passes, and nothing is computed
    STEP_SEND,       // ends when the last byte is acknowledged
    STEP_RECV,       // ends when the message with this tag has arrived: the k-th receive of a pair
                     // of ranks and a tag takes the k-th send of them
    STEP_COLLECTIVE, // ends when the rank's own part of it has
};

struct step {
    enum step_kind kind;
    uint32_t id;   // passed to done(); any number
    bool blocks;   // next() is not called before this step has ended
    ps_t takes_ps; // compute, delay
    uint32_t peer; // send, recv: the other rank of the job
    uint32_t tag;  // of a message with a receive
    bool detached; // a send that nothing depends on, with a queue pair of its own: no rank receives
                   // it, and done() is not called
    uint64_t bytes;                     // send
    uint32_t group;                     // collective: job_group_new()
    const struct comm_request *request; // stays where it is
};

enum program_state {
    PROGRAM_STEP, // *step is to be started
    PROGRAM_WAIT, // nothing is ready before a step that has started ends
    PROGRAM_END,  // the rank has no more steps; it ends when those that have started have ended
};

// `self` is what the kind's new() returned; ranks are those of the job. Optional functions may be NULL.
struct program_ops {
    // The next step of a rank that is ready.
    enum program_state (*next)(void *self, uint32_t rank, ps_t now, struct step *step);
    // A step has ended. Optional.
    void (*done)(void *self, uint32_t rank, uint32_t id, ps_t now);
    // When a rank first has something to do, after its start; PS_NEVER = it has nothing. Optional: 0.
    ps_t (*begins_ps)(const void *self, uint32_t rank);
    // How long after the end of collective step `id` the rank knows of it: it then does so by a timer,
    // also after 0. Optional: at once, in the event that ends it.
    ps_t (*notice_ps)(const void *self, uint32_t rank, uint32_t id);
    // Bytes of all messages of all ranks; called before anything runs.
    uint64_t (*bytes)(const void *self);
    // What a rank that has not ended waits for, to be freed; NULL = not known. Optional.
    char *(*waits)(const void *self, uint32_t rank);
    void (*free)(void *self);
};
