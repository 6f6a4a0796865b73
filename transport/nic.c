// SPDX-License-Identifier: MIT
// The ready ring and the pacing heap of a NIC port.
#include "transport/nic.h"

#include <stdlib.h>

#include "engine/memory.h"

void nic_init(struct nic *nic) { *nic = (struct nic){.ready_head = QP_NIL, .ready_tail = QP_NIL}; }

void nic_free(struct nic *nic) { free(nic->paced); }

static bool due_before(const struct qp_array *qps, uint32_t a, uint32_t b)
{
    ps_t ta = qp_at(qps, a)->snd.next_send_ps, tb = qp_at(qps, b)->snd.next_send_ps;
    return ta < tb || (ta == tb && a < b);
}

static void heap_put(struct nic *nic, const struct qp_array *qps, uint32_t at, uint32_t index)
{
    nic->paced[at] = index;
    qp_at(qps, index)->snd.heap_at = at;
}

static void sift_up(struct nic *nic, const struct qp_array *qps, uint32_t at, uint32_t index)
{
    while (at > 0 && due_before(qps, index, nic->paced[(at - 1) / 2])) {
        heap_put(nic, qps, at, nic->paced[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    heap_put(nic, qps, at, index);
}

static void sift_down(struct nic *nic, const struct qp_array *qps, uint32_t at, uint32_t index)
{
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= nic->n_paced)
            break;
        if (child + 1 < nic->n_paced && due_before(qps, nic->paced[child + 1], nic->paced[child]))
            child++;
        if (!due_before(qps, nic->paced[child], index))
            break;
        heap_put(nic, qps, at, nic->paced[child]);
        at = child;
    }
    heap_put(nic, qps, at, index);
}

static void ready_push(struct nic *nic, const struct qp_array *qps, uint32_t index)
{
    struct qp_sender *s = &qp_at(qps, index)->snd;
    s->place = QP_READY;
    s->ready_next = QP_NIL;
    if (nic->ready_tail == QP_NIL)
        nic->ready_head = index;
    else
        qp_at(qps, nic->ready_tail)->snd.ready_next = index;
    nic->ready_tail = index;
}

static uint32_t ready_pop(struct nic *nic, const struct qp_array *qps)
{
    uint32_t index = nic->ready_head;
    struct qp_sender *s = &qp_at(qps, index)->snd;
    nic->ready_head = s->ready_next;
    if (nic->ready_head == QP_NIL)
        nic->ready_tail = QP_NIL;
    s->place = QP_IDLE;
    return index;
}

void nic_add(struct nic *nic, const struct qp_array *qps, uint32_t index, ps_t now)
{
    struct qp_sender *s = &qp_at(qps, index)->snd;
    if (s->next_send_ps <= now) {
        ready_push(nic, qps, index);
        return;
    }
    if (nic->n_paced == nic->cap_paced)
        nic->paced = memory_grow(nic->paced, &nic->cap_paced, sizeof *nic->paced);
    s->place = QP_PACED;
    sift_up(nic, qps, nic->n_paced++, index);
}

void nic_repace(struct nic *nic, const struct qp_array *qps, uint32_t index)
{
    uint32_t at = qp_at(qps, index)->snd.heap_at;
    if (at > 0 && due_before(qps, index, nic->paced[(at - 1) / 2]))
        sift_up(nic, qps, at, index);
    else
        sift_down(nic, qps, at, index);
}

void nic_remove(struct nic *nic, const struct qp_array *qps, uint32_t index)
{
    struct qp_sender *s = &qp_at(qps, index)->snd;
    if (s->place == QP_PACED) {
        uint32_t at = s->heap_at, last = nic->paced[--nic->n_paced];
        if (last != index) {
            heap_put(nic, qps, at, last);
            nic_repace(nic, qps, last);
        }
    } else if (s->place == QP_READY) {
        uint32_t before = QP_NIL;
        for (uint32_t i = nic->ready_head; i != index; i = qp_at(qps, i)->snd.ready_next)
            before = i;
        if (before == QP_NIL)
            nic->ready_head = s->ready_next;
        else
            qp_at(qps, before)->snd.ready_next = s->ready_next;
        if (nic->ready_tail == index)
            nic->ready_tail = before;
    }
    s->place = QP_IDLE;
}

// Bring those that have come due into the ring, and drop from its head those that may not send.
static void refresh(struct nic *nic, const struct qp_array *qps, ps_t now)
{
    while (nic->n_paced > 0 && qp_at(qps, nic->paced[0])->snd.next_send_ps <= now) {
        uint32_t index = nic->paced[0], last = nic->paced[--nic->n_paced];
        if (nic->n_paced > 0)
            sift_down(nic, qps, 0, last);
        ready_push(nic, qps, index);
    }
    while (nic->ready_head != QP_NIL) {
        const struct qp_sender *s = &qp_at(qps, nic->ready_head)->snd;
        if (qp_may_send(s) && s->next_send_ps <= now)
            break;
        uint32_t index = ready_pop(nic, qps);
        if (qp_may_send(s)) // its rate was cut while it waited its turn
            nic_add(nic, qps, index, now);
    }
}

uint32_t nic_take(struct nic *nic, const struct qp_array *qps, ps_t now)
{
    refresh(nic, qps, now);
    return nic->ready_head == QP_NIL ? QP_NIL : ready_pop(nic, qps);
}

ps_t nic_next_ps(struct nic *nic, const struct qp_array *qps, ps_t now)
{
    refresh(nic, qps, now);
    if (nic->ready_head != QP_NIL)
        return now;
    return nic->n_paced > 0 ? qp_at(qps, nic->paced[0])->snd.next_send_ps : PS_NEVER;
}
