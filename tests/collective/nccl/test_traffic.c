// SPDX-License-Identifier: MIT
// Every message between servers of eight collectives, in the order of its connection, against a
// re-statement of NCCL's loops (tests/data/nccl/traffic.csv).
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "collective/nccl/nccl_operation.h"

enum { LINE = 256, CASES = 8, MOST = 1000, NODES = 8 };

enum column {
    CASE,
    VERSION,
    MACHINE,
    SERVERS,
    FUNCTION,
    BYTES,
    ALGORITHM,
    PROTOCOL,
    CHANNEL,
    PHASE,
    LOOP,
    STEP,
    SLICE,
    SEQUENCE,
    SRC,
    DST,
    SRC_NIC,
    DST_NIC,
    PAYLOAD,
    WIRE,
    COLUMNS
};

struct row {
    char text[LINE];
    char *cells[COLUMNS];
};
static struct row rows[2000];
static unsigned n_rows;

static uint64_t number(const struct row *r, enum column c)
{
    return strtoull(r->cells[c], NULL, 10);
}

static int setup(void **state)
{
    (void)state;
    FILE *in = fopen("tests/data/nccl/traffic.csv", "r");
    assert_non_null(in);
    assert_non_null(fgets(rows[0].text, LINE, in)); // names of the columns
    while (fgets(rows[n_rows].text, LINE, in) != NULL) {
        char *at = rows[n_rows].text;
        for (unsigned c = 0; c < COLUMNS; c++) {
            rows[n_rows].cells[c] = at;
            at += strcspn(at, ",\n");
            if (*at != '\0')
                *at++ = '\0';
        }
        n_rows++;
    }
    fclose(in);
    return 0;
}

static enum nccl_version version_of(const char *text)
{
    unsigned v = 0;
    while (strcmp(nccl_version_name((enum nccl_version)v), text) != 0)
        v++;
    return (enum nccl_version)v;
}

static void make(struct nccl_communicator *c, const struct row *r)
{
    const struct nccl_machine *m = nccl_machine_named(r->cells[MACHINE]);
    assert_non_null(m);
    struct nccl_settings settings = {.version = version_of(r->cells[VERSION]),
                                     .algorithms = NCCL_ANY_ALGORITHM,
                                     .protocols = NCCL_ANY_PROTOCOL,
                                     .cross_nic = NCCL_CROSS_NIC_AUTO,
                                     .pxn = true,
                                     .nvls = true};
    struct nccl_member members[256];
    char why[200] = "";
    uint32_t n = (uint32_t)number(r, SERVERS) * m->gpus;
    for (uint32_t i = 0; i < n; i++)
        members[i] = (struct nccl_member){i / m->gpus, i % m->gpus};
    assert_true(nccl_communicator_init(c, m, &settings, members, n, why, sizeof why));
}

// The message of a connection with number `sequence` among those of the role, or an end.
static bool message(const struct nccl_operation *o, const struct nccl_block *b, uint32_t dst,
                    uint64_t sequence, struct nccl_primitive *found)
{
    uint64_t n = 0;
    for (uint64_t i = 0; i < b->length; i++) {
        *found = nccl_primitive(o, b, i);
        for (uint32_t k = 0; k < b->n_to; k++)
            if ((found->sends >> k & 1) && b->to[k] == dst && n++ == sequence)
                return true;
    }
    return false;
}

// The block of a row's connection: where the way goes up and down a tree, the phase says which.
static const struct nccl_block *block_of(const struct nccl_block *blocks, uint32_t n,
                                         const struct row *r)
{
    bool down = strcmp(r->cells[PHASE], "down") == 0;
    for (uint32_t i = 0; i < n; i++)
        if (blocks[i].role == NCCL_ROLE_RING || blocks[i].role == NCCL_ROLE_PAT ||
            blocks[i].role == (down ? NCCL_ROLE_DOWN : NCCL_ROLE_UP) ||
            blocks[i].role == (down ? NCCL_ROLE_NVLS_DOWN : NCCL_ROLE_NVLS_UP))
            return &blocks[i];
    return NULL;
}

static enum nccl_function function_of(const char *text)
{
    unsigned f = 0;
    while (strcmp(nccl_function_name((enum nccl_function)f), text) != 0)
        f++;
    return (enum nccl_function)f;
}

static void check_nics(const struct nccl_operation *o, const struct row *r)
{
    const struct nccl_layout *l = &o->comm->layout;
    uint32_t channel = (uint32_t)number(r, CHANNEL), src = (uint32_t)number(r, SRC),
             dst = (uint32_t)number(r, DST);
    int32_t sends, receives;
    switch (o->choice.algorithm) {
    case NCCL_RING:
        sends = nccl_layout_ring(l, channel, src).send_nic;
        receives = nccl_layout_ring(l, channel, dst).receive_nic;
        break;
    case NCCL_TREE:
        sends = nccl_layout_tree(l, channel, src).nic;
        receives = nccl_layout_tree(l, channel, dst).nic;
        break;
    case NCCL_NVLS_TREE:
        sends = nccl_layout_nvls(l, channel, src).nic;
        receives = nccl_layout_nvls(l, channel, dst).nic;
        break;
    default:
        return; // one GPU and one NIC a server
    }
    assert_int_equal(sends, number(r, SRC_NIC));
    assert_int_equal(receives, number(r, DST_NIC));
}

