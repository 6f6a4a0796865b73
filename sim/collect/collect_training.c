// SPDX-License-Identifier: MIT
// Makes the results of training jobs.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "sim/collect/collect_internal.h"
#include "workload/training/training_job.h"

static ps_t known(ps_t ps, ps_t start) { return ps == PS_NEVER ? -1 : ps - start; }

static ps_t mean_compute(const struct training_job *t)
{
    double sum = 0;
    for (uint32_t r = 0; r < t->n_ranks; r++)
        sum += (double)t->rank_compute_ps[r];
    return (ps_t)(sum / t->n_ranks + 0.5);
}

static ps_t mean_input(const struct training_job *t)
{
    ps_sum_t sum = 0;
    for (uint32_t r = 0; r < t->n_ranks && t->input.spec != NULL; r++)
        sum += t->input.ranks[r].waited_ps;
    return (ps_t)((2 * sum + t->n_ranks) / (2 * (ps_sum_t)t->n_ranks));
}

// ---- phases by their place in the chunk's order ----

static void delays_reach(struct training_layer_result *layer, size_t n)
{
    if (n <= layer->n_delays)
        return;
    layer->delays = memory_resize(layer->delays, n, sizeof *layer->delays);
    for (; layer->n_delays < n; layer->n_delays++)
        layer->delays[layer->n_delays] = (struct training_delay){0};
}

// Add the means of a collective. Chunks count alike, however many messages their phases have.
static void delays_add(const struct collective_record *record, struct training_layer_result *layer)
{
    double waits[COLL_MAX_PHASES] = {0};
    for (uint32_t p = 0; p < record->n_phases; p++)
        waits[record->phases[p].place] += (double)record->phases[p].waits;
    for (uint32_t p = 0; p < record->n_phases; p++) {
        const struct phase_record *phase = &record->phases[p];
        if (phase->waits == 0)
            continue;
        delays_reach(layer, phase->place + 1u);
        struct training_delay *delay = &layer->delays[phase->place];
        delay->queueing_ps += (double)phase->queueing_ps / waits[phase->place];
        if (phase->messages > 0)
            delay->network_ps += (double)phase->network_ps / (double)phase->messages *
                                 (double)phase->waits / waits[phase->place];
    }
}

// Collect the mean delays over each layer's collectives, and the mean time of chunks by dimension.
static void collect_delays(const struct sim *sim, const struct training_job *t,
                           struct training_result *out)
{
    const struct recorder *recorder = &sim->workload.recorder;
    uint32_t n_dims = t->use.n_dims;
    uint64_t *collectives = memory_zeroed(out->n_layers, sizeof *collectives);
    uint64_t *phases = memory_zeroed(n_dims, sizeof *phases);
    out->chunk_ps = memory_zeroed(n_dims, sizeof *out->chunk_ps);
    for (size_t i = 0; i < recorder->n; i++) {
        const struct collective_record *record = &recorder->records[i];
        if (record->job != t->job->index || record->end_ps == PS_NEVER)
            continue;
        // Labels are 1 + layer * TRAINING_PARTS + part.
        uint32_t layer = (record->request.label - 1) / TRAINING_PARTS;
        collectives[layer]++;
        delays_add(record, &out->layers[layer]);
        for (uint32_t p = 0; p < record->n_phases; p++) {
            out->chunk_ps[record->phases[p].dim] += (double)record->phases[p].running_ps;
            phases[record->phases[p].dim] += record->phases[p].ended;
        }
    }
    for (size_t l = 0; l < out->n_layers; l++)
        for (size_t i = 0; i < out->layers[l].n_delays; i++) {
            out->layers[l].delays[i].queueing_ps /= (double)collectives[l];
            out->layers[l].delays[i].network_ps /= (double)collectives[l];
        }
    for (uint32_t d = 0; d < n_dims; d++)
        out->chunk_ps[d] = phases[d] > 0 ? out->chunk_ps[d] / (double)phases[d] : -1;
    free(collectives);
    free(phases);
}

