// SPDX-License-Identifier: MIT
// The JSON Schema of scenarios, generated from the tables that are also used for reading.
#include <stdlib.h>
#include <string.h>

#include "config/object/objects.h"
#include "config/object/scenario_parts.h"
#include "config/scenario.h"
#include "engine/text/object.h"
#include "engine/text/read.h"
#include "engine/text/schema_parts.h"

static json_t *definitions(const struct cc_catalogue *policies)
{
    json_t *defs = json_object();
    schema_quantities(defs);
    for (const struct object *const *o = scenario_object.parts; *o != NULL; o++) {
        if ((*o)->definitions != NULL)
            (*o)->definitions(defs);
        if ((*o)->shared)
            json_object_set_new(defs, (*o)->key, object_schema(*o, policies));
    }
    return defs;
}

static json_t *root_schema(const struct cc_catalogue *policies)
{
    json_t *root = object_schema(&scenario_object, policies);
    json_t *properties = json_object_get(root, "properties");
    json_object_set_new(json_object_get(properties, "name"), "maxLength",
                        json_integer(NAME_MAX_LETTERS));
    json_object_set_new(json_object_get(properties, "name"), "pattern",
                        json_string("^[A-Za-z0-9._-]+$"));
    return root;
}

char *schema_text(const struct cc_catalogue *policies)
{
    json_t *schema =
        json_pack("{s:s,s:s}", "$schema", "https://json-schema.org/draft/2020-12/schema", "title",
                  "a scenario of collwire");
    json_t *root = root_schema(policies);
    json_object_update(schema, root);
    json_object_set_new(schema, "$defs", definitions(policies));
    char *text = json_text(schema);
    json_decref(root);
    json_decref(schema);
    return text;
}
