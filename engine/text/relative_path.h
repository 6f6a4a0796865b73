// SPDX-License-Identifier: MIT
// Paths as a file in another folder names them.
#pragma once

// `path` as seen from the folder of `file`, which need not exist (NULL = a file in the working
// directory). If a folder cannot be resolved, the absolute path. free() it.
char *path_relative(const char *file, const char *path);
