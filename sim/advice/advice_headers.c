// SPDX-License-Identifier: MIT
// Warnings about bytes: headers of a small MTU, headroom of PFC, oversubscribed tiers.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "sim/advice/advice_internal.h"
#include "sim/fabric/tiers.h"

#define HEADERS_PERCENT 5 // of a packet's bytes on the link

void advise_headers(struct advice *a, const struct fabric *fabric)
{
    for (uint32_t d = 0; d < fabric->spec->n_dims; d++)
        for (uint32_t t = 0; t < fabric->hosts.n_transports; t++) {
            const struct transport_dim *dim = hosts_dim(&fabric->hosts, d, t);
            double share = 100 - 100 * (double)dim->mtu_bytes / dim->full.wire;
            char which[64], mtu[UNIT_TEXT];
            if (share <= HEADERS_PERCENT)
                continue;
            // A transport whose table has `mss` is given its payload by that key, all others by
            // `mtu`.
            bool mss = param_find(dim->ops->params, dim->ops->n_params, "mss").name != NULL;
            advice_warn(a, ADVICE_HEADERS, mss ? "transport.mss" : "transport.mtu",
                        text_format("headers are %.1f %% of the bytes of a full packet%s, which "
                                    "has %s of payload",
                                    share, advice_which(fabric, t, which),
                                    human_bytes(dim->mtu_bytes, mtu)));
        }
}

void advise_headroom(struct advice *a, const struct fabric *fabric)
{
    for (uint32_t d = 0; d < fabric->spec->n_dims; d++) {
        uint64_t given = fabric->spec->dims[d].sw.pfc.headroom_bytes,
                 needed = fabric_headroom_needed(fabric, d);
        char have[UNIT_TEXT], need[UNIT_TEXT];
        // The automatic headroom is computed from this need, so only a given value can be too
        // small.
        if (given != PARAM_AUTO && given < needed)
            advice_warn(a, ADVICE_HEADROOM, "switch.pfc.headroom",
                        text_format("%s is less than the %s that cable, MTU and response need "
                                    "(auto): packets may be dropped",
                                    human_bytes(given, have), human_bytes(needed, need)));
    }
}

// One warning for each tier: its most oversubscribed switch.
static void of_tier(struct advice *a, const struct graph *g, const uint32_t *tier, uint32_t at)
{
    struct subscription worst = {0};
    uint32_t node = GRAPH_NONE, n = 0;
    for (uint32_t i = g->n_ends; i < g->n_nodes; i++) {
        struct subscription s = tier_subscription(g, tier, i);
        if (tier[i] != at || s.up_bps == 0 || subscription_share(&s) >= 1)
            continue;
        n++;
        if (node != GRAPH_NONE && subscription_share(&s) >= subscription_share(&worst))
            continue;
        worst = s;
        node = i;
    }
    if (node == GRAPH_NONE)
        return;
    char name[GRAPH_NAME], up[UNIT_TEXT], down[UNIT_TEXT], more[48] = "";
    if (n > 1)
        snprintf(more, sizeof more, " (and %u more switch%s)", n - 1, n > 2 ? "es" : "");
    advice_warn(
        a, ADVICE_OVERSUBSCRIPTION, "topology",
        text_format(
            "the trunks of %s%s carry %s of the %s of %s, %.3g:1", graph_node_name(g, node, name),
            more, human_rate((double)worst.up_bps, up), human_rate((double)worst.down_bps, down),
            at == 1 ? "its ranks" : "the switches below it", 1 / subscription_share(&worst)));
}

void advise_subscription(struct advice *a, const struct fabric *fabric)
{
    const struct graph *g = &fabric->graph;
    uint32_t *tier = tiers_of(g), last = 0;
    for (uint32_t i = g->n_ends; i < g->n_nodes; i++)
        if (tier[i] != UINT32_MAX && tier[i] > last)
            last = tier[i];
    for (uint32_t at = 1; at <= last; at++)
        of_tier(a, g, tier, at);
    free(tier);
}
