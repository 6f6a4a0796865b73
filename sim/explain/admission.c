// SPDX-License-Identifier: MIT
// Makes a sentence about clear-to-send admission from its counters.
#include "sim/explain/explain_internal.h"

void explain_admission(const struct fabric *fabric, struct result *r)
{
    const struct admission_result *c = r->admission;
    const struct transport_spec *t = &fabric->spec->dims[0].transport;
    char mean[UNIT_TEXT], limit[UNIT_TEXT];
    for (uint32_t d = 0; d < fabric->hosts.n_dims; d++)
        if (fabric->hosts.dims[d].spec.admission == ADMISSION_CTS)
            t = &fabric->hosts.dims[d].spec;
    if (r->n_admission == 0 || c->pieces == 0)
        return;
    human_bytes(t->channels * t->slots * t->slot_bytes, limit);
    if (c->held == 0) {
        result_explain(r, EXPLAIN_DETAIL,
                       text_format("clear to send held nothing back: a receiver grants %s to "
                                   "each sender, and no more was posted",
                                   limit));
        return;
    }
    result_explain(r, EXPLAIN_REASON + result_share(r, PATH_WINDOW),
                   text_format("clear to send: %llu of %llu pieces waited for a slot of the "
                               "receiver, %s in the mean; a receiver grants %s to each sender",
                               (unsigned long long)c->held, (unsigned long long)c->pieces,
                               human_time(c->waited_ps / (ps_t)c->held, mean), limit));
}
