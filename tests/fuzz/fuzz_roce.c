// SPDX-License-Identifier: MIT
// RoCE over a hostile network.
#include "tests/fuzz/hostile.h"
#include "tests/fuzz/support.h"

static const struct hostile_choice choices[] = {
    {"cc.kind",
     {"dcqcn", "swift", "timely", "hpcc", "powertcp", "window", "dctcp", "tally", "none", NULL}},
    {"transport.recovery", {"go_back_n", "selective_repeat", NULL}},
    {"transport.ack_interval", {"1", "2", "16", NULL}},
    {"transport.retry_limit", {"7", "1000", NULL}},
    {"transport.qp", {"persistent", "per_message", NULL}},
    {"transport.qps_per_pair", {"1", "2", NULL}},
    {"transport.admission", {"none", "cts", NULL}},
    {"transport.reorder", {"0", "8", NULL}},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    hostile_run("roce", choices, sizeof choices / sizeof *choices, data, n);
    return 0;
}
