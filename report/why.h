// SPDX-License-Identifier: MIT
// Why two runs differ, from their metrics.
#pragma once

#include <jansson.h>
#include <stddef.h>

// Sentences, the first one the difference of the times and its causes, then what cost the slower
// run the time. `a` and `b` are contents of metrics.json, `a` the baseline; the names are those by
// which the sentences call them. *n is set to the number of sentences, 0 if the runs took the same
// time or nothing ended in one of them. If other things ended last in them, the only sentence says
// so. The caller frees the sentences and the list.
char **why_differs(const json_t *a, const char *name_a, const json_t *b, const char *name_b,
                   size_t *n);
