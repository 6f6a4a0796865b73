// SPDX-License-Identifier: MIT
// CSV files of the shapes of convolutional networks: what is accepted runs, on two ranks.
#include "tests/fuzz/support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_write("shapes.csv", data, n);
    fuzz_write_text(
        "scenario.json",
        "{\"name\": \"f\", \"topology\": {\"dims\": [{\"kind\": \"switch\", \"size\": 2}]}, "
        "\"workload\": {\"kind\": \"cnn\", \"shapes\": \"shapes.csv\"}}");
    fuzz_run("scenario.json", NULL);
    return 0;
}
