// SPDX-License-Identifier: MIT
// The settings that an input of the targets uec and mrc chooses: both transports have the same
// ones.
#pragma once

#include "tests/fuzz/hostile.h"

static const struct hostile_choice uec_choices[] = {
    {"cc.kind", {"nscc", "rccc", "nscc_rccc", "swift", "window", NULL}},
    {"transport.rto", {"1us", "10us", "200us", "auto", NULL}},
    {"transport.spray", {"mixed", "oblivious", "bitmap", "reps", "none", NULL}},
    {"transport.entropies", {"1", "2", "64", NULL}},
    {"transport.ack_every", {"1B", "16384B", NULL}},
    {"transport.retry_limit", {"7", "1000", NULL}},
    {"transport.admission", {"none", "cts", NULL}},
    {"transport.destination_control", {"true", "false", NULL}},
    {"switch.trimming", {"{\"enabled\": true}", "{\"enabled\": false}", NULL}},
};
#define N_UEC_CHOICES (sizeof uec_choices / sizeof *uec_choices)
