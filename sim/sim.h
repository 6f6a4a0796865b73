// SPDX-License-Identifier: MIT
// A simulation: built from a spec, run to its end, and turned into a result. It has no global
// state, so several simulations can exist at once. Its members are in sim/simulation.h.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "collwire/processes.h"
#include "engine/base/err.h"
#include "sim/estimate.h"
#include "sim/observe/capture_sink.h"
#include "sim/result/result.h"
#include "sim/spec/spec.h"

struct advice;
struct sim;

// Build a simulation. Returns NULL with errors if the spec is not feasible (headroom exceeds a
// buffer, a place does not exist). `spec` must outlive the simulation.
#define SIM_WHY 200 // bytes of a reason, for run.json

struct sim *sim_new(const struct spec *spec, struct err *err);
void sim_free(struct sim *sim);

// Use the reference engine, in which every departure is an event. To be called before sim_run().
void sim_set_plain(struct sim *sim);

// Run on up to `n` threads; the results are the same. To be called before sim_run().
void sim_set_threads(struct sim *sim, uint32_t n);
// Let each thread process up to `n` parts of the network one after the other; 0 = by its size. The
// results are the same.
void sim_set_tiles(struct sim *sim, uint32_t n);
// Let all threads, and processes, share the run even where fewer would be faster.
void sim_set_together(struct sim *sim);
// Windows of packets on a hybrid network: hybrid_check().
void sim_set_check(struct sim *sim, uint32_t windows, ps_t span_ps);
// Simulate a part of the network in this process, and the other parts in others; the results are
// the same, in process 0. `processes` is borrowed until sim_result(); NULL = there is one.
// To be called after sim_set_threads() and sim_set_tiles(). Returns 0, or -1 with an error if the
// network cannot be divided among them.
int sim_set_processes(struct sim *sim, const struct collwire_processes *processes, struct err *err);
// Set the reason, for run.json, why the simulation uses one thread although more were requested.
void sim_explain_threads(struct sim *sim, const char *why);
// True if a program has failed in a run with several shards. Its results then depend on which nodes
// are in which shard.
bool sim_failed_in_parts(const struct sim *sim);
// True if the run has ended because its processes took longer than one would; process 0 is to begin
// again. Writes the reason, for run.json, into `why`.
bool sim_is_apart(const struct sim *sim, char why[SIM_WHY]);

// Check that the captures' places exist and that their filters are valid. Returns 0, or -1 with
// errors; opens no file.
int sim_check_captures(const struct sim *sim, struct err *err);

// Open the captures, which must have been checked, in `folder` (file "-" is stdout); errors show
// the folder as `shown`. Returns 0, or -1 with errors.
int sim_open_captures(struct sim *sim, const struct capture_output *to, struct err *err);

// Request that a simulation ends with its results so far, or reports its progress once. May be
// called while the simulation runs in another thread, and from a signal handler.
void sim_cancel(struct sim *sim);

// For a watchdog in a signal handler of the thread that is in sim_run(): a value that changes from
// event to event; true if the limit of wall time has passed; true if the simulation has shards.
uint64_t sim_pulse(const struct sim *sim);
bool sim_overdue(const struct sim *sim);
bool sim_divided(const struct sim *sim);
// Complete a run whose sim_run() was left by a jump within an event. Not for runs with shards.
void sim_leave(struct sim *sim, bool interrupted);
void sim_report_progress(struct sim *sim);

// Run to the end. `watch` may be NULL; progress is called every `progress_s` of wall time.
struct sim_progress {
    double done; // share of the work, 0..1
    ps_t now_ps;
    uint64_t packet_hops, events;
};
struct sim_watch {
    double pace_ps; // simulated time allowed per second of wall time; 0 = as fast as possible
    void *ctx;
    void (*progress)(void *ctx, const struct sim_progress *p); // may be NULL
    bool (*memory_low)(void *ctx); // the run ends when it returns true; may be NULL
    double progress_s;
};
void sim_run(struct sim *sim, const struct sim_watch *watch);

// Close the captures. Returns 0, or -1 with one error per file that could not be written.
int sim_close_captures(struct sim *sim, struct err *err);

// True if capture `c` could not be written completely; to be called after sim_close_captures().
bool sim_capture_failed(const struct sim *sim, size_t c);

// Make the result of the run. To be called once, after sim_run(). Free with result_free().
struct result *sim_result(struct sim *sim);

// Free the memory of packets, which are not needed after sim_result(), so that writing the results
// does not increase the peak memory.
void sim_packets_free(struct sim *sim);

// Names of places that a capture may name, with commas between them: for each kind of switch, and
// for ranks, the first one and the pattern of all ("leaf0,leaf*,rank0,rank*"). To be freed.
char *sim_place_names(const struct sim *sim);

// Values derived from the spec, one per line, for people: sizes, base RTT, window, thresholds. To
// be freed.
char *sim_describe(const struct sim *sim);

// The memory that jobs need, as text: a line for each job whose need is known. To be freed.
char *sim_memory_text(const struct sim *sim);

// Warnings about the spec, and the values of its settings that are "auto"; before the run. Free
// with advice_free().
struct advice *sim_advice(const struct sim *sim);

// Write the table of flows (source, destination, header numbers) of the captures. Returns 0, or -1
// with errors.
int sim_write_qpmap(const struct sim *sim, const char *path, struct err *err);
