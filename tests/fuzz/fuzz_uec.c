// SPDX-License-Identifier: MIT
// Ultra Ethernet over a hostile network whose switches trim.
#include "tests/fuzz/support.h"
#include "tests/fuzz/uec_choices.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    hostile_run("uec", uec_choices, N_UEC_CHOICES, data, n);
    return 0;
}
