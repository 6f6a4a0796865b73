// SPDX-License-Identifier: MIT
// The `cc` object: a policy, a preset, values over it; and whether policy and network fit together.
#include <string.h>

#include "cc/registry.h"
#include "config/read.h"
#include "engine/assert.h"

static const struct cc_ops *read_policy(struct reader *r, const struct place *place)
{
    struct keys words = {0};
    for (size_t i = 0; i < r->policies->n; i++)
        keys_add(&words, r->policies->policies[i]->name);
    int word = read_word(r, place, "policy", words.names);
    return word >= 0 ? r->policies->policies[word] : NULL;
}

static const struct cc_preset *read_preset(struct reader *r, const struct place *place,
                                           const struct cc_ops *ops)
{
    struct keys words = {0};
    if (place->json == NULL)
        return &ops->presets[0];
    for (size_t i = 0; i < ops->n_presets; i++)
        keys_add(&words, ops->presets[i].name);
    int word = read_word(r, place, "preset", words.names);
    return word >= 0 ? &ops->presets[word] : NULL;
}

// Begin `dim` with the defaults of a policy's preset.
static void policy_set(struct dim_spec *dim, const struct cc_ops *ops,
                       const struct cc_preset *preset)
{
    if (ops->params_bytes > CC_PARAMS_BYTES_MAX)
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
    params_default(transport_params, n_transport_params, &dim->transport);
    dim->transport.overhead = OVERHEAD_ETHERNET;
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

// A warning for every key of the notification point that overrides the preset of a policy that needs
// CNPs.
static void notification_check(struct reader *r, const struct place *place,
                               const struct dim_spec *dim)
{
    static const char *const keys[] = {"cnp", "cnp_interval", "cnp_scope"};
    struct transport_spec means = dim->transport;
    means.cnp = CNP_AUTO;
    means.cnp_scope = CNP_SCOPE_AUTO;
    means.cnp_interval_ps = PARAM_AUTO_TIME;
    notification_fill(&means, dim->cc_preset);
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        struct param param = param_find(transport_params, n_transport_params, keys[i]);
        char given[PARAM_TEXT_MAX], preset[PARAM_TEXT_MAX];
        const char *text = param_text(&param, &dim->transport, given);
        const char *expected = param_text(&param, &means, preset);
        struct place key = place_key(place, keys[i]);
        if (strcmp(text, "auto") != 0 && strcmp(text, expected) != 0)
            place_warn(r->err, &key, "%s overrides %s, which preset %s of %s expects", text,
                       expected, dim->cc_preset->name, dim->cc->name);
    }
}

void fit_check(struct reader *r, const struct place *place, const struct dim_spec *dim)
{
    struct place transport = place_key(place, "transport"), sw = place_key(place, "switch"),
                 ecn = place_key(&sw, "ecn"), recovery = place_key(&transport, "recovery"),
                 telemetry = place_key(&sw, "int");
    if ((dim->cc->needs & CC_NEEDS_INT) && dim->sw.telemetry == TELEMETRY_OFF)
        place_error(r->err, &telemetry, "%s needs in-band telemetry", dim->cc->name);
    if ((dim->cc->needs & CC_NEEDS_ECN) && dim->sw.ecn.mode == ECN_OFF)
        place_warn(r->err, &ecn, "%s acts on ECN marks, and marking is off: it will never act",
                   dim->cc->name);
    if (dim->cc->needs & CC_NEEDS_CNP)
        notification_check(r, &transport, dim);
    bool reorders =
        dim->sw.routing.kind == ROUTING_SPRAY || dim->sw.routing.kind == ROUTING_ADAPTIVE;
    if (reorders && dim->transport.recovery == RECOVERY_GO_BACK_N)
        place_warn(r->err, &recovery,
                   "go_back_n sends again what comes out of order, and this routing reorders: use "
                   "selective_repeat with `reorder`");
    if (dim->transport.recovery == RECOVERY_NONE && !dim->sw.pfc.enabled)
        place_warn(r->err, &recovery, "without recovery and PFC a dropped packet fails its flow");
}
