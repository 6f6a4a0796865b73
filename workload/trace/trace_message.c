// SPDX-License-Identifier: MIT
#include "workload/trace/trace_message.h"

#include <stdlib.h>

int trace_message_compare(const struct trace_message *x, const struct trace_message *y)
{
    if (x->rank != y->rank)
        return x->rank > y->rank ? 1 : -1;
    if (x->peer != y->peer)
        return x->peer > y->peer ? 1 : -1;
    if (x->tag != y->tag)
        return x->tag > y->tag ? 1 : -1;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static int by_turn(const void *a, const void *b)
{
    const struct trace_message *x = a, *y = b;
    int order = trace_message_compare(x, y);
    return order != 0 ? order : (x->turn > y->turn) - (x->turn < y->turn);
}

void trace_messages_sort(struct trace_message *list, size_t n)
{
    if (n > 0)
        qsort(list, n, sizeof *list, by_turn);
}
