// SPDX-License-Identifier: MIT
// Names of files inside the output directory, compared by what they name and not by their text.
#pragma once

#include <stdbool.h>

// A path without empty and "." parts: "a//./b" is "a/b". To be freed.
char *output_name(const char *file);

// Does the path lead out of its directory, by a part ".." or as an absolute path?
bool output_name_escapes(const char *file);

// Names of the files that the program itself writes; ends with NULL.
extern const char *const output_reserved[];

// Is it, once cleaned, one of those names, or inside the program's own folder ".collwire"?
bool output_name_reserved(const char *name);
