// SPDX-License-Identifier: MIT
// From training jobs to their results.
#include <stdlib.h>

#include "engine/memory.h"
#include "sim/sim.h"
#include "workload/training_job.h"

static ps_t known(ps_t ps, ps_t start) { return ps == PS_NEVER ? -1 : ps - start; }

static ps_t mean_compute(const struct training_job *t)
{
    double sum = 0;
    for (uint32_t r = 0; r < t->n_ranks; r++)
        sum += (double)t->rank_compute_ps[r];
    return (ps_t)(sum / t->n_ranks + 0.5);
}

// The collectives that one part of one layer has asked for.
static void collect_comm(const struct sim *sim, const struct training_job *t, uint32_t slot,
                         struct training_part_result *part)
{
    const struct workload *w = &sim->workload;
    double queueing = 0, network = 0, waits = 0, messages = 0;
    for (size_t i = 0; i < w->n_records; i++) {
        const struct collective_record *record = &w->records[i];
        if (record->request != &t->requests[slot] || record->end_ps == PS_NEVER)
            continue;
        part->collectives++;
        part->comm_ps += record->end_ps - record->start_ps;
        for (uint32_t p = 0; p < record->n_phases; p++) {
            queueing += record->phases[p].queueing_ps;
            network += record->phases[p].network_ps;
            waits += (double)record->phases[p].waits;
            messages += (double)record->phases[p].messages;
        }
    }
    part->queueing_ps = waits > 0 ? (ps_t)(queueing / waits) : 0;
    part->network_ps = messages > 0 ? (ps_t)(network / messages) : 0;
}

static void collect_layers(const struct sim *sim, const struct training_job *t,
                           struct training_result *out)
{
    out->n_layers = t->spec->n_layers;
    out->layers = memory_zeroed(out->n_layers, sizeof *out->layers);
    for (uint32_t slot = 0; slot < t->n_slots; slot++) {
        struct training_layer_result *layer = &out->layers[slot / TRAINING_PARTS];
        struct training_part_result *part = &layer->parts[slot % TRAINING_PARTS];
        layer->name = t->spec->layers[slot / TRAINING_PARTS].name;
        part->compute_ps = (ps_t)(t->slots[slot].computed_ps / t->n_ranks);
        part->exposed_ps = (ps_t)(t->slots[slot].exposed_ps / t->n_ranks + 0.5);
        collect_comm(sim, t, slot, part);
    }
}

static const struct phase_record *phase_at(const struct collective_record *record, uint32_t dim,
                                           uint8_t op)
{
    for (uint32_t p = 0; p < record->n_phases; p++)
        if (record->phases[p].dim == dim && record->phases[p].op == op)
            return &record->phases[p];
    return NULL;
}

// All records of a slot, of the kind of phase `kind` of one of them.
static struct training_phase_result phase_sum(const struct workload *w,
                                              const struct collective_record *first,
                                              const struct phase_record *kind)
{
    struct training_phase_result out = {.op = coll_op_name((enum coll_op)kind->op),
                                        .algorithm = kind->algorithm->name,
                                        .dim = kind->dim};
    double queueing = 0, network = 0, waits = 0;
    for (size_t i = 0; i < w->n_records; i++) {
        const struct collective_record *record = &w->records[i];
        const struct phase_record *p = phase_at(record, kind->dim, kind->op);
        if (record->request != first->request || record->end_ps == PS_NEVER || !p)
            continue;
        queueing += p->queueing_ps;
        network += p->network_ps;
        waits += (double)p->waits;
        out.messages += p->messages;
        out.bytes += p->bytes;
    }
    out.queueing_ps = waits > 0 ? (ps_t)(queueing / waits) : 0;
    out.network_ps = out.messages > 0 ? (ps_t)(network / (double)out.messages) : 0;
    return out;
}

