// SPDX-License-Identifier: MIT
// A collective job: the same operation `repeat` times. A rank starts the next one when its own part
// of the one before is done, as kernels on a stream do; no barrier is added between ranks.
#pragma once

#include "workload/system.h"
#include "workload/workload.h"

struct collective_job *collective_job_new(struct job_run *job);
void collective_job_free(struct collective_job *c);

// Its schedule as it runs (dimensions measured), and the operation.
const struct coll_schedule *collective_job_schedule(const struct collective_job *c);
const struct system_request *collective_job_request(const struct collective_job *c);

// Rank `i` of the job begins.
void collective_job_start(struct collective_job *c, uint32_t i, ps_t now);

// A message of this job has arrived; `token` as posted.
void collective_job_delivered(struct collective_job *c, uint64_t token, ps_t now);

// Bytes that all ranks will send.
uint64_t collective_job_bytes(const struct collective_job *c);
