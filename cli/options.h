// SPDX-License-Identifier: MIT
// The parsed command line.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "config/scenario.h"

enum format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV };
enum progress { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

enum { EXIT_DONE = 0, EXIT_NOT_COMPLETED = 1, EXIT_BAD_USE = 2, EXIT_INTERRUPTED = 130 };

struct options {
    const char *command;
    const char **args; // arguments after the command
    size_t n_args;
    const char *out, *cc;
    struct config_set *sets; // --set and --seed in the order given
    size_t n_sets;
    struct cc_catalogue policies;
    uint64_t seeds, jobs;
    const char *file;     // for import and workload: NULL = stdout
    const char *parallel; // for workload
    uint64_t passes;      // for import
    double compute_scale; // for import
    enum format format;
    enum progress progress;
    bool quiet, plain, print, help, version;
};

// Parse the command line. Returns 0, or -1 after one message on stderr.
int options_parse(struct options *o, int argc, char **argv);
void options_free(struct options *o);
void options_usage(FILE *out);

// Print a text that may contain names from files; control characters are escaped.
void text_print(FILE *out, const char *text);

// Print all errors and warnings in the list on stderr, and empty the list.
void errors_print(struct err *err);
