// SPDX-License-Identifier: MIT
// Sentences about policies that act on marks, but get them late or never.
#include "sim/explain/explain_internal.h"

#define IDLE_LESS 0.25 // of the time for which the busiest link rested: about what may be saved

void explain_marks_order(const struct fabric *fabric, struct result *r)
{
    struct marks_order o = fabric_marks_order(fabric, true);
    char name[GRAPH_NAME], limit[UNIT_TEXT], kmin[UNIT_TEXT];
    if (!o.cc || !result_has_path(r) ||
        (o.lossless ? r->pause_frames == 0 : r->dropped_packets == 0))
        return;
    const struct port_result *link = result_busiest_link(r);
    double idle = link ? 1 - result_use(r, link) : 1;
    struct reason_result *reason = result_cause(
        r, REASON_MARKS_ORDER, (ps_t)(IDLE_LESS * idle * (double)r->last->critical.total_ps),
        text_format("%s before ECN: %s %s %s, and marks from %s on, so %s got %s",
                    o.lossless ? "PFC" : "drops", fabric_switch_name(fabric, o.sw, name),
                    o.lossless ? "stops an ingress that holds" : "drops above a queue of",
                    human_bytes(o.limit_bytes, limit), human_bytes(o.kmin_bytes, kmin), o.cc->name,
                    r->marked_packets == 0 ? "no mark" : "its marks late"),
        "with marks from a quarter of that limit on");
    reason->at = text_format("%s", name);
    reason_set(reason, "switch.ecn={\"kmin\":\"%lluB\",\"kmax\":\"%lluB\",\"pmax\":1}",
               (unsigned long long)o.limit_bytes / 4, (unsigned long long)o.limit_bytes / 2);
}
