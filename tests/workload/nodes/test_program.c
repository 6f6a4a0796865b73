// SPDX-License-Identifier: MIT
// Hand-written programs with different ranks: groups in parallel, sends and receives by tag,
// compute steps between them, and the report of what ranks wait for in a deadlock.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/support/fixture.h"
#include "workload/nodes/node_list.h"
#include "workload/nodes/node_run.h"

#define RATE UINT64_C(100000000000)

static const struct node_program *graph_nodes(const struct job_spec *job) { return job->settings; }

static const struct job_kind graph_kind = {
    .name = "graph",
    .settings_bytes = sizeof(struct node_program),
    .program = &node_run_ops,
    .new = node_run_new,
    .nodes = graph_nodes,
};

/* ---- nodes: the id of a node is its index in the list ---- */

struct graph_step {
    struct node node;
    const uint64_t *after;
    uint32_t n_after;
};

struct graph_rank {
    const struct graph_step *steps;
    uint32_t n;
};

struct step_graph {
    const struct graph_rank *ranks;
    struct node_group *groups;
    uint32_t n_groups;
};

#define AFTER(...)                                                                                 \
    .after = (const uint64_t[]){__VA_ARGS__},                                                      \
    .n_after = sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)
#define COMPUTE(ps) .node = {.kind = NODE_COMPUTE, .takes_ps = (ps)}
#define SEND(to, t, n)                                                                             \
    .node = {.kind = NODE_SEND, .stream = NODE_NO_STREAM, .peer = (to), .tag = (t), .bytes = (n)}
#define RECV(from, t)                                                                              \
    .node = {.kind = NODE_RECV, .stream = NODE_NO_STREAM, .peer = (from), .tag = (t)}
#define COLLECTIVE(g, r)                                                                           \
    .node = {.kind = NODE_COLLECTIVE,                                                              \
             .stream = NODE_NO_STREAM,                                                             \
             .group = (g),                                                                         \
             .op = (r)->op,                                                                        \
             .bytes = (r)->bytes,                                                                  \
             .dims = (r)->dims,                                                                    \
             .name = (r)->name}
#define RANK(list)                                                                                 \
    {                                                                                              \
        list, sizeof(list) / sizeof *(list)                                                        \
    }

static char default_use[] = "communication";
static char *uses[] = {default_use};

// The program of a graph; the one before it is freed.
static struct node_program *program_of(const struct step_graph *graph, uint32_t ranks)
{
    static struct node_program program;
    node_list_free(program.self);
    program = (struct node_program){0};
    if (graph == NULL)
        return NULL;
    struct node_list *list = node_list_new(ranks);
    for (uint32_t r = 0; r < ranks; r++)
        for (uint32_t i = 0; i < graph->ranks[r].n; i++) {
            struct node node = graph->ranks[r].steps[i].node;
            node.id = i;
            node.after = graph->ranks[r].steps[i].after;
            node.n_after = graph->ranks[r].steps[i].n_after;
            node_list_add(list, r, &node);
        }
    program = (struct node_program){.source = &node_list_source,
                                    .self = list,
                                    .n_ranks = ranks,
                                    .groups = graph->groups,
                                    .n_groups = graph->n_groups,
                                    .uses = uses,
                                    .n_uses = 1,
                                    .idle_use = 1};
    return &program;
}

#define GROUP(members, n, algorithm)                                                               \
    {                                                                                              \
        .name = group_name, .ranks = (members), .schedule = flat(n, algorithm)                     \
    }

static char group_name[] = "g0";

static struct coll_schedule flat(uint32_t ranks, const char *algorithm)
{
    struct coll_schedule s = {.n_dims = 1, .dim_size = {ranks}, .chunks = 1};
    for (unsigned op = 0; op < COLL_OPS; op++)
        s.choice[op][0] = coll_choice_of(coll_find(algorithm));
    return s;
}

static void run_on(int network, struct fixture *f, uint32_t ranks, struct step_graph *graph)
{
    fixture_switch(f, ranks, RATE, PS_PER_US);
    f->spec.network = network;
    f->jobs[0] = (struct job_spec){.kind = &graph_kind,
                                   .name = "g",
                                   .cls = NET_CLASS_DATA,
                                   .settings = program_of(graph, ranks)};
    f->spec.n_jobs = 1;
    fixture_run(f);
}

static void run(struct fixture *f, uint32_t ranks, struct step_graph *graph)
{
    run_on(NETWORK_PACKET, f, ranks, graph);
}

