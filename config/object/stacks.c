// SPDX-License-Identifier: MIT
// The transports of a scenario with their policies.
#include "config/object/stacks.h"

#include <string.h>

#include "cc/registry.h"
#include "engine/base/assert.h"
#include "transport/transport.h"

uint32_t stack_find(const struct dim_spec *dim, const char *name)
{
    for (uint32_t t = 0; t < dim->n_stacks; t++)
        if (strcmp(dim->stacks[t].transport.name, name) == 0)
            return t;
    return UINT32_MAX;
}

struct keys stack_words(const struct dim_spec *dim)
{
    struct keys words = {0};
    for (uint32_t t = 0; t < dim->n_stacks; t++)
        keys_add(&words, dim->stacks[t].transport.name);
    return words;
}

const char *stack_name_at(const struct place *item)
{
    // An item of `cc` names its transport, and an item of `transport` itself, by its kind at least.
    static const char *const keys[] = {"transport", "name", "kind"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        const char *word = json_string_value(json_object_get(item->json, keys[i]));
        if (word != NULL)
            return word;
    }
    return "";
}

void stack_place_find(struct stack_place *out, const struct place *parent, const char *object,
                      const char *name)
{
    out->list = place_key(parent, object);
    out->at = &out->list;
    for (size_t i = 0; i < json_array_size(out->list.json); i++) {
        out->item = place_item(&out->list, i);
        if (strcmp(stack_name_at(&out->item), name) == 0) {
            out->at = &out->item;
            return;
        }
    }
}

void stack_set_policy(struct stack_spec *stack, const struct cc_ops *ops,
                      const struct cc_preset *preset)
{
    if (ops->params_bytes > CC_PARAMS_BYTES_MAX)
        sim_assert_fail("the parameters of a policy fit", __FILE__, __LINE__, 0, -1);
    stack->cc = ops;
    stack->cc_preset = preset;
    memset(stack->cc_params, 0, sizeof stack->cc_params);
    cc_params_init(ops, preset->name, stack->cc_params);
}

void stack_default_policy(struct reader *r, struct stack_spec *stack)
{
    const struct cc_ops *ops = cc_catalogue_find(r->policies, stack->transport.ops->default_cc);
    if (ops == NULL)
        ops = cc_find("none");
    const struct cc_preset *preset = cc_preset_find(ops, stack->transport.ops->default_preset);
    stack_set_policy(stack, ops, preset != NULL ? preset : &ops->presets[0]);
}
