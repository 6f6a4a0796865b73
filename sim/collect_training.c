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
        part->compute_ps = t->slots[slot].computed_ps / t->n_ranks;
        part->exposed_ps = (ps_t)(t->slots[slot].exposed_ps / t->n_ranks + 0.5);
        collect_comm(sim, t, slot, part);
    }
}

void sim_collect_trainings(const struct sim *sim, struct result *r)
{
    const struct workload *w = &sim->workload;
    for (size_t j = 0; j < w->n_jobs; j++) {
        const struct job_spec *spec = w->jobs[j].spec;
        if (spec->kind != JOB_TRAINING)
            continue;
        const struct training_job *t = w->jobs[j].self;
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
    }
}
