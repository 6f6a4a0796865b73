// SPDX-License-Identifier: MIT
// A scenario and its program from a folder of recordings of real runs (docs/traces.md).
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "engine/base/err.h"

struct profile_import {
    const char *format;       // "kineto", "inspector", "observer" or "nsys"
    const char *folder;       // all its files of the format are read, unless they are listed
    const char *const *files; // [n_files] NULL = those of the folder
    size_t n_files;
    const char *output;  // file of the scenario, from which it names the network's; NULL = none
    const char *network; // a scenario whose network the job gets; NULL = one by the number of GPUs
    const char *program; // as the scenario names the program's file, relative to it
    uint32_t ranks;      // of the job, where the files do not say; 0 = not given
    bool replicate;      // ranks that were not recorded do what recorded ones did
    bool strict;         // what would have to be assumed is an error
};

struct profile_result {
    char *scenario;              // JSON
    struct recording *recording; // for recording_write() (cli/import/import_program.h)
    char *summary;               // lines for the user
};

// True for a name that profile_import.format may have.
bool profile_format_known(const char *word);

// Read the folder. Returns 0, or -1 with all errors; what was noticed without being wrong are
// warnings. The result is to be released either way.
int profile_read(const struct profile_import *from, struct profile_result *result, struct err *err);
void profile_free(struct profile_result *result);
