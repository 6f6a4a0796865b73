// SPDX-License-Identifier: MIT
// Jobs over the packet network: starts, jitter, ranks of a job, repeats, chunks, several jobs, and
// every collective at 2 to 9 ranks: the delivered bytes match the algorithm.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "tests/support/fixture.h"

#define RATE UINT64_C(100000000000)

static void assert_completed(const struct fixture *f, uint64_t bytes)
{
    assert_int_equal(f->result->status, RUN_COMPLETED);
    assert_int_equal(f->sim->workload.total_bytes, bytes);
    assert_int_equal(f->sim->fabric.hosts.counters.delivered_bytes, bytes);
    assert_int_equal(f->sim->fabric.hosts.counters.posted_bytes, bytes);
    assert_int_equal(f->sim->workload.jobs_left, 0);
    assert_int_equal(tally_sum(&f->sim->workload.messages_open), 0);
    assert_int_equal(tally_sum(&f->sim->workload.starts_pending), 0);
    assert_int_equal(network_held(&f->sim->fabric.net), 0);
    assert_int_equal(f->sim->fabric.net.meta.n_used, 0);
}

static const struct flow_record *flow_of(const struct result *r, uint64_t bytes)
{
    for (size_t i = 0; i < r->n_flows; i++)
        if (r->flows[i].bytes == bytes)
            return &r->flows[i];
    fail();
    return NULL;
}

// The sum over all steps of the algorithm, computed independently.
static uint64_t program_bytes(const struct job_spec *job, uint32_t ranks)
{
    const struct collective_settings *settings = job->settings;
    const struct collective_params *p = &settings->params;
    const struct coll_schedule *s = &settings->schedule;
    const struct coll_algorithm *a = s->choice[p->op][0].algorithm;
    uint64_t unit = p->op == COLL_ALL_GATHER ? ranks : 1, held = p->bytes / unit, sum = 0;
    uint64_t chunks = s->chunks < held ? s->chunks : held > 0 ? held : 1;
    for (uint64_t c = 0; c < chunks; c++) {
        uint64_t piece = held / chunks * unit;
        struct coll_shape shape = {.op = (enum coll_op)p->op,
                                   .ranks = ranks,
                                   .bytes = c + 1 < chunks ? piece : p->bytes - c * piece,
                                   .params = s->choice[p->op][0].params};
        for (uint32_t rank = 0; rank < ranks; rank++)
            for (uint32_t step = 0; step < a->steps(&shape); step++)
                for (uint32_t k = 0; k < a->n_sends(&shape, rank, step); k++)
                    sum += a->send(&shape, rank, step, k).bytes;
    }
    return sum * p->repeat;
}

/* ---- flows ---- */

// Listed in any order, several at the same time from one rank, relative to the job's start.
static void test_flows_start_when_they_should(void **state)
{
    (void)state;
    static const struct {
        uint32_t src, dst;
        ps_t start_ps;
    } flows[] = {{0, 1, 7000000}, {0, 2, 0},       {2, 0, 3000001}, {0, 1, 3000000},
                 {1, 3, 7000000}, {0, 3, 7000000}, {3, 0, 1},       {2, 1, 3000000}};
    enum { N = sizeof flows / sizeof *flows };
    for (ps_t job_start = 0; job_start <= 5 * PS_PER_US; job_start += 5 * PS_PER_US) {
        struct fixture f;
        uint64_t bytes = 0;
        fixture_switch(&f, 4, RATE, PS_PER_US);
        for (uint32_t i = 0; i < N; i++) {
            fixture_flow(&f, flows[i].src, flows[i].dst, 1000 + i, flows[i].start_ps);
            bytes += 1000 + i;
        }
        f.jobs[0].start_ps = job_start;
        fixture_run(&f);
        assert_completed(&f, bytes);
        assert_int_equal(f.result->n_flows, N);
        for (uint32_t i = 0; i < N; i++) {
            const struct flow_record *flow = flow_of(f.result, 1000 + i);
            assert_int_equal(flow->start_ps, job_start + flows[i].start_ps);
            assert_int_equal(flow->src, flows[i].src);
            assert_int_equal(flow->dst, flows[i].dst);
            assert_true(flow->fct_ps > 2 * PS_PER_US);
        }
        fixture_free(&f);
    }
}

