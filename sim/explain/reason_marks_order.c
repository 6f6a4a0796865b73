// SPDX-License-Identifier: MIT
// Sentences about policies that act on marks, but get them late or never.
#include "sim/explain/explain_internal.h"

#define AFTER_TIME 0.0005 // its saving is not known: right after where the time went

// Earlier marks save at most the time for which the busiest link rested: below this share of the
// run they are a detail.
#define IDLE_MIN 0.05

static double weight_of(const struct result *r)
{
    const struct port_result *link = result_busiest_link(r);
    bool may_save = r->last && (!link || 1 - result_use(r, link) >= IDLE_MIN);
    return may_save ? EXPLAIN_TIME - AFTER_TIME : EXPLAIN_LOSS;
}

void explain_marks_order(const struct fabric *fabric, struct result *r)
{
    struct marks_order o = fabric_marks_order(fabric, true);
    char name[GRAPH_NAME], limit[UNIT_TEXT], kmin[UNIT_TEXT];
    if (!o.cc || (o.lossless ? r->pause_frames == 0 : r->dropped_packets == 0))
        return;
    struct reason_result *reason = result_reason(
        r, REASON_MARKS_ORDER, weight_of(r), -1,
        text_format("%s before ECN: %s %s %s, and marks from %s on, so %s got %s; kmin below "
                    "the limit, or a larger buffer, lets it act first",
                    o.lossless ? "PFC" : "drops", fabric_switch_name(fabric, o.sw, name),
                    o.lossless ? "stops an ingress that holds" : "drops above a queue of",
                    human_bytes(o.limit_bytes, limit), human_bytes(o.kmin_bytes, kmin), o.cc->name,
                    r->marked_packets == 0 ? "no mark" : "its marks late"));
    reason_remedy(reason, "switch.ecn={\"kmin\":\"%lluB\",\"kmax\":\"%lluB\",\"pmax\":1}",
                  (unsigned long long)o.limit_bytes / 4, (unsigned long long)o.limit_bytes / 2);
}
