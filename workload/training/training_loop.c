// SPDX-License-Identifier: MIT
// The training loops of ASTRA-sim 1.0; each part of a layer is one step.
//
//   DATA           forward without communication; backward per layer: weight gradient and its
//                  collective, input gradient (not for layer 0)
//   MODEL, HYBRID  forward with its collective, and wait for it; backward per layer: input gradient
//                  and its collective (not for layer 0), weight gradient and its collective (not
//                  for MODEL), then wait for the input gradient's collective
//   TRANSFORMER    the same, but wait for the input gradient's collective, also of layer 0, before
//                  the weight gradient. FWD_IN_BCKWD: an initiating layer recomputes the forward
//                  pass from the nearest checkpoint at or below it up to itself
//   DLRM           layer 0's forward all-to-all is urgent, and the last bottom layer waits for it;
//                  backward as DATA; layer 0's backward all-to-all is issued, urgent, after the
//                  input gradient of the first top layer. HYBRID_DLRM waits for a layer's input
//                  gradient collective after its weight gradient, HYBRID_DLRM_ENHANCED does not
//   MICRO          layer 0's weight gradient collective once per pass, all at once
//   DISTRIBUTED_INFERENCE  the forward half of MODEL
// In all loops a layer's forward part begins when its weight gradient's collective of the previous
// pass has ended. Source: Rashidi et al., ISPASS 2020, section III, and the version of the public
// tutorials.
#include "workload/training/training_loop.h"

#include "collective/algorithm/collective.h"

enum loop_state { STATE_FORWARD, STATE_REDO, STATE_WG, STATE_IG };

// True if the backward part computes the weight gradient before the input gradient.
static bool weight_first(const struct training_spec *s)
{
    return s->keyword == TRAINING_DATA || training_is_dlrm(s->keyword);
}

static bool initiates(const struct training_spec *s, uint32_t layer)
{
    return s->keyword == TRAINING_HYBRID_TRANSFORMER_FWD_IN_BCKWD &&
           training_is_marked(&s->initiates, layer);
}

static struct loop_action action(enum loop_verb verb, uint32_t layer, enum training_part part)
{
    return (struct loop_action){.verb = verb, .layer = layer, .part = part};
}

static struct loop_action step_to(struct training_walk *w, enum loop_state state, uint32_t layer)
{
    w->state = (uint8_t)state;
    w->layer = layer;
    w->at = 0;
    return action(LOOP_STEP, layer, TRAINING_FWD);
}

static struct loop_action next_pass(struct training_walk *w)
{
    w->pass++;
    return step_to(w, STATE_FORWARD, 0);
}

// Continue after a layer's forward part.
static struct loop_action forward_on(const struct training_spec *s, struct training_walk *w)
{
    uint32_t next = w->layer + 1;
    if (w->state == STATE_REDO)
        return step_to(w, next == w->redo_until ? STATE_IG : STATE_REDO, next);
    if (next < s->n_layers)
        return step_to(w, STATE_FORWARD, next);
    if (s->keyword == TRAINING_DISTRIBUTED_INFERENCE)
        return next_pass(w);
    return step_to(w, weight_first(s) ? STATE_WG : STATE_IG, w->layer);
}

static struct loop_action forward(const struct training_spec *s, struct training_walk *w)
{
    uint32_t layer = w->layer;
    bool exchange = training_is_dlrm(s->keyword) && layer == 0 &&
                    s->layers[0].parts[TRAINING_FWD].op == COLL_ALL_TO_ALL;
    bool awaits = training_is_dlrm(s->keyword) && layer == s->last_bottom_layer;
    switch (w->at++) {
    case 0:
        return action(LOOP_WAIT, layer, TRAINING_WG);
    case 1:
        return action(LOOP_COMPUTE, layer, TRAINING_FWD);
    case 2:
        if (exchange)
            return (struct loop_action){LOOP_ISSUE, layer, TRAINING_FWD, true};
        if (!weight_first(s))
            return action(LOOP_ISSUE, layer, TRAINING_FWD);
        if (!awaits)
            return forward_on(s, w);
        w->at++;
        return action(LOOP_WAIT, 0, TRAINING_FWD);
    case 3:
        if (awaits)
            return action(LOOP_WAIT, 0, TRAINING_FWD);
        if (weight_first(s))
            return forward_on(s, w);
        return action(LOOP_WAIT, layer, TRAINING_FWD);
    default:
        return forward_on(s, w);
    }
}

static struct loop_action weight_gradient(const struct training_spec *s, struct training_walk *w)
{
    bool waits = s->keyword != TRAINING_DATA && s->keyword != TRAINING_HYBRID_DLRM_ENHANCED;
    switch (w->at++) {
    case 0:
        return action(LOOP_COMPUTE, w->layer, TRAINING_WG);
    case 1:
        if (s->keyword != TRAINING_MODEL)
            return action(LOOP_ISSUE, w->layer, TRAINING_WG);
        w->at++;
        return action(LOOP_WAIT, w->layer, TRAINING_IG);
    case 2:
        if (waits)
            return action(LOOP_WAIT, w->layer, TRAINING_IG);
        break;
    default:
        break;
    }
    if (w->layer == 0)
        return next_pass(w);
    w->redone = false;
    return step_to(w, STATE_IG, weight_first(s) ? w->layer : w->layer - 1);
}

