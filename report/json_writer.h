// SPDX-License-Identifier: MIT
// Writes JSON to a stream, value by value, so that memory does not grow with the text. The text is
// the one that jansson makes of the same values with JSON_INDENT(1) | JSON_REAL_PRECISION(10).
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_WRITER_BUFFER = 16384, JSON_WRITER_DEPTH = 64 };

struct json_writer {
    FILE *out;
    const char *key;    // of the next value of an object
    unsigned depth;     // open objects and lists
    bool empty;         // the innermost open one has no value yet
    uint64_t is_object; // a bit for each depth, 1 = object
    size_t n;           // bytes in the buffer
    char buffer[JSON_WRITER_BUFFER];
};

// Write to `out`, whose errors the caller checks (ferror()). Less than JSON_WRITER_DEPTH
// objects and lists may be open at once.
void json_writer_open(struct json_writer *w, FILE *out);
// Pass what is buffered to the stream.
void json_writer_flush(struct json_writer *w);

// Set the key of the next value; it is written with the value, so a key without a value leaves no
// trace. `key` must remain valid until then, and is UTF-8.
void json_writer_key(struct json_writer *w, const char *key);

// Open an object or a list as the next value, and close the innermost open one.
void json_writer_object(struct json_writer *w);
void json_writer_list(struct json_writer *w);
void json_writer_end(struct json_writer *w);

// Write the next value. What JSON cannot express is left out with its key: a real that is not
// finite, a text that is not UTF-8.
void json_writer_null(struct json_writer *w);
void json_writer_integer(struct json_writer *w, int64_t value);
void json_writer_real(struct json_writer *w, double value);
void json_writer_text(struct json_writer *w, const char *text);
// A value of jansson with everything in it; NULL writes nothing.
void json_writer_value(struct json_writer *w, const json_t *value);
