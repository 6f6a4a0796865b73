// SPDX-License-Identifier: MIT
// The categories of `collwire list`: objects of the scenario, algorithms of collectives, metrics.
#pragma once

#include "cc/catalogue.h"
#include "engine/text/object.h"

// An object of the scenario, or another list: `entry` and `keys` as in struct object.
struct category {
    const char *name, *doc;
    const struct object *object; // NULL = not an object of the scenario
    bool (*entry)(const struct cc_catalogue *policies, size_t i, struct object_entry *out);
    void (*keys)(const struct object_entry *entry, const char *prefix, const struct key_sink *to);
    bool metrics; // the keys of an entry are a table of metrics, its `kind`; NULL = a single value
};

// Category `i`: the scenario's own keys, its objects, then the others. Returns false after the last
// one.
bool category_at(size_t i, struct category *out);

// Entry `i` of a category; a category without entries is its own only one. Returns false after the
// last one.
bool entry_at(const struct category *c, const struct cc_catalogue *policies, size_t i,
              struct object_entry *out);

// Report the keys of an entry, other than metrics.
void category_keys(const struct category *c, const struct object_entry *entry,
                   const struct key_sink *to);
