// SPDX-License-Identifier: MIT
// Reads the execution trace of one rank, node by node.
#pragma once

#include "engine/base/err.h"
#include "workload/trace/trace_node.h"
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define RECORD_MAX_BYTES (UINT32_C(64) << 20)

struct record_reader {
    /* config */
    const char *file; // borrowed
    /* state */
    int64_t size;            // of the file when it was first read
    struct timespec changed; // the same for its last change
    int64_t offset;          // in the file, of the next byte behind the buffer
    int64_t start;           // in the file, of the current record's length
    uint64_t number;         // of the current record, from 0
    unsigned char *bytes;    // buffer
    size_t begin, end, cap;  // bytes in the buffer that have not been read; its size
    bool json;               // records are JSON objects, one behind the other
    struct record_gzip *gz;  // NULL = the file is not compressed; offsets are those of its content
};

struct trace {
    /* config */
    struct record_reader records; // `file` is to be set, the rest zero
    /* state */
    bool begun, old, known; // old: the schema of July 2023; known: the generation is certain
    uint64_t *after;
    size_t cap_after;
    void *message;                // of the current node
    struct trace_json *converted; // the current record of a file in JSON; NULL = none
    struct trace_program program;
};

void trace_free(struct trace *t);
void trace_program_free(struct trace_program *p);

// Read the metadata, if they have not been read. Returns 0, or -1 with an error at `path`.
int trace_begin(struct trace *t, const char *path, struct err *err);

// Read the next node; its texts and lists are valid until the next call. Returns 1; 0 at the end;
// -1 with an error at `path` that names the file, the record, the byte and, where it is known, the
// node.
int trace_next(struct trace *t, struct trace_node *node, const char *path, struct err *err);

// Add an error "FILE: node ID ("NAME", record N at byte B): ...". Returns -1.
__attribute__((format(printf, 5, 6))) int trace_error(const struct trace *t,
                                                      const struct trace_node *node,
                                                      const char *path, struct err *err,
                                                      const char *format, ...);
