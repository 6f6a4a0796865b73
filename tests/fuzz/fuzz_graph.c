// SPDX-License-Identifier: MIT
// Files of graphs, under an incast that every rank takes part in.
#include "tests/fuzz/support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    fuzz_write("graph.json", data, n);
    fuzz_write_text("scenario.json", "{\"name\": \"g\", \"topology\": {\"dims\": [{\"kind\": "
                                     "\"graph\", \"size\": 4, \"file\": "
                                     "\"graph.json\",\"transit\": true}]}, \"workload\": "
                                     "{\"kind\": \"incast\", \"senders\": 3, \"receiver\": 0, "
                                     "\"bytes\": 9000}}");
    fuzz_run("scenario.json", NULL);
    return 0;
}
