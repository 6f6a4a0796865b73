// SPDX-License-Identifier: MIT
// Executes the programs of collectives. A vector has one cell per byte, 64 bits wide so that every
// contribution can be told apart.
#include "tests/support/coll_machine.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

typedef uint64_t cell_t;

#define UNKNOWN UINT64_C(0xdeadbeef)

struct message {
    struct coll_send send;
    struct coll_block *blocks; // of send.blocks
    cell_t *cells;             // in the order of the range or the blocks
    uint64_t entered_ranks;    // the sender's knowledge
};

struct machine {
    const struct coll_algorithm *algorithm;
    struct coll_shape shape;
    uint32_t members;  // ranks, and aggregators where the algorithm has some
    uint64_t cells;    // cells per vector; an all-to-all may receive a little more than it sends
    cell_t *vectors;   // [rank][cell]
    cell_t *receives;  // [rank][cell] result of all_to_all and send_recv
    cell_t *forwarded; // [rank][origin][cell] blocks that an all-to-all forwards
    uint64_t *entered_ranks; // [rank] barrier: bit set of the ranks known to have entered
    uint32_t *step, *arrived;
    struct message **flying;
    size_t n_flying;
    uint64_t random;
};

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

// The value that rank r has at byte i before the operation.
static cell_t source(uint32_t rank, uint64_t i) { return mix(UINT64_C(1000003) * (rank + 1) + i); }

static void *zeroed(uint64_t n, size_t size)
{
    void *memory = calloc(n > 0 ? n : 1, size);
    assert_non_null(memory);
    return memory;
}

static uint64_t segment_bytes(const struct coll_shape *shape, uint32_t i)
{
    return coll_segment(shape, i + 1) - coll_segment(shape, i);
}

static cell_t *vector_of(const struct machine *m, uint32_t rank)
{
    return &m->vectors[rank * m->cells];
}

static bool forwards(const struct machine *m)
{
    return m->shape.op == COLL_ALL_TO_ALL && m->algorithm->block != NULL;
}

// Returns the place of a block at a rank.
static cell_t *block_at(const struct machine *m, uint32_t rank, struct coll_block block)
{
    uint64_t offset = coll_segment(&m->shape, block.segment);
    if (forwards(m))
        return &m->forwarded[((uint64_t)rank * m->shape.ranks + block.origin) * m->cells + offset];
    return vector_of(m, rank) + offset;
}

static struct message *message_new(const struct machine *m, uint32_t rank, uint32_t k)
{
    const struct coll_algorithm *a = m->algorithm;
    struct message *message = zeroed(1, sizeof *message);
    message->send = a->send(&m->shape, rank, m->step[rank], k);
    const struct coll_send *send = &message->send;
    assert_true(send->peer < m->members && send->peer != rank);
    message->cells = zeroed(send->bytes, sizeof *message->cells);
    message->entered_ranks = m->entered_ranks[rank];
    message->blocks = zeroed(send->blocks, sizeof *message->blocks);
    uint64_t bytes = 0;
    for (uint32_t b = 0; b < send->blocks; b++) {
        message->blocks[b] = a->block(&m->shape, rank, m->step[rank], k, b);
        uint64_t n = segment_bytes(&m->shape, message->blocks[b].segment);
        assert_true(bytes + n <= send->bytes);
        memcpy(message->cells + bytes, block_at(m, rank, message->blocks[b]), n * sizeof(cell_t));
        bytes += n;
    }
    if (send->blocks > 0) {
        assert_int_equal(bytes, send->bytes);
        return message;
    }
    assert_true(send->src_offset + send->bytes <= m->shape.bytes);
    assert_true(send->dst_offset + send->bytes <= m->cells);
    memcpy(message->cells, vector_of(m, rank) + send->src_offset, send->bytes * sizeof(cell_t));
    return message;
}

static void message_free(struct message *message)
{
    free(message->cells);
    free(message->blocks);
    free(message);
}

static void issue_sends(struct machine *m, uint32_t rank)
{
    uint32_t n = m->algorithm->n_sends(&m->shape, rank, m->step[rank]);
    for (uint32_t k = 0; k < n; k++)
        m->flying[m->n_flying++] = message_new(m, rank, k);
}

// Advance a member over all steps whose messages have been received or that need none.
static void advance(struct machine *m, uint32_t rank)
{
    uint32_t steps = coll_member_steps(m->algorithm, &m->shape, rank);
    while (m->step[rank] < steps &&
           m->arrived[rank] == m->algorithm->n_recvs(&m->shape, rank, m->step[rank])) {
        m->arrived[rank] = 0;
        if (++m->step[rank] < steps)
            issue_sends(m, rank);
    }
}

static void store(cell_t *to, const cell_t *from, uint64_t n, bool reduce)
{
    for (uint64_t i = 0; i < n; i++)
        to[i] = reduce ? to[i] + from[i] : from[i];
}

