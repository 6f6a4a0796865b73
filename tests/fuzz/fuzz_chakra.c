// SPDX-License-Identifier: MIT
// An execution trace as that of both ranks of a job: the first byte says by which rules.
#include "tests/fuzz/support.h"

#define JOB(rest)                                                                                  \
    "{\"name\": \"f\", \"network\": \"analytical\","                                               \
    "\"topology\": {\"dims\": [{\"kind\": \"switch\", \"size\": 2}]},"                             \
    "\"workload\": {\"kind\": \"chakra\", \"prefix\": \"t\", \"comm_groups\": "                    \
    "\"groups.json\"" rest "}}"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    bool astra = n > 0 && data[0] % 2 == 1;
    if (n == 0)
        return 0;
    fuzz_write("t.0.et", data + 1, n - 1);
    fuzz_write("t.1.et", data + 1, n - 1);
    fuzz_write_text("groups.json", "{\"1\": [1, 0]}");
    fuzz_write_text("scenario.json", astra
                                         ? JOB(", \"system\": {}, \"remote_bandwidth\": \"8Gbps\"")
                                         : JOB(", \"missing_nodes\": \"ignore\""));
    fuzz_run("scenario.json", NULL);
    return 0;
}
