// SPDX-License-Identifier: MIT
// Programs in the format GOAL, on one switch.
#include "tests/fuzz/support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_write("a.goal", data, n);
    fuzz_write_text("scenario.json",
                    "{\"name\": \"f\", \"network\": \"analytical\",\"topology\": {\"dims\": "
                    "[{\"kind\": \"switch\", \"size\": 4}]},\"workload\": {\"kind\": \"goal\", "
                    "\"file\": \"a.goal\"}}");
    fuzz_run("scenario.json", NULL);
    return 0;
}
