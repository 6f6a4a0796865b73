// SPDX-License-Identifier: MIT
// What cost a run the most time, in a word or two.
#pragma once

#include <jansson.h>

#define CAUSE_TEXT 48

// The first of the reasons of a run if a trial has saved at least 2 % of the time, else the largest
// part of the critical path. `run` has `reasons` and `slowest` of metrics.json; NULL = nothing is
// known. The result is `text`.
const char *first_cause(const json_t *run, char text[CAUSE_TEXT]);
