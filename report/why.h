// SPDX-License-Identifier: MIT
// Why two runs differ, from their metrics.
#pragma once

#include <jansson.h>
#include <stddef.h>

// Returns sentences: first the difference of the times and its causes, then why the slower run took
// longer. `a` and `b` are contents of metrics.json, `a` the baseline; the sentences use the names.
// *n is set to the number of sentences, 0 if the runs took the same time or nothing ended in one of
// them. If different things ended last in the runs, a single sentence states this. The caller frees
// the sentences and the list.
char **why_differs(const json_t *a, const char *name_a, const json_t *b, const char *name_b,
                   size_t *n);
