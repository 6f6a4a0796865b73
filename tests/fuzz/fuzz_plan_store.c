// SPDX-License-Identifier: MIT
// The kept results of `collwire plan --out`.
#include <stdlib.h>

#include "cli/plan/known.h"
#include "tests/fuzz/support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    const char *hash;
    json_t *known = json_object(), *ps;
    fuzz_write("packets.jsonl", data, n);
    known_read(known, fuzz_folder());
    json_object_foreach(known, hash, ps)
    {
        double value = json_number_value(ps);
        if (!(value > 0) || value > 9e18)
            abort();
    }
    json_decref(known);
    return 0;
}
