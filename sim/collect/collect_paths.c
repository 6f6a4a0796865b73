// SPDX-License-Identifier: MIT
// Makes results of critical paths: of collectives, and of jobs (the part of a job that ended last,
// and where its time went).
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "sim/collect/collect_internal.h"
#include "workload/collective_job.h"
#include "workload/nodes/node_run.h"
#include "workload/training/training_spec.h"

#define PLACES_LISTED 64 // of a job

static int by_time(const void *a, const void *b)
{
    const struct critical_place *x = a, *y = b;
    if (x->ps != y->ps)
        return x->ps < y->ps ? 1 : -1;
    return strcmp(x->at, y->at);
}

// Number of a flow in the results.
static uint32_t flow_number(const struct sim *sim, uint32_t flow)
{
    for (uint32_t i = 0; i < sim->fabric.hosts.flows.n; i++)
        if (sim->fabric.flow_order[i] == flow)
            return i;
    return 0;
}

char *collect_pair_name(const struct sim *sim, uint32_t src, uint32_t dst)
{
    char from[GRAPH_NAME], to[GRAPH_NAME];
    return text_format("%s->%s", graph_node_name(&sim->fabric.graph, src, from),
                       graph_node_name(&sim->fabric.graph, dst, to));
}

static struct critical_place place_of(const struct sim *sim, const struct path_place *p)
{
    char name[2 * GRAPH_NAME];
    struct critical_place place = {
        .kind = p->kind, .cause = p->cause, .index = p->index, .ps = p->ps};
    if (p->kind == PLACE_PORT) {
        place.at = memory_text(graph_port_name(&sim->fabric.graph, p->index, name));
    } else if (p->kind == PLACE_FLOW) {
        const struct flow_id *id = &sim->fabric.hosts.flows.ids[p->index];
        place.at = collect_pair_name(sim, id->src, id->dst);
        place.index = flow_number(sim, p->index);
    } else {
        place.at = text_format("rank%u", p->index);
    }
    return place;
}

ps_t collect_parts(const ps_t parts[PATH_CAUSES], ps_t out[PATH_CAUSES])
{
    ps_t total_ps = 0;
    memcpy(out, parts, PATH_CAUSES * sizeof *out);
    for (unsigned cause = 0; cause < PATH_CAUSES; cause++)
        total_ps += parts[cause];
    return total_ps;
}

static void add_places(const struct sim *sim, const struct path_place *places, size_t n,
                       struct critical_result *c)
{
    c->places = memory_zeroed(n, sizeof *c->places);
    c->n_places = n;
    for (size_t i = 0; i < n; i++)
        c->places[i] = place_of(sim, &places[i]);
    if (n > 1)
        qsort(c->places, n, sizeof *c->places, by_time);
}

static void collect_places(const struct sim *sim, const struct path *path,
                           struct critical_result *c)
{
    size_t n;
    struct path_place *places =
        path_places(&sim->delivery.path_book, path, PLACES_LISTED, &n, &c->elsewhere_ps);
    c->error_ps = path->dropped_ps;
    add_places(sim, places, n, c);
    free(places);
}

void collect_critical(const struct sim *sim, const struct collective_record *record,
                      struct collective_result *c)
{
    const struct critical_record *from = &record->critical;
    if (!from->known)
        return;
    c->critical.known = true;
    c->critical.total_ps = collect_parts(from->parts, c->critical.parts);
    c->critical.elsewhere_ps = from->elsewhere_ps;
    c->critical.error_ps = from->error_ps;
    add_places(sim, from->places, from->n_places, &c->critical);
}

/* ---- layers ---- */

static int by_layer_time(const void *a, const void *b)
{
    const struct critical_layer *x = a, *y = b;
    ps_t of_x = x->compute_ps + x->comm_ps, of_y = y->compute_ps + y->comm_ps;
    if (of_x != of_y)
        return of_x < of_y ? 1 : -1;
    return x->layer != y->layer ? (x->layer > y->layer) - (x->layer < y->layer)
                                : (x->part > y->part) - (x->part < y->part);
}

// Sum up the steps of the path by layer and part; labels are 1 + layer * parts + part.
static void collect_layers(const struct sim *sim, const struct path *path,
                           struct training_result *training, struct slowest_result *s)
{
    size_t n = training->n_layers * TRAINING_PARTS;
    struct critical_layer *all = memory_zeroed(n, sizeof *all);
    for (uint32_t step = path->steps; step != 0;
         step = sim->delivery.path_book.steps[step].link.before) {
        const struct path_step *at = &sim->delivery.path_book.steps[step];
        ps_t *sum = at->communicates ? &all[at->label - 1].comm_ps : &all[at->label - 1].compute_ps;
        *sum += at->ps;
    }
    for (size_t i = 0; i < n; i++) {
        all[i].layer = (uint32_t)(i / TRAINING_PARTS);
        all[i].name = training->layers[i / TRAINING_PARTS].name;
        all[i].part = (uint8_t)(i % TRAINING_PARTS);
        all[i].word = training_parts[all[i].part];
        training->layers[all[i].layer].parts[all[i].part].critical_ps = all[i].comm_ps;
        if (all[i].compute_ps + all[i].comm_ps > 0)
            all[s->n_layers++] = all[i];
    }
    s->layers = all;
    if (s->n_layers > 1)
        qsort(s->layers, s->n_layers, sizeof *s->layers, by_layer_time);
}

