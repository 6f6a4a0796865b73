// SPDX-License-Identifier: MIT
// Sentences about policies that act on marks, but get them late or never.
#include "sim/explain/explain_internal.h"

void explain_marks_order(const struct fabric *fabric, struct result *r)
{
    struct marks_order o = fabric_marks_order(fabric, true);
    char name[GRAPH_NAME], limit[UNIT_TEXT], kmin[UNIT_TEXT];
    if (!o.cc || (o.lossless ? r->pause_frames == 0 : r->dropped_packets == 0))
        return;
    result_explain(
        r, EXPLAIN_LOSS,
        text_format("%s before ECN: %s %s %s, and marks from %s on, so %s got %s; kmin below "
                    "the limit, or a larger buffer, lets it act first",
                    o.lossless ? "PFC" : "drops", fabric_switch_name(fabric, o.sw, name),
                    o.lossless ? "stops an ingress that holds" : "drops above a queue of",
                    human_bytes(o.limit_bytes, limit), human_bytes(o.kmin_bytes, kmin), o.cc->name,
                    r->marked_packets == 0 ? "no mark" : "its marks late"));
}
