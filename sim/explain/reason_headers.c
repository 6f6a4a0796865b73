// SPDX-License-Identifier: MIT
// A sentence about headers: what packets of a small MTU carry beside their payload.
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "sim/explain/explain_internal.h"

// The largest MTU of InfiniBand, and so of RoCE (IBTA volume 1, path MTU), which is the default.
#define LARGEST_MTU 4096U

#define USED 0.3   // use of a link from which headers are said to cost time
#define BESIDE 0.8 // of the transmissions of a path, where its links are not busy all the time

// With the largest MTU there are fewer packets, with fewer headers and acknowledgements. Returns
// for each port the share of its bytes that remains. Control packets have about as many bytes as
// the headers of data.
static double *with_largest_mtu(const struct fabric *fabric, const struct result *r)
{
    double *share = result_same_shares(r);
    for (size_t p = 0; p < r->n_ports; p++) {
        const struct transport_dim *dim = hosts_dim(&fabric->hosts, fabric->graph.ports[p].dim, 0);
        double header = (double)(dim->full.wire - dim->mtu_bytes);
        double fewer = 1 - (double)dim->mtu_bytes / LARGEST_MTU;
        if (r->ports[p].bytes > 0 && fewer > 0)
            share[p] = 1 - fewer * header * (double)r->ports[p].packets / (double)r->ports[p].bytes;
    }
    return share;
}

void explain_headers(const struct fabric *fabric, struct result *r)
{
    const struct port_result *link = result_busiest_link(r);
    if (!result_has_path(r) || !link || r->n_tcp > 0 || fabric->hosts.n_transports > 1)
        return;
    size_t port = (size_t)(link - r->ports);
    const struct transport_dim *dim = hosts_dim(&fabric->hosts, fabric->graph.ports[port].dim, 0);
    bool bound = result_bound_by_rate(r);
    if (dim->mtu_bytes >= LARGEST_MTU || (!bound && result_use(r, link) < USED && r->cc_cuts == 0))
        return;
    double *share = with_largest_mtu(fabric, r);
    double fewer = 1 - share[port];
    ps_t saving = result_saving_with(r, share);
    free(share);
    if (!bound && r->cc_cuts == 0) {                 // of the transmissions on the path
        const ps_t *parts = r->last->critical.parts; // ACKs have the ports for part of PATH_NIC
        saving =
            (ps_t)(BESIDE * (fewer * (double)parts[PATH_SENDING] +
                             (1 - (double)dim->mtu_bytes / LARGEST_MTU) * (double)parts[PATH_NIC]));
    }
    if (result_share_of(r, saving) < SAVING_MIN)
        return;
    double payload = (double)dim->mtu_bytes / dim->full.wire;
    char mtu[UNIT_TEXT], change[64];
    snprintf(change, sizeof change, "with transport.mtu %uB", LARGEST_MTU);
    struct reason_result *reason = result_cause(
        r, REASON_HEADERS, saving,
        text_format("headers: %.0f %% of a packet's bytes with an MTU of %s, which also needs more "
                    "acknowledgements",
                    100 * (1 - payload), human_bytes(dim->mtu_bytes, mtu)),
        change);
    reason_set(reason, "transport.mtu=%uB", LARGEST_MTU);
}
