// SPDX-License-Identifier: MIT
// What runs a job whose ranks act on their own: one table of functions per kind.
#pragma once

#include <stdint.h>

#include "engine/units.h"

struct job_run;

struct job_runner {
    void *(*new)(struct job_run *job);
    void (*free)(void *self);
    // Rank `i` of the job begins.
    void (*start)(void *self, uint32_t i, ps_t now);
    // A message of this job has arrived; `token` as posted.
    void (*delivered)(void *self, uint64_t token, ps_t now);
    // Bytes that all ranks will send; asked before anything runs.
    uint64_t (*bytes)(const void *self);
};

extern const struct job_runner collective_runner, training_runner;
