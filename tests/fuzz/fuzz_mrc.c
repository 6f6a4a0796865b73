// SPDX-License-Identifier: MIT
// MRC over a hostile network whose switches trim.
#include "tests/fuzz/support.h"
#include "tests/fuzz/uec_choices.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    hostile_run("mrc", uec_choices, N_UEC_CHOICES, data, n);
    return 0;
}
