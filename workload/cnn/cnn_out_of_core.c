// SPDX-License-Identifier: MIT
#include "workload/cnn/cnn_out_of_core.h"
#include "workload/read/site.h"

#include "engine/base/text.h"

// Memory of a GPU that the job may use.
static uint64_t usable_bytes(const struct site *spec, const struct cnn_params *p)
{
    uint64_t capacity =
        spec->capacity_bytes != PARAM_AUTO ? spec->capacity_bytes : devices[p->gpu].memory_bytes;
    return capacity > spec->reserve_bytes ? capacity - spec->reserve_bytes : 0;
}

static void lack_error(struct reader *r, const struct place *place, const struct cnn_settings *s)
{
    const struct offload_chain *chain = &s->offload.chain;
    char needs[UNIT_TEXT], has[UNIT_TEXT];
    uint32_t layer = 0;
    uint64_t least = offload_least_bytes(chain, &layer), all = 0;
    for (uint32_t l = 0; l < chain->n; l++)
        all += chain->layers[l].output_bytes;
    human_bytes(chain->capacity_bytes, has);
    if (s->offload.lacks_states)
        place_key_error(r->err, place, "host_capacity",
                        "has no room for weights, gradients and optimizer states, which are out "
                        "of core");
    else if (least > chain->capacity_bytes)
        place_key_error(
            r->err, place, "out_of_core",
            "layer %s alone needs %s for its input, its output, their gradients%s and the "
            "network's input, and the GPU has %s for them%s: a smaller `batch` a GPU",
            s->model.layers[layer].name, human_bytes(least, needs),
            chain->swaps_weights ? ", its weights, their gradient" : "", has,
            chain->swaps_weights ? "" : " beside weights, gradients and optimizer states");
    else if (s->params.offload.method == OFFLOAD_ONLY_RECOMPUTE)
        place_key_error(r->err, place, "out_of_core_method",
                        "recompute alone does not fit into the %s that the GPU has for outputs; "
                        "auto and swap do",
                        has);
    else
        place_key_error(r->err, place, "host_capacity",
                        "the outputs that have to leave do not fit: the host has %s for them, and "
                        "with %s it could hold all",
                        human_bytes(chain->host_bytes, needs), human_bytes(all, has));
}

bool cnn_out_of_core_read(struct reader *r, const struct place *place, struct cnn_settings *s)
{
    const struct cnn_plan *plan = &s->program.plan;
    struct cnn_offload_params params = s->params.offload;
    static const char *const keys[] = {
        "out_of_core_method", "tensors_per_layer", "swap_rate", "swap_weights",
        "host_update_rate",   "host_capacity",     NULL};
    if (!params.out_of_core) {
        size_t errors = r->err->n_errors;
        place_keys_need(r->err, place, cnn_kind.params, cnn_kind.n_params, s, keys,
                        "`out_of_core`");
        return r->err->n_errors == errors;
    }
    if (plan->strategy != CNN_SERIAL && plan->strategy != CNN_DATA) {
        place_key_error(r->err, place, "out_of_core",
                        "is for the strategies serial and data, not %s",
                        cnn_strategies[plan->strategy]);
        return false;
    }
    params.capacity_bytes = usable_bytes(r->site, &s->params);
    if (params.host_bytes == PARAM_AUTO)
        params.host_bytes = UINT64_MAX;
    if (!cnn_offload_make(&s->offload, plan, &params, s->params.optimizer_bytes)) {
        lack_error(r, place, s);
        return false;
    }
    s->program.offload = &s->offload;
    return true;
}
