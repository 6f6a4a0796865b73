// SPDX-License-Identifier: MIT
// The beginning of a file, for those who tell what the file is.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/err.h"

#define CONTENT_BYTES 65536
#define CONTENT_KEYS 64
#define CONTENT_WORD 64

struct content {
    const char *path; // borrowed
    /* of its uncompressed bytes */
    char *head; // [n], with a zero byte behind it
    size_t n;
    bool whole; // `head` is all of the file
    bool text;  // no zero byte, and UTF-8
    bool utf16; // by its first bytes
    /* of its first object, if it is JSON: at the top, or the first element of a list at the top */
    bool json, in_list;
    char keys[CONTENT_KEYS][CONTENT_WORD];
    size_t n_keys;
};

// Read the beginning of a file, compressed by gzip or not. Returns 0, or -1 with an error.
int content_read(struct content *c, const char *path, struct err *err);
void content_free(struct content *c);

// True if the first object has the key.
bool content_key(const struct content *c, const char *key);

// Copy line `i`, from 0, of those that are not blank and do not begin with `#` or `//`, without
// blanks around it. Returns false if there are fewer lines, or the line is not in the beginning as
// a whole. A line longer than the room is cut.
bool content_line(const struct content *c, size_t i, char *line, size_t room);

// Copy word `w`, from 0, of line `i`. Returns false if there is none.
bool content_word(const struct content *c, size_t i, size_t w, char word[CONTENT_WORD]);

// True if a word stands anywhere in the beginning.
bool content_has(const struct content *c, const char *word);
