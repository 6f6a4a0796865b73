// SPDX-License-Identifier: MIT
// Tables of nccl-tests and rccl-tests, as people copy them from a terminal.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"

struct measured_row {
    uint64_t bytes;
    double time_us, busbw_gbs; // out of place
};

struct measured_table {
    struct measured_row *rows;
    size_t n;
};

// Read the table of a file: the columns by its heading, whatever a launcher has put before each
// line. Returns 0, or -1 with an error: no table, two of them, or a row that the heading does not
// explain, with its line. measured_table_free() the result.
int measured_table_read(struct measured_table *t, const char *path, struct err *err);
void measured_table_free(struct measured_table *t);

// The row of a size; NULL = there is none.
const struct measured_row *measured_table_at(const struct measured_table *t, uint64_t bytes);
