// SPDX-License-Identifier: MIT
// What the logs hold, before it is known which process is which rank.
#pragma once

#include "cli/import/recording.h"

struct log_entry {          // of a communicator on a process
    struct call call;       // `group`: index into communicators; `peer`: rank in the communicator
    uint32_t process, rank; // rank: in the communicator
    int64_t dumped_us;
};

struct log_process {
    char *host, *path;
    int64_t pid;
    uint32_t number; // rank of the job
};

struct log_communicator {
    char *id, *name;
    uint32_t n_ranks, n_nodes;
    struct log_member { // that a log has; by rank once all logs are read
        uint32_t rank, process;
    } * members;
    size_t n_members, cap_members;
};

struct inspector {
    struct log_entry *entries;
    size_t n_entries, cap_entries;
    struct log_process *processes;
    size_t n_processes, cap_processes;
    struct log_communicator *communicators;
    size_t n_communicators, cap_communicators;
};

// Order entries by process, and those of a process by communicator and number.
void entries_sort(struct inspector *in);
