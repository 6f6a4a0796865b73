// SPDX-License-Identifier: MIT
// The JSON Schema of scenarios, made from the tables that also read them.
#include <stdlib.h>
#include <string.h>

#include "config/job_reader.h"
#include "config/scenario.h"
#include "config/schema_parts.h"

static json_t *switch_schema(void)
{
    json_t *object = schema_table(switch_params, n_switch_params),
           *routing = schema_table(routing_params, n_routing_params);
    json_t *ecn = schema_table(ecn_switch_params, n_ecn_switch_params);
    schema_params(ecn, ecn_params, n_ecn_params);
    schema_key(object, "pfc", schema_table(pfc_params, n_pfc_params), false);
    schema_key(object, "ecn", json_pack("{s:[o,o]}", "anyOf", schema_constant("auto"), ecn), false);
    schema_key(object, "routing", routing, false);
    json_t *classes = schema_object();
    for (unsigned cls = 0; cls < SWITCH_CLASSES; cls++) {
        char name[] = {(char)('0' + cls), '\0'};
        schema_key(classes, name, schema_table(class_params, n_class_params), false);
    }
    schema_key(object, "classes", classes, false);
    return object;
}

static json_t *transport_schema(void)
{
    json_t *object = schema_table(transport_params, n_transport_params);
    json_t *custom = schema_table(overhead_params, n_overhead_params);
    schema_key(object, "wire_overhead",
               json_pack("{s:[o,o],s:s}", "anyOf", schema_words(overhead_words), custom, "default",
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
        json_t *policy = schema_object();
        schema_key(policy, "kind", schema_constant(ops->name), true);
        schema_key(policy, "preset", schema_words(presets.names), false);
        schema_params(policy, ops->params, ops->n_params);
        json_object_set_new(policy, "description", json_string(ops->doc));
        json_array_append_new(policies, policy);
    }
    return json_pack("{s:o}", "oneOf", policies);
}

// In a dimension `kind` may be left out: its values then go over the global policy.
static json_t *cc_override_schema(void)
{
    json_t *cases =
        json_pack("[o,o]", schema_ref("cc"),
                  json_pack("{s:s,s:{s:b}}", "type", "object", "properties", "kind", 0));
    return json_pack("{s:o}", "anyOf", cases);
}

static json_t *dims_schema(void)
{
    json_t *kinds = json_array();
    for (size_t i = 0; topology_registry[i] != NULL; i++) {
        const struct topology_kind *kind = topology_registry[i];
        json_t *dim = schema_object();
        schema_key(dim, "kind", schema_constant(kind->name), true);
        schema_params(dim, dim_params, n_dim_params);
        schema_params(dim, kind->params, kind->n_params);
        schema_key(dim, "link", schema_ref("link"), false);
        for (size_t l = 0; kind->links != NULL && kind->links[l] != NULL; l++)
            schema_key(dim, kind->links[l], schema_ref("link"), false);
        schema_key(dim, "switch", schema_ref("switch"), false);
        schema_key(dim, "transport", schema_ref("transport"), false);
        schema_key(dim, "cc", cc_override_schema(), false);
        json_object_set_new(dim, "description", json_string(kind->doc));
        json_array_append_new(kinds, dim);
    }
    json_t *dims = schema_list(json_pack("{s:o}", "oneOf", kinds));
    json_object_set_new(dims, "minItems", json_integer(1));
    json_object_set_new(dims, "maxItems", json_integer(SPEC_MAX_DIMS));
    return dims;
}

static json_t *job_schema(void)
{
    json_t *kinds = json_array();
    for (const struct job_entry *entry = job_registry; entry->kind != NULL; entry++) {
        json_t *job = schema_object();
        schema_key(job, "kind", schema_constant(entry->kind->name), true);
        schema_params(job, job_params, n_job_params);
        schema_params(job, entry->kind->params, entry->kind->n_params);
        if (entry->reader != NULL && entry->reader->schema != NULL)
            entry->reader->schema(job);
        schema_key(job, "ranks", schema_ranks(), false);
        json_object_set_new(job, "description", json_string(entry->kind->doc));
        json_array_append_new(kinds, job);
    }
    return json_pack("{s:o}", "oneOf", kinds);
}

// ---- the whole ----

static json_t *defs_schema(const struct cc_catalogue *policies)
{
    json_t *defs = json_object();
    schema_quantities(defs);
    json_object_set_new(defs, "link", schema_table(link_params, n_link_params));
    json_object_set_new(defs, "switch", switch_schema());
    json_object_set_new(defs, "transport", transport_schema());
    json_object_set_new(defs, "cc", cc_schema(policies));
    json_object_set_new(defs, "job", job_schema());
    return defs;
}

static json_t *report_schema(void)
{
    json_t *report = schema_table(report_params, n_report_params);
    schema_key(report, "sample_at", schema_list(json_pack("{s:s}", "type", "string")), false);
    return report;
}

static json_t *root_schema(void)
{
    json_t *root = schema_table(scenario_params, n_scenario_params), *topology = schema_object();
    json_t *properties = json_object_get(root, "properties");
    json_object_set_new(json_object_get(properties, "name"), "pattern",
                        json_string("^[A-Za-z0-9._-]+$"));
    schema_key(root, "$schema", json_pack("{s:s}", "type", "string"), false);
    schema_key(topology, "dims", dims_schema(), false);
    schema_key(topology, "astra",
               json_pack("{s:s,s:s}", "type", "string", "description",
                         "a network file of ASTRA-sim 1.0, instead of dims"),
               false);
    json_object_del(topology, "required");
    json_object_set_new(topology, "oneOf",
                        json_pack("[{s:[s]},{s:[s]}]", "required", "dims", "required", "astra"));
    schema_key(root, "topology", topology, true);
    schema_key(root, "switch", schema_ref("switch"), false);
    schema_key(root, "transport", schema_ref("transport"), false);
    schema_key(root, "cc", schema_ref("cc"), false);
    schema_key(root, "workload",
               json_pack("{s:[o,{s:s,s:o,s:i}]}", "anyOf", schema_ref("job"), "type", "array",
                         "items", schema_ref("job"), "minItems", 1),
               true);
    schema_key(root, "faults", schema_list(schema_table(fault_params, n_fault_params)), false);
    schema_key(root, "routes", schema_list(schema_table(route_params, n_route_params)), false);
    schema_key(root, "capture", schema_list(schema_table(capture_params, n_capture_params)), false);
    schema_key(root, "report", report_schema(), false);
    schema_key(root, "limits", schema_table(limits_params, n_limits_params), false);
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
