// SPDX-License-Identifier: MIT
// What trials have shown, in the reasons and the sentences of a run.
#pragma once

#include "cli/trials/trials.h"

// Make a trial for each of the first `n` reasons that a setting removes.
void told_choose(struct trials *t, size_t n);

// Put the results of the trials into the reasons of `metrics` (tried, saved_ns, job) and into its
// sentences: first what saved most, then what was said before, last what was tried and saved
// nothing. `interrupted`: some trials have not ended. The trials must be those of told_choose().
void told_apply(const struct trials *t, json_t *metrics, bool interrupted);
