// SPDX-License-Identifier: MIT
// How operations by a file's algorithm are cut: loops, chunks that go at once, slices,
// dependencies.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "collective/nccl/xml/operation.h"

#define KIB UINT64_C(1024)
#define CHUNKS 4
#define COUNT 3 // chunks of a step

static const struct nccl_cluster cluster = {.buffer_bytes = 0};

// GPU 0 copies and, after this, sends; GPU 1 receives.
static struct xml_algorithm *two_gpus(enum nccl_protocol protocol)
{
    struct xml_algorithm *a = xml_algorithm_new(2, 3, 4);
    struct xml_error error;
    a->protocol = protocol;
    a->n_chunks = CHUNKS;
    a->gpus[0] = (struct xml_gpu){0, 2};
    a->gpus[1] = (struct xml_gpu){2, 1};
    a->blocks[0] = (struct xml_block){
        .gpu = 0, .id = 0, .send = XML_NONE, .receive = XML_NONE, .first_step = 0, .n_steps = 2};
    a->blocks[1] = (struct xml_block){
        .gpu = 0, .id = 1, .send = 1, .receive = XML_NONE, .first_step = 2, .n_steps = 1};
    a->blocks[2] = (struct xml_block){
        .gpu = 1, .id = 0, .send = XML_NONE, .receive = 0, .first_step = 3, .n_steps = 1};
    a->steps[0] = (struct xml_step){XML_NOP, 0, false, XML_NONE, XML_NONE, 0, 0};
    a->steps[1] = (struct xml_step){XML_COPY, COUNT, false, XML_NONE, XML_NONE, 0, 0};
    a->steps[2] = (struct xml_step){XML_SEND, COUNT, false, 0, 1, 0, 0};
    a->steps[3] = (struct xml_step){XML_RECEIVE, COUNT, false, XML_NONE, XML_NONE, 0, 0};
    assert_true(xml_algorithm_link(a, &error));
    return a;
}

struct cut {
    enum nccl_protocol protocol;
    uint64_t bytes, limit;
    // wanted: loops, chunks at once, primitives of the three blocks
    uint64_t loops;
    uint32_t together;
    uint64_t lengths[3];
};

static void check_cut(const struct cut *c)
{
    struct xml_algorithm *a = two_gpus(c->protocol);
    struct xml_operation o;
    xml_operation_init(&o, a, &cluster, c->limit, c->bytes);
    assert_int_equal(o.loops, c->loops);
    assert_int_equal(o.together, c->together);
    uint64_t sent = 0, wire = 0;
    for (uint32_t b = 0; b < 3; b++) {
        assert_int_equal(xml_block_length(&o, b), c->lengths[b]);
        for (uint64_t i = 0; i < c->lengths[b]; i++) {
            struct xml_primitive p = xml_primitive(&o, b, i);
            assert_int_equal(p.primitive.sends, b == 1);
            assert_int_equal(p.primitive.receives, b == 2);
            assert_int_equal(p.idle, b == 0 && i % (c->lengths[0] / c->loops) == 0);
            bool waits = b == 1 && i % (c->lengths[1] / c->loops) == 0;
            assert_int_equal(p.after, waits ? 0 : XML_NONE);
            if (waits) // for all that block 0 does in the loop
                assert_int_equal(p.after_length,
                                 (i / (c->lengths[1] / c->loops) + 1) * (c->lengths[0] / c->loops));
            sent += b == 1 ? p.primitive.bytes : 0;
            wire += b == 1 ? nccl_wire_bytes(c->protocol, p.primitive.bytes) : 0;
        }
    }
    assert_int_equal(sent, COUNT * c->bytes / CHUNKS);
    assert_int_equal(xml_operation_bytes(&o), wire);
    assert_int_equal(xml_block_messages(&o, 2), c->lengths[2]);
    assert_int_equal(xml_block_messages(&o, 0), 0);
    xml_operation_free(&o);
    free(a);
}

static void test_cuts(void **state)
{
    (void)state;
    static const struct cut cuts[] = {
        // LL: 32 KiB of data at once
        {NCCL_LL, 4 * KIB, 0, 1, 32, {2, 1, 1}},
        {NCCL_LL, 64 * KIB, 0, 1, 2, {3, 2, 2}},
        {NCCL_LL, 128 * KIB, 0, 1, 1, {4, 3, 3}},
        {NCCL_LL, 132 * KIB, 0, 2, 1, {8, 6, 6}},
        {NCCL_LL, 128 * KIB, 8 * KIB, 4, 1, {16, 12, 12}},
        // Simple: 2 MiB in two slices
        {NCCL_SIMPLE, 8 * KIB, 0, 1, XML_COUNT_MAX, {2, 2, 2}},
        {NCCL_SIMPLE, 4096 * KIB, 0, 1, 2, {3, 4, 4}},
        {NCCL_SIMPLE, 20480 * KIB, 0, 3, 1, {12, 18, 18}},
    };
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++)
        check_cut(&cuts[i]);
}

// Nothing to do, and the largest operation of an algorithm that needs chunks to go together.
static void test_limits(void **state)
{
    (void)state;
    struct xml_algorithm *a = two_gpus(NCCL_LL);
    struct xml_operation o;
    xml_operation_init(&o, a, &cluster, 0, 0);
    for (uint32_t b = 0; b < 3; b++)
        assert_int_equal(xml_block_length(&o, b), 0);
    assert_int_equal(xml_operation_bytes(&o), 0);
    xml_operation_free(&o);
    assert_true(xml_operation_max(a, &cluster, 0) == UINT64_MAX);
    a->together_least = 2;
    assert_int_equal(xml_operation_max(a, &cluster, 0), CHUNKS * 16 * KIB);
    assert_int_equal(xml_operation_max(a, &cluster, 8 * KIB), CHUNKS * 4 * KIB);
    free(a);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cuts), cmocka_unit_test(test_limits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
