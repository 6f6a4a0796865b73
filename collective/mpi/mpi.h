// SPDX-License-Identifier: MIT
// Open MPI: how its collectives are made of messages between pairs of processes, and the protocol
// of such a message. Pure: collective/executor/mpi_run.c runs it.
//
// An operation is a sequence of steps for each process (struct mpi_step). A message that a process
// sends has the number of the receive at its receiver, as MPI would match them by order.
//
// Sizes count elements of MPI_ELEMENT bytes: a buffer that is no multiple is rounded up.
//
// Source: Open MPI 4.1.4, ompi/mca/coll/base (algorithms), ompi/mca/coll/tuned (its fixed rules),
// ompi/mca/pml/ob1 (protocol), opal/mca/btl/tcp (sizes). Wire sizes agree with recorded packets.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define MPI_ELEMENT 4 // bytes

enum mpi_operation { MPI_ALL_REDUCE, MPI_ALL_TO_ALL, MPI_BROADCAST, MPI_BARRIER, MPI_OPERATIONS };

enum mpi_algorithm {
    MPI_AUTO, // by the rules of coll_tuned
    MPI_RING,
    MPI_SEGMENTED_RING,
    MPI_RECURSIVE_DOUBLING,
    MPI_RABENSEIFNER,
    MPI_LINEAR,
    MPI_PAIRWISE,
    MPI_BINOMIAL,
    MPI_ALGORITHMS
};

// Bytes on the wire beside those of messages (pml_ob1_hdr.h, btl_tcp_hdr.h).
#define MPI_EAGER_HEADER 22  // 8 of the BTL, 14 to match
#define MPI_REQUEST_BYTES 40 // rendezvous: 8 and 32
#define MPI_ANSWER_BYTES 64  // the receive is posted: 8 and 56
#define MPI_DATA_HEADER 56   // of a message after the answer: its header and the final notice

struct mpi_settings {
    int algorithm;          // enum mpi_algorithm
    uint64_t segment_bytes; // of the segmented ring; 0 = it is a ring (its default)
    uint64_t eager_bytes;   // a larger message waits for its receive
    /* times of a process */
    int64_t event_ps;  // picoseconds until a process has handled something that has come
    int64_t step_ps;   // from the end of a wait to the next message
    uint64_t copy_bps; // of its input, at the start of an operation; 0 = at once
    uint64_t reduce_bps;
};

// An operation over `ranks` processes.
struct mpi_shape {
    enum mpi_operation op;
    enum mpi_algorithm algorithm; // not MPI_AUTO
    uint32_t ranks, root;
    uint64_t bytes;         // all-reduce, broadcast: the buffer; all-to-all: of a pair
    uint64_t segment_bytes; // struct mpi_settings
};

#define MPI_PHASES_MOST 32768 // segments of a block
#define MPI_NONE UINT32_MAX
#define MPI_ALL (UINT32_MAX - 1)

// What a process does in a step, in this order. Numbers are those of its receives.
struct mpi_step {
    bool copies;             // its input
    uint32_t receives, from; // MPI_NONE = none: post a receive
    uint32_t awaits;         // wait for a receive, MPI_ALL = all; then add what has come
    uint64_t adds_bytes;
    uint32_t sends_to, sends; // MPI_NONE = none: the peer, and the number there
    uint64_t sends_bytes;
    bool finishes_sends;   // wait until all messages have left the process
    uint32_t awaits_after; // as `awaits`
    uint64_t adds_after_bytes;
};

// Returns the shape of an operation under the settings; `bytes` as in a scenario: the largest
// buffer of a process.
struct mpi_shape mpi_shape_of(const struct mpi_settings *s, enum mpi_operation op, uint32_t ranks,
                              uint32_t root, uint64_t bytes);
// The algorithm of coll_tuned's fixed rules, of those here the nearest one
// (collective/mpi/mpi_choice.c).
enum mpi_algorithm mpi_choice(enum mpi_operation op, uint32_t ranks, uint64_t bytes);
// Whether an algorithm is one of the operation's.
bool mpi_algorithm_is_of(enum mpi_algorithm algorithm, enum mpi_operation op);
const char *mpi_algorithm_name(enum mpi_algorithm algorithm);

// Number of steps of a process, and of receives that any process posts at most.
uint32_t mpi_steps(const struct mpi_shape *shape);
uint32_t mpi_receives(const struct mpi_shape *shape);
// Step `i` of process `rank`.
struct mpi_step mpi_step(const struct mpi_shape *shape, uint32_t rank, uint32_t i);

// Bytes of a message on the wire, without request and answer.
static inline bool mpi_is_eager(const struct mpi_settings *s, uint64_t bytes)
{
    return bytes < s->eager_bytes;
}
static inline uint64_t mpi_wire_bytes(const struct mpi_settings *s, uint64_t bytes)
{
    return bytes + (mpi_is_eager(s, bytes) ? MPI_EAGER_HEADER : MPI_DATA_HEADER);
}
