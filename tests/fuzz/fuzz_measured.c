// SPDX-License-Identifier: MIT
// Measured values and the store, as `collwire fit` reads them, and tables of nccl-tests, OSU and
// perftest, as `sweep --against` and `run --against` do.
#include <math.h>
#include <stdlib.h>

#include "cli/fit/fit.h"
#include "cli/fit/observed.h"
#include "cli/measured/measured_table.h"
#include "tests/fuzz/support.h"

// What is read from the store of a fit must be lists of numbers of the requested length.
static void check_store(const char *path)
{
    json_t *known = json_object(), *values;
    const char *key;
    fit_store_read(known, path, "m", 2);
    json_object_foreach(known, key, values) if (json_array_size(values) != 2) abort();
    json_decref(known);
}

// Every value can be compared with one of a run.
static void check(const struct observed *m)
{
    json_t *nothing = json_object();
    for (size_t i = 0; i < m->n; i++)
        if (!(m->list[i].relative > 0) || !isfinite(m->list[i].value) || m->list[i].value < 0 ||
            isinf(observed_predict(&m->list[i], nothing)))
            abort();
    json_decref(nothing);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct observed values;
    struct measured_table table;
    struct err err = {0};
    fuzz_write("measured", data, n);
    check_store(fuzz_path("measured"));
    if (observed_read(&values, fuzz_path("measured"), &err) == 0)
        check(&values);
    observed_free(&values);
    err_free(&err);
    if (measured_table_read(&table, fuzz_path("measured"), &err) == 0) {
        for (size_t i = 0; i < table.n; i++)
            if (!(table.rows[i].time_us > 0) ||
                measured_table_at(&table, table.rows[i].bytes) != &table.rows[i])
                abort();
        measured_table_free(&table);
    } else if (err.n_errors != 1) {
        abort();
    }
    err_free(&err);
    return 0;
}
