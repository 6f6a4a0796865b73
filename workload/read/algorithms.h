// SPDX-License-Identifier: MIT
// Settings of collective algorithms in a job, and the check whether they can run.
#pragma once

#include "collective/algorithm/collective.h"
#include "engine/text/read.h"
#include "workload/kind.h"
#include "workload/read/site.h"

// Fill one parameter table with the settings of all collective algorithms. Its offsets are for an
// array with a struct coll_choice for each algorithm, in the order of the registry
// (collective_params). A setting that several algorithms have is one row, whose offset is that of
// the first of them; algorithms_read() copies its value to the others.
#define ALGORITHM_ROWS_MAX 64
size_t algorithms_table(struct param rows[ALGORITHM_ROWS_MAX]); // returns the number of rows
void algorithms_read(struct reader *r, const struct place *place, struct coll_choice *choices);

// Add the names of all algorithms to `words`.
void algorithm_words(struct keys *words);
// Read an algorithm with its settings; its `algorithm` is NULL after an error.
struct coll_choice algorithm_read(struct reader *r, const struct place *place,
                                  const struct coll_choice *choices);
// Returns the one of `choices` that has the name of a registered algorithm.
struct coll_choice algorithm_named(const struct coll_choice *choices, const char *name);

/* check_algorithms.c */
// Check that an algorithm can run a shape. Errors are added at `place`.
bool algorithm_supports(struct reader *r, const struct place *place, const struct coll_algorithm *a,
                        const struct coll_shape *shape);
// Check all pairs of members that exchange messages, up to the first that no dimension connects.
// `members`: the rank of the job of each; NULL = all ranks in order.
bool algorithm_pairs(struct reader *r, const struct place *place, const struct job_spec *job,
                     const struct coll_algorithm *a, struct coll_shape shape,
                     const uint32_t *members);
// Check that the algorithms of a schedule can run an operation over the dimensions `dims` (bit set)
// of the job, with the other fields of `whole`. The first error is reported at `place`, at the item
// of its dimension if that is a list.
bool algorithms_check(struct reader *r, const struct place *place, const struct job_spec *job,
                      const struct coll_schedule *s, uint32_t dims, const struct coll_shape *whole);