static void assert_completed(const struct fixture *f)
{
    assert_int_equal(f->result->status, RUN_COMPLETED);
    if (f->spec.network == NETWORK_PACKET)
        assert_int_equal(f->sim->fabric.hosts.counters.delivered_bytes,
                         f->sim->workload.total_bytes);
    assert_int_equal(f->sim->workload.jobs_left, 0);
    assert_int_equal(tally_sum(&f->sim->workload.messages_open), 0);
    assert_int_equal(tally_sum(&f->sim->workload.starts_pending), 0);
}

static const struct flow_record *flow_of(const struct fixture *f, uint64_t bytes)
{
    for (size_t i = 0; i < f->result->n_flows; i++)
        if (f->result->flows[i].bytes == bytes)
            return &f->result->flows[i];
    fail();
    return NULL;
}

/* ---- groups ---- */

static const struct comm_request sum = {COLL_ALL_REDUCE, 400000, 1, .name = "sum"},
                                 exchange = {COLL_ALL_TO_ALL, 200000, 1, .name = "exchange"};
static uint32_t evens[] = {6, 2, 4, 0}, odds[] = {1, 7, 3, 5};

// Bit 0: even ranks all-reduce; bit 1: odd ranks exchange. Returns the ends of both, or 0.
static void ends_of(int network, unsigned which, ps_t ends[2])
{
    const struct graph_step even[] = {{COLLECTIVE(0, &sum)}}, odd[] = {{COLLECTIVE(1, &exchange)}};
    struct node_group groups[] = {GROUP(evens, 4, "ring"), GROUP(odds, 4, "direct")};
    struct graph_rank ranks[8] = {{0}};
    for (uint32_t r = 0; r < 8; r++)
        if (which >> r % 2 & 1)
            ranks[r] = (struct graph_rank){r % 2 ? odd : even, 1};
    struct step_graph graph = {ranks, groups, 2};
    struct fixture f;
    run_on(network, &f, 8, &graph);
    assert_completed(&f);
    ends[0] = ends[1] = 0;
    for (size_t i = 0; i < f.result->n_collectives; i++) {
        const struct collective_result *c = &f.result->collectives[i];
        bool odd_ones = strcmp(c->op, "all_to_all") == 0;
        assert_int_equal(c->ranks, 4);
        assert_int_equal(c->start_ps, 0);
        ends[odd_ones] = c->end_ps;
    }
    for (size_t i = 0; i < f.result->n_flows; i++)
        assert_int_equal(f.result->flows[i].src % 2, f.result->flows[i].dst % 2);
    fixture_free(&f);
}

// On a non-blocking switch, two groups without a common rank take as long as each alone. In closed
// form, with messages of 100 kB and 50 kB that cross two links of 1 us at 12.5 B/ns: a ring
// all-reduce takes 6 T, a direct all-to-all T.
static void test_two_groups_at_once(void **state)
{
    (void)state;
    ps_t both[2], one[2];
    for (int network = NETWORK_PACKET; network <= NETWORK_ANALYTICAL; network++) {
        ends_of(network, 3, both);
        ends_of(network, 1, one);
        assert_true(one[0] > 0 && one[1] == 0);
        assert_int_equal(both[0], one[0]);
        ends_of(network, 2, one);
        assert_true(one[1] > 0 && one[0] == 0);
        assert_int_equal(both[1], one[1]);
    }
    assert_int_equal(both[0], 6 * (2 * PS_PER_US + 8 * PS_PER_US));
    assert_int_equal(both[1], 2 * PS_PER_US + 4 * PS_PER_US);
}

// Rows and columns of a grid of 2 x 3: every rank is in two groups. Half of the ranks issue the
// columns' collective first; communicators are independent, so none waits for another.
static void test_groups_that_share_ranks(void **state)
{
    (void)state;
    static uint32_t members[5][3] = {{0, 1, 2}, {3, 4, 5}, {0, 3}, {1, 4}, {2, 5}};
    struct node_group groups[5];
    struct graph_step steps[6][2];
    struct graph_rank ranks[6];
    for (uint32_t g = 0; g < 5; g++)
        groups[g] = (struct node_group)GROUP(members[g], g < 2 ? 3 : 2, "ring");
    for (uint32_t r = 0; r < 6; r++) {
        uint32_t first = r % 2; // index of the row's step
        steps[r][first] = (struct graph_step){COLLECTIVE(r / 3, &sum)};
        steps[r][1 - first] = (struct graph_step){COLLECTIVE(2 + r % 3, &exchange)};
        ranks[r] = (struct graph_rank){steps[r], 2};
    }
    struct step_graph graph = {ranks, groups, 5};
    struct fixture f;
    run(&f, 6, &graph);
    assert_completed(&f);
    assert_int_equal(f.result->n_collectives, 5);
    uint64_t rows = 2 * 3 * (4 * 400000 / 3), columns = 3 * 2 * 100000; // 2(p-1)/p; (p-1)/p
    assert_in_range(f.sim->workload.total_bytes, rows + columns - 8, rows + columns + 8);
    fixture_free(&f);
}

