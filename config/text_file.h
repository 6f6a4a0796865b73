// SPDX-License-Identifier: MIT
// Text files line by line: lines that hold something, cut at blanks, and errors that name the line.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/err.h"

struct text_file {
    const char *name, *path; // of the file, as the scenario has it; of the key that names it
    char *rest;              // what is left to read; lines are cut in place
    size_t line;             // number of the current one, from 1
    struct err *err;
};

// All of a text file, relative to folder `dir`; NULL with an error at `path`. free() it.
char *text_file_load(const char *dir, const char *name, const char *path, struct err *err);

// The next line that is not blank, without blanks at its ends; NULL at the end of the file.
char *text_file_next(struct text_file *file);

// Cut a line at its blanks: the words (at most `max`), and how many there are.
size_t words_cut(char *line, char **words, size_t max);

// An error at the current line. Returns -1.
__attribute__((format(printf, 2, 3))) int text_file_error(const struct text_file *file,
                                                          const char *format, ...);
