// SPDX-License-Identifier: MIT
// Hints reach the policy as the poster knows them, and a policy that wants another path gets one,
// without a packet overtaking another. The policy under test records its posts and changes its
// path.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "net/transfer.h"
#include "tests/support/fixture.h"

#define RATE UINT64_C(100000000000)

static struct cc_post posts[4096];
static size_t n_posts;
static uint64_t change_every; // bytes after which the flow takes the next path; 0 = never

struct keeper {
    uint64_t next;
};

static void recorder_init(struct cc *cc, ps_t now)
{
    (void)now;
    cc->cwnd_bytes = cc_window_bytes(cc->env, 1.1);
}

static void recorder_on_post(struct cc *cc, const struct cc_post *post)
{
    (void)cc;
    if (n_posts < sizeof posts / sizeof *posts)
        posts[n_posts++] = *post;
}

static void recorder_on_ack(struct cc *cc, const struct cc_ack *ack)
{
    struct keeper *s = (void *)cc->priv;
    if (change_every == 0 || ack->seq < s->next + change_every)
        return;
    s->next = ack->snd_nxt;
    cc->path++;
}

static const struct cc_preset recorder_presets[] = {{.name = "default", .doc = "the only one"}};
static const struct cc_ops recorder = {.contract = CC_CONTRACT,
                                       .name = "recorder",
                                       .doc = "for tests",
                                       .paper = "none",
                                       .priv_bytes = sizeof(struct keeper),
                                       .presets = recorder_presets,
                                       .n_presets = 1,
                                       .init = recorder_init,
                                       .on_post = recorder_on_post,
                                       .on_ack = recorder_on_ack};

static struct fixture f;

static void use_recorder(void)
{
    f.spec.dims[0].cc = &recorder;
    f.spec.dims[0].cc_preset = &recorder_presets[0];
    n_posts = 0;
}

/* ---- hints ---- */

static void assert_all(uint32_t out, uint32_t in)
{
    assert_true(n_posts > 0);
    for (size_t i = 0; i < n_posts; i++) {
        assert_int_equal(posts[i].hint.at_source, out);
        assert_int_equal(posts[i].hint.at_destination, in);
    }
}

static void collective(enum coll_op op, const char *algorithm, uint64_t chunks)
{
    fixture_switch(&f, 8, RATE, PS_PER_US);
    fixture_collective(&f, op, algorithm, 80000, chunks);
    use_recorder();
}

static void test_hints_of_collectives(void **state)
{
    (void)state;
    change_every = 0;
    collective(COLL_ALL_REDUCE, "ring", 1);
    fixture_run(&f);
    assert_int_equal(n_posts, 8 * 14);
    assert_all(1, 1);
    assert_int_equal(posts[0].bytes, 10000);
    fixture_free(&f);

    // everyone to everyone: every message has a turn of its own
    bool seen[8 * 7 + 1] = {false};
    collective(COLL_ALL_TO_ALL, "direct", 1);
    fixture_run(&f);
    assert_int_equal(n_posts, 8 * 7);
    assert_all(7, 7);
    for (size_t i = 0; i < n_posts; i++) {
        assert_in_range(posts[i].hint.turn, 1, 8 * 7);
        assert_false(seen[posts[i].hint.turn]);
        seen[posts[i].hint.turn] = true;
    }
    fixture_free(&f);

    // one to all: the root's port is shared
    collective(COLL_BROADCAST, "direct", 1);
    fixture_run(&f);
    assert_int_equal(n_posts, 7);
    assert_all(7, 1);
    fixture_free(&f);

    // four queue pairs for each pair share its ports
    collective(COLL_ALL_REDUCE, "ring", 1);
    ((struct roce_spec *)(void *)f.spec.dims[0].transport.own)->qps_per_pair = 4;
    ((struct roce_spec *)(void *)f.spec.dims[0].transport.own)->qp_scaling = QP_SCALING_SPLIT;
    fixture_run(&f);
    assert_all(4, 4);
    fixture_free(&f);
}

