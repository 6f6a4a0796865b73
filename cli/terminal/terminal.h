// SPDX-License-Identifier: MIT
// Output that depends on the terminal: the width of lines, colour, and text wrapped to the width.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

// Columns of the terminal that `out` is; if it is none, the variable COLUMNS, or 80.
size_t terminal_width(FILE *out);

// True if `out` is a terminal that shows colours, and the user has not set NO_COLOR.
bool terminal_colours(FILE *out);

// Print a text that may contain names from files; control characters are escaped.
void text_print(FILE *out, const char *text);

// The same for a format with one text, such as the name of a folder that the user has given.
void path_print(FILE *out, const char *format, const char *path);

// A duration as h:mm:ss. `text` holds CLOCK_TEXT bytes and is returned.
enum { CLOCK_TEXT = 32 };
const char *clock_text(double seconds, char *text);

// Print words in lines of at most `width` columns, and a line feed. The cursor is at column `at`;
// further lines are indented by `indent` blanks. A word that is longer than a line is not divided.
// Control characters are escaped.
void terminal_wrap(FILE *out, const char *text, size_t at, size_t indent, size_t width);

// Print a line "LEFT  RIGHT": `left` indented by two, `right` wrapped from column `column` on, in a
// line of its own if `left` is too long.
void terminal_entry(FILE *out, const char *left, const char *right, size_t column, size_t width);

// Print paragraphs, separated by empty lines: words are wrapped, lines that begin with two blanks
// are printed as they are.
void terminal_paragraphs(FILE *out, const char *text, size_t width);
