// SPDX-License-Identifier: MIT
// Training results: totals, iterations, layers.
#include "report/training.h"

static json_t *ns(ps_t ps) { return ps < 0 ? json_null() : json_integer(ns_of_ps(ps)); }

static json_t *part_json(const struct training_part_result *p)
{
    json_t *o = json_object();
    json_object_set_new(o, "compute_ns", ns(p->compute_ps));
    json_object_set_new(o, "exposed_ns", ns(p->exposed_ps));
    json_object_set_new(o, "comm_ns", ns(p->comm_ps));
    json_object_set_new(o, "collectives", json_integer((json_int_t)p->collectives));
    json_object_set_new(o, "queueing_ns", ns(p->queueing_ps));
    json_object_set_new(o, "network_ns", ns(p->network_ps));
    return o;
}

static json_t *layer_json(const struct training_layer_result *l)
{
    static const char *const parts[] = {"fwd", "ig", "wg"};
    json_t *o = json_object();
    json_object_set_new(o, "name", json_string(l->name));
    for (int part = 0; part < 3; part++)
        json_object_set_new(o, parts[part], part_json(&l->parts[part]));
    return o;
}

static json_t *training_json(const struct training_result *t)
{
    json_t *o = json_object(), *iterations = json_array(), *layers = json_array();
    ps_t before = 0;
    for (uint64_t i = 0; i < t->n_passes; i++) {
        json_t *pass = json_object();
        json_object_set_new(pass, "end_ns", ns(t->pass_end_ps[i]));
        json_object_set_new(pass, "duration_ns",
                            t->pass_end_ps[i] < 0 ? json_null() : ns(t->pass_end_ps[i] - before));
        json_array_append_new(iterations, pass);
        before = t->pass_end_ps[i];
    }
    for (size_t i = 0; i < t->n_layers; i++)
        json_array_append_new(layers, layer_json(&t->layers[i]));
    json_object_set_new(o, "job", json_integer(t->job));
    json_object_set_new(o, "name", json_string(t->name));
    json_object_set_new(o, "parallelism", json_string(t->parallelism));
    json_object_set_new(o, "ranks", json_integer(t->ranks));
    json_object_set_new(o, "total_ns", ns(t->total_ps));
    json_object_set_new(o, "compute_ns", ns(t->compute_ps));
    json_object_set_new(o, "exposed_comm_ns",
                        t->total_ps < 0 ? json_null() : ns(t->total_ps - t->compute_ps));
    json_object_set_new(o, "iterations", iterations);
    json_object_set_new(o, "layers", layers);
    return o;
}

json_t *trainings_json(const struct result *r)
{
    if (r->n_trainings == 0)
        return json_null();
    if (r->n_trainings == 1)
        return training_json(&r->trainings[0]);
    json_t *list = json_array();
    for (size_t i = 0; i < r->n_trainings; i++)
        json_array_append_new(list, training_json(&r->trainings[i]));
    return list;
}
