// SPDX-License-Identifier: MIT
// Shares of the critical path by cause.
#include "report/path_shares.h"

#include <math.h>

#include "report/metric_parts.h"

void path_shares(const json_t *slowest, double shares[PATH_CAUSES])
{
    const json_t *parts = json_object_get(slowest, "parts");
    double total = (double)json_integer_value(json_object_get(slowest, "total_ns"));
    for (unsigned cause = 0; cause < PATH_CAUSES; cause++) {
        json_int_t ns = json_integer_value(json_object_get(parts, life_table.list[cause].key));
        shares[cause] = total > 0 ? (double)ns / total : (double)NAN;
    }
}

#define KEY_OF(constant, key, help, words) key,
static const char *const cause_keys[PATH_CAUSES] = {PATH_LIST(KEY_OF)};
#undef KEY_OF

const char *path_cause_key(enum path_cause cause) { return cause_keys[cause]; }

const char *path_cause_heading(enum path_cause cause)
{
    return cause == PATH_PAUSED ? "PFC" : cause_keys[cause];
}
