// SPDX-License-Identifier: MIT
// Graphs of operators, as `collwire partition operators` reads them.
#include <stdlib.h>

#include "cli/partition/operator_file.h"
#include "config/text/json_file.h"
#include "tests/fuzz/support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err err = {0};
    struct operator_graph graph = {0};
    uint32_t *order = NULL;
    fuzz_write("graph.json", data, n);
    json_t *json = json_file_read(fuzz_path("graph.json"), &err);
    if (json != NULL)
        operator_file_read(json, &graph, &order, &err);
    operator_graph_free(&graph); // also after an error
    free(order);
    json_decref(json);
    err_free(&err);
    return 0;
}
