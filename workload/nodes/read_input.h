// SPDX-License-Identifier: MIT
// The key `input` of jobs that train: where the samples are, and how they reach the ranks.
#pragma once

#include "workload/nodes/input.h"
#include "workload/nodes/read_tiers.h"

// Read `tiers` and `input`, and add their names to `keys`.
void job_input_read(struct reader *r, const struct place *job_place, struct keys *keys,
                    struct job_spec *job, struct input_spec *in);

// Add the batches to the program of a job, if it has `input`. samples[rank]: of an iteration, which
// may be parts of samples; freed.
void job_input_add(struct reader *r, const struct place *job_place, const struct job_spec *job,
                   struct node_input *in, struct node_program *program, double *samples,
                   uint64_t iterations, const struct group_choice *choice);

void job_input_write(json_t *json, const struct input_spec *in, const json_t *given);
void job_input_schema(json_t *object);

#define INPUT_KEY                                                                                  \
    {                                                                                              \
        "input", "object", "none",                                                                 \
            "each iteration waits for its samples, read from a tier: {\"from\": \"ssd\", "         \
            "\"sample_bytes\": \"110KB\"}; collwire list workload input"                           \
    }
