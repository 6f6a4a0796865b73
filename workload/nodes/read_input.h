// SPDX-License-Identifier: MIT
// The key `input` of jobs that train: where the samples are, and how they reach the ranks.
#pragma once

#include "workload/nodes/input.h"
#include "workload/nodes/read_tiers.h"

// Read `tiers` and `input`.
void job_input_read(struct reader *r, const struct place *job_place, struct job_spec *job,
                    struct input_spec *in);

// Add the batches to the program of a job, if it has `input`. samples[rank]: of an iteration, which
// may be parts of samples; freed.
void job_input_add(struct reader *r, const struct place *job_place, const struct job_spec *job,
                   struct node_input *in, struct node_program *program, double *samples,
                   uint64_t iterations, const struct group_choice *choice);

void job_input_write(json_t *json, const char *key, const void *value, const json_t *given);
json_t *job_input_schema(void);

// The rows of `tiers` and `input` for a struct input_spec at member `at` of the settings struct
// `of`.
#define INPUT_PARTS(of, at, only_)                                                                 \
    TIERS_PART(of, at.tiers, only_),                                                               \
        PART_ROW("input", "object", "none",                                                        \
                 "each iteration waits for its samples, read from a tier: {\"from\": \"ssd\", "    \
                 "\"sample_bytes\": \"110KB\"}; collwire list workload input",                     \
                 .offset = offsetof(of, at), .write = job_input_write, .schema = job_input_schema, \
                 .only = only_)
