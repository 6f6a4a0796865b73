// SPDX-License-Identifier: MIT
// Checks whether the policy, the transport and the switches of a dimension fit together.
#include <stdio.h>
#include <string.h>

#include "config/object/stacks.h"
#include "transport/transport.h"

// Warn for every key of the transport whose value differs from the one expected by the preset.
static void override_check(struct reader *r, const struct place *place,
                           const struct stack_spec *stack)
{
    const struct transport_ops *ops = stack->transport.ops;
    struct transport_spec expected;
    transport_spec_init(&expected, ops);
    transport_complete(&expected, stack->cc_preset, NULL);
    struct param_walk walk = params_walk(ops->params, ops->n_params);
    for (const struct param *param; (param = params_next(&walk)) != NULL;) {
        char given[PARAM_TEXT_MAX], preset[PARAM_TEXT_MAX];
        const char *text = param_text(param, stack->transport.own, given);
        const char *value = param_text(param, expected.own, preset);
        struct place key = place_key(place, param->name);
        // A preset completes only keys whose default is auto.
        bool left_open = param->def != NULL && strcmp(param->def, "auto") == 0;
        if (left_open && strcmp(value, "auto") != 0 && strcmp(text, "auto") != 0 &&
            strcmp(text, value) != 0)
            place_warn(r->err, &key, "%s overrides %s, which preset %s of %s expects", text, value,
                       stack->cc_preset->name, stack->cc->name);
    }
}

static void transport_check(struct reader *r, const struct place *place, const struct dim_spec *dim,
                            const struct stack_spec *stack)
{
    const struct transport_ops *ops = stack->transport.ops;
    const struct routing_spec *routing = &dim->sw.routing;
    bool by_packet = routing->kind == ROUTING_SPRAY || routing->kind == ROUTING_ADAPTIVE ||
                     (routing->kind == ROUTING_SOURCE && routing->source == SOURCE_ROUND_ROBIN);
    struct transport_network network = {.reorders = by_packet, .lossless = dim->sw.pfc.enabled};
    struct transport_finding found[TRANSPORT_FINDINGS];
    size_t n = ops->check ? ops->check(&stack->transport, &network, found) : 0;
    for (size_t i = 0; i < n; i++) {
        struct place key = place_key(place, found[i].key);
        if (found[i].error)
            place_error(r->err, &key, "%s", found[i].text);
        else
            place_warn(r->err, &key, "%s", found[i].text);
    }
}

// Returns the first feature that the policy needs and the transport does not provide, or NULL.
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
    const struct dim_spec *dim = &spec->dims[spec->n_dims - 1];
    uint32_t n = 0;
    for (uint32_t t = 0; t < dim->n_stacks; t++)
        n += transport_runs(dim->stacks[t].transport.ops, policy);
    // With several such transports it would not be clear which one runs the policy.
    return n == 1;
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
    char names[1024];
    for (uint32_t t = 0; t < dim->n_stacks; t++) {
        const struct stack_spec *stack = &dim->stacks[t];
        const struct transport_ops *ops = stack->transport.ops;
        struct stack_place cc;
        stack_place_find(&cc, place, "cc", stack->transport.name);
        struct place kind = place_key(cc.at, "kind");
        if (!transport_runs(ops, stack->cc))
            place_error(r->err, &kind, "%s needs %s, which transport %s does not have; %s runs: %s",
                        stack->cc->name, missing_need(ops, stack->cc), ops->name, ops->name,
                        policies_of(r->policies, ops, names, sizeof names));
    }
}

void fit_stall_check(struct reader *r, const struct place *stall, ps_t stall_ps)
{
    const struct spec *spec = &r->scenario->spec;
    for (uint32_t d = 0; d < spec->n_dims; d++)
        for (uint32_t t = 0; t < spec->dims[d].n_stacks; t++) {
            const struct transport_spec *transport = &spec->dims[d].stacks[t].transport;
            const struct transport_ops *ops = transport->ops;
            struct param rto = param_find(ops->params, ops->n_params, "rto_min");
            char text[PARAM_TEXT_MAX];
            if (rto.name == NULL ||
                *(const ps_t *)(const void *)(transport->own + rto.offset) <= stall_ps)
                continue;
            place_error(r->err, stall,
                        "is below transport.rto_min %s of %s: a flow that waits for its "
                        "retransmission timeout would count as stalled",
                        param_text(&rto, transport->own, text), ops->name);
            return;
        }
}

static void routing_check(struct reader *r, const struct place *sw,
                          const struct routing_spec *routing)
{
    struct place at = place_key(sw, "routing"), remote = place_key(&at, "remote");
    struct place interval = place_key(&at, "state_interval");
    if (routing->remote && routing->state_interval_ps == 0)
        place_error(
            r->err, &remote,
            "needs state_interval: neighbours report the quality of their ports in intervals");
    if (routing->state_interval_ps > 0 && routing->state_interval_ps < 100 * PS_PER_NS)
        place_error(r->err, &interval, "must be 0ns, or at least 100ns");
    else if (routing->state_interval_ps > 0 && !routing_by_quality(routing))
        place_warn(r->err, &interval,
                   "has no effect: only kind adaptive, and flowlet with flowlet_choice quality, "
                   "choose by quality");
}

void fit_check(struct reader *r, const struct place *place, const struct dim_spec *dim)
{
    struct place sw = place_key(place, "switch"), ecn = place_key(&sw, "ecn"),
                 telemetry = place_key(&sw, "int");
    routing_check(r, &sw, &dim->sw.routing);
    for (uint32_t t = 0; t < dim->n_stacks; t++) {
        const struct stack_spec *stack = &dim->stacks[t];
        const struct cc_ops *cc = stack->cc;
        struct stack_place transport;
        stack_place_find(&transport, place, "transport", stack->transport.name);
        if ((cc->needs & CC_NEEDS_INT) && dim->sw.telemetry == TELEMETRY_OFF)
            place_error(r->err, &telemetry, "%s needs in-band telemetry", cc->name);
        if ((cc->needs & CC_NEEDS_ECN) && dim->sw.ecn.mode == ECN_OFF)
            place_warn(r->err, &ecn, "%s acts on ECN marks, and marking is off: it will never act",
                       cc->name);
        if (cc->needs & CC_NEEDS_CNP)
            override_check(r, transport.at, stack);
        transport_check(r, transport.at, dim, stack);
    }
}
