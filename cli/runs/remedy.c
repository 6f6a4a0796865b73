// SPDX-License-Identifier: MIT
#include "cli/runs/remedy.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"

void remedy_add(struct remedy *remedy, const char *path, const char *value)
{
    remedy->sets = memory_resize(remedy->sets, remedy->n + 1, sizeof *remedy->sets);
    remedy->sets[remedy->n++] = (struct collwire_setting){memory_text(path), memory_text(value)};
}

void remedy_free(struct remedy *remedy)
{
    for (size_t i = 0; i < remedy->n; i++) {
        free((char *)(uintptr_t)remedy->sets[i].path);
        free((char *)(uintptr_t)remedy->sets[i].value);
    }
    free(remedy->sets);
}

// Add a setting of an object below `owner`, whose path is `prefix`; of each item if it is a list.
static void add_each(struct remedy *remedy, const json_t *owner, const char *prefix,
                     const char *key, const char *rest, const char *value)
{
    size_t n = json_array_size(json_object_get(owner, key));
    for (size_t i = 0; i < n || (i == 0 && n == 0); i++) {
        char *path = n > 0 ? text_format("%s%s[%zu]%s", prefix, key, i, rest)
                           : text_format("%s%s%s", prefix, key, rest);
        remedy_add(remedy, path, value);
        free(path);
    }
}

static bool is_inherited(const char *key)
{
    static const char *const keys[] = {"switch", "nic", "transport", "cc"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (strcmp(key, keys[i]) == 0)
            return true;
    return false;
}

static void add_setting(struct remedy *remedy, const json_t *scenario, const char *path,
                        const char *value)
{
    const json_t *dims = json_object_get(json_object_get(scenario, "topology"), "dims"), *dim;
    size_t length = strcspn(path, ".["), i;
    char *key = text_format("%.*s", (int)length, path);
    if (!is_inherited(key)) {
        remedy_add(remedy, path, value);
        free(key);
        return;
    }
    add_each(remedy, scenario, "", key, path + length, value);
    json_array_foreach(dims, i, dim)
    {
        char *prefix = text_format("topology.dims[%zu].", i);
        if (json_object_get(dim, key))
            add_each(remedy, dim, prefix, key, path + length, value);
        free(prefix);
    }
    free(key);
}

struct remedy remedy_of(const json_t *scenario, const json_t *settings)
{
    struct remedy remedy = {0};
    for (size_t i = 0; i < json_array_size(settings); i++) {
        char *path = memory_text(json_string_value(json_array_get(settings, i)));
        char *value = strchr(path, '=');
        if (value != NULL) {
            *value++ = '\0';
            add_setting(&remedy, scenario, path, value);
        }
        free(path);
    }
    return remedy;
}
