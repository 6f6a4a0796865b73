// SPDX-License-Identifier: MIT
// Clear-to-send admission, as a collective library has it (NCCL; Gangidi et al., SIGCOMM 2024,
// section 5.3). A message is cut into pieces of at most slot_bytes. For each sender and receiver of
// a job, the receiver owns `channels` buffers of `slots` slots, and a piece is posted only when its
// sender holds a grant for a slot. The receiver grants a slot again when the piece in it has been
// delivered and copied (slot_copy): with a message of its own in the control class, over a
// connection of its own, so that a grant takes its time and is retransmitted when it is lost. So at
// most channels * slots * slot_bytes of a pair are in the network.
//
// The receives are posted ahead: all slots are granted when the first message of a pair is posted,
// and grants do not depend on what the receiver computes. (NCCL's receiver posts its receives ahead
// by as many steps as it has slots.) Messages of a pair are sent in the order of their posts; a
// piece takes the next channel that has a slot. Pieces use the connections of their channel, those
// of raw flows too. A piece that fails returns its slot at the sender; if a grant fails, its slot
// is lost.
//
// On several threads all this is behind the lock: events of the sender change what is queued,
// posted and ended, events of the receiver what is delivered and copied.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "sim/delivery/clear_to_send_internal.h"

static uint32_t channel_of(uint64_t token) { return (uint32_t)(token >> CHANNEL_SHIFT) & 0xff; }

/* ---- pairs ---- */

static struct clear_to_send_pair *pair_new(struct clear_to_send *a,
                                           const struct transfer_request *r,
                                           const struct transport_spec *spec)
{
    struct clear_to_send_pair *p = memory_zeroed(1, sizeof *p);
    p->a = a;
    p->spec = spec;
    p->head = p->tail = NIL;
    p->grant = (struct transfer_request){.src = r->dst,
                                         .dst = r->src,
                                         .bytes = spec->grant_bytes,
                                         .job = r->job,
                                         .channel = GRANT_CHANNEL,
                                         .cls = r->cls,
                                         .transport = r->transport,
                                         .control = true,
                                         .token = PIECE_BIT | GRANT_BIT | a->n_pairs};
    p->free_slots = memory_zeroed(spec->channels, sizeof *p->free_slots);
    for (uint64_t c = 0; c < spec->channels; c++)
        p->free_slots[c] = (uint32_t)spec->slots;
    if (a->n_pairs == a->cap_pairs)
        a->pairs = memory_grow(a->pairs, &a->cap_pairs, sizeof(struct clear_to_send_pair *));
    return a->pairs[a->n_pairs++] = p;
}

static uint32_t pair_of(struct clear_to_send *a, const struct transfer_request *r, uint32_t dim,
                        const struct transport_spec *spec)
{
    struct pair *entry =
        pairs_get(&a->table, r->src, r->dst, r->job, (uint64_t)dim << 32 | r->transport);
    if (entry->flow == UINT32_MAX) {
        entry->flow = a->n_pairs;
        pair_new(a, r, spec);
    }
    return entry->flow;
}

static void grant(struct clear_to_send *a, const struct clear_to_send_pair *p, uint32_t channel,
                  ps_t now)
{
    struct transfer_request request = p->grant;
    request.token |= (uint64_t)channel << CHANNEL_SHIFT;
    a->counts.grants++;
    a->ledger.post(a->ledger.net, &request, now);
}

static void on_copied(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct clear_to_send_pair *p = timer->data;
    struct path_book *book = &p->a->delivery->path_book;
    uint32_t cap = (uint32_t)(p->spec->channels * p->spec->slots);
    while (p->n_copies > 0 && p->copies[p->first_copy].due_ps <= e->now_ps) {
        struct copy copy = p->copies[p->first_copy];
        p->first_copy = (p->first_copy + 1) % cap;
        p->n_copies--;
        p->a->n_copying--;
        uint32_t path = path_own(book, copy.path);
        path_extend(book, path, PATH_SCHEDULED, e->now_ps);
        uint32_t before = path_enter(book, path);
        grant(p->a, p, copy.channel, e->now_ps);
        path_leave(book, before);
    }
    if (p->n_copies > 0)
        sim_timer_start(e, timer, p->copies[p->first_copy].due_ps);
}

// The piece has been delivered: grant its slot again, after the copy if copying takes time.
static void release(struct clear_to_send *a, struct clear_to_send_pair *p, uint32_t channel,
                    ps_t now)
{
    uint32_t cap = (uint32_t)(p->spec->channels * p->spec->slots);
    if (p->spec->slot_copy_ps == 0) {
        grant(a, p, channel, now);
        return;
    }
    if (!p->copies) { // its timer is the receiver's, so it begins in an event of the receiver
        p->copies = memory_zeroed(cap, sizeof *p->copies);
        sim_timer_init_locked(&a->delivery->fabric->engine, &p->copied, p->grant.src, on_copied, p);
    }
    struct copy *copy = &p->copies[(p->first_copy + p->n_copies++) % cap];
    *copy = (struct copy){.due_ps = now + p->spec->slot_copy_ps,
                          .channel = channel,
                          .path = path_take(&a->delivery->path_book, now)};
    a->n_copying++;
    // All copies take equally long, so they end in their order, and only the first needs the timer.
    if (p->n_copies == 1)
        sim_timer_start(&a->delivery->fabric->engine, &p->copied, copy->due_ps);
}

