// SPDX-License-Identifier: MIT
// Records of an execution trace, decoded from protocol buffers.
#pragma once

#include "workload/trace/trace.h"

// Learn the generation of the schema from the metadata. Returns 0, or -1 with an error.
int decode_metadata(struct trace *t, const unsigned char *bytes, size_t n, const char *path,
                    struct err *err);

// Decode a node, whose texts and lists are valid until the next call or decode_release(). Returns
// 0, or -1 with an error.
int decode_node(struct trace *t, const unsigned char *bytes, size_t n, struct trace_node *node,
                const char *path, struct err *err);
void decode_release(struct trace *t);
