// SPDX-License-Identifier: MIT
// Topologies of NCCL: what is accepted is a machine, of which one server runs a collective.
#include "tests/fuzz/support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_write("t.xml", data, n);
    fuzz_write_text("scenario.json",
                    "{\"name\": \"f\", \"network\": \"analytical\", \"topology\": {\"machine\": "
                    "\"t.xml\", \"nodes\": 1}, \"workload\": {\"kind\": \"collective\", \"op\": "
                    "\"all_reduce\", \"bytes\": \"64KiB\", \"library\": {\"kind\": \"nccl\"}}}");
    fuzz_run("scenario.json", NULL);
    return 0;
}