static void apply(struct machine *m, const struct message *message)
{
    const struct coll_send *send = &message->send;
    const cell_t *from = message->cells;
    bool aside = m->shape.op == COLL_ALL_TO_ALL || m->shape.op == COLL_SEND_RECV;
    cell_t *to = aside ? &m->receives[send->peer * m->cells] : vector_of(m, send->peer);
    if (send->blocks == 0)
        store(to + send->dst_offset, from, send->bytes, send->reduce);
    for (uint32_t b = 0; b < send->blocks; b++) {
        uint64_t n = segment_bytes(&m->shape, message->blocks[b].segment);
        store(block_at(m, send->peer, message->blocks[b]), from, n, send->reduce);
        from += n;
    }
    m->entered_ranks[send->peer] |= message->entered_ranks;
    m->arrived[send->peer]++;
}

// Deliver messages in random order. An early message waits until its receiver enters the step.
static void run(struct machine *m)
{
    for (uint32_t rank = 0; rank < m->members; rank++)
        if (coll_member_steps(m->algorithm, &m->shape, rank) > 0)
            issue_sends(m, rank);
    for (uint32_t rank = 0; rank < m->members; rank++)
        advance(m, rank);
    for (size_t too_early = 0; m->n_flying > 0;) {
        m->random = mix(m->random + 1);
        size_t i = (m->random % m->n_flying + too_early) % m->n_flying;
        struct message *message = m->flying[i];
        uint32_t peer = message->send.peer;
        assert_true(m->step[peer] <= message->send.peer_step); // otherwise no step waits for the
                                                               // message
        if (m->step[peer] < message->send.peer_step) {
            assert_true(++too_early < 1000000); // a deadlock
            continue;
        }
        too_early = 0;
        m->flying[i] = m->flying[--m->n_flying];
        apply(m, message);
        message_free(message);
        advance(m, peer);
    }
    for (uint32_t rank = 0; rank < m->members; rank++)
        assert_int_equal(m->step[rank], coll_member_steps(m->algorithm, &m->shape, rank));
}

// Returns the rank whose segment contains byte i.
static uint32_t owner(const struct coll_shape *shape, uint64_t i)
{
    uint32_t rank = 0;
    while (coll_segment(shape, rank + 1) <= i)
        rank++;
    return rank;
}

static bool known_before(const struct coll_shape *s, uint32_t rank, uint64_t i)
{
    switch (s->op) {
    case COLL_ALL_GATHER:
    case COLL_GATHER:
        return owner(s, i) == rank;
    case COLL_BROADCAST:
    case COLL_SCATTER:
        return rank == s->root;
    default:
        return true;
    }
}

static void fill(struct machine *m)
{
    const struct coll_shape *s = &m->shape;
    for (uint32_t rank = 0; rank < s->ranks; rank++) {
        m->entered_ranks[rank] = UINT64_C(1) << rank;
        for (uint64_t i = 0; i < m->cells; i++) {
            bool known = i < s->bytes && known_before(s, rank, i);
            vector_of(m, rank)[i] = known ? source(rank, i) : UNKNOWN;
            m->receives[rank * m->cells + i] = UNKNOWN;
            for (uint32_t from = 0; from < s->ranks && forwards(m); from++)
                m->forwarded[((uint64_t)rank * s->ranks + from) * m->cells + i] =
                    from == rank && i < s->bytes ? source(rank, i) : UNKNOWN;
        }
    }
}

// Every rank has the block that each other rank meant for it.
static void check_exchange(const struct machine *m, uint32_t rank)
{
    uint64_t first = coll_segment(&m->shape, rank), block = segment_bytes(&m->shape, rank);
    for (uint32_t from = 0; from < m->shape.ranks; from++) {
        const cell_t *cells = &m->receives[rank * m->cells + from * block];
        if (forwards(m))
            cells = block_at(m, rank, (struct coll_block){.segment = rank, .origin = from});
        for (uint64_t i = 0; i < block && from != rank; i++)
            assert_true(cells[i] == source(from, first + i));
    }
}

static cell_t sum_of(const struct coll_shape *s, uint64_t i)
{
    cell_t sum = 0;
    for (uint32_t from = 0; from < s->ranks; from++)
        sum += source(from, i);
    return sum;
}

// Returns whether the result at byte i is specified, and the value.
static bool expected_at(const struct coll_shape *s, uint32_t rank, uint64_t i, cell_t *cell)
{
    uint32_t own = owner(s, i);
    switch (s->op) {
    case COLL_ALL_REDUCE:
        *cell = sum_of(s, i);
        return true;
    case COLL_REDUCE_SCATTER:
        *cell = sum_of(s, i);
        return own == rank;
    case COLL_ALL_GATHER:
        *cell = source(own, i);
        return true;
    case COLL_BROADCAST:
        *cell = source(s->root, i);
        return true;
    case COLL_REDUCE:
        *cell = sum_of(s, i);
        return rank == s->root;
    case COLL_GATHER:
        *cell = source(own, i);
        return rank == s->root;
    case COLL_SCATTER:
        *cell = source(s->root, i);
        return own == rank || rank == s->root;
    default:
        *cell = source(rank, i); // unchanged
        return true;
    }
}

