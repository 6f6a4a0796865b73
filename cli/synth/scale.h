// SPDX-License-Identifier: MIT
// How times and sizes of a set grow with the model that is trained.
#pragma once

#include "engine/base/err.h"

struct synth_scale {
    double time; // of computations
    double
        activations; // bytes of messages, all-to-alls, and collectives of groups that do not grow
    double weights;  // bytes of other collectives of groups that grow: gradients and parameters
};

// Read "hidden=2,batch=0.5", or NULL. Returns 0, or -1 with errors at --scale.
int synth_scale_read(struct synth_scale *scale, const char *text, struct err *err);
