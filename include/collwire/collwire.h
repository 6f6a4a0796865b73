// SPDX-License-Identifier: MIT
// libcollwire: load scenarios, check them, simulate them, and get the results as JSON.
//
// There is no global state: simulations may run in different threads, each used by one thread at a
// time (collwire_sim_cancel() and collwire_sim_report() may be called by any thread and by signal
// handlers). The library prints nothing, installs no signal handler, and writes no file except the
// captures that the caller requests. Numbers have the format of the locale "C", whatever locale the
// program has set. Functions that
// return an int return 0, or -1 after adding an error to the messages. Texts that a function
// returns as `char *` are to be freed with collwire_free(); a `const char *` belongs to the object.
//
// A memory allocation that fails ends the program, as an exhausted system does; a run that would
// need more than is available is refused before it begins.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "collwire/loader.h"
#include "collwire/processes.h"

#ifdef __cplusplus
extern "C" {
#endif

#define COLLWIRE_API __attribute__((visibility("default")))

// The version of the library, as "1.2.3".
COLLWIRE_API const char *collwire_version(void);

COLLWIRE_API void collwire_free(char *text);

// ---- messages: errors and warnings, each with its path in the scenario ----

struct collwire_messages;

COLLWIRE_API struct collwire_messages *collwire_messages_new(void);
COLLWIRE_API void collwire_messages_free(struct collwire_messages *m);
COLLWIRE_API void collwire_messages_clear(struct collwire_messages *m);
COLLWIRE_API size_t collwire_messages_count(const struct collwire_messages *m);
COLLWIRE_API size_t
collwire_messages_errors(const struct collwire_messages *m); // errors among them
// Message `i`, such as "switch.ecn.kmin: 900KB exceeds kmax 400KB"; NULL = there is none.
COLLWIRE_API const char *collwire_messages_text(const struct collwire_messages *m, size_t i);
COLLWIRE_API int collwire_messages_is_warning(const struct collwire_messages *m, size_t i);

// ---- policies: the built-in ones and those of plugins (collwire/cc.h) ----

struct collwire_policies;

// The built-in policies. `loader` is borrowed; NULL = no plugin can be loaded.
COLLWIRE_API struct collwire_policies *collwire_policies_new(const struct collwire_loader *loader);
COLLWIRE_API void collwire_policies_free(struct collwire_policies *p);
// Load a plugin, check its policies and try them, and add all of them or none.
COLLWIRE_API int collwire_policies_add(struct collwire_policies *p, const char *file,
                                       struct collwire_messages *m);
// Allow scenarios to load the files that their `plugins` name.
COLLWIRE_API void collwire_policies_allow(struct collwire_policies *p, int allowed);
// The name of policy `i`; NULL = there is none.
COLLWIRE_API const char *collwire_policies_name(const struct collwire_policies *p, size_t i);
// The JSON Schema of scenarios with these policies.
COLLWIRE_API char *collwire_policies_schema(const struct collwire_policies *p);

// ---- scenarios ----

struct collwire_scenario;

// A key of a scenario: a path such as "workload.bytes" or "cc.kind", and a value as JSON or as
// text.
struct collwire_setting {
    const char *path, *value;
};

// Load a scenario file ("-" = stdin), apply the settings in order and check everything. All errors
// are reported at once; NULL if there was one. The policies must outlive the scenario.
COLLWIRE_API struct collwire_scenario *
collwire_scenario_load(const char *file, const struct collwire_setting *settings, size_t n,
                       const struct collwire_policies *policies, struct collwire_messages *m);
// The same for a scenario as JSON text; files that it names are relative to `folder`.
COLLWIRE_API struct collwire_scenario *
collwire_scenario_parse(const char *text, const char *folder,
                        const struct collwire_setting *settings, size_t n,
                        const struct collwire_policies *policies, struct collwire_messages *m);
COLLWIRE_API void collwire_scenario_free(struct collwire_scenario *s);
COLLWIRE_API const char *collwire_scenario_name(const struct collwire_scenario *s);
COLLWIRE_API uint64_t collwire_scenario_seed(const struct collwire_scenario *s);
// The names of the policies of the outermost dimension, joined by "+".
COLLWIRE_API char *collwire_scenario_policy(const struct collwire_scenario *s);
// The file of capture `i`; "-" = stdout; NULL = there is none.
COLLWIRE_API const char *collwire_scenario_capture(const struct collwire_scenario *s, size_t i);
// True if its network consists of packets, not of closed forms.
COLLWIRE_API int collwire_scenario_has_packets(const struct collwire_scenario *s);
// The resolved scenario, with every default filled in, as JSON.
COLLWIRE_API const char *collwire_scenario_json(const struct collwire_scenario *s);

// ---- simulations ----

struct collwire_sim;

// Build a simulation and check all that depends on the network: places, captures, buffers, and the
// memory needed against `limits.memory`, or against what the machine has, divided among `sharers`
// processes. A simulation that this function returns can be run. NULL after an error. The scenario
// must outlive the simulation.
COLLWIRE_API struct collwire_sim *collwire_sim_new(const struct collwire_scenario *s,
                                                   uint64_t sharers, struct collwire_messages *m);
COLLWIRE_API void collwire_sim_free(struct collwire_sim *sim);
// The values that were derived from the scenario, one per line: sizes, round-trip times,
// thresholds.
COLLWIRE_API char *collwire_sim_describe(const struct collwire_sim *sim);

// Advice before the run, as JSON: {"warnings": [{"kind", "key", "text"}], "auto": [{"key", "value",
// "rule"}]}. Warnings are about settings that the network does not suit (docs/validate.md); "auto"
// has the values of the settings that the scenario leaves "auto", where `rule` is true as words.
COLLWIRE_API char *collwire_sim_advice(const struct collwire_sim *sim);

// The expected cost of a run.
struct collwire_cost {
    size_t bytes; // sizeof(struct collwire_cost), set by the caller
    uint64_t memory_bytes, memory_limit_bytes, output_bytes;
    double packet_hops, wall_s; // of a hybrid network: at most; where no messages meet
    double payload_bytes;       // of all messages
    double hops_s;              // of wall_s: of the packet-hops; of a hybrid network beside it
};
COLLWIRE_API void collwire_sim_cost(const struct collwire_sim *sim, struct collwire_cost *cost);
// The same as three lines of text, the second and third after `prefix`.
COLLWIRE_API char *collwire_sim_cost_text(const struct collwire_sim *sim, const char *prefix);

// The memory of a GPU that the jobs of a scenario need, as text: a line for each job whose need is
// known.
COLLWIRE_API char *collwire_sim_memory_text(const struct collwire_sim *sim);

// Open the captures' files in `folder`; messages show the folder as `shown`. Without this call no
// capture is written.
COLLWIRE_API int collwire_sim_open_captures(struct collwire_sim *sim, const char *folder,
                                            const char *shown, struct collwire_messages *m);
// True if capture `i` could not be written completely; after the run.
COLLWIRE_API int collwire_sim_capture_failed(const struct collwire_sim *sim, size_t i);

struct collwire_progress {
    double done; // share of the work, 0 to 1
    int64_t now_ps;
    uint64_t packet_hops, events;
};
struct collwire_run {
    size_t bytes; // sizeof(struct collwire_run), set by the caller
    void *ctx;
    // Called every progress_s seconds; a result other than 0 ends the run and is the last call. May
    // be NULL.
    int (*progress)(void *ctx, const struct collwire_progress *p);
    double progress_s;
    // Called some 100 times a second; a result other than 0 ends the run as out of memory. May be
    // NULL.
    int (*memory_low)(void *ctx);
    double pace_ps;   // simulated time allowed per second of wall time; 0 = as fast as possible
    int plain;        // by the reference engine, which gives the same results more slowly
    unsigned threads; // run on up to so many threads, which gives the same results; 0 = 1
    // Parts of the network that each thread processes one after the other, so that they stay in the
    // processor's cache, which gives the same results; 0 = by its size, 1 = the whole at once.
    unsigned tiles;
    // The processes that simulate a part of the network each; NULL = this one alone. The results
    // are the same, in process 0; those of the others are void.
    const struct collwire_processes *processes;
    // All threads process each window that they may, and all processes go on, even where fewer
    // would be faster: for a run that needs the memory of several processes.
    int together;
    // On the hybrid network: the number of drawn windows in which all messages are packets, each a
    // hundredth of check_span_ps long and within it; 0 = none.
    unsigned check_windows;
    int64_t check_span_ps;
};

enum collwire_status {
    COLLWIRE_COMPLETED,
    COLLWIRE_INCOMPLETE, // a limit, a deadlock, a stall, failed messages: see the metrics' `reason`
    COLLWIRE_INTERRUPTED, // by collwire_sim_cancel() or the progress function
};

// Check that the processes of `run` can share the simulation. Returns -1 with an error if they
// cannot; collwire_sim_run() then runs nothing.
COLLWIRE_API int collwire_sim_share(struct collwire_sim *sim, const struct collwire_run *run,
                                    struct collwire_messages *m);

// Run to the end, once. `run` may be NULL. Messages: captures that could not be written.
COLLWIRE_API enum collwire_status collwire_sim_run(struct collwire_sim *sim,
                                                   const struct collwire_run *run,
                                                   struct collwire_messages *m);
// End the run after its current batch of events, with the results so far; also before it has begun.
COLLWIRE_API void collwire_sim_cancel(struct collwire_sim *sim);
// Call the progress function once.
COLLWIRE_API void collwire_sim_report(struct collwire_sim *sim);

// ---- results, after the run ----

// File `i` that a run of the scenario may have: "metrics.json", "run.json", "series.csv", ...; NULL
// = there is none. Known before the run.
COLLWIRE_API const char *collwire_sim_file(const struct collwire_sim *sim, size_t i);
// The text of a result file; NULL if the run has nothing to write to it. Equal scenarios give equal
// bytes, apart from run.json, which describes the machine.
COLLWIRE_API char *collwire_sim_result(struct collwire_sim *sim, const char *file);
// The figures of a run, from the text of its metrics.json, as `collwire run --format json` prints
// them: {"rows": [..]}, a row for the whole run and one for each job where there are several, with
// the columns of compare.csv (docs/metrics.md). `policy` is the name to show. NULL = the text is
// not that of a metrics.json.
COLLWIRE_API char *collwire_metrics_rows(const char *metrics, const char *policy);
// Runs side by side, as `collwire compare` shows them: the files compare.json, with statistics over
// seeds and ratios to a baseline, and compare.csv (docs/compare.md).
struct collwire_comparison;
COLLWIRE_API struct collwire_comparison *collwire_comparison_new(void);
COLLWIRE_API void collwire_comparison_free(struct collwire_comparison *c);
// Add a run by the text of its metrics.json; the texts are copied. Runs of a policy with several
// seeds have one name, `policy`. Returns 0, or -1 if the text is not that of a metrics.json.
COLLWIRE_API int collwire_comparison_add(struct collwire_comparison *c, const char *policy,
                                         const char *metrics);
// The text of "compare.json" or "compare.csv", to be freed. `baseline` is the name of a policy;
// NULL = "none" if it is among them, else the first. NULL = there are no runs, no such policy or no
// such file.
COLLWIRE_API char *collwire_comparison_result(const struct collwire_comparison *c,
                                              const char *baseline, const char *file);
// Write the table of flows (source, destination, header numbers) of the captures.
COLLWIRE_API int collwire_sim_write_flows(const struct collwire_sim *sim, const char *file,
                                          struct collwire_messages *m);

struct collwire_summary {
    size_t bytes; // sizeof(struct collwire_summary), set by the caller
    enum collwire_status status;
    const char *reason; // why it is incomplete; NULL = it is not
    int64_t sim_time_ps;
    double wall_s, packet_hops;
    int ended_by_machine;     // a limit of memory or wall time has ended the run
    unsigned threads;         // on which it ran
    const char *threads_note; // why fewer than requested, or their cost; NULL = nothing to report
};
COLLWIRE_API void collwire_sim_summary(const struct collwire_sim *sim,
                                       struct collwire_summary *summary);

#ifdef __cplusplus
}
#endif
