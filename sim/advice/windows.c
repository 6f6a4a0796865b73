// SPDX-License-Identifier: MIT
// Warnings about windows that do not fill the longest path: its bandwidth-delay product, and what a
// receiver that acknowledges several packets at once holds back.
#include <stdlib.h>

#include "cc/cc.h"
#include "sim/advice/advice_internal.h"

#define SLACK 0.05 // policies aim at a little less than the whole line rate

static void warn(struct advice *a, const struct advice_path *p, const char *key, const char *what,
                 uint64_t window, uint64_t needed)
{
    char have[UNIT_TEXT], fill[UNIT_TEXT], rtt[UNIT_TEXT], rate[UNIT_TEXT], acks[48] = "";
    // The window may be a little smaller than the path, as policies aim at a little less than the
    // rate.
    if ((double)window >= (1 - SLACK) * (double)needed)
        return;
    if (p->env.ack_packets > 1)
        snprintf(acks, sizeof acks, ", an acknowledgement for %u packets", p->env.ack_packets);
    advice_warn(
        a, ADVICE_WINDOW, key,
        text_format("%s is %s, and rank%u->rank%u takes %s (RTT %s at %s%s): at most %.0f %% "
                    "of the line rate",
                    what, human_bytes(window, have), p->src, p->dst, human_bytes(needed, fill),
                    human_time(p->env.base_rtt_ps, rtt), human_rate((double)p->env.line_bps, rate),
                    acks, 100 * (double)window / (double)needed));
}

static void of_transport(struct advice *a, const struct fabric *fabric, uint32_t d, uint32_t t)
{
    const struct transport_dim *dim = hosts_dim(&fabric->hosts, d, t);
    struct advice_path p;
    char where[64];
    if (!advice_path(fabric, d, t, &p))
        return;
    // windows count payload
    uint64_t needed = (uint64_t)((double)cc_bdp_bytes(&p.env) * cc_payload_share(&p.env));
    advice_where(fabric, d, t, where);
    char *policy = text_format("the window of policy %s%s", dim->cc->name, where),
         *receiver = text_format("the receive window%s", where);
    warn(a, &p, "cc", policy, advice_policy_window(dim, &p.env), needed);
    if (dim->ops->receive_window)
        warn(a, &p, "transport.receive_window", receiver, dim->ops->receive_window(dim, &p.path),
             needed);
    free(policy);
    free(receiver);
}

void advise_windows(struct advice *a, const struct fabric *fabric)
{
    for (uint32_t d = 0; d < fabric->spec->n_dims; d++)
        for (uint32_t t = 0; t < fabric->hosts.n_transports; t++)
            of_transport(a, fabric, d, t);
}
