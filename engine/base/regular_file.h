// SPDX-License-Identifier: MIT
// Opens every file that the program reads (tests/structure/check_readers.py). Only regular files
// are accepted, because opening a FIFO would wait for a writer, and a device may never end. Piped
// data is read from stdin, with the name "-".
#pragma once

#include <stdio.h>

// Open a file for reading. Returns a descriptor, or -1 and the reason in *why, a text that stays
// valid until the next call of strerror() in this thread; errno has the reason, too.
int regular_file_open(const char *path, const char **why);

// Open a file in an open folder, as regular_file_open() does, without following a symbolic link.
int regular_file_open_at(int folder, const char *name, const char **why);

// As regular_file_open(), but a stream; NULL on failure.
FILE *regular_file_stream(const char *path, const char **why);

// The size of an open file in bytes; -1 = it is no regular file, such as a pipe.
long long regular_file_bytes(FILE *stream);
