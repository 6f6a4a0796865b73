// SPDX-License-Identifier: MIT
// Training results: totals, iterations, layers; and as tables for those who know ASTRA-sim's.
#include "report/training.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "report/metrics.h"

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

static json_t *spread_json(const struct training_spread *s)
{
    json_t *o = json_object();
    json_object_set_new(o, "p50", ns(s->p50));
    json_object_set_new(o, "p99", ns(s->p99));
    json_object_set_new(o, "max", ns(s->max));
    return o;
}

static json_t *use_json(const struct training_use *u)
{
    json_t *list = json_array();
    for (uint32_t d = 0; d < u->n_dims - !u->whole; d++)
        json_array_append_new(list, json_real(u->mean[d]));
    return list;
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
    json_object_set_new(o, "rank_end_ns", spread_json(&t->rank_end));
    json_object_set_new(o, "rank_exposed_ns", spread_json(&t->exposed));
    json_object_set_new(o, "dimension_use", use_json(&t->use));
    json_object_set_new(o, "iterations", iterations);
    json_object_set_new(o, "layers", layers);
    return o;
}

// ---- tables ----

// us with all digits of the time.
static void put_us(FILE *out, ps_t ps)
{
    if (ps < 0)
        fputc(',', out);
    else
        fprintf(out, ",%" PRId64 ".%06" PRId64, ps / PS_PER_US, ps % PS_PER_US);
}

static void put_text(FILE *out, const char *text)
{
    bool plain = strpbrk(text, ",\"\r\n") == NULL;
    if (!plain)
        fputc('"', out);
    for (const char *c = text; *c != '\0'; c++)
        fprintf(out, *c == '"' ? "\"\"" : "%c", *c);
    if (!plain)
        fputc('"', out);
}

// Forward, weight gradient, input gradient: the order of ASTRA-sim's columns.
static const int columns[] = {0, 2, 1};

static void end_to_end_rows(FILE *out, const struct training_result *t)
{
    for (size_t i = 0; i < t->n_layers; i++) {
        const struct training_part_result *parts = t->layers[i].parts;
        put_text(out, t->layers[i].name);
        fputc(',', out);
        put_text(out, t->name);
        for (int c = 0; c < 3; c++)
            put_us(out, parts[columns[c]].compute_ps);
        for (int c = 0; c < 3; c++)
            put_us(out, parts[columns[c]].exposed_ps);
        for (int c = 0; c < 3; c++)
            put_us(out, parts[columns[c]].comm_ps);
        put_us(out, t->total_ps);
        put_us(out, i == 0 ? t->compute_ps : -1);
        put_us(out, i == 0 && t->total_ps >= 0 ? t->total_ps - t->compute_ps : -1);
        fputc('\n', out);
    }
}

static void detailed_rows(FILE *out, const struct training_result *t)
{
    for (size_t i = 0; i < t->n_phases; i++) {
        const struct training_phase_result *p = &t->phases[i];
        put_text(out, p->layer);
        fputc(',', out);
        put_text(out, t->name);
        fprintf(out, ",%s,%u,%s,%s,%" PRIu64 ",%" PRIu64, p->part, p->dim, p->op, p->algorithm,
                p->bytes, p->messages);
        put_us(out, p->queueing_ps);
        put_us(out, p->network_ps);
        fputc('\n', out);
    }
}

static void dimension_rows(FILE *out, const struct training_result *t)
{
    const struct training_use *u = &t->use;
    for (size_t i = 0; i < u->n; i++)
        for (uint32_t d = 0; d < u->n_dims; d++) {
            if (d + 1 == u->n_dims && !u->whole)
                continue;
            put_text(out, t->name);
            fprintf(out, ",%" PRId64 ",%u,%.6f\n", ns_of_ps((ps_t)i * u->step_ps), d,
                    u->share[i * u->n_dims + d]);
        }
}

static char *table(const struct result *r, const char *heading,
                   void (*rows)(FILE *out, const struct training_result *t))
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = r->n_trainings > 0 ? open_memstream(&text, &size) : NULL;
    if (!out)
        return NULL;
    fputs(heading, out);
    for (size_t i = 0; i < r->n_trainings; i++)
        rows(out, &r->trainings[i]);
    fclose(out);
    return text;
}

char *training_end_to_end_csv(const struct result *r)
{
    return table(r,
                 "layer,run,fwd compute,wg compute,ig compute,fwd exposed comm,wg exposed comm,"
                 "ig exposed comm,fwd total comm,wg total comm,ig total comm,"
                 "workload finished at,total compute,total exposed comm\n",
                 end_to_end_rows);
}

char *training_detailed_csv(const struct result *r)
{
    return table(r,
                 "layer,run,part,dimension,op,algorithm,bytes,messages,queueing delay,"
                 "network delay\n",
                 detailed_rows);
}

char *training_dimensions_csv(const struct result *r)
{
    return table(r, "run,t_ns,dimension,share\n", dimension_rows);
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