// Two pairs with one request, one below a leaf and one across the spine: each has its own ideal
// time, the longer one by two links each way of the two steps, 3 us + 3 us a message.
static void test_ideals_of_groups(void **state)
{
    (void)state;
    static const struct comm_request small = {COLL_ALL_REDUCE, 2000, 1, .name = "small"};
    static uint32_t near[] = {3, 2}, far[] = {1, 5};
    const struct graph_step one[] = {{COLLECTIVE(0, &small)}}, other[] = {{COLLECTIVE(1, &small)}};
    struct node_group groups[] = {GROUP(near, 2, "ring"), GROUP(far, 2, "ring")};
    struct graph_rank ranks[6] = {
        [1] = {other, 1}, [2] = {one, 1}, [3] = {one, 1}, [5] = {other, 1}};
    struct step_graph graph = {ranks, groups, 2};
    struct link_spec link = {.rate_bps = RATE, .delay_ps = PS_PER_US},
                     trunk = {.rate_bps = RATE, .delay_ps = 3 * PS_PER_US};
    struct fixture f;
    fixture_leaf_spine(&f, 6, 2, 1, link, trunk);
    f.jobs[0] = (struct job_spec){
        .kind = &graph_kind, .name = "g", .cls = NET_CLASS_DATA, .settings = program_of(&graph, 6)};
    f.spec.n_jobs = 1;
    fixture_run(&f);
    assert_completed(&f);
    assert_int_equal(f.result->n_collectives, 2);
    const struct collective_result *c = f.result->collectives; // in the order of their first ranks
    ps_t apart = c[0].ideal_ps - c[1].ideal_ps, links = 2 * 2 * 3 * PS_PER_US;
    assert_in_range(apart, links,
                    // two more times stored and forwarded
                    links + 2 * 2 * serialization_ps(1100, RATE));
    for (size_t i = 0; i < 2; i++)
        assert_true(c[i].efficiency > 0.99 && c[i].efficiency <= 1);
    fixture_free(&f);
}

// Members of one communicator issue different collectives: both are named.
static void test_mismatch(void **state)
{
    (void)state;
    static const struct comm_request other = {COLL_ALL_REDUCE, 400001, 1, .name = "other"};
    const struct graph_step right[] = {{COLLECTIVE(0, &sum)}, {COLLECTIVE(0, &sum), AFTER(0)}},
                            wrong[] = {{COLLECTIVE(0, &sum)}, {COLLECTIVE(0, &other), AFTER(0)}};
    struct node_group groups[] = {GROUP(NULL, 3, "ring")};
    struct graph_rank ranks[] = {RANK(right), RANK(right), RANK(wrong)};
    struct step_graph graph = {ranks, groups, 1};
    struct fixture f;
    run(&f, 3, &graph);
    assert_int_equal(f.result->status, RUN_INCOMPLETE);
    const char *reason = f.result->reason;
    assert_non_null(strstr(reason, "collective 1 of communicator 0 of job 0 is "));
    assert_non_null(strstr(reason, "400000 bytes, root 0, priority 0 (\"sum\") for rank "));
    assert_non_null(strstr(reason, "400001 bytes, root 0, priority 0 (\"other\") for rank 2"));
    fixture_free(&f);
}

/* ---- messages ---- */

// Rank 0 sends tags 1, 2, 2; rank 1 receives them in another order, one of them long after its
// arrival, and replies to each when it has received it.
static void test_tags_in_any_order(void **state)
{
    (void)state;
    const ps_t late = 300 * PS_PER_US;
    const struct graph_step first[] = {
        {SEND(1, 1, 1000000)}, {SEND(1, 2, 2000)}, {SEND(1, 2, 3000), AFTER(1)},
        {RECV(1, 9)},          {RECV(1, 8)},       {RECV(1, 7)}};
    const struct graph_step second[] = {{RECV(0, 2)},
                                        {SEND(0, 7, 200), AFTER(0)},
                                        {COMPUTE(late), AFTER(0)},
                                        {RECV(0, 2), AFTER(2)},
                                        {SEND(0, 8, 300), AFTER(3)},
                                        {RECV(0, 1)},
                                        {SEND(0, 9, 100), AFTER(5)}};
    struct graph_rank ranks[] = {RANK(first), RANK(second)};
    struct step_graph graph = {ranks, NULL, 0};
    struct fixture f;
    run(&f, 2, &graph);
    assert_completed(&f);
    assert_int_equal(f.result->n_flows, 6);
    const struct flow_record *big = flow_of(&f, 1000000), *small = flow_of(&f, 2000);
    assert_int_equal(big->start_ps, 0);
    assert_int_equal(flow_of(&f, 3000)->start_ps, small->fct_ps); // when it was acknowledged
    assert_int_equal(flow_of(&f, 100)->start_ps, big->delivered_ps);
    assert_int_equal(flow_of(&f, 200)->start_ps, small->delivered_ps);
    assert_int_equal(flow_of(&f, 300)->start_ps, small->delivered_ps + late);
    fixture_free(&f);
}

