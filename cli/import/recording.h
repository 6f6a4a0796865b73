// SPDX-License-Identifier: MIT
// What profilers recorded of a job: for every rank the operations on its GPU's streams, and the
// communicators.
//
// Times are nanoseconds of the rank's own clock. A reader of a format fills one rank after the
// other; when a rank is complete, recording_end_rank() makes the nodes of its program
// (dependencies.h) and drops its events, so that the events of one rank at a time are in memory.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "collective/algorithm/collective.h"
#include "engine/base/err.h"
#include "engine/base/names.h"
#include "engine/base/table.h"

#define TIME_UNKNOWN INT64_MIN
// Times are below this, 66 years, so that any two of them can be subtracted; a recording is no
// longer than SPAN_MOST_NS, the longest time of a node.
#define TIME_MOST_NS INT64_C(2100000000000000000)
#define SPAN_MOST_NS INT64_C(100000000000000)
#define NO_CALL UINT32_MAX         // a computation
#define COPY_CALL (UINT32_MAX - 1) // a copy of memory
#define SEQUENCE_UNKNOWN (-1)

enum call_kind { CALL_COLLECTIVE, CALL_SEND, CALL_RECV };

// Communication as one rank recorded it.
struct call {
    enum call_kind kind;
    enum coll_op op;
    bool uneven;    // all_to_all with vectors of different sizes: `bytes` are those received
    bool sent_only; // all_to_all whose `bytes` are those that the rank sends; it may receive others
    uint32_t group; // index into recording.groups
    uint32_t peer;  // of a message: rank
    uint32_t root;  // of a collective: member of the group
    uint64_t
        bytes; // the largest per-rank buffer (collective/algorithm/collective.h), or of the message
    int64_t sequence;
    int64_t start_ns, end_ns, measured_ns;
    uint64_t offset; // of the event in the rank's file
    uint32_t number; // among the calls of its group on this rank, from 0
};

// An operation on a stream of the GPU.
struct gpu_event {
    int64_t start_ns, end_ns;
    int64_t launch_ns;    // when the CPU launched it, or TIME_UNKNOWN
    uint64_t correlation; // rises with the order of launches in the process; 0 = unknown
    uint32_t call;        // index into rank_recording.calls, or NO_CALL, COPY_CALL
    uint32_t stream;      // index into rank_recording.streams
};

struct gpu_stream {
    int64_t id;      // as the profiler numbers it
    bool calls;      // communication runs in it
    int64_t busy_ns; // of computation
    uint8_t comm;    // number among the streams with communication
};

// The CPU waited from start to end for work of the GPU.
struct host_wait {
    int64_t start_ns, end_ns;
};

// What a stream runs from `correlation` on waits for what `on` ran until `on_correlation`.
struct stream_wait {
    int64_t stream, on;
    uint64_t correlation, on_correlation;
};

// The program waited for a collective (Work.wait() of PyTorch): computations that it launches after
// `at_ns` wait for it.
struct call_wait {
    int64_t at_ns, sequence;
    uint32_t group;
};

struct step_mark { // an iteration of the training loop, as the CPU saw it
    int64_t number, start_ns, end_ns;
};

enum trace_node_kind { TRACE_COMPUTE, TRACE_WAIT, TRACE_CALL };
enum { TRACE_STREAM_COMPUTE, TRACE_STREAM_NONE, TRACE_STREAM_COMM }; // comm0, comm1, ..

struct trace_node {
    int64_t takes_ns;
    uint32_t call;
    uint32_t first_after, n_after; // in rank_recording.after
    int32_t step;                  // index into rank_recording.steps, or -1
    uint8_t kind, stream;
};

struct rank_recording {
    char *path;  // NULL = no file has this rank
    bool broken; // it could not be read to its end
    bool copied; // of another rank (replicate.h)
    /* while it is read */
    struct gpu_event *events;
    size_t n_events, cap_events;
    struct gpu_stream *streams;
    size_t n_streams, cap_streams;
    struct host_wait *host_waits;
    size_t n_host_waits, cap_host_waits;
    struct stream_wait *stream_waits;
    size_t n_stream_waits, cap_stream_waits;
    struct call_wait *call_waits;
    size_t n_call_waits, cap_call_waits;
    /* kept */
    struct step_mark *steps;
    size_t n_steps, cap_steps;
    struct call *calls;
    size_t n_calls, cap_calls;
    struct trace_node *nodes; // ids are indices
    size_t n_nodes, cap_nodes;
    uint32_t *after;
    size_t n_after, cap_after;
    bool many_streams; // more than STREAMS_MOST
    int64_t begin_ns;  // of its first event; TIME_UNKNOWN = it has none
    int64_t end_ns;    // of its last one
    int64_t offset_ns; // of its clock against that of the first rank
    bool offset_known;
    uint32_t n_comm_streams;
};

