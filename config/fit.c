// SPDX-License-Identifier: MIT
// Whether the policy, the transport and the switches of a dimension fit together.
#include <string.h>

#include "config/read.h"

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
