// SPDX-License-Identifier: MIT
// The catalogue of congestion control policies: the only place that knows them all.
#include "cc/registry.h"

#include <string.h>

extern const struct cc_ops cc_none, cc_window, cc_dcqcn, cc_dctcp, cc_timely, cc_timely_patched,
    cc_hpcc, cc_swift, cc_powertcp, cc_powertcp_delay;

const struct cc_ops *const cc_registry[] = {
    &cc_none, &cc_window, &cc_dcqcn,    &cc_dctcp,          &cc_timely, &cc_timely_patched,
    &cc_hpcc, &cc_swift,  &cc_powertcp, &cc_powertcp_delay,
    NULL, // one a line: keeps merges small
};

const struct cc_ops *cc_find(const char *name)
{
    for (const struct cc_ops *const *ops = cc_registry; *ops != NULL; ops++) {
        if (strcmp((*ops)->name, name) == 0)
            return *ops;
    }
    return NULL;
}
