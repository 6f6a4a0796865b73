// SPDX-License-Identifier: MIT
// A command: its description for help, completions, the man page and the dispatcher.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct options;

// Words that a shell offers for the arguments of a command or for the argument of an option.
enum completion {
    COMPLETE_NOTHING,
    COMPLETE_FILES,
    COMPLETE_FOLDERS,
    COMPLETE_WORDS,    // the words of the row
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

// All commands, in the order in which help lists them.
struct commands {
    const struct command *const *items;
    size_t n;
};

// The command of this name; NULL = there is none.
const struct command *command_find(const struct commands *list, const char *name);

// The command with this name; NULL after a message that names a near miss.
const struct command *command_named(const struct commands *list, const char *name);
