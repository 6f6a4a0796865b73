// SPDX-License-Identifier: MIT
// Workload files of ASTRA-sim, as a training loop on a switch and a ring.
#include "tests/fuzz/support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_write("workload.txt", data, n);
    fuzz_write_text(
        "scenario.json",
        "{\"name\": \"w\", \"topology\": {\"dims\": [{\"kind\": \"switch\", \"size\": 2}, "
        "{\"kind\": \"ring\",\"size\": 4}]}, \"workload\": {\"kind\": \"training\", \"file\": "
        "\"workload.txt\"}}");
    fuzz_run("scenario.json", "analytical");
    return 0;
}
