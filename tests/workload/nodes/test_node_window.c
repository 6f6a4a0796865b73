// SPDX-License-Identifier: MIT
// Which nodes may start: in the order of the program, or as they become ready by priority and id;
// and the passes of a pipeline's stages.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "workload/llm/llm_schedule.h"
#include "workload/nodes/node_list.h"
#include "workload/nodes/node_window.h"

struct given {
    uint64_t id, after; // after: 0 = nothing
    uint8_t stream;
    int32_t priority;
};

// Run the nodes one at a time and write their ids in the order of their starts.
static void starts(const struct given *nodes, size_t n, bool in_order, uint32_t limit, char *out)
{
    struct node_list *list = node_list_new(1);
    struct node_program program = {
        .source = &node_list_source, .self = list, .n_ranks = 1, .in_order = in_order};
    struct name_pool names = {0};
    struct node_window w;
    struct err err = {0};
    for (size_t i = 0; i < n; i++) {
        struct node node = {.id = nodes[i].id,
                            .stream = nodes[i].stream,
                            .priority = nodes[i].priority,
                            .after = &nodes[i].after,
                            .n_after = nodes[i].after > 0};
        node_list_add(list, 0, &node);
    }
    void *cursor = node_list_source.open(list);
    window_init(&w, cursor, &program, 0, limit, &names);
    *out = '\0';
    for (ps_t now = 0; now < (ps_t)n + 9; now++) {
        assert_int_equal(window_fill(&w, &err), 0);
        uint32_t slot = window_start(&w, now);
        if (slot == 0 && w.source_ended)
            break;
        if (slot == 0) { // as the runner does where all ranks wait
            w.limit = 2 * w.limit + 1;
            continue;
        }
        sprintf(out + strlen(out), "%u ", (unsigned)window_at(&w, slot)->node.id);
        window_end(&w, slot, now);
    }
    window_free(&w);
    node_list_source.close(cursor);
    node_list_free(list);
    names_free(&names);
}

#define ASSERT_STARTS(nodes, in_order, limit, want)                                                \
    do {                                                                                           \
        char got[128];                                                                             \
        starts(nodes, sizeof nodes / sizeof *nodes, in_order, limit, got);                         \
        assert_string_equal(got, want);                                                            \
    } while (0)

static void test_order(void **state)
{
    (void)state;
    const struct given nodes[] = {
        {5, 0, 1, 0}, {3, 4, 1, 0}, {1, 0, 1, 7}, {4, 0, 2, 0}, {2, 0, 1, 9}};
    // ready: of all streams the smallest id among those of the highest priority in each
    ASSERT_STARTS(nodes, false, 100, "2 1 4 3 5 ");
    // in order: node 3 holds up stream 1 until 4 has ended on stream 2
    ASSERT_STARTS(nodes, true, 100, "4 5 3 1 2 ");
    // what is not read cannot start: 3 waits for 4, which two nodes ahead of it do not show
    ASSERT_STARTS(nodes, true, 2, "5 4 3 1 2 ");
    ASSERT_STARTS(nodes, false, 1, "5 1 4 3 2 ");
}

static void passes(const struct llm_spec *s, uint32_t stage, char *out)
{
    *out = '\0';
    for (uint64_t k = 0; k < llm_passes(s); k++) {
        struct llm_pass pass = llm_pass_at(s, stage, k);
        sprintf(out + strlen(out), "%c%u%c", pass.backward ? 'b' : 'f', pass.micro_batch,
                s->p.virtual_stages > 1 ? (char)('x' + pass.chunk) : ' ');
    }
}

// Narayanan et al., SC 2021, figures 3 and 4.
static void test_schedules(void **state)
{
    (void)state;
    char got[256];
    struct llm_spec s = {.p = {.schedule = LLM_1F1B, .virtual_stages = 1}, .micro_batches = 4};
    s.p.degrees[LLM_PIPELINE] = 3;
    passes(&s, 0, got);
    assert_string_equal(got, "f0 f1 f2 b0 f3 b1 b2 b3 ");
    passes(&s, 2, got);
    assert_string_equal(got, "f0 b0 f1 b1 f2 b2 f3 b3 ");
    s.p.schedule = LLM_GPIPE;
    passes(&s, 1, got);
    assert_string_equal(got, "f0 f1 f2 f3 b0 b1 b2 b3 ");
    s.p.schedule = LLM_INTERLEAVED;
    s.p.virtual_stages = 2;
    s.p.degrees[LLM_PIPELINE] = 2;
    passes(&s, 0, got); // warm-up of 2 (p - i - 1) + (v - 1) p = 4
    assert_string_equal(got, "f0xf1xf0yf1yf2xb0yf3xb1yf2yb0xf3yb1xb2yb3yb2xb3x");
    passes(&s, 1, got);
    assert_string_equal(got, "f0xf1xf0yb0yf1yb1yf2xb0xf3xb1xf2yb2yf3yb3yb2xb3x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_schedules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
