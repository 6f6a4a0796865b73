// SPDX-License-Identifier: MIT
// `plugins`: shared libraries with policies that the scenario needs. They are code, so they are
// loaded only where the user has allowed it.
#include <stdlib.h>

#include "config/object/scenario_parts.h"
#include "engine/base/memory.h"
#include "engine/text/json_file.h"
#include "engine/text/object.h"
#include "engine/text/read.h"
#include "engine/text/schema_parts.h"

static void load(struct reader *r, const struct place *item, const char *file)
{
    char path[PLACE_TEXT];
    struct scenario *s = r->scenario;
    if (!s->policies.scenarios_may_load) {
        place_error(r->err, item,
                    "\"%s\" is code, which scenarios may not load unless it is allowed "
                    "(--allow-plugins)",
                    file);
        return;
    }
    char *from_here = path_from(s->dir, file);
    policies_load(&s->policies, place_text(item, path), from_here, r->err);
    free(from_here);
}

static void plugins_read(struct reader *r, const struct place *place, void *value)
{
    (void)value;
    struct scenario *s = r->scenario;
    if (!read_list(r, place))
        return;
    s->n_plugins = json_array_size(place->json);
    s->plugins = memory_zeroed(s->n_plugins, sizeof *s->plugins);
    for (size_t i = 0; i < s->n_plugins; i++) {
        struct place item = place_item(place, i);
        s->plugins[i] = json_string_value(item.json);
        if (s->plugins[i] == NULL)
            place_error(r->err, &item, "must be a file like \"my_policy.so\", not %s",
                        json_noun(item.json));
        else
            load(r, &item, s->plugins[i]);
    }
}

static json_t *plugins_write(const struct scenario *s, const void *value)
{
    (void)value;
    if (s->n_plugins == 0)
        return NULL;
    json_t *files = json_array();
    for (size_t i = 0; i < s->n_plugins; i++)
        json_array_append_new(files, json_string(s->plugins[i]));
    return files;
}

static json_t *plugins_schema(const struct cc_catalogue *policies)
{
    (void)policies;
    return schema_list(json_pack("{s:s}", "type", "string"));
}

static void plugins_free(void *value)
{
    struct scenario *s = value;
    free(s->plugins);
}

const struct object plugins_object = {
    .key = "plugins",
    .doc = "files of policies that the scenario needs (docs/plugins.md), relative to it; read "
           "only with --allow-plugins",
    .type = "list of files",
    .def = "none",
    .read = plugins_read,
    .write = plugins_write,
    .schema = plugins_schema,
    .free = plugins_free,
};
