// SPDX-License-Identifier: MIT
// Text files line by line: non-blank lines, split at blanks, and errors that name the line. Every
// reader of lines uses these functions; values are read by the tables of parameters.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/param.h"

struct text_file {
    const char *name, *path; // name of the file as in the scenario; path of the key that names it
    char *rest;              // text still to be read; lines are cut in place
    char *words;             // text of the current line still to be read by text_file_word()
    size_t line;             // number of the current line, from 1
    struct err *err;
};

// Load a text file, relative to folder `dir`; NULL with an error at `path`. free() it.
char *text_file_load(const char *dir, const char *name, const char *path, struct err *err);

// The next line that is not blank, trimmed; NULL at the end of the file.
char *text_file_next(struct text_file *file);

// The next word, wherever lines end; NULL at the end of the file. Lines are then not taken by
// text_file_next().
char *text_file_word(struct text_file *file);

// Split a line at its blanks into at most `max` words. Returns the number of words.
size_t words_cut(char *line, char **words, size_t max);

// Split a line at its commas into at most `max` fields without blanks around them; an empty last
// one, behind a comma at the end, is none. Returns the number of fields.
size_t fields_cut(char *line, char **fields, size_t max);

// The row of `rows` for a word in any case, such as "Radix_Up"; its name is NULL if there is none.
struct param text_file_row(const struct param *rows, size_t n, const char *word);

// Set the field of a row to a word with `unit` behind it. Returns 0, or -1 after an error at the
// current line.
int text_file_value(const struct text_file *file, const struct param *row, void *base,
                    const char *word, const char *unit);

// A column of a table without commas: the row that reads it, and the unit that its words leave out.
struct text_column {
    struct param row;
    const char *unit; // NULL = none
};
// Set the fields of `base` to `n` words, a column each. Returns 0, or -1 after an error.
int text_file_columns(const struct text_file *file, char *const *words,
                      const struct text_column *columns, size_t n, void *base);

// Add an error at the current line. Returns -1.
__attribute__((format(printf, 2, 3))) int text_file_error(const struct text_file *file,
                                                          const char *format, ...);
