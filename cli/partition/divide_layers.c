// SPDX-License-Identifier: MIT
// Cuts the layers of a cnn job into the stages of a pipeline.
//
// The cost that the cut minimises is that of the job's own closed form (workload/cnn), but for one
// term: there the slowest update may be in another stage than the slowest passes, and here the two
// are added up by stage. So the result is compared in the whole closed form with the equal split
// and with the stages that the job has on its own, and the best of the three is written.
#include <stdlib.h>
#include <string.h>

#include "cli/partition/chain.h"
#include "cli/partition/divided.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"
#include "workload/cnn/cnn_job.h"

#define LAYERS_MOST 4096 // the table of the dynamic programming has layers times parts entries

static double projected_ps(const struct cnn_plan *plan, const uint32_t *stage)
{
    struct cnn_plan p = *plan;
    p.stage = stage;
    struct cnn_cost cost = cnn_project(&p);
    return cost.compute_ps + cost.communication_ps;
}

// The S segments of a batch pass through p stages in p + S - 1 steps, with a message between two
// steps.
static void cut_layers(const struct cnn_plan *p, uint32_t *stage)
{
    const struct cnn_model *m = p->model;
    double batch = (double)p->batch, segments = (double)p->segments,
           steps = p->parts + segments - 1, item = (double)p->item_bytes;
    double *work = memory_zeroed(m->n, sizeof *work),
           *boundary = memory_zeroed(m->n, sizeof *boundary);
    for (uint32_t i = 0; i < m->n; i++) {
        const struct cnn_time *t = &p->times[i];
        double bytes = batch / segments * cnn_outputs(&m->layers[i]) * item;
        work[i] = batch * steps / segments * (t->forward_ps + t->backward_ps) + t->update_ps;
        boundary[i] = 2 * (steps - 1) * (p->alpha_ps + bytes * p->beta_ps);
    }
    struct chain chain = {.n = m->n, .work = work, .boundary = boundary};
    chain_cut(&chain, p->parts, stage);
    free(work);
    free(boundary);
}

// Layers by name where the job's reader finds the same one, otherwise by number.
static json_t *stages_json(const struct cnn_model *m, const uint32_t *stage, uint32_t parts)
{
    json_t *list = json_array();
    for (uint32_t s = 0; s < parts; s++) {
        uint32_t found = s > 0 ? stage[s - 1] + 1 : 0;
        while (strcmp(m->layers[found].name, m->layers[stage[s]].name) != 0)
            found++;
        json_array_append_new(list, found == stage[s] ? json_string(m->layers[found].name)
                                                      : json_integer(stage[s] + 1));
    }
    return list;
}

static void describe(const struct cnn_plan *p, const uint32_t *stage, const uint32_t *equal,
                     struct divided *d)
{
    struct text text;
    FILE *out = text_open(&text);
    d->cost_ps = projected_ps(p, stage);
    d->equal_ps = projected_ps(p, equal);
    for (uint32_t s = 0; s < p->parts; s++) {
        char bytes[UNIT_TEXT], time[UNIT_TEXT];
        double ps = 0;
        for (uint32_t i = stage[s]; i < stage[s + 1]; i++)
            ps += p->times[i].forward_ps + p->times[i].backward_ps;
        human_time((ps_t)(ps * (double)p->batch + 0.5), time);
        uint32_t n = stage[s + 1] - stage[s];
        fprintf(out, "stage %u: %u layer%s from %s, %s an iteration", s, n, n == 1 ? "" : "s",
                p->model->layers[stage[s]].name, time);
        double sent = (double)p->batch * (double)p->item_bytes *
                      cnn_outputs(&p->model->layers[stage[s + 1] - 1]);
        human_bytes((uint64_t)sent, bytes);
        fprintf(out, s + 1 < p->parts ? ", sends %s\n" : "\n", bytes);
    }
    d->text = text_close(out, &text);
}

static int check_job(const struct model *m, const struct cnn_settings *s, struct err *err)
{
    const struct cnn_plan *plan = &s->program.plan;
    if (plan->strategy != CNN_PIPELINE)
        return err_add(err, "workload.strategy", "is pipeline in what partition writes");
    if (plan->parts != m->parts)
        return err_add(err, "--parts",
                       "a pipeline has a stage for each rank, and the job has %u ranks, not %u: "
                       "change its topology, or list its `ranks`",
                       plan->parts, m->parts);
    if (s->model.n > LAYERS_MOST)
        return err_add(err, "workload", "partition takes at most %d layers, not %u", LAYERS_MOST,
                       s->model.n);
    return 0;
}

static const struct cnn_settings *settings_of(const struct collwire_scenario *parsed)
{
    return scenario_spec(scenario_of(parsed))->jobs[0].settings;
}

void divide_layers(const struct model *m, struct divided *d, struct err *err)
{
    static const char *const others[] = {"parts", "cut_layers", "stages"};
    json_t *scenario = json_deep_copy(m->draft.json), *job = draft_job(scenario);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        json_object_del(job, others[i]);
    json_object_set_new(job, "strategy", json_string(cnn_strategies[CNN_PIPELINE]));
    struct collwire_scenario *parsed = scenario_of_json(m->options, scenario, m->draft.folder, err);
    json_decref(scenario);
    if (parsed == NULL || check_job(m, settings_of(parsed), err) != 0) {
        collwire_scenario_free(parsed);
        return;
    }
    const struct cnn_plan *plan = &settings_of(parsed)->program.plan;
    size_t ends = (size_t)m->parts + 1;
    uint32_t *cut = memory_zeroed(ends, sizeof *cut), *equal = memory_zeroed(ends, sizeof *equal);
    const uint32_t *best = cut;
    cut_layers(plan, cut);
    chain_equal(plan->model->n, m->parts, equal);
    if (projected_ps(plan, plan->stage) < projected_ps(plan, best))
        best = plan->stage;
    if (projected_ps(plan, equal) < projected_ps(plan, best))
        best = equal;
    describe(plan, best, equal, d);
    d->scenario = json_loads(collwire_scenario_json(parsed), 0, NULL);
    json_object_set_new(draft_job(d->scenario), "stages", stages_json(plan->model, best, m->parts));
    free(cut);
    free(equal);
    collwire_scenario_free(parsed);
}
