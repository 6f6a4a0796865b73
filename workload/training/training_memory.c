// SPDX-License-Identifier: MIT
// Sums over layers, and a walk over an iteration.
#include "workload/training/training_memory.h"

#include <stdio.h>
#include <stdlib.h>

#include "collective/algorithm/grid.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "workload/gpu_memory/optimizer.h"

/* ---- a layer ---- */

// Bytes that a part leaves on a rank: of an all-gather those of all of its ranks.
static uint64_t exchanged(const struct training_settings *s, uint32_t layer,
                          enum training_part part)
{
    const struct training_step *step = &s->training.layers[layer].parts[part];
    if (step->op == TRAINING_NO_OP)
        return 0;
    uint32_t dims = training_dims(&s->training, layer, part, &s->schedule);
    return step->bytes * training_copies(&s->training, step, coll_span(&s->schedule, dims));
}

static uint64_t weights(const struct training_settings *s, uint32_t layer)
{
    const struct training_held *held = &s->training.layers[layer].held;
    return held->weights_known ? held->weight_bytes : exchanged(s, layer, TRAINING_WG);
}

static uint64_t activations(const struct training_settings *s, uint32_t layer)
{
    const struct training_held *held = &s->training.layers[layer].held;
    uint64_t forward = exchanged(s, layer, TRAINING_FWD), input = exchanged(s, layer, TRAINING_IG);
    if (held->activations_known)
        return held->activation_bytes;
    return forward > input ? forward : input;
}

// Buffer of an exchange that is not in place.
static uint64_t buffer(const struct training_settings *s, uint32_t layer, enum training_part part)
{
    int op = s->training.layers[layer].parts[part].op;
    bool in_place = op == TRAINING_NO_OP || op == COLL_ALL_REDUCE;
    return in_place ? 0 : exchanged(s, layer, part);
}

static struct state_bytes states_of(const struct training_settings *s)
{
    uint64_t element = s->training.element_bytes;
    if (element == 0)
        element = s->params.parameter_bytes;
    uint64_t kept = s->params.state_bytes == PARAM_AUTO
                        ? optimizer_state_bytes((enum optimizer)s->params.optimizer, element)
                        : s->params.state_bytes;
    return (struct state_bytes){element, element, kept};
}

// All but activations.
static struct footprint fixed(const struct training_settings *s)
{
    struct state_bytes bytes = states_of(s);
    struct footprint sum = {0};
    double buffers = 0;
    for (uint32_t l = 0; l < s->training.n_layers; l++) {
        const struct training_held *held = &s->training.layers[l].held;
        double parameters = (double)weights(s, l) / (double)bytes.parameter;
        struct footprint one = footprint_states(parameters, 1, 0, &bytes);
        if (held->table) {
            one.bytes[FOOTPRINT_GRADIENTS] = held->gradient_bytes;
            one.bytes[FOOTPRINT_OPTIMIZER] = held->state_bytes;
        }
        for (unsigned k = 0; k < FOOTPRINT_KINDS; k++)
            sum.bytes[k] = footprint_bytes((double)sum.bytes[k] + (double)one.bytes[k]);
        for (int part = 0; part < TRAINING_PARTS; part++) {
            double more = (double)buffer(s, l, (enum training_part)part);
            buffers = more > buffers ? more : buffers;
        }
    }
    sum.bytes[FOOTPRINT_COMMUNICATION] = footprint_bytes(buffers);
    return sum;
}

/* ---- an iteration ---- */

struct iteration {
    const struct training_settings *settings;
    struct memory_need *need;
    struct memory_class *most;
    struct footprint fixed;
    bool *kept; // [layer]
    double kept_bytes;
};

static void keep(struct iteration *it, uint32_t layer)
{
    if (!it->kept[layer])
        it->kept_bytes += (double)activations(it->settings, layer);
    it->kept[layer] = true;
}

static void release(struct iteration *it, uint32_t layer)
{
    if (it->kept[layer])
        it->kept_bytes -= (double)activations(it->settings, layer);
    it->kept[layer] = false;
}

static void note_step(struct iteration *it, const char *pass, uint32_t layer)
{
    char what[MEMORY_WHEN];
    struct footprint within = it->fixed;
    within.bytes[FOOTPRINT_ACTIVATIONS] = footprint_bytes(it->kept_bytes);
    snprintf(what, sizeof what, "%s pass of layer %s", pass,
             it->settings->training.layers[layer].name);
    memory_need_step(it->need, what, &within);
    if (it->most->when[0] != '\0' &&
        footprint_total(&within) <= footprint_total(&it->most->footprint))
        return;
    it->most->footprint = within;
    snprintf(it->most->when, sizeof it->most->when, "%s", what);
}

// The layers from the nearest checkpoint on are computed again.
static void recompute(struct iteration *it, uint32_t layer)
{
    const struct training_spec *t = &it->settings->training;
    uint32_t from = layer;
    while (!training_is_marked(&t->checkpoints, from)) // config has checked that there is one
        from--;
    for (uint32_t l = from; l <= layer; l++)
        keep(it, l);
}

static void walk(struct iteration *it)
{
    const struct training_spec *t = &it->settings->training;
    bool again = t->keyword == TRAINING_HYBRID_TRANSFORMER_FWD_IN_BCKWD;
    uint32_t n = (uint32_t)t->n_layers;
    for (uint32_t l = 0; l < n; l++) {
        if (!again || training_is_marked(&t->checkpoints, l))
            keep(it, l);
        note_step(it, "forward", l);
    }
    for (uint32_t l = n; l-- > 0;) {
        if (again && training_is_marked(&t->initiates, l))
            recompute(it, l);
        note_step(it, "backward", l);
        release(it, l);
    }
}

size_t training_memory_step(const struct training_spec *spec, uint32_t layer,
                            enum training_part part)
{
    return part == TRAINING_FWD ? layer : 2 * spec->n_layers - 1 - layer;
}

static bool all_known(const struct training_spec *t)
{
    for (uint32_t l = 0; l < t->n_layers; l++)
        if (!t->layers[l].held.weights_known || !t->layers[l].held.activations_known)
            return false;
    return true;
}

void training_memory(const struct training_settings *settings, uint32_t ranks,
                     struct memory_need *need)
{
    const struct training_spec *t = &settings->training;
    struct memory_class most = {.ranks = ranks};
    struct iteration it = {
        .settings = settings, .need = need, .most = &most, .fixed = fixed(settings)};
    *need = (struct memory_need){.at_least = !all_known(t)};
    if (t->keyword == TRAINING_MICRO || t->keyword == TRAINING_DISTRIBUTED_INFERENCE)
        return;
    it.kept = memory_zeroed(t->n_layers, sizeof *it.kept);
    walk(&it);
    free(it.kept);
    if (footprint_total(&most.footprint) > 0)
        memory_need_add(need, &most);
}

char *training_memory_lever(const struct training_settings *settings)
{
    const struct memory_need *need = &settings->memory;
    enum footprint_kind kind = footprint_largest(memory_need_most(need));
    bool checkpoints = settings->training.keyword == TRAINING_HYBRID_TRANSFORMER_FWD_IN_BCKWD;
    if (kind == FOOTPRINT_ACTIVATIONS && !checkpoints)
        return text_format("`checkpoints` (HYBRID_TRANSFORMER_FWD_IN_BCKWD) would recompute them");
    if (settings->training.element_bytes > 0)
        return text_format("`dlrm.sharding` or more ranks would divide the tables");
    return text_format("a larger model-parallel group would divide them");
}
