// SPDX-License-Identifier: MIT
// Topologies of NCCL and of hwloc: what is accepted is a machine, of which one server runs a
// collective.
#include "collective/nccl/xml/hwloc.h"
#include "tests/fuzz/support.h"

#define SCENARIO(machine)                                                                          \
    "{\"name\": \"f\", \"network\": \"analytical\", \"topology\": {\"machine\": " machine          \
    ", \"nodes\": 1}, \"workload\": {\"kind\": \"collective\", \"op\": \"all_reduce\", "           \
    "\"bytes\": \"64KiB\", \"library\": {\"kind\": \"nccl\"}}}"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_write("t.xml", data, n);
    bool hwloc = hwloc_is("/", fuzz_path("t.xml") + 1);
    fuzz_write_text("scenario.json",
                    hwloc ? SCENARIO("{\"file\": \"t.xml\", \"like\": \"1gpu_h100_400\"}")
                          : SCENARIO("\"t.xml\""));
    fuzz_run("scenario.json", NULL);
    return 0;
}
