// SPDX-License-Identifier: MIT
// Checks whether the policy, the transport and the switches of a dimension fit together.
#include <stdio.h>
#include <string.h>

#include "config/read.h"
#include "transport/transport.h"

// Warn for every key of the transport whose value differs from the one that the preset expects.
static void override_check(struct reader *r, const struct place *place, const struct dim_spec *dim)
{
    const struct transport_ops *ops = dim->transport.ops;
    struct transport_spec expected;
    transport_spec_init(&expected, ops);
    transport_complete(&expected, dim->cc_preset);
    struct param_walk walk = params_walk(ops->params, ops->n_params);
    for (const struct param *param; (param = params_next(&walk)) != NULL;) {
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

// What the policy needs and the transport does not provide: the first such word.
static const char *missing_need(const struct transport_ops *ops, const struct cc_ops *cc)
{
    const struct cc_need_word *word = cc_need_words;
    while (word->text != NULL && !(word->bit & cc->needs & ~ops->provides))
        word++;
    return word->text;
}

bool scenario_runs(const struct scenario *scenario, const struct cc_ops *policy)
{
    const struct spec *spec = &scenario->spec;
    return transport_runs(spec->dims[spec->n_dims - 1].transport.ops, policy);
}

// The names of all policies that the transport runs, as "a, b, c".
static const char *policies_of(const struct cc_catalogue *policies, const struct transport_ops *ops,
                               char *buf, size_t room)
{
    size_t used = 0;
    buf[0] = '\0';
    for (size_t i = 0; i < policies->n && used < room; i++)
        if (transport_runs(ops, policies->policies[i]))
            used += (size_t)snprintf(buf + used, room - used, "%s%s", used > 0 ? ", " : "",
                                     policies->policies[i]->name);
    return buf;
}

void fit_policy_check(struct reader *r, const struct place *place, const struct dim_spec *dim)
{
    const struct transport_ops *ops = dim->transport.ops;
    struct place cc = place_key(place, "cc"), kind = place_key(&cc, "kind");
    char names[1024];
    if (!transport_runs(ops, dim->cc))
        place_error(r->err, &kind, "%s needs %s, which transport %s does not have; %s runs: %s",
                    dim->cc->name, missing_need(ops, dim->cc), ops->name, ops->name,
                    policies_of(r->policies, ops, names, sizeof names));
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
