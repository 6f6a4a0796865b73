// SPDX-License-Identifier: MIT
// The import of a recording: a scenario, and its program beside it.
#pragma once

#include "cli/import/notes.h"
#include "cli/options/options.h"

struct recording_files {
    const char *format; // "kineto", "inspector" or "nsys"
    const char *folder;
    const char *const *files; // [n_files] NULL = all of the format in the folder
    size_t n_files;
    const char *network;       // NULL = that of the options
    const struct notes *notes; // printed with the summary; NULL = none
};

// Read the recording, write o->file and the program, and print the summary. Returns the exit code.
int recording_import(const struct options *o, const struct recording_files *given);

// Load a scenario with its files, as `validate` does. NULL with errors.
struct collwire_scenario *import_check(const struct options *o, const char *text,
                                       const struct collwire_setting *settings, size_t n,
                                       struct err *err);
