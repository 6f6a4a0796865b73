// SPDX-License-Identifier: MIT
// Shared by the fuzz targets: inputs as files in a folder of the process, and a short run.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/scenario.h"

// Limits of a short run: model events, and the number of ranks and bytes above which a scenario is
// skipped, since building it takes longer than many other inputs.
#define FUZZ_EVENTS "3000"
#define FUZZ_RANKS 256
#define FUZZ_BYTES (UINT64_C(64) << 20)

// The entry point that libFuzzer calls; always returns 0.
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

// A folder of this process, empty at first; it is removed at the end of the process.
const char *fuzz_folder(void);
// Write an input, or a text that goes with it, to a file of the folder.
void fuzz_write(const char *name, const uint8_t *data, size_t n);
void fuzz_write_text(const char *name, const char *text);

// The path of a file of the folder, until the next call.
const char *fuzz_path(const char *name);

// True if the JSON file has more than FUZZ_RANKS ranks.
bool fuzz_many_ranks(const char *name);

// Read the scenario in file `name` of the folder with `network` (NULL = unchanged); if it is valid
// and small, run it to FUZZ_EVENTS and write its results.
void fuzz_run(const char *name, const char *network);
