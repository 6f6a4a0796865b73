// SPDX-License-Identifier: MIT
// The ready list and the heap of paced senders of a NIC port.
#include "transport/nic/nic.h"

#include <stdlib.h>

#include "engine/base/memory.h"
#include "transport/host.h"

void nic_free(struct nic *nic)
{
    free(nic->paced);
    free(nic->parked);
}

void nic_park(struct nic *nic, struct sender *s)
{
    if (nic->n_parked == nic->cap_parked) {
        size_t cap = nic->cap_parked;
        nic->parked = memory_grow(nic->parked, &cap, sizeof(struct sender *));
        nic->cap_parked = (uint32_t)cap;
    }
    nic->parked[nic->n_parked++] = s;
}

// Break ties by the flow's name (source rank, number), because ranks may share a NIC and handles
// depend on the order of opening.
__attribute__((noinline)) static bool name_before(const struct sender *a, const struct sender *b)
{
    const struct flow_id *ids = sender_hosts(a)->flows.ids;
    const struct flow_id *x = &ids[a->flow], *y = &ids[b->flow];
    return x->src != y->src ? x->src < y->src : x->number < y->number;
}

static bool due_before(const struct sender *a, const struct sender *b)
{
    if (a->next_send_ps != b->next_send_ps)
        return a->next_send_ps < b->next_send_ps;
    return name_before(a, b);
}

static void heap_put(struct nic *nic, uint32_t at, struct sender *s)
{
    nic->paced[at] = s;
    s->heap_at = at;
}

static void sift_up(struct nic *nic, uint32_t at, struct sender *s)
{
    while (at > 0 && due_before(s, nic->paced[(at - 1) / 2])) {
        heap_put(nic, at, nic->paced[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    heap_put(nic, at, s);
}

static void sift_down(struct nic *nic, uint32_t at, struct sender *s)
{
    for (;;) {
        uint32_t child = 2 * at + 1;
        if (child >= nic->n_paced)
            break;
        if (child + 1 < nic->n_paced && due_before(nic->paced[child + 1], nic->paced[child]))
            child++;
        if (!due_before(nic->paced[child], s))
            break;
        heap_put(nic, at, nic->paced[child]);
        at = child;
    }
    heap_put(nic, at, s);
}

static void ready_push(struct nic *nic, struct sender *s)
{
    s->place = SENDER_READY;
    s->ready_next = NULL;
    if (nic->ready_tail == NULL)
        nic->ready_head = s;
    else
        nic->ready_tail->ready_next = s;
    nic->ready_tail = s;
}

static struct sender *ready_pop(struct nic *nic)
{
    struct sender *s = nic->ready_head;
    nic->ready_head = s->ready_next;
    if (nic->ready_head == NULL)
        nic->ready_tail = NULL;
    s->place = SENDER_IDLE;
    return s;
}

void nic_add(struct nic *nic, struct sender *s, ps_t now)
{
    if (s->next_send_ps <= now) {
        ready_push(nic, s);
        return;
    }
    if (nic->n_paced == nic->cap_paced) {
        size_t cap = nic->cap_paced;
        nic->paced = memory_grow(nic->paced, &cap, sizeof(struct sender *));
        nic->cap_paced = (uint32_t)cap;
    }
    s->place = SENDER_PACED;
    sift_up(nic, nic->n_paced++, s);
}

void nic_repace(struct nic *nic, struct sender *s)
{
    uint32_t at = s->heap_at;
    if (at > 0 && due_before(s, nic->paced[(at - 1) / 2]))
        sift_up(nic, at, s);
    else
        sift_down(nic, at, s);
}

void nic_remove(struct nic *nic, struct sender *s)
{
    if (s->place == SENDER_PACED) {
        struct sender *last = nic->paced[--nic->n_paced];
        if (last != s) {
            // The last entry fills the gap, and may then have to move up or down.
            heap_put(nic, s->heap_at, last);
            nic_repace(nic, last);
        }
    } else if (s->place == SENDER_READY) {
        struct sender *before = NULL;
        for (struct sender *i = nic->ready_head; i != s; i = i->ready_next)
            before = i;
        if (before == NULL)
            nic->ready_head = s->ready_next;
        else
            before->ready_next = s->ready_next;
        if (nic->ready_tail == s)
            nic->ready_tail = before;
    }
    s->place = SENDER_IDLE;
}

// Move paced senders that are due to the ready list, and remove those at its head that may not
// send.
static void refresh(struct nic *nic, ps_t now)
{
    while (nic->n_paced > 0 && nic->paced[0]->next_send_ps <= now) {
        struct sender *due = nic->paced[0], *last = nic->paced[--nic->n_paced];
        if (nic->n_paced > 0)
            sift_down(nic, 0, last);
        ready_push(nic, due);
    }
    while (nic->ready_head != NULL) {
        const struct sender *s = nic->ready_head;
        if (!s->busy && sender_may_send(s) && s->next_send_ps <= now)
            break;
        struct sender *head = ready_pop(nic);
        if (head->busy)
            head->displaced = true;     // sender_end() enters it again
        else if (sender_may_send(head)) // its rate was lowered while it waited
            nic_add(nic, head, now);
    }
}

struct sender *nic_pop(struct nic *nic, ps_t now)
{
    refresh(nic, now);
    return nic->ready_head == NULL ? NULL : ready_pop(nic);
}

ps_t nic_next_ps(struct nic *nic, ps_t now)
{
    refresh(nic, now);
    if (nic->ready_head != NULL)
        return now;
    return nic->n_paced > 0 ? nic->paced[0]->next_send_ps : PS_NEVER;
}
