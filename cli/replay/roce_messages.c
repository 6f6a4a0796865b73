// SPDX-License-Identifier: MIT
// Pairs first and last packets of messages by PSN.
#include "cli/replay/roce_messages.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

#define PSN_BITS 24
#define PSN_HALF (1u << (PSN_BITS - 1))
// A PSN that is further away belongs to another connection with the same number: so many packets
// cannot be in flight.
#define PSN_DISTANCE_MAX (1 << 20)
#define MTU_MAX 4096

enum mark_kind { MARK_FIRST, MARK_MIDDLE, MARK_LAST };

struct roce_mark {
    int64_t psn, ns;
    uint32_t payload, message_bytes;
    uint8_t kind; // enum mark_kind
    bool sized;   // message_bytes is known
};

static void mark_insert(struct roce_messages *m, uint32_t at, const struct roce_mark *mark)
{
    if (m->n_marks == m->cap_marks) {
        m->cap_marks = m->cap_marks == 0 ? 2 : 2 * m->cap_marks;
        m->marks = memory_resize(m->marks, m->cap_marks, sizeof *m->marks);
    }
    memmove(&m->marks[at + 1], &m->marks[at], (m->n_marks - at) * sizeof *m->marks);
    m->marks[at] = *mark;
    m->n_marks++;
}

static void mark_remove(struct roce_messages *m, uint32_t at)
{
    m->n_marks--;
    memmove(&m->marks[at], &m->marks[at + 1], (m->n_marks - at) * sizeof *m->marks);
}

/* ---- complete messages ---- */

static void recent_add(struct roce_messages *m, int64_t first, int64_t last, size_t row)
{
    uint32_t n = m->n_recent;
    if (n < RECENT_MAX && (n & (n - 1)) == 0) // room for a power of two
        m->recent = memory_resize(m->recent, n == 0 ? 1 : 2 * n, sizeof *m->recent);
    m->recent[n < RECENT_MAX ? m->n_recent++ : m->turn++ % RECENT_MAX] =
        (struct roce_recent){first, last, row};
}

// A packet was seen again: its message lasts at least until then.
static void recent_extend(const struct roce_messages *m, int64_t psn, int64_t ns,
                          struct flow_rows *rows)
{
    for (uint32_t i = 0; i < m->n_recent; i++) {
        struct flow_row *row = &rows->rows[m->recent[i].row];
        if (psn < m->recent[i].first || psn > m->recent[i].last)
            continue;
        if (row->span_ns >= 0 && ns - row->start_ns > row->span_ns)
            row->span_ns = ns - row->start_ns;
    }
}

/* ---- messages ---- */

// The message between two marks; its last packet came at `ns`, or with one of the marks if that was
// later.
static void complete(struct roce_messages *m, const struct roce_mark *first,
                     const struct roce_mark *last, int64_t ns, struct flow_rows *rows)
{
    uint64_t bytes = (uint64_t)(last->psn - first->psn) * first->payload + last->payload;
    int64_t start_ns = first->ns < last->ns ? first->ns : last->ns;
    int64_t end_ns = first->ns < last->ns ? last->ns : first->ns;
    if (flow_row_add(rows, m->src, m->dst, first->sized ? first->message_bytes : bytes, start_ns,
                     ns > end_ns ? ns : end_ns, m->origin))
        recent_add(m, first->psn, last->psn, rows->n_rows - 1);
}

static bool is_kind(const struct roce_messages *m, uint32_t at, enum mark_kind kind)
{
    return at < m->n_marks && m->marks[at].kind == kind;
}

// Give up the lowest mark: packets of its message are not in the capture.
static void mark_give_up(struct roce_messages *m, struct flow_rows *rows)
{
    const struct roce_mark *mark = &m->marks[0];
    if (mark->kind == MARK_FIRST && is_kind(m, 1, MARK_LAST)) {
        complete(m, mark, &m->marks[1], mark->ns, rows);
        mark_remove(m, 1);
    } else if (mark->kind == MARK_FIRST && mark->sized) {
        flow_row_add(rows, m->src, m->dst, mark->message_bytes, mark->ns, FLOW_NO_END, m->origin);
        rows->unended++;
    } else if (mark->kind == MARK_FIRST) {
        rows->left[LEFT_END]++;
    } else if (mark->kind == MARK_LAST || !is_kind(m, 1, MARK_LAST)) {
        rows->left[LEFT_BEGIN]++;
    }
    mark_remove(m, 0);
}

static void marks_finish(struct roce_messages *m, struct flow_rows *rows)
{
    while (m->n_marks > 0)
        mark_give_up(m, rows);
}

/* ---- packets ---- */

