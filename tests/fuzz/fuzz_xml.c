// SPDX-License-Identifier: MIT
// Algorithms of XML files: what is accepted runs, on two servers of one GPU.
#include "tests/fuzz/support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_write("a.xml", data, n);
    fuzz_write_text("scenario.json",
                    "{\"name\": \"f\", \"network\": \"analytical\", \"topology\": {\"machine\": "
                    "\"1gpu_h100_400\", \"nodes\": 2, \"fabric\": {\"kind\": \"switch\"}}, "
                    "\"workload\": {\"kind\": \"collective\", \"op\": \"all_reduce\", \"bytes\": "
                    "\"64KiB\", \"library\": {\"kind\": \"xml\", \"file\": \"a.xml\"}}}");
    fuzz_run("scenario.json", NULL);
    return 0;
}
