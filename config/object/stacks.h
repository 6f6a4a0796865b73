// SPDX-License-Identifier: MIT
// The transports of a scenario with their policies ("stacks"): `transport` and `cc` are one object,
// or lists with an object for each transport. A transport is called by its kind, or by a `name` of
// its own, so that two of a kind may have a policy each.
#pragma once

#include "config/object/scenario_parts.h"
#include "engine/text/read.h"

// The number of the stack whose transport has this name; UINT32_MAX = there is none.
uint32_t stack_find(const struct dim_spec *dim, const char *name);

// The names of the transports of a dimension, as words.
struct keys stack_words(const struct dim_spec *dim);

// The name of the transport that an item of `transport` or `cc` refers to; "" if it has none.
const char *stack_name_at(const struct place *item);

// True if the place of `transport` or `cc` belongs to the scenario itself, not to a dimension.
static inline bool place_is_global(const struct place *place)
{
    return place->parent->parent == NULL;
}

// The object at `list`, or the item of the list that means the transport called `name`.
struct stack_place {
    struct place list, item; // item.parent may be the list: do not copy
    const struct place *at;
};
void stack_place_find(struct stack_place *out, const struct place *parent, const char *object,
                      const char *name);

// Set the policy that a transport has by default.
void stack_default_policy(struct reader *r, struct stack_spec *stack);

// Set the policy, with the defaults of a preset.
void stack_set_policy(struct stack_spec *stack, const struct cc_ops *ops,
                      const struct cc_preset *preset);
