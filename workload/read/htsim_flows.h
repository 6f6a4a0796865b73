// SPDX-License-Identifier: MIT
// Connection matrices of htsim (csg-htsim, uet-htsim): files that begin with "Nodes".
#pragma once

#include "engine/text/text_file.h"
#include "workload/flows.h"

// True if a text is a connection matrix: its first line that is no comment begins with "Nodes".
bool htsim_flows_is(const char *text);

// Read the connections, one message each:
//   SRC->DST [id N] start T size BYTES [prio P]
// `unit_ps`: of T, as htsim_uec has microseconds and htsim_roce picoseconds; 0 = microseconds, with
// a warning if a start is not 0. Triggers and failures are errors: a program has the ones, `faults`
// the others. Returns NULL and *n = 0 with errors.
struct raw_flow *htsim_flows_read(struct text_file *file, ps_t unit_ps, size_t *n);