// A first packet takes the start of packets behind it that came earlier.
static void first_add(struct roce_messages *m, uint32_t at, struct roce_mark *mark)
{
    while (is_kind(m, at, MARK_MIDDLE)) {
        mark->ns = m->marks[at].ns < mark->ns ? m->marks[at].ns : mark->ns;
        mark_remove(m, at);
    }
    mark_insert(m, at, mark);
}

static void middle_add(struct roce_messages *m, uint32_t at, const struct roce_mark *mark)
{
    if (at > 0 && m->marks[at - 1].kind != MARK_LAST)
        return; // another mark of its message is before it
    if (is_kind(m, at, MARK_MIDDLE))
        m->marks[at].psn = mark->psn;
    else
        mark_insert(m, at, mark);
}

// Complete the message around a packet when all its packets have been seen.
static void complete_around(struct roce_messages *m, int64_t psn, int64_t ns,
                            struct flow_rows *rows)
{
    uint32_t at = m->n_marks;
    while (at > 0 && m->marks[at - 1].psn > psn)
        at--;
    uint32_t first = at > 0 && m->marks[at - 1].kind == MARK_LAST ? at - 2 : at - 1;
    if (!is_kind(m, first, MARK_FIRST) || !is_kind(m, first + 1, MARK_LAST) ||
        !seen_covers(&m->seen, m->marks[first].psn, m->marks[first + 1].psn + 1))
        return;
    complete(m, &m->marks[first], &m->marks[first + 1], ns, rows);
    mark_remove(m, first + 1);
    mark_remove(m, first);
}

static void packet_add(struct roce_messages *m, const struct bth *bth, struct roce_mark *mark,
                       struct flow_rows *rows)
{
    uint32_t at = m->n_marks; // the first mark behind the packet
    while (at > 0 && m->marks[at - 1].psn > mark->psn)
        at--;
    mark->kind = bth->first ? MARK_FIRST : bth->last ? MARK_LAST : MARK_MIDDLE;
    if (bth->first && bth->last) {
        complete(m, mark, mark, mark->ns, rows);
        return;
    }
    int64_t ns = mark->ns;
    if (bth->first)
        first_add(m, at, mark);
    else if (bth->last)
        mark_insert(m, at, mark);
    else
        middle_add(m, at, mark);
    complete_around(m, mark->psn, ns, rows);
    if (m->n_marks > MARKS_MAX)
        mark_give_up(m, rows);
}

// The PSN nearest to the highest one. A distant one begins anew.
static int64_t psn_extend(struct roce_messages *m, uint32_t psn, struct flow_rows *rows)
{
    uint32_t ahead = (psn - (uint32_t)m->highest) & (2 * PSN_HALF - 1);
    int64_t distance = ahead < PSN_HALF ? (int64_t)ahead : (int64_t)ahead - 2 * PSN_HALF;
    if (m->begun && distance >= -PSN_DISTANCE_MAX && distance <= PSN_DISTANCE_MAX)
        return m->highest + distance;
    marks_finish(m, rows);
    seen_free(&m->seen);
    m->n_recent = 0;
    m->begun = true;
    m->highest = psn;
    return psn;
}

// A request to read takes as many PSNs as its response has packets: with the largest MTU, at least
// this many.
static int64_t request_packets(const struct bth *bth)
{
    int64_t n = ((int64_t)bth->message_bytes + MTU_MAX - 1) / MTU_MAX;
    return n > 0 ? n : 1;
}

bool roce_messages_add(struct roce_messages *m, const struct bth *bth, int64_t ns,
                       struct flow_rows *rows)
{
    struct roce_mark mark = {.psn = psn_extend(m, bth->psn, rows),
                             .ns = ns,
                             .payload = bth->payload,
                             .message_bytes = bth->message_bytes,
                             .sized = bth->sized};
    bool request = bth->operation == BTH_READ_REQUEST;
    int64_t end = mark.psn + (request ? request_packets(bth) : 1);
    if (!seen_add(&m->seen, mark.psn, end)) {
        if (!request)
            recent_extend(m, mark.psn, ns, rows);
        return false;
    }
    if (end - 1 > m->highest)
        m->highest = end - 1;
    if (request)
        flow_row_add(rows, m->dst, m->src, bth->message_bytes, ns, FLOW_NO_END, FLOW_REQUESTED);
    else
        packet_add(m, bth, &mark, rows);
    return true;
}

void roce_messages_finish(struct roce_messages *m, struct flow_rows *rows)
{
    marks_finish(m, rows);
    seen_free(&m->seen);
    free(m->marks);
    free(m->recent);
    m->marks = NULL;
    m->recent = NULL;
    m->n_recent = 0;
    m->cap_marks = 0;
}
