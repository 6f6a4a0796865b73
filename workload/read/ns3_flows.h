// SPDX-License-Identifier: MIT
// Lists of flows of HPCC's model of ns-3, and what it has written about flows that ended.
#pragma once

#include "engine/text/text_file.h"
#include "workload/flows.h"

// True if a text begins as one of the two below.
bool ns3_flows_is(const char *text);

// Read the flows of FLOW_FILE: their number, and for each
//   SRC DST PRIORITY [PORT] BYTES START        (START in seconds; conweave has no PORT)
// or of FCT_OUTPUT_FILE, whose times are then the measured ones of each flow:
//   SRC DST SPORT DPORT BYTES START FCT ALONE  (in ns; SRC and DST as addresses or as ids)
// Ids are taken as ranks. Returns NULL and *n = 0 with errors.
struct raw_flow *ns3_flows_read(struct text_file *file, size_t *n);
