// SPDX-License-Identifier: MIT
// A text into a file that the user has named, or on stdout.
#pragma once

// A text and a line feed into `file`, NULL = stdout. A regular file is replaced by a whole one or not at
// all. Returns the exit code.
int text_write(const char *file, const char *text);