// By the collectives that have ended: the first of each slot says which phases there are.
static void collect_phases(const struct sim *sim, const struct training_job *t,
                           struct training_result *out)
{
    const struct workload *w = &sim->workload;
    bool *done = memory_zeroed(t->n_slots, sizeof *done);
    for (size_t i = 0; i < w->n_records; i++) {
        const struct collective_record *record = &w->records[i];
        if (record->job != t->job->index || record->end_ps == PS_NEVER)
            continue;
        size_t slot = (size_t)(record->request - t->requests);
        if (done[slot])
            continue;
        done[slot] = true;
        out->phases =
            memory_resize(out->phases, out->n_phases + record->n_phases, sizeof *out->phases);
        for (uint32_t p = 0; p < record->n_phases; p++) {
            struct training_phase_result *phase = &out->phases[out->n_phases++];
            *phase = phase_sum(w, record, &record->phases[p]);
            phase->layer = t->spec->layers[slot / TRAINING_PARTS].name;
            phase->part = training_parts[slot % TRAINING_PARTS];
        }
    }
    free(done);
}

static int compare_times(const void *a, const void *b)
{
    ps_t x = *(const ps_t *)a, y = *(const ps_t *)b;
    return (x > y) - (x < y);
}

// Nearest-rank percentiles; sorts.
static struct training_spread spread_of(ps_t *times, size_t n)
{
    if (n == 0)
        return (struct training_spread){-1, -1, -1};
    qsort(times, n, sizeof *times, compare_times);
    return (struct training_spread){times[(n * 50 + 99) / 100 - 1], times[(n * 99 + 99) / 100 - 1],
                                    times[n - 1]};
}

static void collect_ranks(const struct training_job *t, struct training_result *out)
{
    ps_t start = t->job->spec->start_ps;
    ps_t *ends = memory_zeroed(t->n_ranks, sizeof *ends);
    ps_t *exposed = memory_zeroed(t->n_ranks, sizeof *exposed);
    size_t n = 0;
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        if (t->rank_end_ps[r] == PS_NEVER)
            continue;
        ends[n] = t->rank_end_ps[r] - start;
        exposed[n] = ends[n] - t->rank_compute_ps[r];
        n++;
    }
    out->rank_end = spread_of(ends, n);
    out->exposed = spread_of(exposed, n);
    free(ends);
    free(exposed);
}

static void collect_use(const struct sim *sim, const struct training_job *t,
                        struct training_use *out)
{
    const struct dim_use *u = &t->use;
    ps_t end = t->end_ps == PS_NEVER ? sim->engine.now_ps : t->end_ps;
    double time = (double)(end - t->job->spec->start_ps);
    *out = (struct training_use){.n_dims = u->n_dims, .step_ps = u->step_ps, .n = u->n};
    out->share = memory_zeroed(u->n * u->n_dims, sizeof *out->share);
    out->mean = memory_zeroed(u->n_dims, sizeof *out->mean);
    for (size_t i = 0; i < u->n; i++)
        for (uint32_t d = 0; d < u->n_dims; d++) {
            double busy = u->busy_ps[i * u->n_dims + d];
            out->share[i * u->n_dims + d] = busy / (double)u->step_ps;
            out->mean[d] += time > 0 ? busy / time : 0;
        }
    out->whole = out->mean[u->n_dims - 1] > 0;
}

void sim_collect_trainings(const struct sim *sim, struct result *r)
{
    const struct workload *w = &sim->workload;
    for (size_t j = 0; j < w->n_jobs; j++) {
        const struct job_spec *spec = w->jobs[j].spec;
        if (spec->kind != JOB_TRAINING)
            continue;
        const struct training_job *t = w->jobs[j].self;
        system_use_settle(t->system, sim->engine.now_ps);
        r->trainings = memory_resize(r->trainings, r->n_trainings + 1, sizeof *r->trainings);
        struct training_result *out = &r->trainings[r->n_trainings++];
        *out = (struct training_result){.job = (uint32_t)j,
                                        .ranks = t->n_ranks,
                                        .name = spec->name,
                                        .parallelism = training_keywords[t->spec->keyword],
                                        .total_ps = known(t->end_ps, spec->start_ps),
                                        .compute_ps = mean_compute(t),
                                        .n_passes = t->passes};
        out->pass_end_ps = memory_zeroed(t->passes, sizeof *out->pass_end_ps);
        for (uint64_t p = 0; p < t->passes; p++)
            out->pass_end_ps[p] = known(t->pass_end_ps[p], spec->start_ps);
        collect_layers(sim, t, out);
        collect_phases(sim, t, out);
        collect_ranks(t, out);
        collect_use(sim, t, &out->use);
    }
}
