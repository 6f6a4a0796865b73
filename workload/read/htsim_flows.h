// SPDX-License-Identifier: MIT
// Connection matrices of htsim (csg-htsim, uet-htsim): files that begin with "Nodes".
#pragma once

#include "engine/text/text_file.h"
#include "workload/flows.h"

// A connection, and what starts it or what it starts; triggers by their ids, 0 = none.
struct htsim_connection {
    struct raw_flow flow; // its start is 0 if a trigger starts it
    uint64_t trigger, send_done, recv_done;
    uint32_t line;
};

struct htsim_trigger {
    uint64_t id, count; // count: of a barrier, after which it fires; 0 = with each
    uint32_t line;
};

struct htsim_matrix {
    struct htsim_connection *list; // [n] owned
    size_t n, cap;
    struct htsim_trigger *triggers; // [n_triggers] owned
    size_t n_triggers, cap_triggers;
    uint64_t declared; // connections of the heading; UINT64_MAX = it has none
    uint64_t nodes;
    double unit_ps;
    bool late; // a connection starts after 0
};

// Read the connections, one message each, with their triggers:
//   SRC->DST [id N] [msg [N]] start T | trigger N, size BYTES [prio P] [send_done_trigger N]
//   [recv_done_trigger N]
//   trigger id N oneshot | multishot | barrier [count M]
// `unit_ps`: of T, as htsim_uec has microseconds and htsim_roce picoseconds; 0 = microseconds, with
// a warning if a start is not 0. Failures are errors: `faults` has them. Returns 0, or -1 with
// errors. htsim_matrix_free() the result in both cases.
int htsim_matrix_read(struct htsim_matrix *m, struct text_file *file, ps_t unit_ps);
void htsim_matrix_free(struct htsim_matrix *m);

// True if a text is a connection matrix: its first line that is no comment begins with "Nodes".
bool htsim_flows_is(const char *text);

// The same as a list of flows. Triggers are errors: a program has them (`collwire import` makes
// one). Returns NULL and *n = 0 with errors.
struct raw_flow *htsim_flows_read(struct text_file *file, ps_t unit_ps, size_t *n);
