// SPDX-License-Identifier: MIT
// What many draws of the open assumptions say about a ratio: its range, whether the order of the
// two rows stands, and how far each assumption moves it.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define DRAWS_TIE 0.01   // ratios that are nearer to 1 count as equal, as in the mark of the best
#define DRAWS_CLEAR 2.5  // standard errors, from which on a difference of two halves is clear
enum { DRAWS_FEW = 10 }; // below, ranges and differences of halves are rough

// A ratio to the baseline over the draws in which both rows completed.
struct draw_summary {
    size_t n;
    double median, p10, p90; // NAN if n is 0
    size_t slower, same, faster;
    size_t order_holds; // draws with the ratio on the same side of 1 as without draws
};

// `ratio` has NAN where a row did not complete; `stated` is the ratio without draws, NAN = unknown.
struct draw_summary draw_summary_of(const double *ratio, size_t n, double stated);

// The draws with the lower and with the higher values of an assumption: the geometric means of the
// ratio in each half, and how much they differ, as a share (0.5: half as much again).
struct draw_move {
    double low, high, moves; // NAN = a half has no draws
    bool clear;              // more than DRAWS_CLEAR standard errors, and than DRAWS_TIE
};

// place[k] is where the value of draw k stands among all values, from 0 to 1; the middle one of an
// odd number of choices (0.5) is in neither half.
struct draw_move draw_move_of(const double *ratio, const double *place, size_t n);

// The summary as an object of compare.json.
json_t *draw_summary_json(const struct draw_summary *s);
