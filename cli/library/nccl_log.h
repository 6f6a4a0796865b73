// SPDX-License-Identifier: MIT
// The log that NCCL writes with NCCL_DEBUG=INFO, as a list of facts.
//
// NCCL prints the first 20 ranks of a ring, and the first 20 servers of a head of NVLS. Lines that
// are not of a known form, or are cut off, are skipped; so is what launchers write before a line.
// The forms are those of 2.8 to 2.30 (src/init.cc, graph/connect.cc, graph/rings.cc,
// graph/tuning.cc, enqueue.cc).
#pragma once

#include "collective/nccl/nccl.h"
#include "engine/base/err.h"

enum fact_kind {
    FACT_RING,     // channel; of `total`; ranks from rank 0
    FACT_NEXT,     // channel, rank; the ranks before and after it on the ring
    FACT_TREE,     // channel, rank; up, then three down, or -1
    FACT_HEAD,     // channel = the head; ranks
    FACT_CHANNELS, // channel = enum log_channels; their number
    FACT_COST,     // function, algorithm, protocol; latency, bandwidth
    FACT_THREADS,  // algorithm, protocol; threads
    FACT_CHOICE,   // function, bytes, algorithm, protocol; channels or 0; cost or -1
    FACT_KINDS
};

enum log_channels { LOG_CHANNELS_COLL, LOG_CHANNELS_NVLS, LOG_CHANNELS_P2P, LOG_CHANNELS_PEER };

#define FACT_VALUES 20
#define FACT_ANY_FUNCTION (-1) // the log does not say which

struct fact {
    enum fact_kind kind;
    int32_t channel, rank;
    int32_t function, algorithm, protocol; // enum nccl_function, ..
    uint64_t bytes;                        // as the log has them
    int32_t values[FACT_VALUES];
    uint32_t n_values;
    double latency, bw; // of FACT_COST; `latency` is the cost of FACT_CHOICE
    int32_t ranks;      // of the communicator; 0 = not known
    int32_t nodes;      // 0 = not known
};

struct log_variable {
    char *name, *value; // owned
};

struct nccl_log {
    const char *name;
    char *version;      // "2.21.5"; NULL = not said
    bool tuner;         // a tuner plugin was loaded
    struct fact *facts; // sorted, each once
    size_t n_facts;
    struct log_variable *variables; // of the environment, each once
    size_t n_variables;
    struct {
        int32_t ranks, nodes; // nodes: 0 = not known
    } * sizes;                // of communicators, each once
    size_t n_sizes;
};

// Read a log. Returns 0, or -1 after an error: it cannot be read, or has no line of a known form.
int nccl_log_read(struct nccl_log *log, const char *path, struct err *err);
void nccl_log_free(struct nccl_log *log);
