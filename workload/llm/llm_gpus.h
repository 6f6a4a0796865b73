// SPDX-License-Identifier: MIT
// Ranks of an llm job that have another GPU than the job's, or a slower one.
//
// Only the times of computations differ, each by the shapes of its kernels on its own GPU, and what
// fits into memory: shapes, exchanges and passes are those of the job, so a rank waits for the
// slowest rank of each of its groups.
#pragma once

#include "workload/gpu_memory/need.h"
#include "workload/llm/llm_layout.h"
#include "workload/read/job_reader.h"

struct llm_gpu {
    uint32_t first, last; // ranks of the job
    struct llm_spec spec; // of this GPU
    double factor;        // on its times
};

struct llm_gpus {
    struct llm_gpu *list; // owned; a rank is in one of them at most
    size_t n;
};

// Read `gpus`: [{"from": 8, "to": 15, "gpu": "a100", "factor": 1.2}, ..] of a job of `ranks` ranks
// with these resolved parameters.
void llm_gpus_read(struct llm_gpus *gpus, struct reader *r, const struct place *place,
                   const struct llm_params *job, uint32_t ranks);
void llm_gpus_free(struct llm_gpus *gpus);
json_t *llm_gpus_schema(void);

// The GPU of a rank; NULL = that of the job.
const struct llm_gpu *llm_gpu_of(const struct llm_gpus *gpus, uint32_t rank);

// Peak rate of a GPU in flop/s, mean over the ranks of a job.
double llm_gpus_peak(const struct llm_gpus *gpus, const struct llm_params *job, uint32_t ranks);
