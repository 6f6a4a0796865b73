// SPDX-License-Identifier: MIT
// The network's load as a rank's collective library can compute it when it posts a message, before
// any feedback could report it. It follows from the algorithm, the group and the step alone, so
// that a rank needs no message for it. 0 = unknown, which is always legal; a count may be wrong.
#pragma once

#include <stdint.h>

struct cc_hint {
    uint32_t at_source;      // flows of this step that leave the source, this one included
    uint32_t at_destination; // flows of this step that arrive at the destination, this one included
    uint32_t turn;           // 1, 2, ...: number of this flow among all flows of this step
};