bool clear_to_send_copying(const struct delivery *delivery)
{
    return delivery->clear_to_send && delivery->clear_to_send->n_copying > 0;
}

/* ---- messages and their pieces ---- */

static void message_end(struct clear_to_send *a, uint32_t slot)
{
    struct admitted *m = &a->messages[slot];
    m->used = false;
    slots_give(&a->numbers, slot);
}

// Take the first message off the queue of the pair: it has no more pieces to post.
static void pop(struct clear_to_send *a, struct clear_to_send_pair *p)
{
    struct admitted *m = &a->messages[p->head];
    path_drop(&a->delivery->path_book, m->path);
    m->path = 0;
    p->head = m->next;
    if (p->head == NIL)
        p->tail = NIL;
}

// A piece has failed: cancel the pieces of its message that wait.
void clear_to_send_cancel(struct clear_to_send *a, uint32_t slot)
{
    struct admitted *m = &a->messages[slot];
    struct clear_to_send_pair *p = a->pairs[m->pair];
    if (m->posted == m->n_pieces)
        return;
    m->n_pieces = m->posted;
    a->cancelled_bytes += m->request.bytes - m->sent_bytes;
    if (p->head == slot) {
        pop(a, p);
        return;
    }
    uint32_t at = p->head;
    while (a->messages[at].next != slot)
        at = a->messages[at].next;
    a->messages[at].next = m->next;
    if (p->tail == slot)
        p->tail = at;
    path_drop(&a->delivery->path_book, m->path);
    m->path = 0;
}

static uint32_t channel_with_slot(struct clear_to_send_pair *p)
{
    uint32_t n = (uint32_t)p->spec->channels;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t c = (p->turn + i) % n;
        if (p->free_slots[c] > 0) {
            p->turn = (c + 1) % n;
            return c;
        }
    }
    return NIL;
}

// The critical path of a piece that has waited continues that of the grant; if the grant belongs to
// another collective, enter the path of the message's post. Returns true if it has been entered.
static bool enter_path(struct clear_to_send *a, const struct admitted *m, uint32_t *before,
                       ps_t now)
{
    struct path_book *book = &a->delivery->path_book;
    if (m->path == 0 ||
        (path_thread(book)->current != 0 &&
         path_at(book, path_thread(book)->current)->owner == path_at(book, m->path)->owner))
        return false;
    uint32_t path = path_own(book, path_hold(book, m->path));
    path_extend(book, path, PATH_WINDOW, now);
    *before = path_enter(book, path);
    return true;
}

static void post_piece(struct clear_to_send *a, struct clear_to_send_pair *p, uint32_t channel,
                       ps_t now)
{
    uint32_t slot = p->head, before = 0;
    struct admitted *m = &a->messages[slot];
    uint64_t left = m->request.bytes - m->sent_bytes;
    struct transfer_request piece = m->request;
    piece.bytes = left < p->spec->slot_bytes ? left : p->spec->slot_bytes;
    piece.own_connection = false;
    piece.channel = m->request.channel * (uint32_t)p->spec->channels + channel;
    piece.token = PIECE_BIT | (uint64_t)channel << CHANNEL_SHIFT | slot;
    piece.piece_of = m->number;
    // The dimension may depend on the size of a message. All pieces take that of the whole message.
    piece.of_dim = (uint8_t)(m->dim + 1);
    m->sent_bytes += piece.bytes;
    m->posted++;
    p->free_slots[channel]--;
    a->counts.pieces++;
    a->counts.held += now > m->posted_ps;
    a->counts.waited_ps += now - m->posted_ps;
    bool entered = enter_path(a, m, &before, now);
    // Before the post, which may end the message and free its entry.
    if (m->posted == m->n_pieces)
        pop(a, p);
    a->below.post(a->below.net, &piece, now); // may end the message
    if (entered)
        path_leave(&a->delivery->path_book, before);
}

// Post pieces while there are slots. A post may fail at once, which frees its slot, and its
// callback may post further messages.
static void feed(struct clear_to_send *a, struct clear_to_send_pair *p, ps_t now)
{
    if (p->feeding)
        return;
    p->feeding = true;
    while (p->head != NIL) {
        uint32_t channel = channel_with_slot(p);
        if (channel == NIL)
            break;
        post_piece(a, p, channel, now);
    }
    p->feeding = false;
}