// The same for a program: labels are those of workload/nodes/node_run.h.
static void collect_program(const struct sim *sim, const struct path *path,
                            struct slowest_result *s)
{
    const struct node_program *p =
        ((const struct node_run *)sim->workload.jobs[s->job].self)->program;
    uint32_t parts = p->n_uses + 1;
    size_t n = (size_t)(p->n_layers + 1) * parts;
    s->layers = memory_zeroed(n, sizeof *s->layers);
    for (uint32_t step = path->steps; step != 0;
         step = sim->delivery.path_book.steps[step].link.before) {
        const struct path_step *at = &sim->delivery.path_book.steps[step];
        uint32_t use, layer = node_label_read(p, at->label, &use);
        struct critical_layer *l = &s->layers[layer * parts + use];
        *(at->communicates ? &l->comm_ps : &l->compute_ps) += at->ps;
    }
    for (size_t i = 0; i < n; i++) {
        struct critical_layer l = s->layers[i];
        l.layer = (uint32_t)(i / parts);
        l.part = (uint8_t)(i % parts);
        l.name = l.layer > 0 ? p->layers[l.layer - 1] : "";
        l.word = l.part < p->n_uses ? p->uses[l.part] : "compute";
        if (l.compute_ps + l.comm_ps > 0)
            s->layers[s->n_layers++] = l;
    }
    if (s->n_layers > 1)
        qsort(s->layers, s->n_layers, sizeof *s->layers, by_layer_time);
}

static struct training_result *training_of(const struct result *r, uint32_t job)
{
    for (size_t i = 0; i < r->n_trainings; i++)
        if (r->trainings[i].job == job)
            return &r->trainings[i];
    return NULL;
}

/* ---- iterations ---- */

// Sum up the path by iteration; its stages are their numbers.
static void collect_iterations(const struct sim *sim, const struct path *path,
                               struct slowest_result *s)
{
    const struct path_book *book = &sim->delivery.path_book;
    uint32_t last = path->stage;
    for (uint32_t at = path->marks; at != 0; at = book->marks[at].link.before)
        last = book->marks[at].stage > last ? book->marks[at].stage : last;
    // Stage 0 is time outside of iterations. A job without iterations has no other.
    if (last == 0)
        return;
    ps_t(*sums)[PATH_CAUSES] = memory_zeroed((size_t)last + 1, sizeof *sums);
    path_stages(book, path, sums, (size_t)last + 1);
    s->iterations = memory_zeroed(last, sizeof *s->iterations);
    for (uint32_t i = 1; i <= last; i++) {
        struct critical_stage *stage = &s->iterations[s->n_iterations];
        stage->number = i;
        stage->total_ps = collect_parts(sums[i], stage->parts);
        s->n_iterations += stage->total_ps > 0;
    }
    free(sums);
}

/* ---- jobs ---- */

// The collective of the job that ended last.
static const struct collective_result *last_collective(const struct result *r, uint32_t job)
{
    const struct collective_result *last = NULL;
    for (size_t i = 0; i < r->n_collectives; i++) {
        const struct collective_result *c = &r->collectives[i];
        if (c->job == job && (last == NULL || c->end_ps > last->end_ps))
            last = c;
    }
    return last;
}

static void name_it(const struct sim *sim, const struct result *r, const struct path *path,
                    struct slowest_result *s)
{
    const struct job_run *job = &sim->workload.jobs[s->job];
    const struct collective_result *c = last_collective(r, s->job);
    s->rank = job->end_rank == UINT32_MAX ? path->rank : job_rank(job->spec, job->end_rank);
    if (training_of(r, s->job)) {
        s->kind = SLOWEST_TRAINING;
        s->name = memory_text(training_of(r, s->job)->name);
    } else if (job->spec->kind->nodes != NULL) {
        s->kind = SLOWEST_PROGRAM;
        s->name = memory_text(job->spec->name);
    } else if (c != NULL && job->spec->kind == &collective_kind) {
        s->kind = SLOWEST_COLLECTIVE;
        s->name = text_format("%s", c->op);
    } else if (job->end_rank == UINT32_MAX && path->transit_ps > 0) { // over packets
        const struct flow_id *id = &sim->fabric.hosts.flows.ids[path->flow];
        s->kind = SLOWEST_FLOW;
        s->name = collect_pair_name(sim, id->src, id->dst);
        s->rank = id->dst;
    } else {
        s->kind = SLOWEST_JOB;
        s->name = memory_text(job->spec->name ? job->spec->name : job->spec->kind->name);
    }
}

void collect_slowest(const struct sim *sim, struct result *r)
{
    const struct workload *w = &sim->workload;
    r->slowest = memory_zeroed(w->n_jobs, sizeof *r->slowest);
    for (size_t j = 0; j < w->n_jobs; j++) {
        const struct job_run *job = &w->jobs[j];
        // A job that has not ended has no last part.
        if (job->units_left > 0)
            continue;
        const struct path *path = path_at(&sim->delivery.path_book, job->path);
        struct slowest_result *s = &r->slowest[r->n_slowest++];
        s->job = (uint32_t)j;
        s->end_ps = job->end_ps;
        name_it(sim, r, path, s);
        s->critical.known = true;
        s->critical.total_ps = collect_parts(path->parts, s->critical.parts);
        collect_places(sim, path, &s->critical);
        collect_iterations(sim, path, s);
        // A flow begins with its post, a job with its planned start.
        ps_t *scheduled = &s->critical.parts[PATH_SCHEDULED];
        s->begin_ps = s->kind == SLOWEST_FLOW || *scheduled < job->spec->start_ps
                          ? *scheduled
                          : job->spec->start_ps;
        *scheduled -= s->begin_ps;
        s->critical.total_ps -= s->begin_ps;
        if (s->kind == SLOWEST_TRAINING)
            collect_layers(sim, path, training_of(r, s->job), s);
        else if (s->kind == SLOWEST_PROGRAM)
            collect_program(sim, path, s);
        if (r->last == NULL || s->end_ps > r->last->end_ps)
            r->last = s;
    }
}
