// SPDX-License-Identifier: MIT
// Arguments of options that are more than a text, a count or a word. All return 0, or -1 after a
// message; the text may be changed.
#pragma once

#include "cli/options/options.h"

int option_set(struct options *o, char *text);           // PATH=VALUE
int option_seed(struct options *o, char *text);          // a setting of the scenario, too
int option_compute_scale(struct options *o, char *text); // a number
int option_gap(struct options *o, char *text);           // a time
int option_pace(struct options *o, char *text);          // TIME/TIME
