// SPDX-License-Identifier: MIT
// Measured times of a table or a recording as what stands beside the collectives or messages of a
// run.
#pragma once

#include "cli/measured/measured_table.h"
#include "library/handles.h"
#include "sim/collect/against.h"

struct beside {
    struct measured_table table;
    struct against_file file;
    struct against_time *times;
    struct against_rank *ranks;
};

// Read what was measured: a table, or the files of a recording, which may be in a folder. Returns
// 0, or -1 with an error.
int beside_table(struct measured_table *t, const char *path, struct err *err);

// Read the file at `path` for a run of `scenario`, which must have one job. A table goes with a
// collective whose operation and size it has, or with messages if it has the size of one of them; a
// recording goes with any job of as many ranks. Returns 0, or -1 with an error. beside_free() the
// result in both cases.
int beside_read(struct beside *b, const char *path, const struct collwire_scenario *scenario,
                struct err *err);
void beside_free(struct beside *b);

// Make the sizes of a table those of the buffers of the scenario's first job, a collective. Returns
// -1 with an error where the table is of another operation.
int beside_fit(struct measured_table *t, const char *path, const struct collwire_scenario *scenario,
               struct err *err);
