// SPDX-License-Identifier: MIT
// A simulation: built from a spec, run to an end, and turned into a result. There are no globals, so
// several can exist at once. What a simulation consists of is in sim_internal.h.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/err.h"
#include "sim/estimate.h"
#include "sim/result.h"
#include "sim/spec.h"

struct sim;

// Build. NULL with errors when the spec cannot be (headroom exceeds a buffer, a place does not
// exist). `spec` must outlive it.
struct sim *sim_new(const struct spec *spec, struct err *err);
void sim_free(struct sim *sim);

// Run by the reference engine: every departure is an event. Before sim_run.
void sim_set_plain(struct sim *sim);

// Do the captures' places exist, are their filters right? 0, or -1 with errors; nothing is opened.
int sim_check_captures(const struct sim *sim, struct err *err);

// Open captures, which have been checked, in `folder` ("-" files go to stdout); errors name them in the
// folder `shown`. 0, or -1 with errors.
int sim_open_captures(struct sim *sim, const char *folder, const char *shown, struct err *err);

// Run to an end. `watch` may be NULL; progress is called every `progress_s` of wall time.
struct sim_progress {
    double done; // share of the work, 0..1
    ps_t now_ps;
    uint64_t packet_hops, events;
};
struct sim_watch {
    void *ctx;
    void (*progress)(void *ctx, const struct sim_progress *p); // may be NULL
    bool (*memory_low)(void *ctx); // the run ends when it is true; may be NULL
    double progress_s;
};
void sim_run(struct sim *sim, const struct sim_watch *watch);

// Close captures. 0, or -1 with one error per file that could not be written.
int sim_close_captures(struct sim *sim, struct err *err);

// After they were closed: could capture `c` not be written whole?
bool sim_capture_failed(const struct sim *sim, size_t c);

// What the run has shown. Once, after sim_run. Free with result_free.
struct result *sim_result(struct sim *sim);

// Give back the memory of packets, for which there is no use after sim_result: what is written then
// need not come on top of it.
void sim_packets_free(struct sim *sim);

// Values derived from the spec, a line each, for people: sizes, base RTT, window, thresholds. To be
// freed.
char *sim_describe(const struct sim *sim);

// Writes the table of flows (source, destination, header numbers) of the captures. 0, or -1 with errors.
int sim_write_qpmap(const struct sim *sim, const char *path, struct err *err);
