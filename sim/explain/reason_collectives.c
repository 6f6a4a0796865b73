// SPDX-License-Identifier: MIT
// Sentences about collectives over several dimensions: which dimension limits them, and which ranks
// have not finished.
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "sim/explain/explain_internal.h"

#define BOUND 0.6 // a dimension in use for this share of the time is the bottleneck
#define SENTENCES_MAX 4

static uint32_t busiest_dim(const struct collective_result *c)
{
    uint32_t best = 0;
    for (uint32_t d = 1; d < c->n_dims; d++)
        if (c->dims[d].busy > c->dims[best].busy)
            best = d;
    return best;
}

// Mean time that phases of a dimension waited for it.
static ps_t mean_wait(const struct collective_record *record, uint32_t dim)
{
    struct phase_record sum = {0};
    for (uint32_t i = 0; i < record->n_phases; i++)
        if (record->phases[i].dim == dim)
            phase_record_add(&sum, &record->phases[i]);
    return phase_record_queueing_ps(&sum);
}

static void explain_one(const struct collective_record *record, const struct collective_result *c,
                        struct result *r)
{
    char wait[UNIT_TEXT];
    uint32_t dim = busiest_dim(c);
    double second = 0;
    for (uint32_t d = 0; d < c->n_dims; d++)
        if (d != dim && c->dims[d].busy > second)
            second = c->dims[d].busy;
    if (c->dims[dim].busy >= BOUND)
        result_explain(r, EXPLAIN_LOSS,
                       text_format("%s: dimension %u is the bottleneck, in use %.0f %% of the "
                                   "time (the next one %.0f %%); phases waited %s for it",
                                   c->name, dim, 100 * c->dims[dim].busy, 100 * second,
                                   human_time(mean_wait(record, dim), wait)));
    else
        result_explain(r, EXPLAIN_LOSS,
                       text_format("%s: no dimension was in use more than %.0f %% of the time: "
                                   "its phases follow one another; more chunks would overlap "
                                   "them",
                                   c->name, 100 * c->dims[dim].busy));
}

// How the phases of a collective are divided over its dimensions is a choice as its algorithms are.
// If all dimensions were busy alike, the collective would take the mean of their times.
static void explain_schedule(const struct fabric *fabric, const struct collective_record *record,
                             const struct collective_result *c, struct result *r)
{
    double sum = 0, most = 0;
    for (uint32_t d = 0; d < c->n_dims; d++) {
        sum += c->dims[d].busy;
        most = c->dims[d].busy > most ? c->dims[d].busy : most;
    }
    double uneven = most > 0 ? 1 - sum / c->n_dims / most : 0;
    if (!result_has_path(r) || r->last->job != c->job || record->request.op != COLL_ALL_REDUCE ||
        record->schedule->phases == COLL_BANDWIDTH_AWARE || uneven <= 0)
        return;
    struct reason_result *reason = result_cause(
        r, REASON_SCHEDULE, (ps_t)(uneven * (double)r->last->critical.total_ps),
        text_format("schedule: a dimension is in use %.0f %% of the time, in the mean %.0f %%",
                    100 * most, 100 * sum / c->n_dims),
        "with schedule bandwidth_aware");
    char *key = job_key(fabric, c->job, "schedule");
    reason_set(reason, "%s=bandwidth_aware", key);
    free(key);
}

// Explain the last collective of every job that has finished one over several dimensions.
void explain_collectives(const struct explain_facts *facts, struct result *r)
{
    const struct workload *w = facts->workload;
    unsigned said = 0;
    for (size_t i = 0; i < r->n_collectives && said < SENTENCES_MAX; i++) {
        const struct collective_result *c = &r->collectives[i];
        bool last = i + 1 == r->n_collectives || r->collectives[i + 1].job != c->job;
        if (!last || c->n_dims < 2 || c->end_ps <= c->start_ps ||
            w->jobs[c->job].spec->kind->trains)
            continue;
        explain_one(&w->recorder.records[i], c, r);
        explain_schedule(facts->fabric, &w->recorder.records[i], c, r);
        said++;
    }
}

