// SPDX-License-Identifier: MIT
// System files of ASTRA-sim, which govern the collectives of one layer.
#include "tests/fuzz/support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_write("system.txt", data, n);
    fuzz_write_text("scenario.json", "{\"name\": \"s\", \"topology\": {\"dims\": [{\"kind\": "
                                     "\"switch\", \"size\": 2}, {\"kind\": \"ring\",\"size\": "
                                     "4}]}, \"workload\": {\"kind\": \"training\", \"system\": "
                                     "\"system.txt\", \"parallelism\": \"DATA\",\"layers\": "
                                     "[{\"name\": \"l\", \"wg\": {\"compute\": \"5ns\", \"op\": "
                                     "\"all_reduce\", \"bytes\": 8000}}]}}");
    fuzz_run("scenario.json", "analytical");
    return 0;
}