static void jitter_of(uint64_t seed, ps_t jitter, ps_t late[64])
{
    struct fixture f;
    fixture_switch(&f, 64, RATE, PS_PER_US);
    f.spec.seed = seed;
    f.spec.dims[0].transport.start_jitter_ps = jitter;
    for (uint32_t r = 0; r < 64; r++) {
        fixture_flow(&f, r, (r + 1) % 64, 1000 + r, 0);
        fixture_flow(&f, r, (r + 2) % 64, 2000 + r, 10 * PS_PER_US);
    }
    fixture_run(&f);
    for (uint32_t r = 0; r < 64; r++) {
        late[r] = flow_of(f.result, 1000 + r)->start_ps;
        // the same jitter applies to all starts of a rank
        assert_int_equal(flow_of(f.result, 2000 + r)->start_ps, late[r] + 10 * PS_PER_US);
    }
    fixture_free(&f);
}

static void test_start_jitter(void **state)
{
    (void)state;
    const ps_t jitter = 3 * PS_PER_US;
    ps_t late[64], same[64], other[64];
    jitter_of(1, 0, late);
    for (uint32_t r = 0; r < 64; r++)
        assert_int_equal(late[r], 0);
    jitter_of(1, jitter, late);
    jitter_of(1, jitter, same);
    jitter_of(2, jitter, other);
    assert_memory_equal(late, same, sizeof late);
    assert_memory_not_equal(late, other, sizeof late);
    ps_t sum = 0;
    uint32_t quarter[4] = {0};
    for (uint32_t r = 0; r < 64; r++) {
        assert_true(late[r] >= 0 && late[r] <= jitter);
        quarter[late[r] * 4 / (jitter + 1)]++;
        sum += late[r];
    }
    for (int q = 0; q < 4; q++) // 16 each, deviation 3.5
        assert_in_range(quarter[q], 5, 27);
    assert_true(llabs(sum / 64 - jitter / 2) < jitter * 4 / 28); // deviation jitter / sqrt(12 * 64)
}

// Flows refer to positions in the job's list of ranks.
static void test_flows_of_some_ranks(void **state)
{
    (void)state;
    uint32_t ranks[] = {7, 2, 5};
    struct fixture f;
    fixture_switch(&f, 8, RATE, PS_PER_US);
    fixture_flow(&f, 0, 1, 1001, 0);
    fixture_flow(&f, 2, 0, 1002, 0);
    fixture_ranks(&f, 0, ranks, 3);
    fixture_run(&f);
    assert_completed(&f, 2003);
    assert_int_equal(flow_of(f.result, 1001)->src, 7);
    assert_int_equal(flow_of(f.result, 1001)->dst, 2);
    assert_int_equal(flow_of(f.result, 1002)->src, 5);
    assert_int_equal(flow_of(f.result, 1002)->dst, 7);
    fixture_free(&f);
}

/* ---- collectives ---- */

static void collective(uint32_t ranks, enum coll_op op, const struct coll_algorithm *algorithm,
                       uint64_t directions)
{
    struct coll_shape shape = {.op = op, .ranks = ranks, .bytes = 1};
    const char *why;
    struct fixture f;
    if (!algorithm->supports(&shape, &why))
        return;
    static const struct {
        uint64_t bytes, chunks;
    } sizes[] = {{100003, 1}, {100003, 3}, {5, 2}}; // the last leaves empty messages
    for (size_t s = 0; s < 3; s++) {
        fixture_switch(&f, ranks, RATE, PS_PER_US);
        fixture_collective(&f, op, algorithm->name, sizes[s].bytes, sizes[s].chunks);
        fixture_setting(&f, "ring_directions", directions == 2 ? "2" : "1");
        roce_spec_of(&f.spec.dims[0].transport)->qp = s == 1 ? QP_PER_MESSAGE : QP_PERSISTENT;
        fixture_run(&f);
        assert_completed(&f, program_bytes(&f.jobs[0], ranks));
        assert_int_equal(f.result->n_collectives, 1);
        assert_true(f.result->collectives[0].end_ps > 2 * PS_PER_US);
        assert_int_equal(f.result->collectives[0].ranks, ranks);
        fixture_free(&f);
    }
}

static void test_all_collectives_at_2_to_9_ranks(void **state)
{
    (void)state;
    for (size_t a = 0; coll_registry[a]; a++)
        for (uint32_t ranks = coll_registry[a]->members ? 10 : 2; ranks <= 9; ranks++)
            for (int op = 0; op < COLL_OPS; op++)
                for (uint64_t directions = 1; directions <= 2; directions++)
                    collective(ranks, (enum coll_op)op, coll_registry[a], directions);
}

