// SPDX-License-Identifier: MIT
// Schemas of single values and of tables.
#include "engine/text/schema_parts.h"

#include <stdio.h>

#include "engine/text/read.h"

#define NUMBER "^[0-9]+(\\.[0-9]+)?"

static const struct {
    const char *name, *pattern;
} quantities[] = {
    [PARAM_BYTES] = {"bytes", NUMBER "([KMGTP]i?)?B$"},
    [PARAM_RATE] = {"rate", NUMBER "[KMGT]?bps$"},
    [PARAM_TIME] = {"time", NUMBER "(ps|ns|us|\u00b5s|\u03bcs|ms|s)$"},
    [PARAM_LINE_RATE] = {"line_rate", NUMBER "[KMGT]?bps$|^line(/[1-9][0-9]*)?$"},
};

json_t *schema_ref(const char *name) { return json_pack("{s:s+}", "$ref", "#/$defs/", name); }

json_t *schema_constant(const char *word) { return json_pack("{s:s}", "const", word); }

json_t *schema_one_or_list(json_t *item)
{
    json_t *list = schema_list(json_incref(item));
    json_object_set_new(list, "minItems", json_integer(1));
    return json_pack("{s:[o,o]}", "anyOf", item, list);
}

json_t *schema_words(const char *const *words)
{
    json_t *list = json_array();
    for (size_t i = 0; words[i] != NULL; i++)
        json_array_append_new(list, json_string(words[i]));
    return json_pack("{s:o}", "enum", list);
}

static json_t *choices_json(const struct param *param)
{
    json_t *list = json_array();
    for (size_t i = 0; param->choices[i] != NULL; i++)
        json_array_append_new(list, param_json(param, param->choices[i]));
    return json_pack("{s:o}", "enum", list);
}

static void bound_set(json_t *json, const char *key, const struct param *param, const char *text)
{
    if (text != NULL)
        json_object_set_new(json, key, param_json(param, text));
}

static json_t *type_json(const struct param *param)
{
    json_t *json;
    switch (param->type) {
    case PARAM_BOOL:
        return json_pack("{s:s}", "type", "boolean");
    case PARAM_TEXT:
        return json_pack("{s:s}", "type", "string");
    case PARAM_ENUM:
        return choices_json(param);
    case PARAM_COUNT:
    case PARAM_RATIO:
        json = json_pack("{s:s}", "type", param->type == PARAM_COUNT ? "integer" : "number");
        bound_set(json, "minimum", param,
                  param->min != NULL || param->type == PARAM_RATIO ? param->min : "0");
        bound_set(json, "maximum", param, param->max);
        return json;
    default:
        return schema_ref(quantities[param->type].name);
    }
}

static json_t *param_schema(const struct param *param)
{
    json_t *json = type_json(param);
    if (param->can_auto)
        json = json_pack("{s:[o,o]}", "anyOf", json, schema_constant("auto"));
    bool named = param_has_words(param);
    for (size_t i = 0; named && param->choices[i] != NULL; i += 2) {
        if (i == 0)
            json = json_pack("{s:[o]}", "anyOf", json);
        json_array_append_new(json_object_get(json, "anyOf"), schema_constant(param->choices[i]));
    }
    char range[96] = "", text[1024];
    bool quantity = param->type == PARAM_BYTES || param->type == PARAM_RATE ||
                    param->type == PARAM_TIME || param->type == PARAM_LINE_RATE;
    if (quantity && (param->min != NULL || param->max != NULL))
        snprintf(range, sizeof range, " [%s .. %s]", param->min != NULL ? param->min : "",
                 param->max != NULL ? param->max : "");
    bool sourced = param->source != NULL && param->source[0] != '\0';
    snprintf(text, sizeof text, "%s%s%s%s%s", param->help, range, sourced ? " (" : "",
             sourced ? param->source : "", sourced ? ")" : "");
    json_object_set_new(json, "description", json_string(text));
    if (param->def != NULL)
        json_object_set_new(json, "default", param_json(param, param->def));
    return json;
}

// ---- objects ----

json_t *schema_object(void)
{
    return json_pack("{s:s,s:{},s:[],s:b}", "type", "object", "properties", "required",
                     "additionalProperties", 0);
}

void schema_key(json_t *object, const char *key, json_t *schema, bool required)
{
    json_object_set_new(json_object_get(object, "properties"), key, schema);
    if (required)
        json_array_append_new(json_object_get(object, "required"), json_string(key));
}

void schema_params(json_t *object, const struct param *params, size_t n)
{
    struct param_walk walk = params_walk(params, n);
    for (const struct param *param; (param = params_next(&walk)) != NULL;)
        schema_key(object, param->name, param_schema(param), param->def == NULL);
}

json_t *schema_table(const struct param *params, size_t n)
{
    json_t *object = schema_object();
    schema_params(object, params, n);
    return object;
}

json_t *schema_list(json_t *items)
{
    return json_pack("{s:s,s:o}", "type", "array", "items", items);
}

json_t *schema_sizes(void) { return schema_list(schema_integer(1)); }

json_t *schema_ranks(void)
{
    json_t *range = json_pack("{s:s,s:s}", "type", "string", "pattern",
                              "^ *[0-9]+(-[0-9]+)? *(, *[0-9]+(-[0-9]+)? *)*$");
    json_t *list = schema_list(json_pack("{s:[o,O]}", "anyOf", schema_integer(0), range));
    json_object_set_new(list, "minItems", json_integer(1));
    json_object_set_new(list, "uniqueItems", json_true());
    return json_pack("{s:[o,o]}", "anyOf", list, range);
}

void schema_quantities(json_t *defs)
{
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++) {
        if (quantities[i].name == NULL)
            continue;
        json_t *quantity =
            json_pack("{s:s,s:s}", "type", "string", "pattern", quantities[i].pattern);
        if (i == PARAM_BYTES)
            quantity =
                json_pack("{s:[{s:s,s:i},o]}", "anyOf", "type", "integer", "minimum", 0, quantity);
        json_object_set_new(defs, quantities[i].name, quantity);
    }
}

json_t *schema_integer(int minimum)
{
    return json_pack("{s:s,s:i}", "type", "integer", "minimum", minimum);
}
