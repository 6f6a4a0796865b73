// SPDX-License-Identifier: MIT
// A table of measured times as what stands beside the collectives of a run.
#pragma once

#include "cli/measured/measured_table.h"
#include "library/handles.h"
#include "sim/collect/against.h"

struct beside {
    struct measured_table table;
    struct against_file file;
    struct against_time *times;
};

// Read the table at `path` for a run of `scenario`: one collective job whose operation and size the
// table has. Returns 0, or -1 with an error. beside_free() the result in both cases.
int beside_read(struct beside *b, const char *path, const struct collwire_scenario *scenario,
                struct err *err);
void beside_free(struct beside *b);

// Make the sizes of a table those of the buffers of the scenario's first job, a collective. Returns
// -1 with an error where the table is of another operation.
int beside_fit(struct measured_table *t, const char *path, const struct collwire_scenario *scenario,
               struct err *err);
