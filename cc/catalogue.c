// SPDX-License-Identifier: MIT
// A catalogue of policies: an array in the order in which policies were added.
#include "cc/catalogue.h"

#include <string.h>

#include "cc/registry.h"
#include "engine/base/assert.h"

struct cc_catalogue cc_catalogue_builtin(void)
{
    struct cc_catalogue c = {.n = 0};
    for (size_t i = 0; cc_registry[i] != NULL; i++) {
        if (c.n == CC_CATALOGUE_MAX)
            sim_assert_fail("the built-in policies fit", __FILE__, __LINE__, 0, -1);
        c.policies[c.n++] = cc_registry[i];
    }
    return c;
}

int cc_catalogue_add(struct cc_catalogue *c, const struct cc_ops *ops, struct err *err)
{
    return cc_ops_check(ops, err) == 0 ? cc_catalogue_append(c, ops, err) : -1;
}

int cc_catalogue_append(struct cc_catalogue *c, const struct cc_ops *ops, struct err *err)
{
    if (cc_catalogue_find(c, ops->name) != NULL)
        return err_add(err, ops->name, "there is already a policy of this name");
    if (c->n == CC_CATALOGUE_MAX)
        return err_add(err, ops->name, "more than %d policies", CC_CATALOGUE_MAX);
    c->policies[c->n++] = ops;
    return 0;
}

const struct cc_ops *cc_catalogue_find(const struct cc_catalogue *c, const char *name)
{
    for (size_t i = 0; i < c->n; i++) {
        if (strcmp(c->policies[i]->name, name) == 0)
            return c->policies[i];
    }
    return NULL;
}
