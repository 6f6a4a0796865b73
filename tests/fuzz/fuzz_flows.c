// SPDX-License-Identifier: MIT
// CSV files of flows, as a job of raw flows on one switch.
#include "tests/fuzz/support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_write("flows.csv", data, n);
    fuzz_write_text("scenario.json",
                    "{\"name\": \"f\", \"topology\": {\"dims\": [{\"kind\": \"switch\", "
                    "\"size\": 4}]},\"workload\": {\"kind\": \"flows\", \"file\": "
                    "\"flows.csv\"}}");
    fuzz_run("scenario.json", NULL);
    return 0;
}
