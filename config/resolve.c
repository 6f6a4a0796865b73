// SPDX-License-Identifier: MIT
// The description as a scenario again: every default filled in, keys in a fixed order.
#include <stdlib.h>
#include <string.h>

#include "config/job_reader.h"

// A number without a fraction as a JSON integer, so that it reads "8" and not "8.0".
static json_t *number_json(double value)
{
    if (value > -1e15 && value < 1e15 && value == (double)(int64_t)value)
        return json_integer((int64_t)value);
    return json_real(value);
}

json_t *param_json(const struct param *param, const char *text)
{
    if (strcmp(text, "auto") == 0)
        return json_string(text);
    if (choice_is_bool(param, text))
        return json_boolean(strcmp(text, "true") == 0);
    switch (param->type) {
    case PARAM_BOOL:
        return json_boolean(strcmp(text, "true") == 0);
    case PARAM_COUNT:
        return json_integer(strtoll(text, NULL, 10));
    case PARAM_RATIO:
        return number_json(strtod(text, NULL));
    default:
        return json_string(text);
    }
}

// Empty texts are left out: they mean that there is none.
void write_params(json_t *json, const struct param *params, size_t n, const void *base)
{
    struct param_walk walk = params_walk(params, n);
    for (const struct param *param; (param = params_next(&walk)) != NULL;) {
        char buf[PARAM_TEXT_MAX];
        const char *text = param_text(param, base, buf);
        if (param->type != PARAM_TEXT || text[0] != '\0')
            json_object_set_new(json, param->name, param_json(param, text));
    }
}

json_t *params_json(const struct param *params, size_t n, const void *base)
{
    json_t *json = json_object();
    write_params(json, params, n, base);
    return json;
}

static json_t *ecn_json(const struct ecn_spec *ecn)
{
    if (ecn->mode == ECN_AUTO)
        return json_string("auto");
    struct ecn_switch mark = {.enabled = ecn->mode == ECN_ON};
    json_t *json = params_json(ecn_switch_params, n_ecn_switch_params, &mark);
    write_params(json, ecn_params, n_ecn_params, ecn);
    return json;
}

// Those that the scenario names; the others are as the defaults of the table say.
static json_t *classes_json(const struct switch_spec *sw)
{
    json_t *classes = json_object();
    for (unsigned cls = 0; cls < SWITCH_CLASSES; cls++) {
        char name[] = {(char)('0' + cls), '\0'};
        if (sw->classes[cls].given)
            json_object_set_new(classes, name,
                                params_json(class_params, n_class_params, &sw->classes[cls]));
    }
    return classes;
}

static json_t *switch_json(const struct switch_spec *sw)
{
    json_t *json = params_json(switch_params, n_switch_params, sw);
    json_t *routing = params_json(routing_params, n_routing_params, &sw->routing);
    json_object_set_new(json, "pfc", params_json(pfc_params, n_pfc_params, &sw->pfc));
    json_object_set_new(json, "ecn", ecn_json(&sw->ecn));
    json_object_set_new(json, "routing", routing);
    json_object_set_new(json, "classes", classes_json(sw));
    return json;
}

static json_t *transport_json(const struct transport_spec *transport)
{
    json_t *json = params_json(transport_params, n_transport_params, transport);
    json_t *overhead = transport->overhead == OVERHEAD_CUSTOM
                           ? params_json(overhead_params, n_overhead_params, transport)
                           : json_string(overhead_words[transport->overhead]);
    json_object_set_new(json, "wire_overhead", overhead);
    return json;
}

static json_t *cc_json(const struct dim_spec *dim)
{
    json_t *json = json_object();
    json_object_set_new(json, "kind", json_string(dim->cc->name));
    json_object_set_new(json, "preset", json_string(dim->cc_preset->name));
    write_params(json, dim->cc->params, dim->cc->n_params, dim->cc_params);
    return json;
}

// Does the policy of a dimension bring another notification point than the global transport shows?
static bool notified_apart(const struct transport_spec *t, const struct transport_spec *base)
{
    return t->cnp != base->cnp || t->cnp_scope != base->cnp_scope ||
           t->cnp_interval_ps != base->cnp_interval_ps;
}

