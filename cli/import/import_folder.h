// SPDX-License-Identifier: MIT
// The files of a folder whose names end in certain ways.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"

struct folder {
    char **paths; // sorted
    size_t n, cap;
    size_t n_others; // files with other names
};

// List the regular files of a folder, and of the folders in it, whose names end in one of `ends`
// (ended by NULL). Returns 0, or -1 with an error, also if there are none.
int folder_list(struct folder *folder, const char *path, const char *const *ends, struct err *err);
void folder_free(struct folder *folder);

// The rank that a file's name has, as "rank-3.json" and "rank3_step5.json"; -1 = none.
int64_t path_rank(const char *path);
