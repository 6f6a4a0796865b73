// SPDX-License-Identifier: MIT
#include "net/passage.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/mailbox.h"
#include "net/crossing.h"

// Parts follow in the order of these flags.
enum { PART_ID = 1, PART_META = 2, PART_HOPS = 4, PART_SACKS = 8, PART_WAITS = 16, PART_NOTE = 32 };
#define CREDIT 64 // no parts: the letter is credit

struct passing {
    union {
        struct packet packet;
        struct credit_return credit;
    };
    uint32_t port;
    uint32_t parts;
};

// Packets that have left and whose letters are not written yet; `first` is the oldest.
#define LEAVING 8
#define LEFT 8192
struct leaving {
    struct departed {
        struct packet packet;
        struct mailbox *box;
        uint32_t process, port;
    } ring[LEAVING];
    uint32_t first, n;
    // Slots of meta-data for packets that arrive: those of packets that have left. The pool's own
    // list leads from slot to slot, and each step would wait for memory.
    uint32_t slots[LEFT], n_slots;
};

struct passage *passage_new(struct flow_ids *flows, uint32_t n_processes, uint32_t flows_max,
                            uint32_t n_shards)
{
    struct passage *passage = memory_zeroed(1, sizeof *passage);
    passage->flows = flows;
    passage->n = n_processes;
    passage->flows_per_process = flows_max / n_processes;
    passage->told = memory_zeroed(n_processes, sizeof *passage->told);
    passage->seen = memory_zeroed(n_processes, sizeof *passage->seen);
    passage->leaving = memory_zeroed(n_shards, sizeof *passage->leaving);
    for (uint32_t q = 0; q < n_processes; q++) {
        passage->told_bytes = flows_max / 8;
        passage->told[q] = memory_reserve(&passage->told_bytes);
    }
    return passage;
}

void passage_free(struct passage *passage)
{
    for (uint32_t q = 0; passage && q < passage->n; q++)
        memory_release(passage->told[q], passage->told_bytes);
    if (passage) {
        free(passage->told);
        free(passage->seen);
        free(passage->leaving);
    }
    free(passage);
}

void passage_settle(struct passage *passage)
{
    memset(passage->seen, 0, passage->n * sizeof *passage->seen);
}

void passage_forget(struct passage *passage, uint32_t flow)
{
    uint64_t bit = UINT64_C(1) << flow % 64;
    for (uint32_t q = 0; q < passage->n; q++)
        atomic_fetch_and_explicit(&passage->told[q][flow / 64], ~bit, memory_order_relaxed);
}

// Returns true the first time, unless the flow is the process's own.
static bool is_to_tell(struct passage *passage, uint32_t process, uint32_t flow)
{
    if (flow / passage->flows_per_process == process)
        return false;
    uint64_t bit = UINT64_C(1) << flow % 64;
    _Atomic uint64_t *word = &passage->told[process][flow / 64];
    if (atomic_load_explicit(word, memory_order_relaxed) & bit)
        return false;
    return !(atomic_fetch_or_explicit(word, bit, memory_order_relaxed) & bit);
}

/* ---- parts ---- */

// True if the packet keeps waits or, an ACK, the times for which it was held.
static bool has_waits(const struct packet *p)
{
    if (p->kind == PACKET_DATA || p->kind == PACKET_TRIMMED)
        return p->flags & (PACKET_LAST | PACKET_RETX);
    return p->kind == PACKET_ACK && p->flags & PACKET_HELD;
}

static uint32_t parts_of(struct network *net, uint32_t process, const struct packet *p)
{
    const struct meta_pool *pool = &net->meta;
    uint32_t parts = 0;
    if (p->kind != PACKET_PFC && is_to_tell(net->shards->passage, process, p->flow))
        parts |= PART_ID;
    if (p->meta == 0)
        return parts;
    const struct packet_meta *meta = meta_at(pool, p->meta);
    parts |= PART_META;
    if (meta->int_enabled)
        parts |= PART_HOPS;
    if (pool->sacks && p->meta < pool->n_sack_slots && meta->n_sacks > 0)
        parts |= PART_SACKS;
    if (pool->waits && p->meta < pool->n_wait_slots && has_waits(p))
        parts |= PART_WAITS;
    if (pool->keeps_notes)
        parts |= PART_NOTE;
    return parts;
}

struct part {
    void *at;
    size_t bytes;
};

#define PARTS 6

// The places of a packet's parts; those of the receiver have been made (make_room).
static void places(struct network *net, uint32_t flow, uint32_t slot, struct part part[PARTS])
{
    struct meta_pool *pool = &net->meta;
    part[0] = (struct part){&net->shards->passage->flows->ids[flow], sizeof(struct flow_id)};
    part[1] = (struct part){&pool->slots[slot], sizeof *pool->slots};
    part[2] = (struct part){pool->hops ? &pool->hops[(size_t)slot * pool->per_slot] : NULL,
                            pool->per_slot * sizeof *pool->hops};
    part[3] = (struct part){pool->sacks ? &pool->sacks[(size_t)slot * META_SACKS] : NULL,
                            META_SACKS * sizeof *pool->sacks};
    part[4] = (struct part){pool->waits ? &pool->waits[slot] : NULL, sizeof *pool->waits};
    part[5] = (struct part){pool->notes ? &pool->notes[slot] : NULL, sizeof *pool->notes};
}

