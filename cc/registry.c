// SPDX-License-Identifier: MIT
// The catalogue of congestion control policies: the only place that knows them all.
#include "cc/registry.h"

#include <string.h>

extern const struct cc_ops cc_none, cc_window, cc_dcqcn, cc_timely, cc_timely_patched, cc_swift;

const struct cc_ops *const cc_registry[] = {
    &cc_none, &cc_window, &cc_dcqcn, &cc_timely, &cc_timely_patched, &cc_swift, NULL,
};

const struct cc_ops *cc_find(const char *name)
{
    for (const struct cc_ops *const *ops = cc_registry; *ops != NULL; ops++) {
        if (strcmp((*ops)->name, name) == 0)
            return *ops;
    }
    return NULL;
}
