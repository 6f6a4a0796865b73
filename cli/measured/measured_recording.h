// SPDX-License-Identifier: MIT
// The collectives of a recording of a real run (cli/import/import.h) as measured times.
#pragma once

#include "cli/import/found.h"
#include "cli/measured/measured_table.h"

// Read the recording among the files that were found at `path`: their times by operation, number of
// ranks and size, in the order of their first one, and the times of the ranks that were recorded.
// The time of a collective is the shortest of any of its members, since the last one waits for
// nobody. Returns 0, or -1 with an error; where no file is a recording, `*is` is false and nothing
// has been read. measured_table_free() the result.
int measured_recording_read(struct measured_table *t, const char *path, const struct found *found,
                            bool *is, struct err *err);
