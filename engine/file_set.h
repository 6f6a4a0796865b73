// SPDX-License-Identifier: MIT
// Renames several files that belong together, such as the results of a run, all or none.
#pragma once

#include <stddef.h>

// Rename `from[i]` to `to[i]`, for all `n` files or for none: after a failure the files that had
// these names have them again. Returns 0, or -1 with errno, and the number of the file in `*at`.
int file_set_name(char *const *from, char *const *to, size_t n, size_t *at);