static struct loop_action redo(const struct training_spec *s, struct training_walk *w)
{
    uint32_t from = w->layer;
    while (!training_is_marked(&s->checkpoints,
                               from)) // config has checked that there is one at or below
        from--;
    w->redone = true;
    w->redo_until = w->layer;
    return step_to(w, from == w->layer ? STATE_IG : STATE_REDO, from);
}

static struct loop_action input_gradient(const struct training_spec *s, struct training_walk *w)
{
    if (w->at == 0 && initiates(s, w->layer) && !w->redone)
        return redo(s, w);
    switch (w->at++) {
    case 0:
        return action(LOOP_COMPUTE, w->layer, TRAINING_IG);
    case 1:
        if (training_is_dlrm(s->keyword) && w->layer == s->last_bottom_layer + 1)
            return (struct loop_action){LOOP_ISSUE, 0, TRAINING_IG, true};
        if (!weight_first(s) && (w->layer > 0 || training_is_transformer(s->keyword)))
            return action(LOOP_ISSUE, w->layer, TRAINING_IG);
        break;
    case 2:
        if (training_is_transformer(s->keyword))
            return action(LOOP_WAIT, w->layer, TRAINING_IG);
        break;
    default:
        break;
    }
    return step_to(w, STATE_WG, weight_first(s) ? w->layer - 1 : w->layer);
}

struct loop_action training_next(const struct training_spec *spec, uint64_t passes,
                                 struct training_walk *walk)
{
    if (walk->pass >= passes)
        return action(LOOP_END, 0, TRAINING_FWD);
    if (spec->keyword == TRAINING_MICRO) {
        walk->pass++;
        return action(LOOP_ISSUE, 0, TRAINING_WG);
    }
    switch ((enum loop_state)walk->state) {
    case STATE_FORWARD:
    case STATE_REDO:
        return forward(spec, walk);
    case STATE_WG:
        return weight_gradient(spec, walk);
    case STATE_IG:
        break;
    }
    return input_gradient(spec, walk);
}

/* ---- dimensions ---- */

// The leading dimensions whose sizes multiply to `group`.
static uint32_t leading_dims(uint64_t group, const struct coll_schedule *schedule)
{
    uint64_t ranks = 1;
    uint32_t d = 0;
    while (d < schedule->n_dims && ranks * schedule->dim_size[d] <= group)
        ranks *= schedule->dim_size[d++];
    return (UINT32_C(1) << d) - 1;
}

static uint32_t dims_spanned(const struct training_spec *spec, uint32_t layer,
                             enum training_part part, const struct coll_schedule *schedule)
{
    uint32_t all = (UINT32_C(1) << schedule->n_dims) - 1, model;
    enum training_group group = spec->layers[layer].parts[part].group;
    if (group != TRAINING_GROUP_OF_PART) {
        uint32_t experts = leading_dims(spec->model_parallel * spec->expert_parallel, schedule);
        return group == TRAINING_GROUP_DP_EP
                   ? all & ~experts
                   : experts & ~leading_dims(spec->model_parallel, schedule);
    }
    switch (spec->layers[layer].keyword) {
    case TRAINING_MODEL:
    case TRAINING_DISTRIBUTED_INFERENCE:
        model = all;
        break;
    case TRAINING_HYBRID_DATA_MODEL:
        model = 1;
        break;
    case TRAINING_HYBRID_MODEL_DATA:
        model = all & ~UINT32_C(1);
        break;
    case TRAINING_HYBRID_TRANSFORMER:
    case TRAINING_HYBRID_TRANSFORMER_FWD_IN_BCKWD:
        model = leading_dims(spec->model_parallel, schedule);
        break;
    case TRAINING_HYBRID_DLRM:
    case TRAINING_HYBRID_DLRM_ENHANCED:
        if (layer == 0)
            return all;
        model = 0;
        break;
    default:
        model = 0;
        break;
    }
    return part == TRAINING_WG ? all & ~model : model;
}

// A collective over all ranks at once belongs to dimension 0 in ASTRA-sim: it runs if that
// dimension takes part.
uint32_t training_dims(const struct training_spec *spec, uint32_t layer, enum training_part part,
                       const struct coll_schedule *schedule)
{
    uint32_t dims = dims_spanned(spec, layer, part, schedule);
    int op = spec->layers[layer].parts[part].op;
    if (!schedule->by_operation || op == TRAINING_NO_OP)
        return dims;
    if (schedule->flat[op])
        return (dims & 1) != 0 ? (UINT32_C(1) << schedule->n_dims) - 1 : 0;
    return dims & schedule->op_dims[op];
}
