// SPDX-License-Identifier: MIT
// A sentence about a policy that leaves part of the rate free by design: HPCC's target utilization,
// and the telemetry in its packets.
// Source: Li et al., SIGCOMM 2019, section 3: eta = 95 %, INT headers of 42 bytes with five hops.
#include <stdlib.h>
#include <string.h>

#include "sim/explain/explain_internal.h"

#define FULL 0.6 // of the target: use of a link from which it may bound the run

// The value of a policy's parameter that is a ratio; 1 = it has none of this name.
static double ratio_of(const struct dim_spec *dim, const char *name)
{
    const struct param p = param_find(dim->cc->params, dim->cc->n_params, name);
    return p.name ? *(const double *)(const void *)((const char *)dim->cc_params + p.offset) : 1;
}

bool explain_has_target(const struct fabric *fabric)
{
    const struct dim_spec *spec = &fabric->spec->dims[fabric->spec->n_dims - 1];
    return spec->cc->needs & CC_NEEDS_INT && ratio_of(spec, "eta") < 1;
}

void explain_target(const struct fabric *fabric, struct result *r)
{
    const struct dim_spec *spec = &fabric->spec->dims[fabric->spec->n_dims - 1];
    const struct port_result *link = result_busiest_link(r);
    if (!result_bound_by_rate(r) || r->n_slowest > 1 || spec->n_stacks > 1 ||
        !explain_has_target(fabric) || result_use(r, link) < FULL * ratio_of(spec, "eta"))
        return;
    const struct transport_dim *dim = hosts_dim(&fabric->hosts, fabric->spec->n_dims - 1, 0);
    double eta = ratio_of(spec, "eta"), telemetry = (double)dim->spec.int_bytes / dim->full.wire;
    ps_t saving = result_wait_saving_ps(r, r->last->critical.total_ps) +
                  (ps_t)(telemetry * (double)result_busy_ps(r, link));
    if (result_share_of(r, saving) < SAVING_MIN)
        return;
    struct reason_result *reason = result_cause(
        r, REASON_TARGET, saving,
        text_format("target: %s fills links to %.0f %% by design (cc.eta), and its telemetry is "
                    "%.1f %% of a packet's bytes",
                    spec->cc->name, 100 * eta, 100 * telemetry),
        "with no policy");
    reason_set(reason, "cc={\"kind\":\"none\"}");
}
