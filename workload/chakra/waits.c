// SPDX-License-Identifier: MIT
// A node waits for a computation if one of the nodes that it is after is one, or waits for one.
// Deliberately left out: nodes that the file has behind those that are after them.
#include "workload/chakra/waits.h"

#include <inttypes.h>

enum { WAITS_NOT = 1, WAITS };

void wait_watch_add(struct wait_watch *w, const struct trace_node *node)
{
    bool cpu = trace_has(node, TRACE_IS_CPU_OP) && node->number[TRACE_IS_CPU_OP] != 0;
    bool computes = node->type == TRACE_COMP && !cpu, waits = false;
    for (size_t i = 0; i < node->n_after && !waits; i++) {
        uint64_t key[2] = {node->after[i], 0};
        waits = table_find(&w->waits, key, sizeof key) == WAITS;
    }
    uint64_t own[2] = {node->id, 0};
    *table_at(&w->waits, own, sizeof own) = waits || computes ? WAITS : WAITS_NOT;
    w->computations += computes;
    if (node->type == TRACE_COLL && !cpu) {
        w->collectives++;
        w->waiting += waits;
    }
}

void wait_watch_end(const struct wait_watch *w, const char *file, const char *path, struct err *err)
{
    if (w->collectives > 0 && w->computations > 0 && w->waiting == 0)
        err_warn(err, path,
                 "%s: none of its %" PRIu64 " collectives waits for one of its %" PRIu64
                 " computations, beside which they run at once: the converter has left out what "
                 "the streams of the GPU wait for (mlcommons/chakra issue 215)",
                 file, w->collectives, w->computations);
}

void wait_watch_free(struct wait_watch *w) { table_free(&w->waits); }
