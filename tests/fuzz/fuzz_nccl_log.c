// SPDX-License-Identifier: MIT
// Logs of NCCL, as `collwire library nccl --against` reads them.
#include <stdlib.h>

#include "cli/library/nccl_log.h"
#include "tests/fuzz/support.h"

// Facts are sorted, and those of communicators have their numbers.
static void check(const struct nccl_log *log)
{
    if (log->n_facts == 0 && log->n_sizes == 0)
        abort();
    for (size_t i = 0; i < log->n_facts; i++)
        if (log->facts[i].n_values > FACT_VALUES || log->facts[i].kind >= FACT_KINDS ||
            (i > 0 && log->facts[i - 1].kind > log->facts[i].kind))
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct nccl_log log;
    struct err err = {0};
    fuzz_write("nccl.log", data, n);
    if (nccl_log_read(&log, fuzz_path("nccl.log"), &err) == 0) {
        check(&log);
        nccl_log_free(&log);
    } else if (err.n_errors != 1) {
        abort();
    }
    err_free(&err);
    return 0;
}
