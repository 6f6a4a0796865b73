// SPDX-License-Identifier: MIT
// The calls of a period between the network and what is above it.
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "sim/skip/skip_internal.h"

void skip_log_clear(struct skip_log *log)
{
    log->n = log->n_posts = log->n_arrivals = log->n_ended = log->n_accounts = 0;
}

void skip_log_free(struct skip_log *log)
{
    free(log->calls);
    free(log->posts);
    free(log->arrivals);
    free(log->ended);
    free(log->accounts);
    *log = (struct skip_log){0};
}

// Make room for one more detail of a call and return its index.
static size_t detail(struct skip_log *log, enum skip_call_kind kind)
{
    if (kind == CALL_POST && log->n_posts == log->cap_posts)
        log->posts = memory_grow(log->posts, &log->cap_posts, sizeof *log->posts);
    if (kind == CALL_DELIVERED && log->n_arrivals == log->cap_arrivals)
        log->arrivals = memory_grow(log->arrivals, &log->cap_arrivals, sizeof *log->arrivals);
    if (kind == CALL_ENDED && log->n_ended == log->cap_ended)
        log->ended = memory_grow(log->ended, &log->cap_ended, sizeof *log->ended);
    if (kind == CALL_LAST_PACKET && log->n_accounts == log->cap_accounts)
        log->accounts = memory_grow(log->accounts, &log->cap_accounts, sizeof *log->accounts);
    return kind == CALL_POST          ? log->n_posts++
           : kind == CALL_DELIVERED   ? log->n_arrivals++
           : kind == CALL_ENDED       ? log->n_ended++
           : kind == CALL_LAST_PACKET ? log->n_accounts++
                                      : 0;
}

struct skip_call *skip_log_add(struct skip_log *log, enum skip_call_kind kind)
{
    if (log->n == log->cap)
        log->calls = memory_grow(log->calls, &log->cap, sizeof *log->calls);
    struct skip_call *call = &log->calls[log->n++];
    *call = (struct skip_call){
        .kind = (uint8_t)kind, .detail = (uint32_t)detail(log, kind), .end = (uint32_t)log->n};
    return call;
}

// Members that only the ledger and captures read may differ: token, piece_of, origin.
bool skip_same_request(const struct transfer_request *a, const struct transfer_request *b)
{
    return a->src == b->src && a->dst == b->dst && a->bytes == b->bytes && a->job == b->job &&
           a->channel == b->channel && a->stripe == b->stripe && a->of_dim == b->of_dim &&
           a->cls == b->cls && a->transport == b->transport &&
           a->own_connection == b->own_connection && a->control == b->control &&
           a->unrecorded == b->unrecorded && a->immediate == b->immediate &&
           memcmp(&a->hint, &b->hint, sizeof a->hint) == 0;
}
