// SPDX-License-Identifier: MIT
// `collwire import astra`: the input holds network, system and workload files, separated by zero
// bytes. The resulting scenario is read and run too.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/import_astra.h"
#include "tests/fuzz/support.h"

#define PATH_BYTES 256

static const char *const files[] = {"network.json", "system.txt", "workload.txt"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    char path[3][PATH_BYTES];
    struct err err = {0};
    for (int i = 0; i < 3; i++) {
        const uint8_t *end = n > 0 && i < 2 ? memchr(data, 0, n) : NULL;
        size_t length = end ? (size_t)(end - data) : n;
        fuzz_write(files[i], data, length);
        data += length + (end != NULL);
        n -= length + (end != NULL);
        snprintf(path[i], sizeof path[i], "%.200s/%s", fuzz_folder(), files[i]);
    }
    if (fuzz_many_ranks(files[0]))
        return 0;
    struct astra_import from = {path[0], path[1], path[2], .passes = 2, .compute_scale = 1};
    char *text = astra_import(&from, &err);
    if (text) {
        fuzz_write_text("scenario.json", text);
        fuzz_run("scenario.json", NULL);
    }
    free(text);
    err_free(&err);
    return 0;
}