static json_t *dim_json(const struct dim_spec *dim, const struct dim_spec *base,
                        const bool *overrides)
{
    json_t *json = json_object();
    struct dim_params own = {dim->size, dim->ranks_per_port};
    json_object_set_new(json, "kind", json_string(dim->kind->name));
    write_params(json, dim_params, n_dim_params, &own);
    write_params(json, dim->kind->params, dim->kind->n_params, dim->params);
    json_object_set_new(json, "link", params_json(link_params, n_link_params, &dim->links[0]));
    for (size_t i = 0; dim->kind->links != NULL && dim->kind->links[i] != NULL; i++)
        json_object_set_new(json, dim->kind->links[i],
                            params_json(link_params, n_link_params, &dim->links[i + 1]));
    if (overrides[OVERRIDE_SWITCH])
        json_object_set_new(json, "switch", switch_json(&dim->sw));
    if (overrides[OVERRIDE_TRANSPORT] || notified_apart(&dim->transport, &base->transport))
        json_object_set_new(json, "transport", transport_json(&dim->transport));
    if (overrides[OVERRIDE_CC])
        json_object_set_new(json, "cc", cc_json(dim));
    return json;
}

json_t *topology_json(const struct scenario *scenario)
{
    json_t *dims = json_array(), *json = json_object();
    for (uint32_t d = 0; d < scenario->spec.n_dims; d++)
        json_array_append_new(
            dims, dim_json(&scenario->spec.dims[d], &scenario->base, scenario->overrides[d]));
    json_object_set_new(json, "dims", dims);
    return json;
}

static json_t *job_json(const struct job_spec *job, const json_t *given)
{
    const struct job_kind *kind = job->kind;
    const struct job_entry *entry = job_registry;
    while (entry->kind != kind)
        entry++;
    json_t *json = json_object(), *ranks = json_object_get(given, "ranks");
    json_object_set_new(json, "kind", json_string(kind->name));
    write_params(json, job_params, n_job_params, job);
    write_params(json, kind->params, kind->n_params, job->settings);
    if (entry->reader != NULL && entry->reader->write != NULL)
        entry->reader->write(json, job, given);
    if (ranks != NULL)
        json_object_set_new(json, "ranks", json_deep_copy(ranks));
    return json;
}

static json_t *workload_json(const struct scenario *scenario)
{
    if (!scenario->jobs_listed)
        return job_json(&scenario->spec.jobs[0], scenario->jobs[0]);
    json_t *jobs = json_array();
    for (size_t i = 0; i < scenario->spec.n_jobs; i++)
        json_array_append_new(jobs, job_json(&scenario->spec.jobs[i], scenario->jobs[i]));
    return jobs;
}

static json_t *captures_json(const struct spec *spec)
{
    json_t *captures = json_array();
    for (size_t i = 0; i < spec->n_captures; i++)
        json_array_append_new(captures,
                              params_json(capture_params, n_capture_params, &spec->captures[i]));
    return captures;
}

static json_t *faults_json(const struct spec *spec)
{
    json_t *faults = json_array();
    for (size_t i = 0; i < spec->n_faults; i++)
        json_array_append_new(faults, params_json(fault_params, n_fault_params, &spec->faults[i]));
    return faults;
}

static json_t *routes_json(const struct spec *spec)
{
    json_t *routes = json_array();
    for (size_t i = 0; i < spec->n_routes; i++)
        json_array_append_new(routes, params_json(route_params, n_route_params, &spec->routes[i]));
    return routes;
}

static json_t *report_json(const struct report_spec *report)
{
    json_t *places = json_array(), *json = params_json(report_params, n_report_params, report);
    for (size_t i = 0; i < report->n_sample_at; i++)
        json_array_append_new(places, json_string(report->sample_at[i]));
    json_object_set_new(json, "sample_at", places);
    return json;
}

json_t *scenario_json(const struct scenario *scenario)
{
    const struct spec *spec = &scenario->spec;
    const struct dim_spec *base = &scenario->base;
    json_t *json = params_json(scenario_params, n_scenario_params, spec);
    json_object_set_new(json, "topology", topology_json(scenario));
    json_object_set_new(json, "switch", switch_json(&base->sw));
    json_object_set_new(json, "transport", transport_json(&base->transport));
    json_object_set_new(json, "cc", cc_json(base));
    json_object_set_new(json, "workload", workload_json(scenario));
    json_object_set_new(json, "faults", faults_json(spec));
    json_object_set_new(json, "routes", routes_json(spec));
    json_object_set_new(json, "capture", captures_json(spec));
    json_object_set_new(json, "report", report_json(&spec->report));
    json_object_set_new(json, "limits",
                        params_json(limits_params, n_limits_params, &scenario->limits));
    return json;
}

// 15 digits print 0.1 as it was written; where a number needs more, 17 always do.
char *json_text(const json_t *json)
{
    char *text = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(15));
    json_t *again = json_loads(text, JSON_DECODE_ANY, NULL);
    if (!json_equal(json, again)) {
        free(text);
        text = json_dumps(json, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
    }
    json_decref(again);
    return text;
}
