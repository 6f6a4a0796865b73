// SPDX-License-Identifier: MIT
// Sentences about a training job: the layer whose communication it waits for, and a rank that
// computes longer than the others.
#include <stdlib.h>
#include <string.h>

#include "sim/explain/explain_internal.h"
#include "workload/training/training_job.h"

#define PART_MIN 0.05  // share of the time from which a cause is named
#define INPUT_MIN 0.01 // the same for reading of samples
#define STRAGGLER 1.05 // compute time of a rank, by the mean, from which it is named

// Returns the longest collective with the name of the layer.
static const struct collective_result *longest_of_layer(const struct result *r, const char *layer)
{
    const struct collective_result *best = NULL;
    for (size_t i = 0; i < r->n_collectives; i++) {
        const struct collective_result *c = &r->collectives[i];
        bool of_layer = c->job == r->last->job && strcmp(c->name, layer) == 0 && c->critical.known;
        if (of_layer && (!best || c->critical.total_ps > best->critical.total_ps))
            best = c;
    }
    return best;
}

// Time for which the ranks of a training job waited for communication, mean over ranks.
static ps_t exposed_ps(const struct result *r, uint32_t job)
{
    for (size_t i = 0; i < r->n_trainings; i++)
        if (r->trainings[i].job == job && r->trainings[i].total_ps >= 0)
            return r->trainings[i].total_ps - r->trainings[i].compute_ps;
    return 0;
}

void explain_training_input(const struct fabric *fabric, struct result *r)
{
    for (size_t i = 0; i < r->n_trainings; i++) {
        const struct training_result *t = &r->trainings[i];
        if (t->job == r->last->job && (double)t->input_ps >= INPUT_MIN * (double)t->total_ps &&
            t->input_ps > 0)
            explain_input(fabric, t->input_ps, t->total_ps, r);
    }
}

void explain_layers(const struct fabric *fabric, struct result *r)
{
    static const char *const parts[] = {"forward collectives", "input gradients",
                                        "weight gradients"};
    const struct slowest_result *s = r->last;
    const struct critical_layer *most = NULL;
    ps_t exposed = exposed_ps(r, s->job);
    char all[UNIT_TEXT], total[UNIT_TEXT], of_layer[UNIT_TEXT];
    for (size_t i = 0; i < s->n_layers; i++)
        if (!most || s->layers[i].comm_ps > most->comm_ps)
            most = &s->layers[i];
    if (!most || most->comm_ps == 0 || exposed <= 0)
        return;
    const struct collective_result *c = longest_of_layer(r, most->name);
    const bool none[PATH_CAUSES] = {[PATH_OTHERS] = true};
    enum path_cause cause = c ? critical_largest(&c->critical, none) : PATH_CAUSES;
    double share = c ? (double)c->critical.parts[cause] / (double)c->critical.total_ps : 0;
    result_reason(
        r, REASON_LAYERS, EXPLAIN_TIME - 1 + (double)exposed / (double)s->critical.total_ps,
        text_format("communication is exposed for %s of %s (mean of the ranks); the %s of %s "
                    "are most of the critical path's, %s%s%s",
                    human_time(exposed, all), human_time(s->critical.total_ps, total),
                    parts[most->part], most->name, human_time(most->comm_ps, of_layer),
                    share >= PART_MIN ? ", mostly " : "",
                    share >= PART_MIN ? cause_phrase(fabric, cause) : ""));
}

// A rank on the path that computed longer than the mean of the ranks: the others waited for it.
void explain_straggler(const struct explain_facts *facts, struct result *r)
{
    const struct training_job *t = facts->workload->jobs[r->last->job].self;
    const struct critical_place *place = critical_place_of(&r->last->critical, PATH_COMPUTE);
    char slow[UNIT_TEXT];
    double sum = 0, most = 0;
    uint32_t slowest = 0;
    for (uint32_t i = 0; i < t->n_ranks; i++) {
        double compute = (double)t->rank_compute_ps[i];
        sum += compute;
        if (compute > most) {
            most = compute;
            slowest = i;
        }
    }
    double mean = t->n_ranks > 1 ? (sum - most) / (t->n_ranks - 1) : most; // of the others
    uint32_t rank = job_rank(t->job->spec, slowest);
    if (!place || place->index != rank || most < STRAGGLER * mean)
        return;
    ps_t saving = (ps_t)((double)place->ps * (1 - mean / most));
    char *seen = text_format(
        "rank%u computed for %s, %.2f times the mean of the others, which waited for it", rank,
        human_time((ps_t)most, slow), most / mean);
    if (t->settings->n_stragglers == 0) {
        result_reason(r, REASON_STRAGGLER, EXPLAIN_TIME - 1 + most / (mean + most), seen);
        return;
    }
    struct reason_result *reason =
        result_cause(r, REASON_STRAGGLER, saving, seen, "without stragglers");
    reason->at = text_format("rank%u", rank);
    char *key = job_key(facts->fabric, r->last->job, "stragglers");
    reason_set(reason, "%s=null", key);
    free(key);
}
