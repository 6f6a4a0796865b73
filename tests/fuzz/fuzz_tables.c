// SPDX-License-Identifier: MIT
// Small tables beside other inputs: the first byte says whether the groups of execution traces or
// the ranks of addresses.
#include <stdlib.h>

#include "cli/replay/address_map.h"
#include "tests/fuzz/support.h"

static void groups(const uint8_t *data, size_t n)
{
    static const uint8_t trace[] = {0, 7, 8, 1, 18, 1, 'c', 24, 4}; // metadata and a computation
    fuzz_write("groups.json", data, n);
    fuzz_write("t.0.et", trace, sizeof trace);
    fuzz_write("t.1.et", trace, sizeof trace);
    fuzz_write_text("scenario.json",
                    "{\"name\": \"f\", \"network\": \"analytical\", \"topology\": {\"dims\": "
                    "[{\"kind\": \"switch\", \"size\": 2}]}, \"workload\": {\"kind\": \"chakra\", "
                    "\"prefix\": \"t\", \"comm_groups\": \"groups.json\"}}");
    fuzz_run("scenario.json", NULL);
}

static void addresses(const uint8_t *data, size_t n)
{
    struct address_map map;
    struct err err = {0};
    fuzz_write("map.csv", data, n);
    if ((address_map_read(&map, fuzz_path("map.csv"), &err) == 0) != (err.n_errors == 0))
        abort();
    address_map_free(&map);
    err_free(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 0)
        return 0;
    if (data[0] % 2 == 0)
        groups(data + 1, n - 1);
    else
        addresses(data + 1, n - 1);
    return 0;
}
