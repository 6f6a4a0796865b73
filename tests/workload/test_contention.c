// SPDX-License-Identifier: MIT
// Computation beside a collective: with a share s of the speed taken, T of computation that begins
// with a collective of C < T lasts T + s C, and not less than T / (1 - s) where the collective
// lasts longer.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/support/fixture.h"
#include "workload/nodes/node_list.h"
#include "workload/nodes/node_run.h"

#define COMPUTE_PS (100 * PS_PER_US)

struct settings {
    struct node_program program;
    struct contention_params contention;
};

static const struct node_program *nodes_of(const struct job_spec *job)
{
    return &((const struct settings *)job->settings)->program;
}

static void *new_job(struct job_run *job)
{
    job->contention = ((const struct settings *)job->spec->settings)->contention;
    return node_run_new(job);
}

static const struct job_kind kind = {
    .name = "beside",
    .settings_bytes = sizeof(struct settings),
    .program = &node_run_ops,
    .new = new_job,
    .nodes = nodes_of,
};

static char use[] = "all", group_name[] = "all";
static char *uses[] = {use};

// The compute time of rank 0 beside a collective of `bytes`, whose time is stored. `own`: the
// computation's share, in place of the job's; NULL = none.
static ps_t compute_beside_ps(double share, const double *own, uint64_t bytes, ps_t *collective_ps)
{
    struct coll_schedule schedule = {.n_dims = 1, .dim_size = {2}, .chunks = 1, .stepwise = true};
    schedule.choice[COLL_ALL_REDUCE][0] = coll_choice_of(coll_find("ring"));
    struct node_group group = {.name = group_name, .schedule = schedule, .inner = 1};
    struct settings settings = {.program = {.source = &node_list_source,
                                            .self = node_list_new(2),
                                            .n_ranks = 2,
                                            .groups = &group,
                                            .n_groups = 1,
                                            .uses = uses,
                                            .n_uses = 1,
                                            .idle_use = 1},
                                .contention = {.share = share}};
    struct node compute = {.id = 0,
                           .kind = NODE_COMPUTE,
                           .takes_ps = COMPUTE_PS,
                           .own_contention = own != NULL,
                           .contention = own != NULL ? *own : 0};
    struct node sum = {.id = 1,
                       .kind = NODE_COLLECTIVE,
                       .stream = NODE_COMM_STREAM,
                       .op = COLL_ALL_REDUCE,
                       .dims = 1,
                       .bytes = bytes};
    struct fixture f;
    for (uint32_t r = 0; r < 2; r++) {
        node_list_add(settings.program.self, r, &compute);
        node_list_add(settings.program.self, r, &sum);
    }
    fixture_switch(&f, 2, UINT64_C(100000000000), PS_PER_US);
    f.spec.network = NETWORK_ANALYTICAL;
    f.jobs[0] =
        (struct job_spec){.kind = &kind, .name = "j", .cls = NET_CLASS_DATA, .settings = &settings};
    f.spec.n_jobs = 1;
    fixture_run(&f);
    assert_int_equal(f.result->status, RUN_COMPLETED);
    assert_int_equal(f.result->n_ranks, 2);
    ps_t took = f.result->ranks[0].compute_ps;
    *collective_ps = f.result->collectives[0].end_ps;
    fixture_free(&f);
    node_list_free(settings.program.self);
    return took;
}

static ps_t compute_ps(double share, uint64_t bytes, ps_t *collective_ps)
{
    return compute_beside_ps(share, NULL, bytes, collective_ps);
}

// A kernel that collectives slow down more or less than the job's others.
static void test_own_share(void **state)
{
    (void)state;
    ps_t collective;
    double none = 0, quarter = 0.25;
    assert_int_equal(compute_beside_ps(0.5, &none, 250000, &collective), COMPUTE_PS);
    assert_int_equal(compute_beside_ps(0, &quarter, 250000, &collective),
                     COMPUTE_PS + collective / 4);
}

static void test_shares(void **state)
{
    (void)state;
    ps_t collective;
    assert_int_equal(compute_ps(0, 250000, &collective), COMPUTE_PS);
    // two messages of 125 kB at 12.5 B/ns over two links of 1 us
    assert_int_equal(collective, 2 * (10 + 2) * PS_PER_US);
    assert_int_equal(compute_ps(0.25, 250000, &collective), COMPUTE_PS + collective / 4);
    assert_int_equal(compute_ps(0.5, 25000000, &collective), 2 * COMPUTE_PS);
    assert_true(collective > 2 * COMPUTE_PS);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_own_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
