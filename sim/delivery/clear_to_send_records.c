// SPDX-License-Identifier: MIT
// Records of messages that were admitted in pieces, and the counters of admission.
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "sim/delivery/clear_to_send_internal.h"

bool clear_to_send_record(struct delivery *delivery, uint64_t token, struct flow_record *record)
{
    struct clear_to_send *a = delivery->clear_to_send;
    if (!a || !clear_to_send_is_piece(token))
        return true;
    uint32_t slot = (uint32_t)token;
    struct admitted *m = &a->messages[slot];
    // The pieces that wait are not sent any more, so the message has only the pieces that were
    // posted.
    if (record->status == MESSAGE_FAILED)
        clear_to_send_cancel(a, slot);
    // record_merge() adds every piece, the first one too. From that one come the fields that all
    // pieces share; sums begin with 0, and the status with the one that any other outweighs.
    ps_t shift = record->start_ps - m->posted_ps;
    if (m->recorded++ == 0) {
        m->record = *record;
        m->record.start_ps = m->posted_ps;
        m->record.bytes = m->record.delivered_bytes = m->record.packets = 0;
        m->record.retransmitted = 0;
        m->record.cnps = m->record.timeouts = 0;
        m->record.fct_ps = m->record.delivered_ps = 0;
        m->record.status = MESSAGE_DONE;
        memset(m->record.life_ps, 0, sizeof m->record.life_ps);
    }
    record_merge(&m->record, record, shift);
    *record = m->record;
    // The record has the bytes of the whole message, those of cancelled pieces included.
    if (m->request.bytes > 0)
        record->bytes = m->request.bytes;
    return m->recorded == m->n_pieces;
}

// Returns the flow for the record of a message without posted pieces: the first flow of its ranks.
static uint32_t flow_of(const struct delivery *delivery, const struct transfer_request *r)
{
    const struct flow_ids *flows = &delivery->fabric->hosts.flows;
    for (uint32_t i = 0; i < flows->n; i++) {
        const struct flow_id *id = &flows->ids[delivery->fabric->flow_order[i]];
        if (id->src == r->src && id->dst == r->dst && id->job == r->job &&
            id->transport == r->transport)
            return delivery->fabric->flow_order[i];
    }
    return 0;
}

static int by_name(const void *x, const void *y)
{
    const struct admitted *a = *(const struct admitted *const *)x;
    const struct admitted *b = *(const struct admitted *const *)y;
    if (a->request.src != b->request.src)
        return a->request.src < b->request.src ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

// Returns the messages that have not ended, in the order of their names, since their places depend
// on the order of simultaneous events.
static const struct admitted **running_of(const struct clear_to_send *a, size_t *n)
{
    const struct admitted **list = memory_zeroed(a->numbers.n + 1, sizeof(const struct admitted *));
    *n = 0;
    // A message may have all of its records and still be in use until its last callback.
    for (uint32_t i = 0; i < a->numbers.n; i++)
        if (a->messages[i].used && a->messages[i].recorded < a->messages[i].n_pieces)
            list[(*n)++] = &a->messages[i];
    qsort(list, *n, sizeof(const struct admitted *), by_name);
    return list;
}

void clear_to_send_running(struct delivery *delivery)
{
    const struct clear_to_send *a = delivery->clear_to_send;
    size_t n = 0;
    const struct admitted **list = a ? running_of(a, &n) : NULL;
    for (size_t i = 0; i < n; i++) {
        const struct admitted *m = list[i];
        const struct transfer_request *r = &m->request;
        struct flow_record record = m->record;
        if (m->recorded == 0)
            record.qp = flow_of(delivery, r);
        record.id = m->number - 1;
        record.job = r->job;
        record.src = r->src;
        record.dst = r->dst;
        record.bytes = r->bytes;
        record.start_ps = m->posted_ps;
        record.fct_ps = record.delivered_ps = -1;
        memset(record.life_ps, 0, sizeof record.life_ps);
        record.status = MESSAGE_RUNNING;
        record.ideal_ps = ideal_message_ps(delivery->ideals, r->src, r->dst, m->dim, r->transport,
                                           r->bytes, NULL);
        records_keep(delivery, &record);
    }
    free(list);
}

void clear_to_send_renumber(struct delivery *delivery, const struct flow_numbers *numbers)
{
    const struct clear_to_send *a = delivery->clear_to_send;
    for (uint32_t i = 0; a && i < a->numbers.n; i++)
        if (a->messages[i].recorded > 0)
            record_renumber(&a->messages[i].record, numbers);
}

void clear_to_send_collect(const struct delivery *delivery, struct result *r)
{
    const struct clear_to_send *a = delivery->clear_to_send;
    if (!a)
        return;
    // The hosts count the bytes of pieces that were posted, and the result counts whole messages.
    r->summary.bytes += a->cancelled_bytes;
    for (uint32_t i = 0; i < a->numbers.n; i++)
        if (a->messages[i].used && !a->messages[i].failed)
            r->summary.bytes += a->messages[i].request.bytes - a->messages[i].sent_bytes;
    r->admission = memory_zeroed(1, sizeof *r->admission);
    *r->admission = a->counts;
    r->n_admission = 1;
}