// A rank computes one step at a time; steps that do not compute run in parallel.
static void test_compute(void **state)
{
    (void)state;
    const struct graph_step first[] = {
        {COMPUTE(5 * PS_PER_US)},     {COMPUTE(7 * PS_PER_US)}, {SEND(1, 0, 1000), AFTER(0)},
        {SEND(1, 1, 2000), AFTER(1)}, {SEND(1, 2, 3000)},       {SEND(1, 3, 4000), AFTER(0, 1, 3)}};
    const struct graph_step second[] = {{RECV(0, 0)}, {RECV(0, 1)}, {RECV(0, 2)}, {RECV(0, 3)}};
    struct graph_rank ranks[] = {RANK(first), RANK(second)};
    struct step_graph graph = {ranks, NULL, 0};
    struct fixture f;
    run(&f, 2, &graph);
    assert_completed(&f);
    const struct flow_record *last = flow_of(&f, 2000);
    assert_int_equal(flow_of(&f, 1000)->start_ps, 5 * PS_PER_US);
    assert_int_equal(last->start_ps, 12 * PS_PER_US);
    assert_int_equal(flow_of(&f, 3000)->start_ps, 0);
    assert_int_equal(flow_of(&f, 4000)->start_ps, last->start_ps + last->fct_ps);
    fixture_free(&f);
}

/* ---- ranks that wait ---- */

static void assert_waits(const struct fixture *f, const char *text)
{
    for (size_t i = 0; i < f->result->n_waiting; i++)
        if (strcmp(f->result->waiting[i], text) == 0)
            return;
    for (size_t i = 0; i < f->result->n_waiting; i++)
        print_message("%s\n", f->result->waiting[i]);
    fail_msg("missing: %s", text);
}

// Each of two ranks waits for the other's message before it sends; a third rank's steps depend on
// each other; a fourth issues a collective that the third never issues.
static void test_cycle(void **state)
{
    (void)state;
    const struct graph_step a[] = {{RECV(1, 3)}, {SEND(1, 4, 1000), AFTER(0)}};
    const struct graph_step b[] = {{RECV(0, 4)}, {SEND(0, 3, 1000), AFTER(0)}};
    const struct graph_step c[] = {{COLLECTIVE(0, &sum), AFTER(1)}, {COMPUTE(1), AFTER(0)}};
    const struct graph_step d[] = {{COLLECTIVE(0, &sum)}};
    static uint32_t pair[] = {2, 3};
    struct node_group groups[] = {GROUP(pair, 2, "ring")};
    struct graph_rank ranks[] = {RANK(a), RANK(b), RANK(c), RANK(d)};
    struct step_graph graph = {ranks, groups, 1};
    struct fixture f;
    run(&f, 4, &graph);
    assert_int_equal(f.result->status, RUN_INCOMPLETE);
    assert_string_equal(f.result->reason,
                        "stalled: nothing is left to happen, but the work is not done");
    assert_waits(&f, "job g: rank 0 waits in node 0 for a message from rank 1 with tag 3");
    assert_waits(&f, "job g: rank 1 waits in node 0 for a message from rank 0 with tag 4");
    assert_waits(
        &f, "job g: rank 2 never begins node 0 (sum): it is after node 1, which has not ended");
    assert_waits(&f, "job g: rank 3 waits in node 0 (sum) for all_reduce of group g0");
    fixture_free(&f);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_two_groups_at_once),
        cmocka_unit_test(test_groups_that_share_ranks),
        cmocka_unit_test(test_ideals_of_groups),
        cmocka_unit_test(test_mismatch),
        cmocka_unit_test(test_tags_in_any_order),
        cmocka_unit_test(test_compute),
        cmocka_unit_test(test_cycle),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_of(NULL, 0);
    return failed;
}
