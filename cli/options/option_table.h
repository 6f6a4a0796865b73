// SPDX-License-Identifier: MIT
// The table of options. The parser, help, completions and the man page are made from it.
#pragma once

#include "cli/options/command.h"
#include "cli/options/options.h"

enum option_type {
    OPTION_FLAG,  // bool, true if the option is given
    OPTION_TEXT,  // const char *
    OPTION_TEXTS, // struct texts, a text for each time it is given
    OPTION_COUNT, // uint64_t from 1 to `max`
    OPTION_WORD,  // int, index of one of `words`
    OPTION_TAKE,  // by a function
};

struct option_row {
    const char *name; // without the hyphens; NULL = only a letter
    char letter;      // '\0' = none
    const char *argument, *help;
    const char *commands; // names of the commands that take it, separated by blanks; NULL = all
    enum option_type type;
    size_t offset; // of the field in struct options
    uint64_t max;
    const char *otherwise;    // value where the argument is left out; NULL = it is required
    const char *const *words; // NULL-terminated
    enum completion completes;
    int (*take)(struct options *o, char *text); // returns 0, or -1 after a message
};

#define OPTION_ROWS_MAX 128
extern const struct option_row option_rows[];
extern const size_t n_option_rows;

// True if the command takes the option.
bool option_fits(const struct option_row *row, const char *command);

// "--name" or "-x" of an option, as users write it.
const char *option_spelling(const struct option_row *row, char text[32]);
