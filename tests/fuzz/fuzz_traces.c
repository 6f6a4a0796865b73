// SPDX-License-Identifier: MIT
// Traces of a collective as the algorithm of a library: the first byte says where the second rank's
// file begins. What is accepted runs, on two servers of one GPU.
#include "tests/fuzz/support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 0)
        return 0;
    size_t first = (n - 1) * data[0] / 255;
    fuzz_write("a.0.et", data + 1, first);
    fuzz_write("a.1.et", data + 1 + first, n - 1 - first);
    fuzz_write_text("scenario.json",
                    "{\"name\": \"f\", \"network\": \"analytical\", \"topology\": {\"machine\": "
                    "\"1gpu_h100_400\", \"nodes\": 2, \"fabric\": {\"kind\": \"switch\"}}, "
                    "\"workload\": {\"kind\": \"collective\", \"op\": \"all_reduce\", \"bytes\": "
                    "\"64KiB\", \"library\": {\"kind\": \"xml\", \"traces\": \"a\"}}}");
    fuzz_run("scenario.json", NULL);
    return 0;
}