// ---- sums by layer and part ----

// Sums over the finished collectives of one part of one layer.
struct slot_sum {
    uint64_t collectives;
    ps_t comm_ps;
    struct phase_record all;
    struct collective_record kinds; // only the phases are used
};

// Fill sums by slot, and `order` with the slots that have collectives, in the order of the first
// one. Returns the number of such slots.
static uint32_t sum_records(const struct sim *sim, const struct training_job *t,
                            struct slot_sum *sums, uint32_t *order)
{
    const struct workload *w = &sim->workload;
    uint32_t n = 0;
    for (size_t i = 0; i < w->recorder.n; i++) {
        const struct collective_record *record = &w->recorder.records[i];
        if (record->job != t->job->index || record->end_ps == PS_NEVER)
            continue;
        uint32_t slot = record->request.label - 1;
        struct slot_sum *sum = &sums[slot];
        if (sum->collectives++ == 0)
            order[n++] = slot;
        sum->comm_ps += record->end_ps - record->start_ps +
                        (ps_t)t->spec->layers[slot / TRAINING_PARTS].update_delay_ns * PS_PER_NS;
        record_kinds(record, &sum->kinds);
        for (uint32_t p = 0; p < record->n_phases; p++)
            phase_record_add(&sum->all, &record->phases[p]);
    }
    return n;
}

static void collect_layers(const struct training_job *t, const struct slot_sum *sums,
                           struct training_result *out)
{
    out->n_layers = t->spec->n_layers;
    out->layers = memory_zeroed(out->n_layers, sizeof *out->layers);
    for (uint32_t slot = 0; slot < t->n_slots; slot++) {
        struct training_layer_result *layer = &out->layers[slot / TRAINING_PARTS];
        const struct slot_sum *sum = &sums[slot];
        layer->name = t->spec->layers[slot / TRAINING_PARTS].name;
        layer->parts[slot % TRAINING_PARTS] = (struct training_part_result){
            .compute_ps = (ps_t)(t->slots[slot].computed_ps / t->n_ranks),
            .exposed_ps =
                (ps_t)((2 * t->slots[slot].exposed_ps + t->n_ranks) / (2 * (ps_sum_t)t->n_ranks)),
            .comm_ps = sum->comm_ps,
            .queueing_ps = phase_record_queueing_ps(&sum->all),
            .network_ps = phase_record_network_ps(&sum->all),
            .collectives = sum->collectives};
    }
}

static void collect_phases(const struct training_job *t, uint32_t slot, const struct slot_sum *sum,
                           struct training_result *out)
{
    uint32_t n = sum->kinds.n_phases;
    out->phases = memory_resize(out->phases, out->n_phases + n, sizeof *out->phases);
    for (uint32_t p = 0; p < n; p++) {
        const struct phase_record *kind = &sum->kinds.phases[p];
        out->phases[out->n_phases++] =
            (struct training_phase_result){.layer = t->spec->layers[slot / TRAINING_PARTS].name,
                                           .part = training_parts[slot % TRAINING_PARTS],
                                           .op = coll_op_name((enum coll_op)kind->op),
                                           .algorithm = kind->algorithm->name,
                                           .dim = kind->dim,
                                           .bytes = kind->bytes,
                                           .messages = kind->messages,
                                           .queueing_ps = phase_record_queueing_ps(kind),
                                           .network_ps = phase_record_network_ps(kind)};
    }
}

static void collect_comm(const struct sim *sim, const struct training_job *t,
                         struct training_result *out)
{
    struct slot_sum *sums = memory_zeroed(t->n_slots, sizeof *sums);
    uint32_t *order = memory_zeroed(t->n_slots, sizeof *order);
    uint32_t n = sum_records(sim, t, sums, order);
    collect_layers(t, sums, out);
    for (uint32_t i = 0; i < n; i++)
        collect_phases(t, order[i], &sums[order[i]], out);
    for (uint32_t slot = 0; slot < t->n_slots; slot++)
        record_free(&sums[slot].kinds);
    free(sums);
    free(order);
}

