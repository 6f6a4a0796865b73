// SPDX-License-Identifier: MIT
// The parsed command line.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/options/command.h"
#include "cli/terminal/exit_codes.h"
#include "library/handles.h"

enum format {
    FORMAT_TABLE,
    FORMAT_JSON,
    FORMAT_CSV,
    FORMAT_TEXT // another word for a table, only on the command line
};
enum progress { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

// The texts of an option that may be repeated.
struct texts {
    const char **list;
    size_t n;
};

struct options {
    const struct commands *known;
    const char *command;
    const char **args; // arguments after the command
    size_t n_args;
    const char *out, *against, *cc, *baseline;
    const char *chart, *dim;    // for plot
    struct texts places, files; // --capture and -w, in the order given
    char *capture;              // the scenario's `capture` made of them; owned
    double pace_ps;             // simulated time per second of wall time; 0 = as fast as possible
    struct collwire_setting *sets; // --set and --seed in the order given
    size_t n_sets;
    struct collwire_policies *policies; // the built-in ones and those of --cc-plugin
    struct texts plugins;
    bool allow_plugins;
    uint64_t tries;      // causes that are tried; 0 = not given
    uint64_t check;      // windows of --check; 0 = none
    char tries_text[24]; // the same for a setting
    uint64_t seeds, jobs, threads, tiles;
    uint64_t budget, hold_out;      // for fit and tune; 0 = not given
    struct texts goals, guards;     // for tune
    uint64_t faults;                // for tune; 0 = none
    const char *job;                // for diagnose: a scenario
    uint64_t draws;                 // for compare; 0 = none
    struct texts vary;              // for sweep
    const char *sizes, *shard;      // for sweep
    bool list, dry_run, merge, why; // for sweep
    const char *file;               // for import, workload, replay and plot: NULL = stdout
    const char *search;             // for list: a word; NULL = not given
    const char *parallel;           // for workload
    const char *map, *map_out;      // for replay
    ps_t gap_ps;                    // for replay
    const char *scenarios;          // for extcap: a folder
    // for library: the arguments as they were given, which the command reads
    uint64_t parts;                                      // for partition; 0 = not given
    uint64_t best;                                       // for plan; 0 = not given
    uint64_t ranks, repeat, flows;                       // for synth; 0 = not given
    const char *scale, *grow;                            // for synth
    const char *gpus, *within, *fabric, *packets_budget; // for plan, as they were given
    const char *nccl, *machine, *nodes, *op, *bytes, *env;
    bool raw;             // for extcap: the arguments are a call of Wireshark
    uint64_t passes;      // for import
    double compute_scale; // for import
    const char *network, *system, *groups, *memory; // for import
    bool ignore_missing;                            // for import chakra
    const char *as_kind;                            // for import
    bool strict, replicate;                         // for import
    int format;                                     // enum format
    int progress;                                   // enum progress
    bool quiet, plain, together, print, help, version;
    bool end_with_stdin;
};

// Set o->jobs to the number of processors if it is not given.
void options_jobs(struct options *o);

// The part I of N that --shard names; 1 of 1 without the option.
void options_shard(const struct options *o, size_t *part, size_t *parts, struct err *err);

// Parse the command line of one of the known commands, whose list must outlive the options. Returns
// 0, or -1 after one message on stderr.
int options_parse(struct options *o, const struct commands *known, int argc, char **argv);
// Load the plugins that it names. Returns 0, or -1 after messages.
int options_load_plugins(struct options *o);
void options_free(struct options *o);

// Load a scenario with the policies of the command line; errors are added to `err`.
struct collwire_scenario *scenario_open(const struct options *o, const char *path,
                                        const struct collwire_setting *sets, size_t n_sets,
                                        struct err *err);

// Load the scenario in the file `path`, one of the command line's, with the settings of --set. If
// the command line has several scenarios, each error names the file. Returns NULL with errors.
struct collwire_scenario *scenario_open_one(const struct options *o, const char *path,
                                            struct err *err);

// Parse a scenario as JSON, with the settings and policies of the command line; files that it names
// are relative to `folder`. NULL with errors.
struct collwire_scenario *scenario_of_json(const struct options *o, const json_t *scenario,
                                           const char *folder, struct err *err);

// The policies of the command line.
const struct cc_catalogue *options_catalogue(const struct options *o);

// Append a setting to o->sets; the texts are borrowed.
void options_set(struct options *o, const char *path, const char *value);
void options_set_all(struct options *o, const struct collwire_setting *sets, size_t n);

// True if the results are to be printed on stdout.
bool options_print_results(const struct options *o);

// True if progress is to be shown.
bool progress_wanted(const struct options *o);

// Return the command's only scenario argument, or NULL after a message.
const char *scenario_argument(const struct options *o);

// Print all errors and warnings in the list on stderr, and empty the list.
void errors_print(struct err *err);
