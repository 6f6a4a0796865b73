// SPDX-License-Identifier: MIT
// Files of the distribution of sizes, as arrivals over a few microseconds.
#include "tests/fuzz/support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_write("sizes.cdf", data, n);
    fuzz_write_text(
        "scenario.json",
        "{\"name\": \"c\", \"topology\": {\"dims\": [{\"kind\": \"switch\", \"size\": "
        "4}]},\"workload\": {\"kind\": \"poisson\", \"cdf\": \"sizes.cdf\", \"load\": 0.3, "
        "\"duration\": \"2us\"}}");
    fuzz_run("scenario.json", NULL);
    return 0;
}
