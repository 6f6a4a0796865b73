// SPDX-License-Identifier: MIT
// Ultra Ethernet over a hostile network whose switches trim.
#include "tests/fuzz/hostile.h"
#include "tests/fuzz/support.h"

static const struct hostile_choice choices[] = {
    {"cc.kind", {"nscc", "rccc", "nscc_rccc", "swift", "window", NULL}},
    {"transport.rto", {"1us", "10us", "200us", "auto", NULL}},
    {"transport.spray", {"mixed", "oblivious", "bitmap", "reps", "none", NULL}},
    {"transport.entropies", {"1", "2", "64", NULL}},
    {"transport.ack_every", {"1B", "16384B", NULL}},
    {"transport.retry_limit", {"7", "1000", NULL}},
    {"transport.admission", {"none", "cts", NULL}},
    {"transport.destination_control", {"true", "false", NULL}},
    {"switch.trimming", {"{\"enabled\": true}", "{\"enabled\": false}", NULL}},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    hostile_run("uec", choices, sizeof choices / sizeof *choices, data, n);
    return 0;
}