// A communicator: an ordered list of ranks.
struct recorded_group {
    char *name, *use;
    const char *base_name; // as the files name it, which groups of other ranks may do too
    uint32_t *ranks, size;
    /* set by recording_match() */
    uint64_t *bytes; // [collective] the largest of any member
    bool *uneven;    // [collective] its members' vectors differ
    // [collective * size + member] what members receive, or send (call.sent_only); NULL if no
    // collective is uneven
    uint64_t *received;
    uint32_t n_collectives;
};

struct recording {
    struct err *err;
    uint32_t world;   // ranks, 0 = not known yet
    bool world_given; // by the user, before the files are read
    struct rank_recording *ranks;
    size_t n_ranks; // of `ranks`
    struct recorded_group *groups;
    size_t n_groups, cap_groups;
    struct table group_of;   // a kept name and a hash of the ranks
    struct table group_name; // a kept name: it is taken; with a rank: of so many groups
    uint32_t gpus_per_node;  // 0 = unknown
    struct name_pool names;
    /* what was not used */
    struct unused_events {
        const char *what;
        uint64_t n;
        int64_t ns;
    } * unused;
    size_t n_unused, cap_unused;
    struct recorded_assumption { // what the files do not say, and what is taken in its place
        const char *sentence;    // in `names`
        uint64_t n;
    } * assumptions;
    size_t n_assumptions, cap_assumptions;
    /* what the files name of the machine; NULL = nothing */
    const char *gpu, *library, *library_version; // in `names`; library: "nccl" or "rccl"
    bool older_than_2_4;                         // PyTorch, by how calls are described
    void *reader;   // the state of a format whose ranks are known only at the end
    bool no_starts; // the format has no times of starts
    bool no_times;  // nor any other times
};

// At most so many errors are listed; true if there are more.
bool recording_is_full(const struct recording *r);

// The rank's recording, made where needed; NULL if the rank is not below `RANKS_MOST`.
#define RANKS_MOST 65536
struct rank_recording *recording_rank(struct recording *r, int64_t rank);
void recording_free(struct recording *r);
void rank_free(struct rank_recording *rank);

// Release the events of a rank, and its calls: it could not be read.
void rank_drop(struct rank_recording *rank);

// The group of this name and these ranks, made where needed. `use` may be NULL.
uint32_t recording_group(struct recording *r, const char *name, const char *use,
                         const uint32_t *ranks, uint32_t size);

// The sum of two times, at most TIME_MOST_NS: sums of wrong recordings do not overflow.
int64_t time_sum(int64_t a_ns, int64_t b_ns);

void recording_unused(struct recording *r, const char *what, int64_t ns);

// Note what was assumed, as a sentence; equal sentences are counted.
__attribute__((format(printf, 2, 3))) void recording_assume(struct recording *r, const char *format,
                                                            ...);

// Note what a file names, such as the GPU, in *known; of different names the first is kept, which
// is an assumption. `what`: of several, as in "GPUs".
void recording_named(struct recording *r, const char **known, const char *name, const char *what);

// The stream's index. The dependencies of each event are looked for in all streams, so that more
// of them than a program can use are an error of recording_end_rank().
#define STREAMS_MOST 1024
uint32_t rank_stream(struct rank_recording *rank, int64_t id);
struct gpu_event *rank_event(struct rank_recording *rank);
struct call *rank_call(struct rank_recording *rank);
struct step_mark *rank_step(struct rank_recording *rank);
struct host_wait *rank_host_wait(struct rank_recording *rank);
struct stream_wait *rank_stream_wait(struct rank_recording *rank);
struct call_wait *rank_call_wait(struct rank_recording *rank);

// Make the nodes of rank `index` and drop its events.
void recording_end_rank(struct recording *r, uint32_t index);
