// SPDX-License-Identifier: MIT
// Sentences about Ultra Ethernet connections: what was sent again and why, and credits.
#include <string.h>

#include "sim/explain/explain_internal.h"

void explain_uec(struct result *r)
{
    const struct transport_counters *u = r->uec;
    if (r->n_uec == 0)
        return;
    if (u->retransmitted > 0)
        result_explain(r, EXPLAIN_LOSS,
                       text_format("UEC sent %llu packets again; reports of trimmed packets: "
                                   "%llu, timeouts: %llu",
                                   (unsigned long long)u->retransmitted,
                                   (unsigned long long)u->nacks, (unsigned long long)u->timeouts));
    if (u->spurious > 0)
        result_explain(r, EXPLAIN_LOSS,
                       text_format("%llu of these packets had arrived before: a report took "
                                   "longer than transport.rto",
                                   (unsigned long long)u->spurious));
    if (u->probes > 0)
        result_explain(r, EXPLAIN_DETAIL,
                       text_format("senders probed paths that had lost packets %llu times",
                                   (unsigned long long)u->probes));
    if (u->requests > 0)
        result_explain(r, EXPLAIN_LOSS,
                       text_format("senders that had spent their credits with nothing in flight "
                                   "asked for more %llu times",
                                   (unsigned long long)u->requests));
}
