// SPDX-License-Identifier: MIT
// The table of commands: what help, completions, the man page and the dispatcher know of them. To
// add a command: its function here, a row in command_table.c, and the options that it takes in
// option_table.c.
#pragma once

#include "cli/options.h"

// What a shell completes as the arguments of a command or as the argument of an option.
enum completion {
    COMPLETE_NOTHING,
    COMPLETE_FILES,
    COMPLETE_FOLDERS,
    COMPLETE_WORDS,    // those of the row
    COMPLETE_POLICIES, // names of congestion control policies
    COMPLETE_COMMANDS,
    COMPLETE_CATEGORIES, // of `collwire list`
};

struct command {
    const char *name, *help; // one line, without a full stop
    const char *args;        // "SCENARIO..."; "" = none
    // The page: paragraphs, separated by an empty line and wrapped when they are printed; lines
    // that begin with two blanks are printed as they are.
    const char *text;
    int (*run)(const struct options *o); // returns the exit code
    enum completion completes;
    bool hidden; // not listed
};

extern const struct command commands[];
extern const size_t n_commands;

// The command of this name; NULL = there is none.
const struct command *command_find(const char *name);

// The command with this name; NULL after a message that names a near miss.
const struct command *command_named(const char *name);

int command_run(const struct options *o);
int command_compare(const struct options *o);
int command_sweep(const struct options *o);
int command_explain(const struct options *o);
int command_validate(const struct options *o);
int command_list(const struct options *o);
int command_import(const struct options *o);
int command_export(const struct options *o);
int command_workload(const struct options *o);
int command_extcap(const struct options *o);
int command_replay(const struct options *o);
int command_report(const struct options *o);
int command_help(const struct options *o);
int command_generate(const struct options *o);

// True if progress is to be shown.
bool progress_wanted(const struct options *o);

// Return the command's only scenario argument, or NULL after a message.
const char *scenario_argument(const struct options *o);
