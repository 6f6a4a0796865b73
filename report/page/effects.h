// SPDX-License-Identifier: MIT
// What the axes of a sweep do to the time of the run or, where it has several jobs, of each job.
#pragma once

#include <jansson.h>

// The ratio of times from which on an axis matters; closer ones count as equal.
#define EFFECT_LEAST 1.01

// The effects as a list with an item for each job of runs that have several, and one whose job is
// null for runs that have one:
//
//   {"job": "train", "metric": "sim_time_ns", "points": 8,
//    "axes": {"switch.buffer_bytes": 3.2},      largest ratio of two points that differ in it alone
//    "shortest": {"ns": 1551591, "at": {"switch.buffer_bytes": 16000000},
//                 "matters": ["switch.buffer_bytes"]},   axes on which another value, all others
//                                                        being equal, gives another time; if there
//                                                        are none, those in `axes`
//    "longest": ..,
//    "others": {"ckpt": 1.54}}
//
// Times are means over seeds. `others` has for each other job the ratio of its time to its own
// shortest where this job is (within 1 %) shortest: 1 where one point suits both. A new reference.
// `sweep` has columns, roles and rows of the table.
json_t *sweep_effects(const json_t *sweep);

// The same for the text of sweep.csv; an empty list for other texts.
json_t *sweep_csv_effects(const char *csv);
