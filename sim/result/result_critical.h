// SPDX-License-Identifier: MIT
// Results of critical paths: where the time of what ended last went, and why. Times are in ps; -1 =
// null.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/units.h"
#include "engine/critical_path.h"

// A cause at one place of a critical path.
struct critical_place {
    char *at;            // output port, flow or rank
    uint8_t kind, cause; // enum path_place_kind, enum path_cause
    uint32_t index;      // index of the port or rank; for a flow its number in the results
    ps_t ps;
};

// The time of a critical path by cause: the parts add up to total_ps.
struct critical_result {
    bool known;
    ps_t total_ps;
    ps_t parts[PATH_CAUSES];
    struct critical_place *places; // the largest ones, the largest first
    size_t n_places;
    ps_t elsewhere_ps; // at other places
    ps_t error_ps;     // the most by which the time of a place is too small: 0 = exact
};

// The time of a critical path in a phase of a collective, or in an iteration, by cause.
struct critical_stage {
    uint32_t number; // of the iteration, from 1
    ps_t total_ps;
    ps_t parts[PATH_CAUSES];
};

// All work of a part of a layer on the critical path of a training job or a program.
struct critical_layer {
    const char *name;
    uint32_t layer;
    uint8_t part;     // enum training_part; in a program a use, or the number of uses for computing
    const char *word; // of the part
    ps_t compute_ps, comm_ps;
};

// What a run was seen to lose time by, which has a sentence among the explanations. Kinds with
// their words in metrics.
#define REASON_LIST(X)                                                                             \
    X(CUTS, "cuts")                                                                                \
    X(WINDOW, "window")                                                                            \
    X(TIMEOUTS, "timeouts")                                                                        \
    X(PATHS, "paths")                                                                              \
    X(PFC, "pfc")                                                                                  \
    X(VICTIMS, "victims")                                                                          \
    X(PLANES, "planes")                                                                            \
    X(LAYERS, "layers")                                                                            \
    X(STRAGGLER, "straggler")                                                                      \
    X(NIC, "nic")                                                                                  \
    X(ACK_DELAY, "ack_delay")                                                                      \
    X(SLOW_LINK, "slow_link")                                                                      \
    X(OVERSUBSCRIPTION, "oversubscription")                                                        \
    X(HEADERS, "headers")                                                                          \
    X(ALGORITHM, "algorithm")                                                                      \
    X(LATENCY, "latency")                                                                          \
    X(JOB, "job")                                                                                  \
    X(LOSS, "loss")                                                                                \
    X(RECOVERY, "recovery")                                                                        \
    X(STORM, "storm")                                                                              \
    X(LINK_DOWN, "link_down")                                                                      \
    X(MARKS_ORDER, "marks_order")                                                                  \
    X(TARGET, "target")                                                                            \
    X(BUBBLE, "bubble")                                                                            \
    X(DROPS, "drops")                                                                              \
    X(SWAP, "swap")                                                                                \
    X(HOST, "host")                                                                                \
    X(LIBRARY, "library")                                                                          \
    X(MEMORY, "memory")                                                                            \
    X(SCHEDULE, "schedule")                                                                        \
    X(HANDSHAKE, "handshake")                                                                      \
    X(BDP_CAP, "bdp_cap")                                                                          \
    X(RATE, "rate")                                                                                \
    X(INPUT, "input")                                                                              \
    X(METER, "meter")

#define REASON_CONSTANT(constant, word) REASON_##constant,
enum reason_kind { REASON_LIST(REASON_CONSTANT) REASON_KINDS };
#undef REASON_CONSTANT

struct reason_result {
    uint8_t kind; // enum reason_kind
    uint32_t job; // whose time it is about
    double weight;
    ps_t saving_ps; // by which trials are ordered: about what the change may save; -1 = not known
    char *at;       // the place: port, flow, rank or job; NULL = none
    char *seen;     // what was seen
    char *change;   // what the settings do, as in "with ideal NICs"; NULL = there are none
    char **set;     // settings (`--set`) that remove the cause, in order
    size_t n_set;
    const char *sentence; // borrowed from result.explain
};

enum slowest_kind {
    SLOWEST_FLOW,
    SLOWEST_COLLECTIVE,
    SLOWEST_TRAINING,
    SLOWEST_PROGRAM,
    SLOWEST_JOB
};

// The flow, collective, training job or program that ended last in a job.
struct slowest_result {
    uint8_t kind; // enum slowest_kind
    char *name;
    uint32_t job, rank; // rank: that ended last; for a flow its receiver
    ps_t begin_ps, end_ps;
    struct critical_result critical;
    struct critical_layer *layers; // the largest first
    size_t n_layers;
    struct critical_stage *iterations; // of training jobs and programs that have them
    size_t n_iterations;
};
