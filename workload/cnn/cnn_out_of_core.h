// SPDX-License-Identifier: MIT
// Reads what a cnn job says of training beyond the memory of a GPU, and plans it.
#pragma once

#include "engine/text/read.h"
#include "workload/cnn/cnn_job.h"

// Plan a job whose strategy has been planned, if it is out of core. Returns false with errors.
bool cnn_out_of_core_read(struct reader *r, const struct place *place, struct cnn_settings *s);
