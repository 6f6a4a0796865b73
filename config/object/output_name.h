// SPDX-License-Identifier: MIT
// Names of files inside the output directory, compared after normalization.
#pragma once

#include <stdbool.h>

// Remove empty and "." parts from a path: "a//./b" becomes "a/b". To be freed.
char *output_name(const char *file);

// True if the path leaves its directory, by a part ".." or as an absolute path.
bool output_name_escapes(const char *file);

// Names of the files that the program itself writes; ends with NULL.
extern const char *const output_reserved[];

// True if the normalized name is one of those names or inside the program's own folder ".collwire".
bool output_name_reserved(const char *name);
