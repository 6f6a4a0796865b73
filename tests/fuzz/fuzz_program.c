// SPDX-License-Identifier: MIT
// Programs in files: the first byte says whether as one JSON object or as a line for each node.
#include "tests/fuzz/support.h"

#define JOB(file)                                                                                  \
    "{\"name\": \"f\", \"network\": \"analytical\", \"topology\": {\"dims\": [{\"kind\": "         \
    "\"switch\", \"size\": 4}]}, \"workload\": {\"kind\": \"program\", \"file\": \"" file "\"}}"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 0)
        return 0;
    bool lines = data[0] % 2 == 0;
    fuzz_write(lines ? "nodes.jsonl" : "nodes.json", data + 1, n - 1);
    fuzz_write_text("scenario.json", lines ? JOB("nodes.jsonl") : JOB("nodes.json"));
    fuzz_run("scenario.json", NULL);
    return 0;
}