static void post(void *net, const struct transfer_request *request, ps_t now)
{
    struct clear_to_send *a = net;
    uint32_t dim = fabric_request_dim(a->delivery->fabric, request);
    const struct transport_spec *spec =
        &hosts_dim(&a->delivery->fabric->hosts, dim, request->transport)->spec;
    uint32_t n_ranks = a->delivery->fabric->graph.n_ranks;
    // Unrecorded messages are internal ones of a library, which has reserved room for them.
    // Aggregators, whose numbers follow those of the ranks, have buffers of their own.
    if (spec->admission == ADMISSION_NONE || request->unrecorded || request->src >= n_ranks ||
        request->dst >= n_ranks) {
        a->below.post(a->below.net, request, now);
        return;
    }
    uint32_t pair = pair_of(a, request, dim, spec), slot = slots_take(&a->numbers, a->messages);
    struct clear_to_send_pair *p = a->pairs[pair];
    // A message without bytes is one piece, since its arrival is an event for the receiver.
    uint64_t pieces = (request->bytes + spec->slot_bytes - 1) / spec->slot_bytes;
    a->messages[slot] = (struct admitted){.request = *request,
                                          .dim = dim,
                                          .n_pieces = pieces > 0 ? pieces : 1,
                                          .pair = pair,
                                          .number = ledger_count(a->delivery, request->src),
                                          .next = NIL,
                                          .posted_ps = now,
                                          .used = true};
    if (p->tail == NIL)
        p->head = slot;
    else
        a->messages[p->tail].next = slot;
    p->tail = slot;
    feed(a, p, now);
    // The message still waits. Its critical path is kept for the time when its pieces are posted.
    if (p->tail == slot && a->messages[slot].path == 0)
        a->messages[slot].path = path_take(&a->delivery->path_book, now);
}

/* ---- callbacks of the layers below ---- */

static void delivered(void *ctx, uint64_t token, uint64_t bytes, ps_t now)
{
    struct clear_to_send *a = ctx;
    uint32_t index = (uint32_t)token;
    if (clear_to_send_is_grant(token)) {
        a->pairs[index]->free_slots[channel_of(token)]++;
        feed(a, a->pairs[index], now);
        return;
    }
    struct admitted *m = &a->messages[index];
    m->delivered_bytes += bytes;
    bool all = ++m->delivered == m->n_pieces && !m->failed;
    uint64_t whole = m->request.token, whole_bytes = m->delivered_bytes;
    release(a, a->pairs[m->pair], channel_of(token), now);
    if (all)
        a->layer.client.delivered(a->layer.client.ctx, whole, whole_bytes, now);
}

// A piece has ended; the message is freed before the callback, which may post.
static void piece_ended(struct clear_to_send *a, uint32_t slot, ps_t now)
{
    struct admitted *m = &a->messages[slot];
    struct path_book *book = &a->delivery->path_book;
    m->ended_ps = ps_longer(m->ended_ps, now - path_thread(book)->held_ps);
    if (++m->ended < m->n_pieces)
        return;
    uint64_t token = m->request.token;
    bool has_failed = m->failed;
    path_thread(book)->held_ps = has_failed ? 0 : now - m->ended_ps;
    message_end(a, slot);
    if (has_failed)
        a->layer.client.failed(a->layer.client.ctx, token, now);
    else
        a->layer.client.sent(a->layer.client.ctx, token, now);
}

static void sent(void *ctx, uint64_t token, ps_t now)
{
    if (!clear_to_send_is_grant(token))
        piece_ended(ctx, (uint32_t)token, now);
}

static void failed(void *ctx, uint64_t token, ps_t now)
{
    struct clear_to_send *a = ctx;
    uint32_t slot = (uint32_t)token;
    if (clear_to_send_is_grant(token))
        return;
    struct clear_to_send_pair *p = a->pairs[a->messages[slot].pair];
    a->messages[slot].failed = true;
    clear_to_send_cancel(a, slot);
    p->free_slots[channel_of(token)]++;
    piece_ended(a, slot, now);
    feed(a, p, now);
}

/* ---- life ---- */

void clear_to_send_init(struct delivery *delivery)
{
    if (!delivery->fabric->hosts.pulls_control)
        return;
    struct clear_to_send *a = delivery->clear_to_send = memory_zeroed(1, sizeof *a);
    a->delivery = delivery;
    a->ledger = delivery->transfer;
    // While pieces enter buffers nothing is reported: the program goes on when all are sent.
    a->layer = (struct layer){
        .own = {.delivered = delivered, .entered = NULL, .sent = sent, .failed = failed, .ctx = a},
        .mask = PIECE_BIT,
        .bits = PIECE_BIT};
    layer_insert(&a->layer, delivery);
}

void clear_to_send_attach(struct delivery *delivery)
{
    struct clear_to_send *a = delivery->clear_to_send;
    if (!a)
        return;
    a->below = delivery->transfer;
    delivery->transfer = (struct transfer){.post = post, .net = a};
}

void clear_to_send_free(struct delivery *delivery)
{
    struct clear_to_send *a = delivery->clear_to_send;
    for (uint32_t i = 0; a && i < a->n_pairs; i++) {
        struct clear_to_send_pair *p = a->pairs[i];
        if (p->copies)
            sim_timer_end(&delivery->fabric->engine, &p->copied);
        free(p->copies);
        free(p->free_slots);
        free(p);
    }
    if (a) {
        pairs_free(&a->table);
        free(a->pairs);
        free(a->messages);
        slots_free(&a->numbers);
    }
    free(a);
}
