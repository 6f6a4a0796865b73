// SPDX-License-Identifier: MIT
// Scenarios; files that scenarios of the corpus refer to are in the folder of the input.
#include "tests/fuzz/support.h"

static void write_companions(void)
{
    fuzz_write_text("flows.csv", "src,dst,bytes,start_ns\n0,1,10000,0\n1,0,1,100\n");
    fuzz_write_text("sizes.cdf", "0 0\n1000 50\n20000 100\n");
    fuzz_write_text("graph.json",
                    "{\"switches\": 2, \"links\": [{\"a\": \"rank0\", \"b\": \"sw0\"},{\"a\": "
                    "\"rank1\", \"b\": \"sw1\", \"rate\": \"10Gbps\"},{\"a\": \"sw0\", \"b\": "
                    "\"sw1\", \"delay\": \"3us\"}]}");
    fuzz_write_text("workload.txt", "DATA\n1\nfc -1 10 NONE 0 10 NONE 0 10 ALLREDUCE 4000 5\n");
    fuzz_write_text("system.txt", "preferred-dataset-splits: 2\nendpoint-delay: 10\n");
    fuzz_write_text("network.json",
                    "{\"dimensions-count\": 1, \"topologies-per-dim\": "
                    "[\"Ring\"],\"units-count\": [4], \"links-count\": [2], \"link-latency\": "
                    "[10],\"link-bandwidth\": [50]}");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static bool written;
    if (!written)
        write_companions();
    written = true;
    fuzz_write("scenario.json", data, n);
    fuzz_run("scenario.json", NULL);
    return 0;
}
