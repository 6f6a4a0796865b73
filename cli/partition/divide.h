// SPDX-License-Identifier: MIT
// A division of an operator graph by METIS.
#pragma once

#include "cli/partition/operators.h"

// Divide into parts whose times (and memory, if it has a limit) differ from their mean by at most
// `imbalance` thousandths, with few bytes on edges between them: multilevel k-way partitioning of
// Karypis and Kumar, J. Parallel Distrib. Comput. 48, 1998, or recursive bisection of theirs, SIAM
// J. Sci. Comput. 20, 1998. The random seed is fixed. Returns false if METIS finds none.
bool divide_by_metis(const struct operator_graph *g, uint32_t parts, bool bisect, int imbalance,
                     uint32_t *part);
