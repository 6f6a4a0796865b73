// SPDX-License-Identifier: MIT
// The JSON Schema of scenarios, made from the tables that also read them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/read.h"
#include "config/scenario.h"

// ---- one value ----

#define NUMBER "^[0-9]+(\\.[0-9]+)?"

static const struct {
    const char *name, *pattern;
} quantities[] = {
    [PARAM_BYTES] = {"bytes", NUMBER "([KMGTP]i?)?B$"},
    [PARAM_RATE] = {"rate", NUMBER "[KMGT]?bps$"},
    [PARAM_TIME] = {"time", NUMBER "(ps|ns|us|ms|s)$"},
    [PARAM_LINE_RATE] = {"line_rate", NUMBER "[KMGT]?bps$|^line(/[1-9][0-9]*)?$"},
};

static json_t *ref(const char *name) { return json_pack("{s:s+}", "$ref", "#/$defs/", name); }

static json_t *constant(const char *word) { return json_pack("{s:s}", "const", word); }

static json_t *words_json(const char *const *words)
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
        return ref(quantities[param->type].name);
    }
}

static json_t *param_schema(const struct param *param)
{
    json_t *json = type_json(param);
    if (param->can_auto)
        json = json_pack("{s:[o,o]}", "anyOf", json, constant("auto"));
    bool named = param->type == PARAM_BYTES && param->choices != NULL;
    for (size_t i = 0; named && param->choices[i] != NULL; i += 2) {
        if (i == 0)
            json = json_pack("{s:[o]}", "anyOf", json);
        json_array_append_new(json_object_get(json, "anyOf"), constant(param->choices[i]));
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

static json_t *object_new(void)
{
    return json_pack("{s:s,s:{},s:[],s:b}", "type", "object", "properties", "required",
                     "additionalProperties", 0);
}

static void key_set(json_t *object, const char *key, json_t *schema, bool required)
{
    json_object_set_new(json_object_get(object, "properties"), key, schema);
    if (required)
        json_array_append_new(json_object_get(object, "required"), json_string(key));
}

static void params_set(json_t *object, const struct param *params, size_t n)
{
    struct param_walk walk = params_walk(params, n);
    for (const struct param *param; (param = params_next(&walk)) != NULL;)
        key_set(object, param->name, param_schema(param), param->def == NULL);
}

static json_t *params_schema(const struct param *params, size_t n)
{
    json_t *object = object_new();
    params_set(object, params, n);
    return object;
}

static json_t *list_of(json_t *items)
{
    return json_pack("{s:s,s:o}", "type", "array", "items", items);
}

static json_t *ranks_schema(void)
{
    json_t *list = list_of(json_pack("{s:s,s:i}", "type", "integer", "minimum", 0));
    json_object_set_new(list, "minItems", json_integer(1));
    json_object_set_new(list, "uniqueItems", json_true());
    return list;
}

static json_t *switch_schema(void)
{
    json_t *object = params_schema(switch_params, n_switch_params),
           *routing = params_schema(routing_params, n_routing_params);
    json_t *ecn = params_schema(ecn_switch_params, n_ecn_switch_params);
    params_set(ecn, ecn_params, n_ecn_params);
    key_set(object, "pfc", params_schema(pfc_params, n_pfc_params), false);
    key_set(object, "ecn", json_pack("{s:[o,o]}", "anyOf", constant("auto"), ecn), false);
    key_set(object, "routing", routing, false);
    json_t *classes = object_new();
    for (unsigned cls = 0; cls < SWITCH_CLASSES; cls++) {
        char name[] = {(char)('0' + cls), '\0'};
        key_set(classes, name, params_schema(class_params, n_class_params), false);
    }
    key_set(object, "classes", classes, false);
    return object;
}

static json_t *transport_schema(void)
{
    json_t *object = params_schema(transport_params, n_transport_params);
    json_t *custom = params_schema(overhead_params, n_overhead_params);
    key_set(object, "wire_overhead",
            json_pack("{s:[o,o],s:s}", "anyOf", words_json(overhead_words), custom, "default",
                      overhead_words[0]),
            false);
    return object;
}

static json_t *cc_schema(const struct cc_catalogue *catalogue)
{
    json_t *policies = json_array();
    for (size_t i = 0; i < catalogue->n; i++) {
        const struct cc_ops *ops = catalogue->policies[i];
        struct keys presets = {0};
        for (size_t p = 0; p < ops->n_presets; p++)
            keys_add(&presets, ops->presets[p].name);
        json_t *policy = object_new();
        key_set(policy, "kind", constant(ops->name), true);
        key_set(policy, "preset", words_json(presets.names), false);
        params_set(policy, ops->params, ops->n_params);
        json_object_set_new(policy, "description", json_string(ops->doc));
        json_array_append_new(policies, policy);
    }
    return json_pack("{s:o}", "oneOf", policies);
}

// In a dimension `kind` may be left out: its values then go over the global policy.
static json_t *cc_override_schema(void)
{
    json_t *cases = json_pack(
        "[o,o]", ref("cc"), json_pack("{s:s,s:{s:b}}", "type", "object", "properties", "kind", 0));
    return json_pack("{s:o}", "anyOf", cases);
}

static json_t *dims_schema(void)
{
    json_t *kinds = json_array();
    for (size_t i = 0; topology_registry[i] != NULL; i++) {
        const struct topology_kind *kind = topology_registry[i];
        json_t *dim = object_new();
        key_set(dim, "kind", constant(kind->name), true);
        params_set(dim, dim_params, n_dim_params);
        params_set(dim, kind->params, kind->n_params);
        key_set(dim, "link", ref("link"), false);
        for (size_t l = 0; kind->links != NULL && kind->links[l] != NULL; l++)
            key_set(dim, kind->links[l], ref("link"), false);
        key_set(dim, "switch", ref("switch"), false);
        key_set(dim, "transport", ref("transport"), false);
        key_set(dim, "cc", cc_override_schema(), false);
        json_object_set_new(dim, "description", json_string(kind->doc));
        json_array_append_new(kinds, dim);
    }
    json_t *dims = list_of(json_pack("{s:o}", "oneOf", kinds));
    json_object_set_new(dims, "minItems", json_integer(1));
    json_object_set_new(dims, "maxItems", json_integer(SPEC_MAX_DIMS));
    return dims;
}

// Layers and system settings are checked when they are read.
static void training_keys_set(json_t *job)
{
    json_t *counts = list_of(json_pack("{s:s,s:i}", "type", "integer", "minimum", 0));
    key_set(job, "parallelism", words_json(training_keywords), false);
    key_set(job, "last_bottom_layer", json_pack("{s:s}", "type", "integer"), false);
    key_set(job, "model_parallel", json_pack("{s:s}", "type", "integer"), false);
    key_set(job, "checkpoints", counts, false);
    key_set(job, "checkpoint_initiates", json_deep_copy(counts), false);
    key_set(job, "layers", list_of(json_pack("{s:s}", "type", "object")), false);
    key_set(job, "stragglers", list_of(params_schema(straggler_params, n_straggler_params)), false);
    key_set(job, "dlrm", json_pack("{s:s}", "type", "object"), false);
    key_set(job, "system", json_pack("{s:[s,s]}", "type", "string", "object"), false);
    key_set(job, "dims", list_of(json_pack("{s:s,s:i}", "type", "integer", "minimum", 1)), false);
}

static void job_extras_set(json_t *job, enum job_kind kind)
{
    struct keys algorithms = {0};
    for (size_t i = 0; coll_registry[i] != NULL; i++)
        keys_add(&algorithms, coll_registry[i]->name);
    if (kind == JOB_FLOWS)
        key_set(job, "flows", list_of(params_schema(flow_params, n_flow_params)), false);
    if (kind == JOB_INCAST)
        key_set(job, "senders",
                json_pack("{s:[{s:s,s:i},o]}", "anyOf", "type", "integer", "minimum", 1,
                          ranks_schema()),
                false);
    if (kind == JOB_TRAINING)
        training_keys_set(job);
    if (kind == JOB_COLLECTIVE) {
        key_set(job, "algorithm",
                json_pack("{s:[o,o]}", "anyOf", words_json(algorithms.names),
                          list_of(words_json(algorithms.names))),
                false);
        key_set(job, "dims", list_of(json_pack("{s:s,s:i}", "type", "integer", "minimum", 1)),
                false);
    }
}

static json_t *job_schema(void)
{
    json_t *kinds = json_array();
    for (size_t i = 0; i < N_JOB_KINDS; i++) {
        json_t *job = object_new();
        key_set(job, "kind", constant(job_kinds[i].name), true);
        params_set(job, job_kinds[i].params, job_kinds[i].n_params);
        job_extras_set(job, (enum job_kind)i);
        key_set(job, "ranks", ranks_schema(), false);
        json_object_set_new(job, "description", json_string(job_kinds[i].doc));
        json_array_append_new(kinds, job);
    }
    return json_pack("{s:o}", "oneOf", kinds);
}

// ---- the whole ----

static json_t *defs_schema(const struct cc_catalogue *policies)
{
    json_t *defs = json_object();
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
    json_object_set_new(defs, "link", params_schema(link_params, n_link_params));
    json_object_set_new(defs, "switch", switch_schema());
    json_object_set_new(defs, "transport", transport_schema());
    json_object_set_new(defs, "cc", cc_schema(policies));
    json_object_set_new(defs, "job", job_schema());
    return defs;
}

static json_t *report_schema(void)
{
    json_t *report = params_schema(report_params, n_report_params);
    key_set(report, "sample_at", list_of(json_pack("{s:s}", "type", "string")), false);
    return report;
}

static json_t *root_schema(void)
{
    json_t *root = params_schema(scenario_params, n_scenario_params), *topology = object_new();
    json_t *properties = json_object_get(root, "properties");
    json_object_set_new(json_object_get(properties, "name"), "pattern",
                        json_string("^[A-Za-z0-9._-]+$"));
    key_set(root, "$schema", json_pack("{s:s}", "type", "string"), false);
    key_set(topology, "dims", dims_schema(), false);
    key_set(topology, "astra",
            json_pack("{s:s,s:s}", "type", "string", "description",
                      "a network file of ASTRA-sim 1.0, instead of dims"),
            false);
    json_object_del(topology, "required");
    json_object_set_new(topology, "oneOf",
                        json_pack("[{s:[s]},{s:[s]}]", "required", "dims", "required", "astra"));
    key_set(root, "topology", topology, true);
    key_set(root, "switch", ref("switch"), false);
    key_set(root, "transport", ref("transport"), false);
    key_set(root, "cc", ref("cc"), false);
    key_set(root, "workload",
            json_pack("{s:[o,{s:s,s:o,s:i}]}", "anyOf", ref("job"), "type", "array", "items",
                      ref("job"), "minItems", 1),
            true);
    key_set(root, "faults", list_of(params_schema(fault_params, n_fault_params)), false);
    key_set(root, "routes", list_of(params_schema(route_params, n_route_params)), false);
    key_set(root, "capture", list_of(params_schema(capture_params, n_capture_params)), false);
    key_set(root, "report", report_schema(), false);
    key_set(root, "limits", params_schema(limits_params, n_limits_params), false);
    return root;
}

char *schema_text(const struct cc_catalogue *policies)
{
    json_t *schema =
        json_pack("{s:s,s:s}", "$schema", "https://json-schema.org/draft/2020-12/schema", "title",
                  "a scenario of collwire");
    json_t *root = root_schema();
    json_object_update(schema, root);
    json_object_set_new(schema, "$defs", defs_schema(policies));
    char *text = json_text(schema);
    json_decref(root);
    json_decref(schema);
    return text;
}
