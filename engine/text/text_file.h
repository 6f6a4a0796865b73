// SPDX-License-Identifier: MIT
// Text files line by line: non-blank lines, split at blanks, and errors that name the line.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/err.h"

struct text_file {
    const char *name, *path; // name of the file as in the scenario; path of the key that names it
    char *rest;              // text still to be read; lines are cut in place
    size_t line;             // number of the current line, from 1
    struct err *err;
};

// Load a text file, relative to folder `dir`; NULL with an error at `path`. free() it.
char *text_file_load(const char *dir, const char *name, const char *path, struct err *err);

// The next line that is not blank, trimmed; NULL at the end of the file.
char *text_file_next(struct text_file *file);

// Split a line at its blanks into at most `max` words. Returns the number of words.
size_t words_cut(char *line, char **words, size_t max);

// Split a line at its commas into at most `max` fields without blanks around them; an empty last
// one, behind a comma at the end, is none. Returns the number of fields.
size_t fields_cut(char *line, char **fields, size_t max);

// Add an error at the current line. Returns -1.
__attribute__((format(printf, 2, 3))) int text_file_error(const struct text_file *file,
                                                          const char *format, ...);
