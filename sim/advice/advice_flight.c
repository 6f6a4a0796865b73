// SPDX-License-Identifier: MIT
// What a flow has in flight at most.
//
// A policy that begins with its largest window lets no more out. One that acts on marks lets the
// queue of one bottleneck grow to about the length at which marking begins, beside the
// bandwidth-delay product of the path (Zhu et al., SIGCOMM 2015, section 5: queues settle between
// kmin and kmax). Others are limited by buffers alone.
#include <stdlib.h>

#include "cc/cc.h"
#include "engine/base/memory.h"
#include "sim/advice/advice_internal.h"

uint64_t advice_policy_window(const struct transport_dim *dim, const struct cc_env *env)
{
    bool fixed = param_find(dim->cc->params, dim->cc->n_params, "k").name != NULL;
    if (env->initial_window_bytes > 0 && !fixed)
        return CC_UNLIMITED;
    struct cc *cc = memory_zeroed(1, cc_bytes(dim->cc));
    cc_begin(cc, dim->cc, dim->cc_params, env, 0);
    uint64_t window = cc->cwnd_bytes;
    free(cc);
    return window;
}

// The largest length at which a port of the dimension begins to mark; 0 = none marks.
static uint64_t marking_begins(const struct fabric *fabric, uint32_t dim)
{
    const struct switches *switches = &fabric->switches;
    uint64_t kmin = 0;
    for (uint32_t i = 0; i < switches->n_switches + switches->n_routers; i++) {
        const struct switch_node *s = &switches->nodes[i];
        const struct marking *markings = &switches->markings[s->first_port * fabric->net.n_data];
        for (uint32_t k = 0; k < s->n_ports * fabric->net.n_data; k++)
            if (fabric_switch_dim(fabric, i) == dim && markings[k].enabled &&
                markings[k].kmin_bytes > kmin)
                kmin = markings[k].kmin_bytes;
    }
    return kmin;
}

uint64_t advice_flight_bytes(const struct fabric *fabric, uint32_t dim, uint32_t transport)
{
    const struct transport_dim *t = hosts_dim(&fabric->hosts, dim, transport);
    struct advice_path p;
    if (!advice_path(fabric, dim, transport, &p))
        return CC_UNLIMITED;
    uint64_t window = advice_policy_window(t, &p.env), kmin = marking_begins(fabric, dim);
    uint64_t marked = kmin > 0 ? cc_bdp_bytes(&p.env) + kmin : CC_UNLIMITED;
    return window < marked ? window : marked;
}
