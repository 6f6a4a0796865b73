// SPDX-License-Identifier: MIT
// `collwire import chakra`: the input holds the network, system and memory files of ASTRA-sim 2,
// separated by zero bytes. The scenario that is made is read and run too.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/import_chakra.h"
#include "tests/fuzz/support.h"

#define PATH_BYTES 256

static const char *const files[] = {"network.yml", "system.json", "memory.json"};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const uint8_t trace[] = {0, 7, 8, 1, 18, 1, 'c', 24, 4}; // metadata and a computation
    char path[3][PATH_BYTES], prefix[PATH_BYTES], output[PATH_BYTES];
    struct err err = {0};
    for (int i = 0; i < 3; i++) {
        const uint8_t *end = n > 0 && i < 2 ? memchr(data, 0, n) : NULL;
        size_t length = end ? (size_t)(end - data) : n;
        fuzz_write(files[i], data, length);
        data += length + (end != NULL);
        n -= length + (end != NULL);
        snprintf(path[i], sizeof path[i], "%.200s/%s", fuzz_folder(), files[i]);
    }
    fuzz_write("t.0.et", trace, sizeof trace);
    fuzz_write("t.1.et", trace, sizeof trace);
    snprintf(prefix, sizeof prefix, "%.200s/t", fuzz_folder());
    snprintf(output, sizeof output, "%.200s/scenario.json", fuzz_folder());
    struct chakra_import from = {.prefix = prefix,
                                 .network = path[0],
                                 .system = path[1],
                                 .memory = path[2],
                                 .output = output};
    char *text = chakra_import(&from, &err);
    if (text) {
        fuzz_write_text("scenario.json", text);
        fuzz_run("scenario.json", NULL);
    } else if (err.n_errors == 0) {
        abort();
    }
    free(text);
    err_free(&err);
    return 0;
}
