// SPDX-License-Identifier: MIT
// A scenario whose job is a file of others, which the job's own reader reads.
#pragma once

#include "cli/import/kinds.h"
#include "cli/import/notes.h"
#include "config/scenario.h"

struct file_job {
    const struct file_kind *kind; // of KIND_JOB or KIND_TRACES
    const char *file;             // or the prefix of traces
    const char *output;           // file of the scenario, which names `file` relative to it
    const char *network;          // a scenario whose network the job gets; NULL = a default
    uint32_t ranks;               // 0 = as the file says
    const char *groups;           // of traces: a file of communicators; NULL = none
    bool ignores_missing;         // of traces: dependencies on nodes that are not there
};

// Returns the scenario as indented JSON; NULL with errors. free() it.
char *file_job_scenario(const struct file_job *job, struct notes *notes, struct err *err);

// What the file has, as "SimAI workload, 2 layers, 4 collectives in groups tp". free() it.
char *file_job_describe(const struct file_job *job, const struct scenario *scenario);
