// SPDX-License-Identifier: MIT
// A collective job in progress: every rank walks the steps of every chunk on its own.
#pragma once

#include "workload/workload.h"

struct collective_run *collective_run_new(struct job_run *job, uint32_t n_ranks);
void collective_run_free(struct collective_run *run);

// Rank `i` of the job begins its first repeat.
void collective_run_start(struct collective_run *run, uint32_t i, ps_t now);

// A message of this job has arrived; `token` as posted.
void collective_run_delivered(struct collective_run *run, uint64_t token, ps_t now);

// Bytes that all ranks will send.
uint64_t collective_run_bytes(const struct collective_run *run);

// The program of chunk `c` of a job.
struct coll_shape job_chunk_shape(const struct job_spec *job, uint32_t n_ranks, uint64_t c);

// Tokens of messages: job in the upper 16 bits.
#define TOKEN_JOB_SHIFT 48
