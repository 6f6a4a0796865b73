// SPDX-License-Identifier: MIT
// Parameter tables: the single description of every setting. From its table row a setting is parsed
// into a struct, checked, listed by `collwire list` and described in the JSON schema.
//
// A row writes exactly the C type of its parameter type. PARAM_ENUM writes an int, so enumerations
// are int fields in all structs that tables describe; a comment there names the enumeration.
#pragma once

#include "collwire/types.h"

enum param_type {
    PARAM_BOOL,      // bool
    PARAM_COUNT,     // uint64_t, a bare number
    PARAM_BYTES,     // uint64_t, "128MB", "32MiB" or a bare number
    PARAM_RATE,      // uint64_t bit/s, "100Gbps"
    PARAM_TIME,      // ps_t, "12.5us"
    PARAM_RATIO,     // double, a bare number
    PARAM_ENUM,      // int, one of `choices`
    PARAM_TEXT,      // const char *, owned by the scenario
    PARAM_LINE_RATE, // struct line_rate: "40Mbps", or a fraction of the line rate: "line/1000"
};

// The evidence for a value. DOCUMENTED: its source prints it, at the scale at which it is used (a
// paper, a standard, a vendor's page, published code). MEASURED: runs gave it. ESTIMATED: it was
// derived or chosen; the source says from what.
enum evidence { EVIDENCE_UNSTATED, EVIDENCE_DOCUMENTED, EVIDENCE_MEASURED, EVIDENCE_ESTIMATED };

// A fixed rate (divisor 0), or a fraction of the line rate (line / divisor).
struct line_rate {
    uint64_t bps, divisor;
};

// The values that encode "auto".
#define PARAM_AUTO UINT64_MAX    // PARAM_COUNT, PARAM_BYTES, PARAM_RATE; bps of PARAM_LINE_RATE
#define PARAM_AUTO_TIME PS_NEVER // PARAM_TIME
#define PARAM_AUTO_RATIO (-1.0)  // PARAM_RATIO

struct param {
    const char *name;
    enum param_type type;
    size_t offset;              // offset of the value in its struct
    const char *def;            // default in scenario syntax; NULL = required
    const char *min, *max;      // in scenario syntax; NULL = unbounded
    const char *const *choices; // NULL-terminated. PARAM_ENUM: the value is the index. PARAM_BYTES
                                // and PARAM_TIME: word, value, word, value, ...; NULL = none
    bool can_auto;              // "auto" is legal
    const char *help, *source;
    enum evidence evidence;      // of the default, by `source`; stated by parameters of policies
    const struct param *include; // rows of a nested struct at `offset`, up to a row without a name;
                                 // a row with `include` has no name itself
};

// A row of a table by name, type and offset, with any other members:
// PARAM_ROW("cell", BYTES, offsetof(struct x, cell_bytes), .def = "1B", .help = "...").
#define PARAM_ROW(name_, type_, offset_, ...)                                                      \
    {                                                                                              \
        .name = (name_), .type = PARAM_##type_, .offset = (offset_), __VA_ARGS__                   \
    }

// Returns the rate of `r` in bit/s on a link with a line rate of `line_bps`.
static inline uint64_t line_rate_bps(struct line_rate r, uint64_t line_bps)
{
    return r.divisor == 0 ? r.bps : line_bps / r.divisor;
}
