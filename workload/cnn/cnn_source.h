// SPDX-License-Identifier: MIT
// The training of a convolutional network as a program: every rank's computations, and the messages
// and collectives of its strategy (cnn_projection.h has what they cost).
//
// Ranks of a group are neighbours: rank r is part r % parts of group r / parts. Pipelines run all
// segments forward and then all backward (GPipe).
#pragma once

#include "workload/cnn/cnn_offload.h"
#include "workload/cnn/cnn_projection.h"
#include "workload/group_choice.h"
#include "workload/nodes/node.h"

enum cnn_use {
    CNN_USE_GRADIENTS,
    CNN_USE_CHANNELS,
    CNN_USE_BORDERS,
    CNN_USE_PIPELINE,
    CNN_USE_SWAP,
    CNN_USES
};
enum cnn_group { CNN_GROUP_PARTS, CNN_GROUP_DATA, CNN_GROUP_ALL, CNN_GROUPS };

struct cnn_program {
    struct cnn_plan plan; // its lists belong to the job's settings
    uint32_t n_ranks;
    uint64_t iterations;
    bool overlap;                // gradients are reduced while earlier layers compute backward
    uint32_t last;               // the last layer with parameters
    uint32_t *group[CNN_GROUPS]; // [rank] index into the program's groups; NULL = groups of one
    uint16_t use[CNN_USES];
    const struct cnn_offload *offload; // of the settings; NULL = all outputs are kept
    struct cnn_program *twin;          // one iteration
};

// `program` with its plan, ranks, iterations and overlap set; fills the rest, and `nodes`.
void cnn_program_init(struct cnn_program *program, struct node_program *nodes,
                      const struct group_choice *choice);
// Frees what a program owns; `self` is a struct cnn_program.
void cnn_program_free(void *self);
