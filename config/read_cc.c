// SPDX-License-Identifier: MIT
// The `cc` object: a policy, a preset, values over it; and whether policy and network fit together.
#include <string.h>

#include "cc/registry.h"
#include "config/read.h"
#include "engine/assert.h"
#include "transport/transport.h"

#define WORDS_MAX 64

static const struct cc_ops *read_policy(struct reader *r, const struct place *place)
{
    const char *words[WORDS_MAX] = {0};
    for (size_t i = 0; cc_registry[i] != NULL && i + 1 < WORDS_MAX; i++)
        words[i] = cc_registry[i]->name;
    int word = read_word(r, place, "policy", words);
    return word >= 0 ? cc_registry[word] : NULL;
}

static const struct cc_preset *read_preset(struct reader *r, const struct place *place,
                                           const struct cc_ops *ops)
{
    const char *words[WORDS_MAX] = {0};
    if (place->json == NULL)
        return &ops->presets[0];
    for (size_t i = 0; i < ops->n_presets && i + 1 < WORDS_MAX; i++)
        words[i] = ops->presets[i].name;
    int word = read_word(r, place, "preset", words);
    return word >= 0 ? &ops->presets[word] : NULL;
}

// Begin `dim` with the defaults of a policy's preset.
static void policy_set(struct dim_spec *dim, const struct cc_ops *ops,
                       const struct cc_preset *preset)
{
    if (ops->params_bytes > SPEC_CC_PARAMS_BYTES)
        sim_assert_fail("the parameters of a policy fit", __FILE__, __LINE__, 0, -1);
    dim->cc = ops;
    dim->cc_preset = preset;
    memset(dim->cc_params, 0, sizeof dim->cc_params);
    cc_params_init(ops, preset->name, dim->cc_params);
}

void dim_defaults(struct dim_spec *dim)
{
    params_default(switch_params, n_switch_params, &dim->sw);
    params_default(pfc_params, n_pfc_params, &dim->sw.pfc);
    params_default(ecn_params, n_ecn_params, &dim->sw.ecn);
    params_default(routing_params, n_routing_params, &dim->sw.routing);
    for (unsigned cls = 0; cls < SWITCH_CLASSES; cls++)
        params_default(class_params, n_class_params, &dim->sw.classes[cls]);
    dim->sw.ecn.mode = ECN_AUTO;
    transport_spec_init(&dim->transport, transport_registry[0]);
    const struct cc_ops *none = cc_find("none");
    policy_set(dim, none, &none->presets[0]);
}

// Where `kind` and `preset` are left out in a dimension, its values go over the global policy.
void read_cc(struct reader *r, const struct place *place, struct dim_spec *dim)
{
    struct keys keys = {0};
    if (!read_object(r, place))
        return;
    struct place kind = place_key(place, "kind"), preset_at = place_key(place, "preset");
    bool global = place->parent->parent == NULL;
    const struct cc_ops *ops = kind.json != NULL || global ? read_policy(r, &kind) : dim->cc;
    if (ops == NULL)
        return;
    if (kind.json != NULL || preset_at.json != NULL) {
        const struct cc_preset *preset = read_preset(r, &preset_at, ops);
        if (preset == NULL)
            return;
        policy_set(dim, ops, preset);
    }
    size_t errors = r->err->n_errors;
    keys_add(&keys, "kind");
    keys_add(&keys, "preset");
    read_params(r, place, &keys, ops->params, ops->n_params, dim->cc_params);
    keys_check(r, place, &keys);
    const char *why =
        ops->check != NULL && r->err->n_errors == errors ? ops->check(dim->cc_params) : NULL;
    if (why != NULL)
        place_error(r->err, place, "%s", why);
}

// A warning for every key of the transport that is set to another value than the preset expects.
static void override_check(struct reader *r, const struct place *place, const struct dim_spec *dim)
{
    const struct transport_ops *ops = dim->transport.ops;
    struct transport_spec expected;
    transport_spec_init(&expected, ops);
    transport_complete(&expected, dim->cc_preset);
    for (size_t i = 0; i < ops->n_params; i++) {
        const struct param *param = &ops->params[i];
        char given[PARAM_TEXT_MAX], preset[PARAM_TEXT_MAX];
        const char *text = param_text(param, dim->transport.own, given);
        const char *value = param_text(param, expected.own, preset);
        struct place key = place_key(place, param->name);
        bool left_open = param->def != NULL && strcmp(param->def, "auto") == 0;
        if (left_open && strcmp(value, "auto") != 0 && strcmp(text, "auto") != 0 &&
            strcmp(text, value) != 0)
            place_warn(r->err, &key, "%s overrides %s, which preset %s of %s expects", text, value,
                       dim->cc_preset->name, dim->cc->name);
    }
}

static void transport_check(struct reader *r, const struct place *place, const struct dim_spec *dim)
{
    const struct transport_ops *ops = dim->transport.ops;
    int routing = dim->sw.routing.kind;
    struct transport_network network = {.reorders =
                                            routing == ROUTING_SPRAY || routing == ROUTING_ADAPTIVE,
                                        .lossless = dim->sw.pfc.enabled};
    struct transport_warning warnings[TRANSPORT_WARNINGS];
    size_t n = ops->warnings ? ops->warnings(&dim->transport, &network, warnings) : 0;
    for (size_t i = 0; i < n; i++) {
        struct place key = place_key(place, warnings[i].key);
        place_warn(r->err, &key, "%s", warnings[i].text);
    }
}

void fit_check(struct reader *r, const struct place *place, const struct dim_spec *dim)
{
    struct place transport = place_key(place, "transport"), sw = place_key(place, "switch"),
                 ecn = place_key(&sw, "ecn"), telemetry = place_key(&sw, "int");
    if ((dim->cc->needs & CC_NEEDS_INT) && dim->sw.telemetry == TELEMETRY_OFF)
        place_error(r->err, &telemetry, "%s needs in-band telemetry", dim->cc->name);
    if ((dim->cc->needs & CC_NEEDS_ECN) && dim->sw.ecn.mode == ECN_OFF)
        place_warn(r->err, &ecn, "%s acts on ECN marks, and marking is off: it will never act",
                   dim->cc->name);
    if (dim->cc->needs & CC_NEEDS_CNP)
        override_check(r, &transport, dim);
    transport_check(r, &transport, dim);
}
