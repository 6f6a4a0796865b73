// SPDX-License-Identifier: MIT
// Collectives of ASTRA-sim 2's execution traces as algorithms: PREFIX.N.et has the sends, receives
// and computations of rank N.
//
// A GPU has a thread block for each GPU that it sends to, one for each that it receives from, and
// one for its computations, which go on one after the other. All connections are on channel 0. A
// message longer than a step of the library moves at once is several steps. Left out: the traces
// have no name of the operation ("custom" fits all), and no protocol (Simple).
#pragma once

#include "collective/nccl/xml/algorithm.h"
#include "engine/base/err.h"

// Read the traces of a prefix, as seen from folder `dir`, and check that all of their nodes will
// end. `step_bytes`: the most that a step moves. Returns NULL with one error at `path`. free() it.
struct xml_algorithm *trace_algorithm_read(const char *dir, const char *prefix, uint64_t step_bytes,
                                           const char *path, struct err *err);
