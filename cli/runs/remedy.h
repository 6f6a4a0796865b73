// SPDX-License-Identifier: MIT
// A remedy of a reason: settings that remove a cause from a scenario.
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "collwire/collwire.h"

struct remedy {
    struct collwire_setting *sets; // owned, and so are the texts
    size_t n;
};

// The settings of a reason (texts PATH=VALUE, `reasons[].remedy`) for a resolved scenario. A
// setting of `switch`, `nic`, `transport` or `cc` also changes the dimensions that have their own,
// and every item where these are lists.
struct remedy remedy_of(const json_t *scenario, const json_t *settings);
void remedy_add(struct remedy *remedy, const char *path, const char *value);
void remedy_free(struct remedy *remedy);
