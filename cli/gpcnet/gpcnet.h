// SPDX-License-Identifier: MIT
// collwire gpcnet: how much a network's load slows other jobs down, as the benchmark GPCNeT asks.
//
// A fifth of the ranks, at least two, run a network test, the others four congestors: pairwise
// exchanges, two incasts and a broadcast of 4,096 bytes, without end. Three tests run alone and
// beside the congestors: messages of 8 bytes around a random ring, 16 of 131,072 bytes, and an
// all-reduce of 8 bytes. The impact is the ratio of their times, in the mean and in the 99th
// percentile. Who does what is drawn anew with each seed.
// Source: Chunduri et al., GPCNeT: Designing a Benchmark Suite for Inducing and Measuring
// Contention in HPC Networks, SC 2019, sections 3 and 4.
#pragma once

#include "cli/options/options.h"

extern const struct command gpcnet_command;
