// SPDX-License-Identifier: MIT
// Pieces of scenarios.
#pragma once

#define DIM "{\"kind\":\"switch\",\"size\":4}"
#define LEAF "\"kind\":\"leaf_spine\",\"size\":8"
#define JOB "{\"kind\":\"permutation\",\"bytes\":\"1MB\"}"
#define COLL "\"kind\":\"collective\",\"op\":\"all_reduce\",\"bytes\":\"1MB\""