static void check_result(const struct machine *m)
{
    const struct coll_shape *s = &m->shape;
    for (uint32_t rank = 0; rank < s->ranks; rank++) {
        for (uint64_t i = 0; i < s->bytes; i++) {
            cell_t expected;
            if (expected_at(s, rank, i, &expected))
                assert_true(vector_of(m, rank)[i] == expected);
            if (s->op == COLL_SEND_RECV && s->ranks > 1)
                assert_true(m->receives[rank * m->cells + i] ==
                            source((rank + s->ranks - 1) % s->ranks, i));
        }
        if (s->op == COLL_ALL_TO_ALL)
            check_exchange(m, rank);
        if (s->op == COLL_BARRIER)
            assert_true(m->entered_ranks[rank] == (UINT64_C(1) << (s->ranks - 1) << 1) - 1);
    }
}

// Every message for which a (rank, step) waits is sent exactly once, in the same step or less than
// 64 steps before, and no other message is sent. Returns the number of messages.
static size_t check_matching(const struct coll_algorithm *a, const struct coll_shape *s)
{
    size_t n_messages = 0;
    uint32_t steps = a->steps(s), members = coll_members(a, s);
    for (uint32_t rank = 0; rank < members; rank++)
        if (coll_member_steps(a, s, rank) > steps)
            steps = coll_member_steps(a, s, rank);
    assert_true(steps < 1u << 20);
    uint32_t *sent = zeroed((uint64_t)members * steps, sizeof *sent);
    for (uint32_t rank = 0; rank < members; rank++) {
        for (uint32_t step = 0; step < coll_member_steps(a, s, rank); step++) {
            uint32_t n = a->n_sends(s, rank, step);
            assert_true(n < members || n <= 4);
            for (uint32_t k = 0; k < n; k++, n_messages++) {
                struct coll_send send = a->send(s, rank, step, k);
                assert_true(send.peer < members);
                assert_true(send.peer_step < coll_member_steps(a, s, send.peer));
                assert_true(a->members || (send.peer_step >= step && send.peer_step < step + 64));
                assert_true(s->op != COLL_BARRIER || send.bytes == 0);
                sent[(uint64_t)send.peer * steps + send.peer_step]++;
            }
        }
    }
    for (uint32_t rank = 0; rank < members; rank++)
        for (uint32_t step = 0; step < coll_member_steps(a, s, rank); step++)
            assert_int_equal(sent[(uint64_t)rank * steps + step], a->n_recvs(s, rank, step));
    free(sent);
    return n_messages;
}

void coll_machine_check(const struct coll_algorithm *a, const struct coll_shape *shape)
{
    const char *why = NULL;
    assert_true(a->supports(shape, &why));
    assert_true(shape->ranks <= 64);
    size_t n_messages = check_matching(a, shape);
    uint32_t ranks = shape->ranks;
    struct machine m = {.algorithm = a, .shape = *shape, .cells = shape->bytes + ranks};
    uint32_t members = m.members = coll_members(a, shape);
    m.random = ranks * 1000 + shape->bytes;
    m.vectors = zeroed(members * m.cells, sizeof *m.vectors);
    m.receives = zeroed(members * m.cells, sizeof *m.receives);
    m.forwarded = zeroed(forwards(&m) ? ranks * ranks * m.cells : 0, sizeof *m.forwarded);
    m.entered_ranks = zeroed(members, sizeof *m.entered_ranks);
    m.step = zeroed(members, sizeof *m.step);
    m.arrived = zeroed(members, sizeof *m.arrived);
    m.flying = zeroed(n_messages, sizeof *m.flying);
    fill(&m);
    run(&m);
    check_result(&m);
    free(m.vectors);
    free(m.receives);
    free(m.forwarded);
    free(m.entered_ranks);
    free(m.step);
    free(m.arrived);
    free(m.flying);
}

void coll_machine_sweep(const struct coll_algorithm *a, struct coll_shape shape, uint32_t ranks_max,
                        void (*each)(const struct coll_algorithm *a, const struct coll_shape *s))
{
    for (shape.ranks = 2; shape.ranks <= ranks_max; shape.ranks++) {
        const uint64_t sizes[] = {0, 1, 13, 97, 700, 16 * shape.ranks};
        const uint32_t roots[] = {0, 1, shape.ranks / 2, shape.ranks - 1};
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
            for (size_t r = 0; r < (coll_op_rooted(shape.op) ? 4 : 1); r++) {
                shape.bytes = sizes[i];
                shape.root = roots[r];
                coll_machine_check(a, &shape);
                if (each != NULL)
                    each(a, &shape);
            }
        }
    }
}

uint64_t coll_machine_total(const struct coll_algorithm *a, const struct coll_shape *shape)
{
    uint64_t total = 0;
    for (uint32_t rank = 0; rank < shape->ranks; rank++)
        total += coll_bytes_sent(a, shape, rank);
    return total;
}

uint32_t coll_machine_log2_up(uint32_t n)
{
    uint32_t log2 = 0;
    while ((UINT32_C(1) << log2) < n)
        log2++;
    return log2;
}
