// SPDX-License-Identifier: MIT
// Reads the execution trace of one rank, node by node.
#pragma once

#include "workload/trace/record.h"
#include "workload/trace/trace_node.h"

struct trace {
    /* config */
    struct record_reader records; // `file` is to be set, the rest zero
    /* state */
    bool begun, old, known; // old: the schema of July 2023; known: the generation is certain
    uint64_t *after;
    size_t cap_after;
    void *message; // of the current node
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
