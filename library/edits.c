// SPDX-License-Identifier: MIT
#include "library/edits.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"

struct spelled {
    char **list;
    size_t n;
};

static void add(struct spelled *s, char *setting)
{
    s->list = memory_resize(s->list, s->n + 1, sizeof *s->list);
    s->list[s->n++] = setting;
}

// Add the setting of an object below `owner`, whose path is `prefix`; of each item if it is a list.
// `rest`: what follows the object's key, with the value. A list of NICs has the kinds of all ranks,
// which a NIC of all ranks replaces as a whole.
static void add_each(struct spelled *s, const json_t *owner, const char *prefix, const char *key,
                     const char *rest)
{
    bool whole = strcmp(key, "nic") == 0 && rest[0] == '=';
    size_t n = whole ? 0 : json_array_size(json_object_get(owner, key));
    for (size_t i = 0; i < n; i++)
        add(s, text_format("%s%s[%zu]%s", prefix, key, i, rest));
    if (n == 0)
        add(s, text_format("%s%s%s", prefix, key, rest));
}

static bool is_inherited(const char *key)
{
    static const char *const keys[] = {"switch", "nic", "transport", "cc"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

static void spell(struct spelled *s, const json_t *resolved, const char *setting)
{
    const json_t *dims = json_object_get(json_object_get(resolved, "topology"), "dims"), *dim;
    size_t length = strcspn(setting, ".[="), i;
    char *key = text_format("%.*s", (int)length, setting);
    if (!is_inherited(key)) {
        add(s, text_format("%s", setting));
        free(key);
        return;
    }
    add_each(s, resolved, "", key, setting + length);
    // The links inside a machine's servers have no policy and no limit of their own to change, and
    // a scenario that names its machine by `nodes` has no dimensions to set.
    bool machine = json_object_get(json_object_get(resolved, "topology"), "machine") != NULL;
    json_array_foreach(dims, i, dim)
    {
        if (machine && i == 0)
            continue;
        char *prefix = text_format("topology.dims[%zu].", i);
        if (json_object_get(dim, key))
            add_each(s, dim, prefix, key, setting + length);
        free(prefix);
    }
    free(key);
}

void edits_spell(struct result *r, const char *resolved)
{
    json_t *scenario = r->n_reasons > 0 ? json_loads(resolved, 0, NULL) : NULL;
    for (size_t i = 0; i < r->n_reasons; i++) {
        struct reason_result *reason = &r->reasons[i];
        struct spelled s = {0};
        for (size_t k = 0; k < reason->n_set; k++) {
            spell(&s, scenario, reason->set[k]);
            free(reason->set[k]);
        }
        free(reason->set);
        reason->set = s.list;
        reason->n_set = s.n;
    }
    json_decref(scenario);
}