static size_t padded(size_t bytes) { return (bytes + 7) / 8 * 8; }

static void give_slot(struct network *net, uint32_t slot)
{
    struct leaving *leaving = &net->shards->passage->leaving[net->shard];
    if (leaving->n_slots == LEFT) {
        meta_free(&net->meta, slot);
        return;
    }
    leaving->slots[leaving->n_slots++] = slot;
    net->meta.n_used--;
}

static uint32_t take_slot(struct network *net)
{
    struct leaving *leaving = &net->shards->passage->leaving[net->shard];
    if (leaving->n_slots == 0)
        return meta_alloc(&net->meta);
    uint32_t slot = leaving->slots[--leaving->n_slots];
    net->meta.n_used++;
    if (net->meta.keeps_notes)
        meta_clear_note(&net->meta, slot);
    return slot;
}

static void write_letter(struct network *net, const struct departed *departed)
{
    const struct packet *p = &departed->packet;
    uint32_t parts = parts_of(net, departed->process, p);
    struct part part[PARTS];
    size_t bytes = sizeof(struct passing);
    places(net, p->flow, p->meta, part);
    for (uint32_t i = 0; i < PARTS; i++)
        bytes += parts >> i & 1 ? padded(part[i].bytes) : 0;
    struct passing *letter = mailbox_put(departed->box, bytes);
    *letter = (struct passing){.packet = *p, .port = departed->port, .parts = parts};
    unsigned char *at = (unsigned char *)(letter + 1);
    for (uint32_t i = 0; i < PARTS; i++)
        if (parts >> i & 1) {
            memcpy(at, part[i].at, part[i].bytes);
            at += padded(part[i].bytes);
        }
    if (p->meta != 0)
        give_slot(net, p->meta);
}

static void write_oldest(struct network *net, struct leaving *leaving)
{
    write_letter(net, &leaving->ring[leaving->first]);
    leaving->first = (leaving->first + 1) % LEAVING;
    leaving->n--;
}

void passage_send(struct network *net, struct mailbox *box, uint32_t process, uint32_t port,
                  const struct packet *p)
{
    struct leaving *leaving = &net->shards->passage->leaving[net->shard];
    __builtin_prefetch(meta_at(&net->meta, p->meta), 1);
    if (leaving->n == LEAVING)
        write_oldest(net, leaving);
    leaving->ring[(leaving->first + leaving->n++) % LEAVING] =
        (struct departed){.packet = *p, .box = box, .process = process, .port = port};
}

void passage_close(struct network *net)
{
    struct leaving *leaving = &net->shards->passage->leaving[net->shard];
    while (leaving->n > 0)
        write_oldest(net, leaving);
}

void passage_send_credit(struct network *net, struct mailbox *box, uint32_t port,
                         const struct credit_return *r)
{
    passage_close(net); // write waiting letters first, since letters keep the order of sending
    struct passing *letter = mailbox_put(box, sizeof *letter);
    *letter = (struct passing){.credit = *r, .port = port, .parts = CREDIT};
}

/* ---- receiving ---- */

uint32_t passage_port(const void *letter) { return ((const struct passing *)letter)->port; }

bool passage_is_credit(const void *letter)
{
    return ((const struct passing *)letter)->parts == CREDIT;
}

const struct credit_return *passage_credit(const void *letter)
{
    return &((const struct passing *)letter)->credit;
}

static void make_room(struct network *net, uint32_t slot, uint32_t parts)
{
    if (parts & PART_HOPS)
        meta_enable_int(&net->meta, slot);
    if (parts & PART_SACKS)
        meta_sacks(&net->meta, slot);
    if (parts & PART_WAITS)
        meta_keep_waits(&net->meta, slot);
}

struct packet passage_packet(struct network *net, uint32_t process, const void *bytes)
{
    const struct passing *letter = bytes;
    struct passage *passage = net->shards->passage;
    struct packet p = letter->packet;
    struct part part[PARTS];
    uint32_t parts = letter->parts;
    p.meta = parts & PART_META ? take_slot(net) : 0;
    make_room(net, p.meta, parts);
    places(net, p.flow, p.meta, part);
    const unsigned char *at = (const unsigned char *)(letter + 1);
    for (uint32_t i = 0; i < PARTS; i++)
        if (parts >> i & 1) {
            memcpy(part[i].at, at, part[i].bytes);
            at += padded(part[i].bytes);
        }
    if (parts & PART_ID) {
        passage->complete(passage->ctx, &passage->flows->ids[p.flow]);
        uint32_t *seen = &passage->seen[p.flow / passage->flows_per_process];
        *seen = p.flow < *seen ? *seen : p.flow + 1;
        passage_forget(passage, p.flow);
        // The sender has the description: mark it as sent, so that it is not sent back.
        is_to_tell(passage, process, p.flow);
    }
    return p;
}
