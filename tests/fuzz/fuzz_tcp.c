// SPDX-License-Identifier: MIT
// TCP over a hostile network.
#include "tests/fuzz/hostile.h"
#include "tests/fuzz/support.h"

static const struct hostile_choice choices[] = {
    {"cc.kind", {"swift", "window", "cubic", "newreno", "dctcp", "tally", "none", NULL}},
    {"transport.pacing", {"true", "false", NULL}},
    {"transport.rto_initial", {"1us", "10us", "200us", "1s", NULL}},
    {"transport.rto_min", {"1us", "10us", "200us", "200ms", NULL}},
    {"transport.sack", {"true", "false", NULL}},
    {"transport.tail_loss_probe", {"true", "false", NULL}},
    {"transport.delayed_ack",
     {"{\"segments\": 1}", "{\"segments\": 2, \"timeout\": \"50us\"}", NULL}},
    {"transport.connections", {"pooled", "per_message", NULL}},
    {"transport.segmentation_offload", {"0B", "16KB", NULL}},
    {"transport.receive_window", {"auto", "3000B", "64KB", NULL}},
    {"transport.admission", {"none", "cts", NULL}},
    {"transport.sack_compression", {"0ns", "10us", NULL}},
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    hostile_run("tcp", choices, sizeof choices / sizeof *choices, data, n);
    return 0;
}
