// SPDX-License-Identifier: MIT
// Files that the program reads. Only regular files: opening a FIFO would wait for a writer, and a
// device may never end. Piped data is read from stdin, with the name "-".
#pragma once

#include <stdio.h>

// Open a file for reading. Returns a descriptor, or -1 and the reason in *why, a text that stays
// valid until the next call of strerror() in this thread.
int regular_file_open(const char *path, const char **why);

// The same as a stream, NULL on failure.
FILE *regular_file_stream(const char *path, const char **why);