static void check_row(const struct nccl_operation *o, const struct row *r)
{
    struct nccl_block blocks[NCCL_BLOCKS];
    struct nccl_primitive p = {0};
    uint32_t n = nccl_blocks(o, (uint32_t)number(r, CHANNEL), (uint32_t)number(r, SRC), blocks);
    const struct nccl_block *b = block_of(blocks, n, r);
    assert_non_null(b);
    assert_true(message(o, b, (uint32_t)number(r, DST), number(r, SEQUENCE), &p));
    assert_int_equal(p.bytes, number(r, PAYLOAD));
    assert_int_equal(nccl_wire_bytes(o->choice.protocol, p.bytes), number(r, WIRE));
    assert_int_equal(p.slice, o->choice.algorithm == NCCL_PAT ? p.slice : number(r, SLICE));
    check_nics(o, r);
}

// Bytes of all messages between servers of an operation, and their number.
static void count(const struct nccl_operation *o, uint64_t *bytes, unsigned *messages)
{
    struct nccl_block blocks[NCCL_BLOCKS];
    const struct nccl_communicator *c = o->comm;
    for (uint32_t channel = 0; channel < o->choice.split.channels; channel++)
        for (uint32_t rank = 0; rank < c->ranks; rank++) {
            uint32_t n = nccl_blocks(o, channel, rank, blocks);
            for (uint32_t b = 0; b < n; b++)
                for (uint64_t i = 0; i < blocks[b].length; i++) {
                    struct nccl_primitive p = nccl_primitive(o, &blocks[b], i);
                    for (uint32_t k = 0; k < blocks[b].n_to; k++)
                        if ((p.sends >> k & 1) &&
                            c->server_begin[rank] != c->server_begin[blocks[b].to[k]]) {
                            *bytes += nccl_wire_bytes(o->choice.protocol, p.bytes);
                            ++*messages;
                        }
                }
        }
}

static void test_messages(void **state)
{
    (void)state;
    unsigned cases = 0, checked = 0;
    for (unsigned first = 0, end; first < n_rows; first = end) {
        const struct row *r = &rows[first];
        struct nccl_communicator c;
        struct nccl_operation o;
        uint64_t bytes = 0, sum = 0;
        unsigned messages = 0;
        for (end = first; end < n_rows && strcmp(rows[end].cells[CASE], r->cells[CASE]) == 0; end++)
            sum += number(&rows[end], WIRE);
        if (strcmp(r->cells[FUNCTION], "AllToAll") == 0)
            continue; // test_p2p.c
        make(&c, r);
        assert_true(
            nccl_operation_init(&o, &c, function_of(r->cells[FUNCTION]), number(r, BYTES), 0));
        assert_string_equal(nccl_algorithm_name(o.choice.algorithm), r->cells[ALGORITHM]);
        assert_string_equal(nccl_protocol_name(o.choice.protocol), r->cells[PROTOCOL]);
        for (unsigned i = first; i < end; i++, checked++)
            check_row(&o, &rows[i]);
        count(&o, &bytes, &messages);
        assert_int_equal(messages, end - first);
        assert_int_equal(bytes, sum);
        nccl_communicator_free(&c);
        cases++;
    }
    assert_int_equal(cases, 7);
    assert_int_equal(checked, 1588);
}

// A rank receives as many messages from a sender as that one sends to it.
static void test_both_ends(void **state)
{
    static const char *const machines[] = {"dgx_h100", "dgx_a100", "gh200", "1gpu_h100_400"};
    static const uint64_t sizes[] = {64, 70000, 1 << 20, 200000000};
    (void)state;
    for (unsigned m = 0; m < 4; m++)
        for (unsigned s = 0; s < 16 * 5; s++) {
            struct row r = {.cells = {[MACHINE] = (char *)(uintptr_t)machines[m],
                                      [VERSION] = (char *)(uintptr_t) "2.27.7",
                                      [SERVERS] = (char *)(uintptr_t) "3"}};
            struct nccl_communicator c;
            struct nccl_operation o;
            struct nccl_block blocks[NCCL_BLOCKS], peers[NCCL_BLOCKS];
            make(&c, &r);
            c.settings.algorithms = (s / 16) % 5 == 0 ? NCCL_ANY_ALGORITHM : 1u << (s / 16 - 1);
            if (!nccl_operation_init(&o, &c, (enum nccl_function)(s % 4 + 1), sizes[s / 4 % 4],
                                     1)) {
                nccl_communicator_free(&c);
                continue;
            }
            for (uint32_t rank = 0; rank < c.ranks; rank++) {
                uint32_t n = nccl_blocks(&o, 0, rank, blocks);
                for (uint32_t b = 0; b < n; b++)
                    for (uint32_t k = 0; k < blocks[b].n_to; k++) {
                        uint64_t sent = 0, expected = 0;
                        for (uint64_t i = 0; i < blocks[b].length; i++)
                            sent += nccl_primitive(&o, &blocks[b], i).sends >> k & 1;
                        uint32_t peers_n = nccl_blocks(&o, 0, blocks[b].to[k], peers);
                        for (uint32_t q = 0; q < peers_n; q++)
                            for (uint32_t j = 0; j < peers[q].n_from; j++)
                                if (peers[q].from[j] == rank && peers[q].role == blocks[b].role) {
                                    for (uint64_t i = 0; i < peers[q].length; i++)
                                        expected +=
                                            nccl_primitive(&o, &peers[q], i).receives >> j & 1;
                                    assert_int_equal(nccl_block_messages(&o, &peers[q], j),
                                                     expected);
                                }
                        if (expected > 0 || blocks[b].role == NCCL_ROLE_RING)
                            assert_int_equal(sent, expected);
                    }
            }
            nccl_communicator_free(&c);
        }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),
        cmocka_unit_test(test_both_ends),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}
