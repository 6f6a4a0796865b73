// SPDX-License-Identifier: MIT
// A record of an execution trace in JSON: the fields of the protocol buffers by their names, in
// snake case or, as protobuf prints them, in camel case; numbers of 64 bits may be texts.
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct trace_json {
    unsigned char *bytes; // the record as protocol buffers; to be freed
    size_t n, cap;
    char why[128]; // why it is none
};

// Convert the metadata, or a node. Returns false with `why`. Fields that the schema does not have
// are left out, as protocol buffers do.
bool trace_json_convert(struct trace_json *j, const char *text, size_t n, bool metadata);
