// SPDX-License-Identifier: MIT
// Flows from a CSV file.
#pragma once

#include "workload/flows.h"

struct flow_file {
    const char *dir, *name; // of the folder; the name is relative to it
    const char *path;       // of errors
    ps_t unit_ps;           // of the starts of a connection matrix; 0 = not given
};

// Read lines "src,dst,bytes,start_ns,measured_ns"; a heading line is allowed; or a connection
// matrix of htsim (htsim_flows.h), or flows of HPCC's ns-3 (ns3_flows.h). Errors name the path and
// the line. free() the list; its ranks are not checked. Returns NULL and *n = 0 on failure.
struct raw_flow *flow_file_read(const struct flow_file *from, size_t *n, struct err *err);