// All-reduce by ring and all-to-all move the bytes given by their formulas.
static void test_bytes_of_known_programs(void **state)
{
    (void)state;
    struct fixture f;
    fixture_switch(&f, 8, RATE, PS_PER_US);
    fixture_collective(&f, COLL_ALL_REDUCE, "ring", 800000, 1);
    fixture_run(&f);
    assert_completed(&f, 8 * UINT64_C(1400000)); // 2 (p-1)/p each
    fixture_free(&f);
    fixture_switch(&f, 8, RATE, PS_PER_US);
    fixture_collective(&f, COLL_ALL_TO_ALL, "direct", 800000, 1);
    fixture_run(&f);
    assert_completed(&f, 8 * UINT64_C(700000)); // (p-1)/p each
    assert_int_equal(f.result->n_flows, 56);
    fixture_free(&f);
}

// Only the job's ranks take part, in the order of its list.
static void test_collective_of_some_ranks(void **state)
{
    (void)state;
    uint32_t ranks[] = {6, 1, 4};
    struct fixture f;
    fixture_switch(&f, 8, RATE, PS_PER_US);
    fixture_collective(&f, COLL_ALL_GATHER, "ring", 90000, 1);
    fixture_ranks(&f, 0, ranks, 3);
    fixture_run(&f);
    assert_completed(&f, 3 * 60000);
    assert_int_equal(f.result->n_flows, 6);
    for (size_t i = 0; i < 6; i++) { // 6 -> 1 -> 4 -> 6
        const struct flow_record *flow = &f.result->flows[i];
        assert_int_equal(flow->bytes, 30000);
        assert_int_equal(flow->dst, flow->src == 6 ? 1 : flow->src == 1 ? 4 : 6);
    }
    for (uint32_t p = 0; p < 8; p++)
        assert_int_equal(f.result->ports[p].bytes > 0, p == 6 || p == 1 || p == 4);
    fixture_free(&f);
}

// Ranks whose starts differ by more than the duration of an operation: messages arrive long before
// their step.
static void test_repeats_chunks_and_late_ranks(void **state)
{
    (void)state;
    static const char *const names[] = {"ring", "direct", "halving_doubling"};
    for (size_t a = 0; a < 3; a++)
        for (uint32_t ranks = 3; ranks <= 8; ranks++) {
            struct fixture f;
            fixture_switch(&f, ranks, RATE, PS_PER_US);
            fixture_collective(&f, COLL_ALL_REDUCE, names[a], 50001, 4);
            f.collectives[0].params.repeat = 5;
            f.spec.seed = ranks;
            f.spec.dims[0].transport.start_jitter_ps = 200 * PS_PER_US;
            fixture_run(&f);
            assert_completed(&f, program_bytes(&f.jobs[0], ranks));
            assert_int_equal(f.result->n_collectives, 5);
            ps_t first = PS_NEVER, last = 0;
            for (uint32_t r = 0; r < ranks; r++) {
                first = f.sim->start_jitter_ps[r] < first ? f.sim->start_jitter_ps[r] : first;
                last = f.sim->start_jitter_ps[r] > last ? f.sim->start_jitter_ps[r] : last;
            }
            const struct collective_result *c = f.result->collectives;
            assert_int_equal(c[0].start_ps, first);
            for (size_t i = 0; i < 5; i++) {
                assert_true(c[i].start_ps < c[i].end_ps && c[i].end_ps > last);
                if (i > 0) // the first rank continues when its own part has ended
                    assert_true(c[i].start_ps > c[i - 1].start_ps &&
                                c[i].start_ps <= c[i - 1].end_ps && c[i].end_ps > c[i - 1].end_ps);
                assert_int_equal(f.sim->workload.recorder.records[i].ranks_done, ranks);
            }
            fixture_free(&f);
        }
}

