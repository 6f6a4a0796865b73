// SPDX-License-Identifier: MIT
// The command line, parsed.
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
    const char **args; // after the command
    size_t n_args;
    const char *out, *cc;
    struct config_set *sets; // --set and --seed in their order
    size_t n_sets;
    struct cc_catalogue policies;
    uint64_t seeds, jobs;
    const char *file;     // import, workload: NULL = stdout
    const char *parallel; // workload
    uint64_t passes;      // import
    double compute_scale; // import
    enum format format;
    enum progress progress;
    bool quiet, plain, print, help, version;
};

// 0, or -1 after one message on stderr.
int options_parse(struct options *o, int argc, char **argv);
void options_free(struct options *o);
void options_usage(FILE *out);

// Print a text that may hold names from files: control characters are escaped.
void text_print(FILE *out, const char *text);

// Print every error and warning of the list on stderr, and empty it.
void errors_print(struct err *err);
