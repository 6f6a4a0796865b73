// SPDX-License-Identifier: MIT
// The structs behind the public handles, for this program's own folders. A handle and its struct have
// the same address.
#pragma once

#include "collwire/collwire.h"
#include "config/scenario.h"
#include "engine/err.h"
#include "plugin/policies.h"

static inline struct err *err_of(struct collwire_messages *m) { return (struct err *)m; }
static inline struct collwire_messages *messages_of(struct err *err)
{
    return (struct collwire_messages *)err;
}
static inline struct policies *policies_of(const struct collwire_policies *p)
{
    return (struct policies *)(uintptr_t)p;
}
static inline struct scenario *scenario_of(const struct collwire_scenario *s)
{
    return (struct scenario *)(uintptr_t)s;
}
