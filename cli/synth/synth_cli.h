// SPDX-License-Identifier: MIT
// The command `synth`. synth_command.c tells what is given; the other files make a set of programs
// or a list of flows like it.
#pragma once

#include "cli/options/options.h"

extern const struct command synth_command;

// Both print their statistics on stdout, and return the exit code.
int synth_program(const struct options *o, const char *path, struct err *err);

/* ---- tables ---- */

struct synth_measure {
    const char *name;
    double source, made; // NaN = none
};

// Print measures side by side, as a table or as JSON.
void synth_print(const struct options *o, const struct synth_measure *measures, size_t n,
                 const char *of);
