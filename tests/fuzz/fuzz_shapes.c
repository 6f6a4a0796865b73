// SPDX-License-Identifier: MIT
// Files of the layers of a convolutional network, as a job of four ranks: the first byte says by
// which strategy.
#include <stdio.h>

#include "tests/fuzz/support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static const char *const strategies[] = {"serial", "data",    "spatial",     "pipeline",
                                             "filter", "channel", "data_filter", "data_spatial"};
    char scenario[512];
    if (n == 0)
        return 0;
    fuzz_write("layers.csv", data + 1, n - 1);
    snprintf(scenario, sizeof scenario,
             "{\"name\": \"f\", \"network\": \"analytical\", \"topology\": {\"dims\": [{\"kind\": "
             "\"switch\", \"size\": 4}]}, \"workload\": {\"kind\": \"cnn\", \"model\": \"custom\", "
             "\"shapes\": \"layers.csv\", \"strategy\": \"%s\", \"batch\": 8}}",
             strategies[data[0] % 8]);
    fuzz_write_text("scenario.json", scenario);
    fuzz_run("scenario.json", NULL);
    return 0;
}
