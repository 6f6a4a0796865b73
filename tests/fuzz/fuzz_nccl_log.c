// SPDX-License-Identifier: MIT
// Logs of NCCL, as `collwire library --against` reads them.
#include "cli/nccl/nccl_log.h"
#include "tests/fuzz/support.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err err = {0};
    struct nccl_log log;
    fuzz_write("nccl.log", data, n);
    if (nccl_log_read(&log, fuzz_path("nccl.log"), &err) == 0)
        nccl_log_free(&log);
    err_free(&err);
    return 0;
}
