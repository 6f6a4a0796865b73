// SPDX-License-Identifier: MIT
// What NCCL's rules give for a fact of a log.
#pragma once

#include "cli/library/nccl_log.h"
#include "cli/library/query.h"

// Returns NULL where the fact is equal; else a sentence that names the difference, to be freed.
char *fact_difference(const struct answer *a, const struct fact *fact);