static struct training_spread spread_of(struct distribution *d)
{
    struct stats s = distribution_stats(d);
    bool none = d->n == 0;
    distribution_free(d);
    return none ? (struct training_spread){-1, -1, -1}
                : (struct training_spread){(ps_t)s.p50, (ps_t)s.p99, (ps_t)s.max};
}

static void collect_ranks(const struct training_job *t, struct training_result *out)
{
    struct distribution ends = {.limit = t->n_ranks}, exposed = {.limit = t->n_ranks};
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        if (t->rank_end_ps[r] == PS_NEVER)
            continue;
        ps_t end = t->rank_end_ps[r] - t->job->spec->start_ps;
        distribution_add(&ends, (double)end);
        distribution_add(&exposed, (double)(end - t->rank_compute_ps[r]));
    }
    out->rank_end = spread_of(&ends);
    out->exposed = spread_of(&exposed);
}

static void collect_passes(const struct training_job *t, ps_t start, struct training_result *out)
{
    ps_t before = 0;
    uint64_t ended = training_passes_ended(t);
    out->passes = memory_zeroed(t->passes, sizeof *out->passes);
    for (uint64_t p = 0; p < t->passes; p++) {
        ps_t end = p < ended ? known(t->pass_end_ps[p], start) : -1;
        out->passes[p] = (struct training_pass_result){end, end < 0 ? -1 : end - before};
        before = end;
    }
}

static void collect_use(const struct sim *sim, const struct training_job *t,
                        struct training_use *out)
{
    const struct dim_use *u = &t->use;
    // A job that has not ended has used the network until now.
    ps_t end = t->end_ps == PS_NEVER ? sim->fabric.engine.now_ps : t->end_ps;
    double time = (double)(end - t->job->spec->start_ps);
    *out = (struct training_use){.n_dims = u->n_dims, .step_ps = u->step_ps, .n = u->n};
    out->share = memory_zeroed(u->n * u->n_dims, sizeof *out->share);
    out->mean = memory_zeroed(u->n_dims, sizeof *out->mean);
    for (size_t i = 0; i < u->n; i++)
        for (uint32_t d = 0; d < u->n_dims; d++) {
            double busy = dim_use_ps(u, i, d);
            out->share[i * u->n_dims + d] = busy / (double)u->step_ps;
            out->mean[d] += time > 0 ? busy / time : 0;
        }
    // The last entry is for phases that span all dimensions at once.
    out->spans_all = out->mean[u->n_dims - 1] > 0;
}

void collect_trainings(const struct sim *sim, struct result *r)
{
    const struct workload *w = &sim->workload;
    for (size_t j = 0; j < w->n_jobs; j++) {
        const struct job_spec *spec = w->jobs[j].spec;
        if (!spec->kind->trains)
            continue;
        const struct training_job *t = w->jobs[j].self;
        comm_use_flush(t->comm, sim->fabric.engine.now_ps);
        r->trainings = memory_resize(r->trainings, r->n_trainings + 1, sizeof *r->trainings);
        struct training_result *out = &r->trainings[r->n_trainings++];
        *out = (struct training_result){.job = (uint32_t)j,
                                        .ranks = t->n_ranks,
                                        .name = spec->name,
                                        .parallelism = training_keywords[t->spec->keyword],
                                        .total_ps = training_passes_ended(t) == t->passes
                                                        ? known(t->end_ps, spec->start_ps)
                                                        : -1,
                                        .compute_ps = mean_compute(t),
                                        .input_ps = mean_input(t),
                                        .n_passes = t->passes};
        collect_passes(t, spec->start_ps, out);
        collect_comm(sim, t, out);
        collect_delays(sim, t, out);
        collect_ranks(t, out);
        collect_use(sim, t, &out->use);
    }
}
