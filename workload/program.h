// SPDX-License-Identifier: MIT
// Programs: the steps of each rank of a job, which the runner pulls one by one.
//
// The runner calls next() until it returns PROGRAM_WAIT or PROGRAM_END, starts every returned step,
// and calls done() when a step has ended; then it calls next() again. Started steps of a rank run
// in parallel. The program keeps track of dependencies: it returns a step when all steps that it
// depends on have ended, and steps that must not overlap are returned one at a time. Ranks may have
// different programs. A program that can compute its next step need not store steps.
//
// A program may use the state of the same rank only: facts about other ranks must come from a
// message or a collective.
// Source: the interface follows CODES' workload generators (Mubarak et al., 2017; get_next), the
// kinds of steps follow Chakra's execution traces (Sridharan et al., 2023).
#pragma once

#include "collective/communicator.h"
#include "collective/traffic.h"

struct job_run;

enum step_kind {
    STEP_COMPUTE, // the rank computes for takes_ps
    STEP_DELAY,   // waits for takes_ps without computing
    // Ends when the last byte is in the send buffer (TCP), or acknowledged where there is none
    // (RDMA).
    STEP_SEND,
    // Ends when the message with this tag has arrived: the k-th receive of a pair of ranks and a
    // tag takes the k-th send with the same pair and tag, by `number` or in the order in which they
    // start.
    STEP_RECV,
    STEP_COLLECTIVE, // ends when the rank's own part of the collective has ended
    STEP_COPY,       // between tiers of memory (job_run.copies): ends when its last byte is there
};

struct step {
    enum step_kind kind;
    uint32_t id;         // passed to done(); any value
    bool blocks;         // next() is not called until this step has ended
    ps_t takes_ps;       // duration of compute and delay steps
    bool own_contention; // compute: `contention` holds in place of the job's share, of collectives
    double contention;   // that the GPU runs (contention.h)
    // Delay: number of a resource that ranks of the job share, from 1; it serves one step at a
    // time, in the order in which they start. 0 = none. (A rank then waits for others without a
    // message.)
    uint32_t shared;
    uint32_t
        label; // names compute steps on critical paths (comm_request.label); 0 = without a name
    uint32_t iteration; // to which the step belongs, from 1; 0 = none
    uint32_t peer;      // send, recv: the other rank of the job
    uint32_t tag;       // send, recv: the tag of the message
    // A send that no step depends on: no rank receives it, and done() is not called. It has a
    // connection of its own, or uses that of the pair.
    bool detached, of_pair;
    uint64_t bytes;                     // send, copy
    uint32_t from, to;                  // copy: tiers
    bool in_turn;                       // copy: behind the rank's others of this kind
    uint32_t group;                     // collective: number from job_group_new()
    const struct comm_request *request; // copied when the step starts (comm_issue)
    bool
        // collective: it is `number` of the group; send, recv: of its pair and tag; not the next
        // one
        numbered;
    uint32_t number;
    const char *name;    // send: for captures; must stay valid during the run
    struct cc_hint hint; // send: hint about messages beside this one
};

enum program_state {
    PROGRAM_STEP, // *step is to be started
    PROGRAM_WAIT, // no step is ready until a started step ends
    PROGRAM_END,  // no more steps: the rank ends when its started steps have ended
};

// `self` is what the kind's new() returned; ranks are indices in the job. Optional functions may be
// NULL.
struct program_ops {
    // The rank's next step that is ready, if there is one.
    enum program_state (*next)(void *self, uint32_t rank, ps_t now, struct step *step);
    // A step has ended. Optional.
    void (*done)(void *self, uint32_t rank, uint32_t id, ps_t now);
    // Time after the rank's start until it first has a step; PS_NEVER = it has none. Optional: 0.
    ps_t (*begins_ps)(const void *self, uint32_t rank);
    // Delay from the end of collective step `id` until done() is called, by a timer even if it is
    // 0. Optional: done() is called in the event that ends the collective.
    ps_t (*completion_delay_ps)(const void *self, uint32_t rank, uint32_t id);
    // Nothing more happens in the run: read further ahead for this rank. Returns false if that is
    // not possible. Optional.
    bool (*read_on)(void *self, uint32_t rank);
    // For jobs with one group: the id of the collective steps that must end before the rank starts
    // a further step; UINT32_MAX = none, or not known. Optional.
    uint32_t (*awaits)(const void *self, uint32_t rank);
    // Total bytes of all messages of all ranks; called before the run.
    uint64_t (*bytes)(const void *self);
    // Add messages to the sample of `t`, weighted by their bytes; called before the run. Optional,
    // for kinds that do not estimate their traffic from their settings.
    void (*sample)(const void *self, struct comm_traffic *t);
    // Text saying what an unfinished rank waits for, to be freed; NULL = not known. Optional.
    char *(*waits)(const void *self, uint32_t rank);
    void (*free)(void *self);
};
