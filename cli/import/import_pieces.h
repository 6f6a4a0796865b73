// SPDX-License-Identifier: MIT
// A large JSON file in pieces: one at a time is in memory.
//
// Profilers write one object whose list of events may have gigabytes, or one object a line. A JSON
// library that builds a tree needs about ten times the file's size for that. Here the text is cut
// at the borders of values, and only one value at a time is given to the library.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/base/err.h"

struct pieces;

struct piece {
    const char *key;  // of the member of the file's object; NULL = a value at the top
    bool element;     // it is an element of that member, a list
    const char *text; // [n], not terminated; NULL = larger than PIECE_MOST, passed over
    size_t n;
    uint64_t offset; // of its first byte in the (uncompressed) file
};

#define PIECE_MOST (64u << 20)

// Open a file, compressed by gzip or not. The elements of the members `lists` (ended by NULL) of an
// object at the top are pieces of their own, as are those of a list at the top; other members are
// one piece each. lists = NULL: every value at the top is one piece (JSON lines). Returns NULL with
// an error that names the file.
struct pieces *pieces_open(const char *path, const char *const *lists, struct err *err);
void pieces_close(struct pieces *p);

// Cut the next piece; it is valid until the next call. Returns 1; 0 at the end; -1 with an error
// that names the file and the byte.
int pieces_next(struct pieces *p, struct piece *piece, struct err *err);

// The piece as JSON, to be released; NULL with an error that names the file and the byte.
json_t *piece_json(const struct pieces *p, const struct piece *piece, struct err *err);
