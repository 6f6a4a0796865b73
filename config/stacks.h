// SPDX-License-Identifier: MIT
// The transports of a scenario with their policies ("stacks"): `transport` and `cc` are one object, or
// lists with an object for each kind of transport.
#pragma once

#include "config/read.h"

// The number of the stack with this kind of transport; UINT32_MAX = there is none.
uint32_t stack_find(const struct dim_spec *dim, const char *kind);

// The kinds of transports of a dimension, as words.
struct keys stack_words(const struct dim_spec *dim);

// True if the place of `transport` or `cc` belongs to the scenario itself, not to a dimension.
static inline bool place_is_global(const struct place *place)
{
    return place->parent->parent == NULL;
}

// The object at `list`, or the item of the list, whose member `key` names transport `kind`.
struct stack_place {
    struct place list, item; // item.parent may be the list: do not copy
    const struct place *at;
};
void stack_place_find(struct stack_place *out, const struct place *parent, const char *object,
                      const char *key, const char *kind);

// Set the policy that a transport has by default.
void stack_default_policy(struct reader *r, struct stack_spec *stack);

// Set the policy, with the defaults of a preset.
void stack_set_policy(struct stack_spec *stack, const struct cc_ops *ops,
                      const struct cc_preset *preset);
