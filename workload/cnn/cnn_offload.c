// SPDX-License-Identifier: MIT
#include "workload/cnn/cnn_offload.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "workload/cnn/cnn_memory.h"

const char *const cnn_swap_weights[] = {"auto", "false", "true", NULL};

static double state_bytes(double parameters, uint64_t item)
{
    return parameters * (2 * (double)item + CNN_MOMENTUM_BYTES);
}

static uint64_t less(uint64_t all, uint64_t part) { return all > part ? all - part : 0; }

// The layers with the samples of a rank. Returns their parameters.
static double fill_layers(struct cnn_offload *o, const struct cnn_plan *p,
                          const struct cnn_offload_params *params, uint64_t optimizer_bytes)
{
    double samples = (double)p->batch / p->groups, item = (double)p->item_bytes, parameters = 0;
    for (uint32_t l = 0; l < p->model->n; l++) {
        const struct cnn_layer *layer = &p->model->layers[l];
        double own = cnn_parameters(layer);
        o->layers[l] = (struct offload_layer){
            .output_bytes = (uint64_t)(params->tensors * samples * item * cnn_outputs(layer) + 0.5),
            .gradient_bytes = (uint64_t)(samples * item * cnn_outputs(layer) + 0.5),
            .weight_bytes = (uint64_t)(own * item + 0.5),
            .forward_ps = (ps_t)(samples * p->times[l].forward_ps + 0.5),
            .backward_ps = (ps_t)(samples * p->times[l].backward_ps + 0.5),
            .update_ps = serialization_ps((uint64_t)(own * (double)optimizer_bytes + 0.5),
                                          params->update_bps)};
        parameters += own;
    }
    return parameters;
}

// Plan with weights, gradients and optimizer states on the GPU, or on the host.
static bool make_plan(struct cnn_offload *o, const struct cnn_offload_params *params,
                      double parameters, bool swaps_weights)
{
    uint64_t states = footprint_bytes(state_bytes(parameters, o->item_bytes));
    if (swaps_weights && params->host_bytes < states) { // an earlier plan's lack is the one to say
        o->lacks_states = params->swap_weights == CNN_WEIGHTS_SWAP;
        return false;
    }
    o->chain.swaps_weights = swaps_weights;
    o->chain.capacity_bytes = less(params->capacity_bytes, swaps_weights ? 0 : states);
    o->chain.host_bytes = params->host_bytes == UINT64_MAX
                              ? UINT64_MAX
                              : less(params->host_bytes, swaps_weights ? states : 0);
    o->resident = swaps_weights ? 0 : parameters;
    offload_plan_free(&o->plan);
    return offload_plan_make(&o->plan, &o->chain, (enum offload_method)params->method);
}

// The same network with a link of twice the rate.
static ps_t plan_faster_ps(const struct cnn_offload *o, int method)
{
    struct offload_chain faster = o->chain;
    struct offload_plan plan;
    faster.link_bps *= 2;
    offload_plan_make(&plan, &faster, (enum offload_method)method);
    ps_t ps = plan.iteration_ps < o->plan.iteration_ps ? plan.iteration_ps : o->plan.iteration_ps;
    offload_plan_free(&plan);
    return ps;
}

bool cnn_offload_make(struct cnn_offload *o, const struct cnn_plan *p,
                      const struct cnn_offload_params *params, uint64_t optimizer_bytes)
{
    double samples = (double)p->batch / p->groups, update_ps = 0;
    *o = (struct cnn_offload){.layers = memory_zeroed(p->model->n, sizeof *o->layers),
                              .item_bytes = p->item_bytes};
    double parameters = fill_layers(o, p, params, optimizer_bytes);
    for (uint32_t l = 0; l < p->model->n; l++)
        update_ps += p->times[l].update_ps;
    o->chain = (struct offload_chain){
        .layers = o->layers,
        .n = p->model->n,
        .input_bytes =
            (uint64_t)(samples * (double)p->item_bytes * cnn_inputs(&p->model->layers[0]) + 0.5),
        .link_bps = params->swap_bps,
        .update_ps = (ps_t)(update_ps + 0.5)};
    bool fits = params->swap_weights != CNN_WEIGHTS_SWAP && make_plan(o, params, parameters, false);
    if (!fits && params->swap_weights != CNN_WEIGHTS_STAY)
        fits = make_plan(o, params, parameters, true);
    if (!fits)
        return false;
    offload_schedule_make(&o->schedule, &o->chain, &o->plan.choice);
    o->faster_ps = plan_faster_ps(o, params->method);
    return true;
}

void cnn_offload_free(struct cnn_offload *o)
{
    offload_plan_free(&o->plan);
    offload_schedule_free(&o->schedule);
    free(o->layers);
    *o = (struct cnn_offload){0};
}

void cnn_offload_memory(const struct cnn_offload *o, const struct device *device, uint32_t ranks,
                        struct memory_need *need)
{
    struct offload_peak peak = offload_schedule_peak(&o->schedule);
    struct memory_class all = {.ranks = ranks};
    uint64_t *bytes = all.footprint.bytes;
    bytes[FOOTPRINT_WEIGHTS] = bytes[FOOTPRINT_GRADIENTS] =
        footprint_bytes(o->resident * (double)o->item_bytes);
    bytes[FOOTPRINT_OPTIMIZER] = footprint_bytes(o->resident * CNN_MOMENTUM_BYTES);
    bytes[FOOTPRINT_ACTIVATIONS] = peak.output_bytes;
    bytes[FOOTPRINT_TEMPORARY] = peak.state_bytes; // weights and gradients that come and go
    ps_t forward = o->schedule.ops[o->schedule.forward_op[o->chain.n - 1]].end_ps;
    snprintf(all.when, sizeof all.when, "%s pass", peak.at_ps < forward ? "forward" : "backward");
    *need = (struct memory_need){.device = device};
    memory_need_add(need, &all);
}