// The most that a rank can send: the rates of its links in all dimensions.
static double rank_bps(const struct spec *spec)
{
    double bps = 0;
    for (uint32_t d = 0; d < spec->n_dims; d++) {
        const struct dim_spec *dim = &spec->dims[d];
        bool full = dim->kind->shape == SHAPE_FULLY_CONNECTED;
        if (dim->size > 1)
            bps += (double)dim->links[0].rate_bps *
                   (double)dim->kind->width(dim->params, dim->size) *
                   (full ? (double)(dim->size - 1) : 1);
    }
    return bps;
}

// Explain collectives that are faster than the ports of their ranks can send, since closed forms
// have no contention between concurrent chunks. Only the last collective of each job counts.
void explain_closed_form(const struct fabric *fabric, struct result *r)
{
    double most = rank_bps(fabric->spec);
    char bus[UNIT_TEXT], port[UNIT_TEXT], least[UNIT_TEXT], took[UNIT_TEXT];
    unsigned said = 0;
    for (size_t i = 0; i < r->n_collectives && said < SENTENCES_MAX; i++) {
        const struct collective_result *c = &r->collectives[i];
        bool last = i + 1 == r->n_collectives || r->collectives[i + 1].job != c->job;
        double bytes = 0, ps = (double)(c->end_ps - c->start_ps);
        for (uint32_t d = 0; d < c->n_dims; d++)
            bytes += (double)c->dims[d].bytes / c->ranks;
        double sent_bps = ps > 0 ? bytes * 8e12 / ps : 0;
        if (!last || c->end_ps < 0 || sent_bps <= most)
            continue;
        result_explain(
            r, EXPLAIN_LOSS,
            text_format("%s: no network reaches the busbw of %s: the ranks sent at %.2f times "
                        "the %s of their ports, since closed forms know no contention between "
                        "chunks under way at once; at the ports' rate it takes at least %s, not "
                        "%s",
                        c->name, human_rate(c->busbw_bps, bus), sent_bps / most,
                        human_rate(most, port), human_time((ps_t)(ps * sent_bps / most), least),
                        human_time(c->end_ps - c->start_ps, took)));
        said++;
    }
}

// The first phase that has begun and not ended.
static const struct phase_record *open_phase(const struct collective_record *record)
{
    for (uint32_t i = 0; i < record->n_phases; i++)
        if (record->phases[i].start_ps != PS_NEVER && record->phases[i].open > 0)
            return &record->phases[i];
    return NULL;
}

static void add_wait(void *result, char *text) { result_wait(result, text); }

static char *wait_text(const struct collective_record *record, uint32_t ranks)
{
    const struct phase_record *phase = open_phase(record);
    return text_format("collective %s: %u of %u ranks are done%s%s", record->request.name,
                       record->ranks_done, ranks,
                       phase ? "; a phase that has begun awaits messages: " : "",
                       phase ? coll_op_name((enum coll_op)phase->op) : "");
}

// Add the sentence that `n` groups of ranks share; takes it.
static void wait_add(struct result *r, char *text, unsigned n)
{
    if (n > 1) {
        result_wait(r, text_format("%s (in %u groups of ranks)", text, n));
        free(text);
    } else if (n == 1) {
        result_wait(r, text);
    }
}

void explain_waiting_collectives(const struct explain_facts *facts, struct result *r)
{
    const struct workload *w = facts->workload;
    char *last = NULL;
    unsigned said = 0, n = 0; // n: groups with the last sentence
    for (size_t i = 0; i < w->recorder.n && said < SENTENCES_MAX; i++) {
        const struct collective_record *record = &w->recorder.records[i];
        if (record->end_ps != PS_NEVER)
            continue;
        char *text = wait_text(record, r->collectives[i].ranks);
        if (last != NULL && strcmp(last, text) == 0) {
            free(text);
            n++;
            continue;
        }
        said += n > 0;
        if (said < SENTENCES_MAX) {
            wait_add(r, last, n);
            last = text;
            n = 1;
        } else {
            free(text);
        }
    }
    wait_add(r, last, n);
    workload_waiting(w, RESULT_WAITING_MAX, r, add_wait);
}
