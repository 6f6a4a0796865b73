// SPDX-License-Identifier: MIT
// The memory that the ranks of a training job need, as far as the job says it.
//
// A list of layers has times and exchanges, not shapes. Where a layer does not give `weights`,
// they are taken to be as large as the gradients that its ranks all-reduce. Where it does not give
// `activations`, they are taken to be as large as the activations that its ranks exchange; the
// layer keeps at least those. So the result is a lower bound. Activations are kept from a layer's
// forward to its backward computation; with checkpoints only those of checkpoints are, until an
// initiating layer recomputes the others. All ranks count as the one with the largest tables.
#pragma once

#include "workload/gpu_memory/need.h"
#include "workload/training/training_job.h"

// Fill `need` for the job's ranks; to be freed with memory_need_free(). It has no classes if
// nothing is known, and for keywords that do not train.
void training_memory(const struct training_settings *settings, uint32_t ranks,
                     struct memory_need *need);

// The step, of those in `need`, of a part of a layer: its forward pass, or its backward one.
size_t training_memory_step(const struct training_spec *spec, uint32_t layer,
                            enum training_part part);

// As job_kind.memory_lever.
char *training_memory_lever(const struct training_settings *settings);
