// SPDX-License-Identifier: MIT
#include "workload/cnn/cnn_projection.h"

#include <math.h>

const char *const cnn_strategies[] = {"serial",      "data",         "spatial",
                                      "pipeline",    "filter",       "channel",
                                      "data_filter", "data_spatial", NULL};

bool cnn_divides_channels(enum cnn_strategy strategy)
{
    return strategy == CNN_FILTER || strategy == CNN_CHANNEL || strategy == CNN_DATA_FILTER;
}

bool cnn_divides_domain(enum cnn_strategy strategy)
{
    return strategy == CNN_SPATIAL || strategy == CNN_DATA_SPATIAL;
}

/* ---- sums over layers ---- */

struct sums {
    double forward_ps, backward_ps, update_ps;
    double parameters;
    double activations; // elements of inputs and outputs
};

static struct sums sum(const struct cnn_plan *p, uint32_t first, uint32_t end)
{
    struct sums s = {0};
    for (uint32_t i = first; i < end; i++) {
        const struct cnn_layer *l = &p->model->layers[i];
        s.forward_ps += p->times[i].forward_ps;
        s.backward_ps += p->times[i].backward_ps;
        s.update_ps += p->times[i].update_ps;
        s.parameters += cnn_parameters(l);
        s.activations += cnn_inputs(l) + cnn_outputs(l);
    }
    return s;
}

static double message_ps(const struct cnn_plan *p, double bytes)
{
    return p->alpha_ps + bytes * p->beta_ps;
}

// Of an all-reduce of `bytes` on a ring of n.
static double all_reduce_ps(const struct cnn_plan *p, double n, double bytes)
{
    return 2 * (n - 1) * message_ps(p, bytes / n);
}

/* ---- exchanges ---- */

// Outputs of the layers with parameters, but the last: gathered or reduced among the parts.
static double channels_ps(const struct cnn_plan *p, double samples)
{
    double ps = 0;
    uint32_t last = p->model->n;
    while (last > 0 && cnn_weights(&p->model->layers[last - 1]) <= 0)
        last--;
    for (uint32_t i = 0; i + 1 < last; i++) {
        const struct cnn_layer *l = &p->model->layers[i];
        if (l->kind != CNN_POOL)
            ps += 3 * (p->parts - 1.0) *
                  message_ps(p, samples * cnn_outputs(l) * (double)p->item_bytes / p->parts);
    }
    return ps;
}

// Borders of the layers that are cut, and the outputs of the last of them, which all gather.
static double borders_ps(const struct cnn_plan *p, double samples)
{
    double ps = 0, item = (double)p->item_bytes;
    for (uint32_t i = 0; i < p->cut; i++) {
        const struct cnn_layer *l = &p->model->layers[i];
        for (unsigned a = 0; a < CNN_AXES; a++)
            if (p->axes[a] > 1 && l->kernel[a] > 1)
                ps += 2 * message_ps(p, samples * item * cnn_border(l, l->channels, p->axes, a)) +
                      2 * message_ps(p, samples * item * cnn_border(l, l->filters, p->axes, a));
    }
    if (p->cut > 0 && p->cut < p->model->n && p->parts > 1)
        ps += (p->parts - 1.0) *
              message_ps(p, samples * item * cnn_outputs(&p->model->layers[p->cut - 1]) / p->parts);
    return ps;
}

/* ---- strategies ---- */

static struct cnn_cost pipeline_cost(const struct cnn_plan *p)
{
    double forward = 0, backward = 0, update = 0, boundary = 0, memory = 0,
           batch = (double)p->batch, segments = (double)p->segments, item = (double)p->item_bytes;
    for (uint32_t s = 0; s < p->parts; s++) {
        struct sums own = sum(p, p->stage[s], p->stage[s + 1]);
        forward = fmax(forward, own.forward_ps);
        backward = fmax(backward, own.backward_ps);
        update = fmax(update, own.update_ps);
        memory = fmax(memory, 2 * batch * own.activations + 2 * own.parameters);
        if (s + 1 < p->parts)
            boundary = fmax(boundary, cnn_outputs(&p->model->layers[p->stage[s + 1] - 1]));
    }
    double steps = p->parts + segments - 1;
    return (struct cnn_cost){
        .compute_ps = batch * steps / segments * (forward + backward) + update,
        .communication_ps =
            2 * (steps - 1) * message_ps(p, p->parts > 1 ? batch / segments * boundary * item : 0),
        .memory_bytes = p->reuse * item * memory};
}

// Layers that are not cut are computed by all parts of a group, so their gradients are equal there.
static struct cnn_cost spatial_cost(const struct cnn_plan *p)
{
    struct sums cut = sum(p, 0, p->cut), whole = sum(p, p->cut, p->model->n);
    double samples = (double)p->batch / p->groups, item = (double)p->item_bytes,
           n = (double)p->groups * p->parts, share = p->contention > 0 ? p->contention : 1;
    struct cnn_plan shared = *p;
    shared.beta_ps *= p->groups > 1 ? share : 1;
    return (struct cnn_cost){
        .compute_ps = samples * ((cut.forward_ps + cut.backward_ps) / p->parts + whole.forward_ps +
                                 whole.backward_ps) +
                      cut.update_ps + whole.update_ps,
        .communication_ps =
            borders_ps(p, samples) + all_reduce_ps(&shared, n, cut.parameters * item) +
            (p->groups > 1 ? all_reduce_ps(&shared, p->groups, whole.parameters * item) : 0),
        .memory_bytes = p->reuse * item *
                        (2 * samples * (cut.activations / p->parts + whole.activations) +
                         2 * (cut.parameters + whole.parameters))};
}

