// SPDX-License-Identifier: MIT
// The files of a folder whose names end in certain ways.
#pragma once

#include <stddef.h>

#include "engine/err.h"

struct folder {
    char **paths; // sorted
    size_t n, cap;
    size_t n_others; // files with other names
};

// List the regular files of a folder, and of the folders in it, whose names end in one of `ends`
// (ended by NULL). Returns 0, or -1 with an error, also if there are none.
int folder_list(struct folder *folder, const char *path, const char *const *ends, struct err *err);
void folder_free(struct folder *folder);
