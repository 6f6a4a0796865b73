// SPDX-License-Identifier: MIT
// The list of all built-in congestion control policies.
#include "cc/registry.h"

#include <string.h>

extern const struct cc_ops cc_none;
extern const struct cc_ops cc_window;
extern const struct cc_ops cc_dcqcn;
extern const struct cc_ops cc_dctcp;
extern const struct cc_ops cc_timely;
extern const struct cc_ops cc_timely_patched;
extern const struct cc_ops cc_hpcc;
extern const struct cc_ops cc_swift;
extern const struct cc_ops cc_powertcp;
extern const struct cc_ops cc_powertcp_delay;
extern const struct cc_ops cc_tally;
extern const struct cc_ops cc_newreno;
extern const struct cc_ops cc_cubic;
extern const struct cc_ops cc_nscc;
extern const struct cc_ops cc_rccc;
extern const struct cc_ops cc_nscc_rccc;

// One per line.
// clang-format off
const struct cc_ops *const cc_registry[] = {
    &cc_none,
    &cc_window,
    &cc_dcqcn,
    &cc_dctcp,
    &cc_timely,
    &cc_timely_patched,
    &cc_hpcc,
    &cc_swift,
    &cc_powertcp,
    &cc_powertcp_delay,
    &cc_tally,
    &cc_newreno,
    &cc_cubic,
    &cc_nscc,
    &cc_rccc,
    &cc_nscc_rccc,
    NULL,
};
// clang-format on

const struct cc_ops *cc_find(const char *name)
{
    for (const struct cc_ops *const *ops = cc_registry; *ops != NULL; ops++) {
        if (strcmp((*ops)->name, name) == 0)
            return *ops;
    }
    return NULL;
}
