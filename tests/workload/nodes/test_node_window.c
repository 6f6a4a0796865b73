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

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