// Two collectives and flows at the same time have separate queue pairs, records and bytes.
static void test_jobs_side_by_side(void **state)
{
    (void)state;
    struct fixture f;
    uint32_t evens[] = {0, 2, 4, 6};
    fixture_switch(&f, 8, RATE, PS_PER_US);
    fixture_flow(&f, 3, 5, 77777, 0);
    fixture_flow(&f, 5, 3, 88888, 40 * PS_PER_US);
    struct job_spec flows = f.jobs[0];
    fixture_collective(&f, COLL_ALL_REDUCE, "ring", 400001, 2);
    f.collectives[0].params.repeat = 3;
    f.jobs[1] = f.jobs[0];
    f.jobs[1].name = "other";
    f.jobs[1].start_ps = 9 * PS_PER_US;
    fixture_ranks(&f, 1, evens, 4);
    f.collectives[1].params.repeat = 2;
    f.jobs[2] = flows;
    fixture_flow_job(&f, 3, "empty", 3, 0, 0);
    f.spec.n_jobs = 4;
    fixture_run(&f);
    uint64_t bytes[2] = {program_bytes(&f.jobs[0], 8), program_bytes(&f.jobs[1], 4)};
    assert_completed(&f, bytes[0] + bytes[1] + 77777 + 88888);
    uint64_t got[4] = {0};
    for (size_t i = 0; i < f.result->n_flows; i++)
        got[f.result->flows[i].job] += f.result->flows[i].bytes;
    assert_int_equal(got[0], bytes[0]);
    assert_int_equal(got[1], bytes[1]);
    assert_int_equal(got[2], 77777 + 88888);
    size_t records[2] = {0};
    for (size_t i = 0; i < f.result->n_collectives; i++) {
        const struct collective_result *c = &f.result->collectives[i];
        assert_true(c->end_ps > c->start_ps);
        assert_int_equal(c->ranks, c->job ? 4 : 8);
        if (c->job && records[1] == 0)
            assert_int_equal(c->start_ps, 9 * PS_PER_US);
        records[c->job]++;
    }
    assert_int_equal(records[0], 3);
    assert_int_equal(records[1], 2);
    for (size_t i = 0; i < f.result->n_flows; i++) // no queue pair serves two jobs
        for (size_t k = 0; k < i; k++)
            if (f.result->flows[i].qp == f.result->flows[k].qp)
                assert_int_equal(f.result->flows[i].job, f.result->flows[k].job);
    fixture_free(&f);
}

static int one_rank_repeats(uint64_t repeat)
{
    uint32_t alone[] = {1};
    struct fixture f;
    fixture_switch(&f, 2, RATE, PS_PER_US);
    fixture_collective(&f, COLL_ALL_REDUCE, "ring", 1000, 1);
    fixture_ranks(&f, 0, alone, 1);
    f.collectives[0].params.repeat = repeat;
    fixture_run(&f);
    bool good = f.result->status == RUN_COMPLETED && f.result->n_collectives == 0;
    fixture_free(&f);
    return good ? 0 : 1;
}

// A single rank has nothing to do and nothing to record, for the largest number of repeats. Runs in
// a separate process, since an overflow of the stack would end it.
static void test_one_rank(void **state)
{
    (void)state;
    int status = -1;
    assert_int_equal(one_rank_repeats(1), 0);
    assert_int_equal(one_rank_repeats(3), 0);
    pid_t child = fork();
    if (child == 0) {
        close(2);
        _exit(one_rank_repeats(1000000));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static int root_repeats(uint64_t repeat)
{
    struct fixture f;
    fixture_switch(&f, 2, RATE, PS_PER_US);
    fixture_collective(&f, COLL_BROADCAST, "direct", 1, 1);
    f.collectives[0].params.repeat = repeat;
    f.spec.limits.sim_time_ps = PS_PER_US;
    fixture_run(&f);
    bool good = f.result->status == RUN_INCOMPLETE && f.result->n_collectives == repeat;
    fixture_free(&f);
    return good ? 0 : 1;
}

// A root that only sends ends its part when it begins it: the next repeat must not be started
// recursively.
static void test_root_that_never_waits(void **state)
{
    (void)state;
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        close(2);
        _exit(root_repeats(50000));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flows_start_when_they_should),
        cmocka_unit_test(test_start_jitter),
        cmocka_unit_test(test_flows_of_some_ranks),
        cmocka_unit_test(test_all_collectives_at_2_to_9_ranks),
        cmocka_unit_test(test_bytes_of_known_programs),
        cmocka_unit_test(test_collective_of_some_ranks),
        cmocka_unit_test(test_repeats_chunks_and_late_ranks),
        cmocka_unit_test(test_jobs_side_by_side),
        cmocka_unit_test(test_one_rank),
        cmocka_unit_test(test_root_that_never_waits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
