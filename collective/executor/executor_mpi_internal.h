// SPDX-License-Identifier: MIT
// The state of operations that Open MPI runs: processes, their messages, and what they wait for.
#pragma once

#include "collective/executor/executor_internal.h"
#include "collective/mpi/mpi.h"
#include "engine/cores/cores.h"

struct mpi_receive {
    uint64_t bytes;                        // as requested
    bool posted, requested, counted, done; // counted: in receives_open
};

// A process in an operation.
struct mpi_member {
    struct executor_run *run;
    uint32_t number, step;
    uint8_t place; // in the step
    struct mpi_step now;
    struct mpi_receive *receives; // [number]
    uint32_t receives_open;       // posted and not done
    uint32_t sends_open;          // messages that have not left the process
    uint32_t awaits;              // MPI_NONE = no receive
    bool leaves;                  // it waits until all messages have left
    bool ended;
};

struct mpi_run {
    struct mpi_shape shape;
    uint32_t steps;
    struct mpi_member *members;
    struct mpi_receive *receives; // of all members
};

typedef void mpi_task_call(struct mpi_member *m, uint32_t message, ps_t now);
struct mpi_task {
    struct core_task base;
    struct mpi_member *member;
    mpi_task_call *call;
    struct mpi_task *next_free, *next_all;
    uint32_t message, path;
};

struct mpi_process {
    struct core_thread thread;
    uint64_t n_tasks;
};

// What the network carries for a message. `number`: of the receive; `src` is where this part comes
// from, a member.
enum mpi_part { MPI_PART_EAGER, MPI_PART_REQUEST, MPI_PART_ANSWER, MPI_PART_DATA };
struct mpi_message {
    struct executor_run *run;
    uint32_t src, dst, number;
    uint64_t bytes; // of the message
    uint8_t part;   // enum mpi_part
    bool left;      // it has left its process
    bool sent, handled;
};

/* mpi_run.c */

// Let the process of a member do something for `takes_ps`, then call `call`.
void mpi_process_run(struct mpi_member *m, mpi_task_call *call, uint32_t message, ps_t takes_ps,
                     ps_t now);
mpi_task_call mpi_on_request, mpi_on_answer, mpi_on_data, mpi_on_left;

/* mpi_message.c */
struct mpi_task *mpi_task_new(struct executor *l);
struct core_thread *mpi_process_of(struct executor *l, uint32_t node);
void mpi_executor_free(struct executor *l);
static inline struct mpi_message *mpi_message_at(const struct executor_run *run, uint32_t message)
{
    return &run->group->library->mpi.messages[message];
}
void mpi_message_handled(struct executor_run *run, uint32_t message);
void mpi_send(struct mpi_member *m, uint32_t to, uint32_t number, uint64_t bytes, ps_t now);
void mpi_send_data(struct mpi_member *m, uint32_t to, uint32_t number, uint64_t bytes, ps_t now);
// Answer a request for receive `number` of a member that comes from `to`.
void mpi_answer(struct mpi_member *m, uint32_t number, uint32_t to, ps_t now);
void mpi_delivered(struct executor *l, uint64_t token, ps_t now);
void mpi_entered(struct executor *l, uint64_t token, ps_t now);
void mpi_sent(struct executor *l, uint64_t token, ps_t now);