static struct cnn_cost channels_cost(const struct cnn_plan *p)
{
    struct sums all = sum(p, 0, p->model->n);
    double samples = (double)p->batch / p->groups, item = (double)p->item_bytes,
           own = all.parameters * item / p->parts;
    struct cnn_plan shared = *p;
    shared.beta_ps *= p->contention;
    return (struct cnn_cost){
        .compute_ps = (samples * (all.forward_ps + all.backward_ps) + all.update_ps) / p->parts,
        .communication_ps = channels_ps(p, samples) + all_reduce_ps(&shared, p->groups, own),
        .memory_bytes =
            p->reuse * item * (2 * samples * all.activations + 2 * all.parameters / p->parts)};
}

static struct cnn_cost data_cost(const struct cnn_plan *p)
{
    struct sums all = sum(p, 0, p->model->n);
    double samples = (double)p->batch / p->groups, item = (double)p->item_bytes;
    return (struct cnn_cost){
        .compute_ps = samples * (all.forward_ps + all.backward_ps) + all.update_ps,
        .communication_ps = all_reduce_ps(p, p->groups, all.parameters * item),
        .memory_bytes = p->reuse * item * (2 * samples * all.activations + 2 * all.parameters)};
}

struct cnn_cost cnn_project(const struct cnn_plan *p)
{
    if (p->strategy == CNN_PIPELINE)
        return pipeline_cost(p);
    if (cnn_divides_domain(p->strategy))
        return spatial_cost(p);
    return cnn_divides_channels(p->strategy) ? channels_cost(p) : data_cost(p);
}

/* ---- limits and cuts ---- */

// The smallest number of filters of all layers with parameters but the last, or of channels but
// those of the first.
static double fewest(const struct cnn_model *m, bool channels)
{
    double least = INFINITY;
    uint32_t first = m->n, last = 0;
    for (uint32_t i = 0; i < m->n; i++)
        if (m->layers[i].kind != CNN_POOL) {
            first = first == m->n ? i : first;
            last = i;
        }
    for (uint32_t i = 0; i < m->n; i++)
        if (m->layers[i].kind != CNN_POOL && i != (channels ? first : last))
            least = fmin(least, channels ? m->layers[i].channels : m->layers[i].filters);
    return isinf(least) ? 1 : least;
}

static double points(const struct cnn_model *m)
{
    const uint32_t *out = m->layers[0].out;
    return m->layers[0].kind == CNN_CONNECTED ? 1 : (double)out[0] * out[1] * out[2];
}

double cnn_most_parts(const struct cnn_model *m, enum cnn_strategy strategy, uint64_t batch)
{
    switch (strategy) {
    case CNN_DATA:
        return (double)batch;
    case CNN_SPATIAL:
        return points(m);
    case CNN_PIPELINE:
        return m->n;
    case CNN_FILTER:
        return fewest(m, false);
    case CNN_CHANNEL:
        return fewest(m, true);
    case CNN_DATA_FILTER:
        return (double)batch * fewest(m, false);
    case CNN_DATA_SPATIAL:
        return (double)batch * points(m);
    default:
        return 1;
    }
}

uint32_t cnn_layers_cut(const struct cnn_model *m, const uint32_t axes[CNN_AXES])
{
    uint32_t n = 0;
    while (n < m->n && cnn_cuts(&m->layers[n], axes))
        n++;
    return n;
}

void cnn_cut_axes(const struct cnn_model *m, uint32_t parts, uint32_t axes[CNN_AXES])
{
    uint32_t most = 0, widest = UINT32_MAX;
    bool deep = m->layers[0].in[2] > 1;
    axes[0] = parts, axes[1] = axes[2] = 1;
    for (uint32_t a = 1; a <= parts; a++)
        for (uint32_t b = 1; parts % a == 0 && b <= parts / a; b++) {
            uint32_t try[CNN_AXES] = {a, b, parts / a / b};
            if (parts / a % b != 0 || (!deep && try[2] > 1))
                continue;
            uint32_t n = cnn_layers_cut(m, try), wide = a > b ? a : b;
            wide = try[2] > wide ? try[2] : wide;
            if (n == 0 || n < most || (n == most && wide >= widest))
                continue;
            most = n, widest = wide;
            for (unsigned i = 0; i < CNN_AXES; i++)
                axes[i] = try[i];
        }
}

// Stages needed if none takes longer than `limit`; fills their first layers where there is room.
static uint32_t stages_within(const struct cnn_model *m, const struct cnn_time *times,
                              uint32_t parts, double limit, uint32_t *stage)
{
    uint32_t n = 1;
    double taken = 0;
    stage[0] = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        double ps = times[i].forward_ps + times[i].backward_ps;
        bool needed = m->n - i == parts - n; // each stage has a layer
        if (i > 0 && n < parts && (taken + ps > limit || needed)) {
            stage[n++] = i;
            taken = 0;
        }
        taken += ps;
        if (taken > limit && !(ps > limit))
            return parts + 1;
    }
    stage[n] = m->n;
    return taken > limit ? parts + 1 : n;
}

void cnn_stages(const struct cnn_model *m, const struct cnn_time *times, uint32_t parts,
                uint32_t *stage)
{
    double low = 0, high = 0;
    for (uint32_t i = 0; i < m->n; i++) {
        double ps = times[i].forward_ps + times[i].backward_ps;
        low = fmax(low, ps);
        high += ps;
    }
    for (unsigned i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (stages_within(m, times, parts, middle, stage) <= parts)
            high = middle;
        else
            low = middle;
    }
    stages_within(m, times, parts, high, stage);
}
