// SPDX-License-Identifier: MIT
// Network files of ASTRA-sim, in closed form and over packets.
#include "tests/fuzz/support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_write("network.json", data, n);
    if (fuzz_many_ranks("network.json"))
        return 0;
    fuzz_write_text("scenario.json",
                    "{\"name\": \"n\", \"topology\": {\"astra\": \"network.json\"}, "
                    "\"workload\":{\"kind\": \"collective\", \"op\": \"all_reduce\", \"bytes\": "
                    "20000}}");
    fuzz_run("scenario.json", "analytical");
    fuzz_run("scenario.json", "packet");
    return 0;
}
