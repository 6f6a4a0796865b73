// SPDX-License-Identifier: MIT
// The files that an import is given, in folders too, each with its kind.
#pragma once

#include "cli/import/kinds.h"

struct found_file {
    char *path;
    const struct file_kind *kind; // NULL = not known
    bool utf16;
};

struct found {
    struct found_file *files; // in the order of the arguments, those of a folder by name
    size_t n, cap;
};

// Look at all files of the arguments: a file, a folder, or the prefix of traces PREFIX.N.et.
// Returns 0, or -1 with errors.
int found_read(struct found *found, const char *const *args, size_t n, struct err *err);
void found_free(struct found *found);

// The number of files of a kind by its name; NULL counts those that are not known.
size_t found_count(const struct found *found, const char *name);

// The first file of a kind; NULL = there is none.
const char *found_first(const struct found *found, const char *name);