static void test_hints_of_flows(void **state)
{
    (void)state;
    change_every = 0;
    fixture_switch(&f, 8, RATE, PS_PER_US);
    for (uint32_t r = 1; r < 6; r++)
        fixture_flow(&f, r, 0, 10000, 0);
    use_recorder();
    fixture_run(&f);
    assert_all(1, 5);
    fixture_free(&f);
    // flows that start at different times: nobody knows what there is at once
    fixture_switch(&f, 8, RATE, PS_PER_US);
    fixture_flow(&f, 1, 0, 10000, 0);
    fixture_flow(&f, 2, 0, 10000, PS_PER_US);
    use_recorder();
    fixture_run(&f);
    assert_all(0, 0);
    fixture_free(&f);
}

static void test_missing_and_wrong_hints(void **state)
{
    (void)state;
    change_every = 0;
    collective(COLL_ALL_TO_ALL, "direct", 1);
    f.spec.dims[0].transport.hints = false;
    fixture_run(&f);
    assert_all(0, 0);
    assert_int_equal(posts[0].hint.turn, 0);
    fixture_free(&f);

    fixture_switch(&f, 101, RATE, PS_PER_US);
    fixture_collective(&f, COLL_GATHER, "direct", 1010000, 1);
    use_recorder();
    f.spec.dims[0].transport.hint_error = 0.5;
    fixture_run(&f);
    assert_int_equal(n_posts, 100);
    uint32_t least = UINT32_MAX, most = 0, sum = 0;
    for (size_t i = 0; i < n_posts; i++) {
        uint32_t n = posts[i].hint.at_destination;
        least = n < least ? n : least;
        most = n > most ? n : most;
        sum += n;
        assert_in_range(posts[i].hint.at_source, 1, 2);
    }
    // uniform from 50 to 150: mean 100 with a standard error of 2.9
    assert_in_range(least, 50, 60);
    assert_in_range(most, 140, 150);
    assert_in_range(sum / n_posts, 91, 109);
    fixture_free(&f);
}

/* ---- paths ---- */

static uint64_t bytes_over(uint32_t from, uint32_t to)
{
    const struct graph *g = &f.sim->fabric.graph;
    uint64_t bytes = 0;
    for (uint32_t p = 0; p < g->n_ports; p++)
        if (g->ports[p].node == from && g->ports[g->ports[p].peer].node == to)
            bytes += f.sim->fabric.net.ports[p].tx_bytes;
    return bytes;
}

static void test_paths(void **state)
{
    (void)state;
    struct link_spec link = {.rate_bps = RATE, .delay_ps = 500 * PS_PER_NS};
    for (unsigned numbered = 0; numbered < 2; numbered++) {
        fixture_leaf_spine(&f, 8, 4, 4, link, link);
        fixture_flow(&f, 0, 4, 16000000, 0);
        use_recorder();
        change_every = 1000000;
        if (numbered) {
            f.spec.dims[0].sw.routing.kind = ROUTING_SOURCE;
            f.spec.dims[0].sw.routing.source = SOURCE_ENTROPY;
        }
        fixture_run(&f);
        assert_int_equal(f.result->status, RUN_COMPLETED);
        const struct flow_record *flow = &f.result->flows[0];
        assert_int_equal(flow->retransmitted, 0);
        // leaf0 is the first switch after the ranks, spine0 the third
        uint64_t over[4], used = 0, all = 0;
        for (uint32_t s = 0; s < 4; s++) {
            over[s] = bytes_over(8, 10 + s);
            used += over[s] > 1000000;
            all += over[s];
        }
        assert_true(all > 16000000);
        if (numbered) // in turn: a fourth each
            for (uint32_t s = 0; s < 4; s++)
                assert_in_range(over[s], all / 5, all / 3);
        else
            assert_true(used >= 3); // of 15 random draws
        // each of 14 or 15 changes costs at most a round trip and what drains
        double line_us = 16000000 * 8e6 / (double)RATE * 1.02, base_us = 8;
        double took_us = (double)flow->fct_ps / 1e6;
        assert_true(took_us > line_us + 10 * 4);
        assert_true(took_us < line_us + 16 * base_us);
        fixture_free(&f);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hints_of_collectives),
        cmocka_unit_test(test_hints_of_flows),
        cmocka_unit_test(test_missing_and_wrong_hints),
        cmocka_unit_test(test_paths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
