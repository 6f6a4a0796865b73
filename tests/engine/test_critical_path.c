// SPDX-License-Identifier: MIT
// Critical paths against plain arrays: times by place and by stage of random chains that copy each
// other, fork and join.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "engine/base/rng.h"
#include "engine/critical_path.h"

enum { CHAINS = 6, PORTS = 40, STAGES = 5, ROUNDS = 20000 };

// What a chain should hold.
struct truth {
    ps_t at[PORTS], by_stage[STAGES][PATH_CAUSES];
    uint32_t stage;
};

static struct path_book book;
static uint32_t chains[CHAINS];
static struct truth truths[CHAINS];
static struct rng rng;

static uint32_t below(uint32_t n) { return (uint32_t)(rng_unit(&rng) * n); }

static void extend(unsigned c)
{
    ps_t takes = 1 + below(1000);
    uint32_t port = below(PORTS);
    chains[c] = path_own(&book, chains[c]);
    path_extend_at(&book, chains[c], PATH_QUEUED, path_at(&book, chains[c])->end_ps + takes,
                   PLACE_PORT, port);
    truths[c].at[port] += takes;
    truths[c].by_stage[truths[c].stage][PATH_QUEUED] += takes;
}

static void change_stage(unsigned c)
{
    truths[c].stage = below(STAGES);
    chains[c] = path_own(&book, chains[c]);
    path_stage(&book, chains[c], truths[c].stage, NULL);
}

static void copy(unsigned from, unsigned to)
{
    if (from == to)
        return;
    path_drop(&book, chains[to]);
    chains[to] = path_hold(&book, chains[from]);
    truths[to] = truths[from];
}

// A collective continues the chain; its own stages are not those of the chain.
static void fork_and_join(unsigned c)
{
    ps_t now = path_at(&book, chains[c])->end_ps;
    uint32_t part = path_fork(&book, chains[c], 0, 1, 0, now);
    for (unsigned i = 0; i < 3; i++) {
        uint32_t port = below(PORTS);
        path_stage(&book, part, i, NULL);
        path_extend_at(&book, part, PATH_QUEUED, now += 7, PLACE_PORT, port);
        truths[c].at[port] += 7;
        truths[c].by_stage[truths[c].stage][PATH_QUEUED] += 7;
    }
    chains[c] = path_join(&book, part);
}

static void begin(void)
{
    rng = rng_init(7, 1, 1);
    for (unsigned c = 0; c < CHAINS; c++) {
        chains[c] = path_new(&book, 0, 0);
        truths[c] = (struct truth){0};
    }
    for (unsigned i = 0; i < ROUNDS; i++) {
        uint32_t what = below(20), c = below(CHAINS);
        if (what == 0)
            copy(c, below(CHAINS));
        else if (what == 1)
            change_stage(c);
        else if (what == 2)
            fork_and_join(c);
        else
            extend(c);
    }
}

static size_t free_spells(void)
{
    size_t n = 0;
    for (uint32_t at = book.threads->free[PATH_SPELLS]; at != 0; at = book.spells[at].link.before)
        n++;
    return n;
}

static void end(void)
{
    size_t marks = 0;
    for (unsigned c = 0; c < CHAINS; c++)
        path_drop(&book, chains[c]);
    for (uint32_t at = book.threads->free[PATH_MARKS]; at != 0; at = book.marks[at].link.before)
        marks++;
    assert_int_equal(free_spells(), book.n[PATH_SPELLS] - 1);
    assert_int_equal(marks, book.n[PATH_MARKS] - 1);
    path_book_free(&book);
}

static void assert_stages(unsigned c)
{
    ps_t sums[STAGES][PATH_CAUSES] = {{0}};
    path_stages(&book, path_at(&book, chains[c]), sums, STAGES);
    for (unsigned s = 0; s < STAGES; s++)
        for (unsigned cause = 0; cause < PATH_CAUSES; cause++)
            assert_int_equal(sums[s][cause], truths[c].by_stage[s][cause]);
}

static void test_exact(void **state)
{
    (void)state;
    path_book_init(&book, 1);
    begin();
    for (unsigned c = 0; c < CHAINS; c++) {
        size_t n;
        ps_t elsewhere;
        struct path_place *places =
            path_places(&book, path_at(&book, chains[c]), SIZE_MAX, &n, &elsewhere);
        ps_t sums[PORTS] = {0};
        assert_int_equal(elsewhere, 0);
        for (size_t i = 0; i < n; i++) {
            assert_true(i == 0 || places[i].ps <= places[i - 1].ps);
            sums[places[i].index] += places[i].ps;
        }
        assert_true(n <= PORTS); // each place once
        for (unsigned p = 0; p < PORTS; p++)
            assert_int_equal(sums[p], truths[c].at[p]);
        assert_int_equal(path_at(&book, chains[c])->dropped_ps, 0);
        assert_stages(c);
        free(places);
    }
    end();
}

// With fewer places than there are, the times of those kept are too small by at most what was
// dropped, and nothing is lost of the sum.
static void test_dropped(void **state)
{
    (void)state;
    path_book_init(&book, 1);
    book.places_max = 16;
    begin();
    for (unsigned c = 0; c < CHAINS; c++) {
        size_t n;
        ps_t elsewhere;
        const struct path *p = path_at(&book, chains[c]);
        struct path_place *places = path_places(&book, p, SIZE_MAX, &n, &elsewhere);
        ps_t sum = p->dropped_ps;
        assert_int_equal(elsewhere, sum);
        assert_true(n <= 2 * book.places_max);
        assert_true(p->dropped_ps > 0);
        for (size_t i = 0; i < n; i++) {
            ps_t lacks = truths[c].at[places[i].index] - places[i].ps;
            assert_in_range((uint64_t)lacks, 0, (uint64_t)p->dropped_ps);
            sum += places[i].ps;
        }
        assert_int_equal(sum, p->parts[PATH_QUEUED]);
        assert_stages(c);
        free(places);
    }
    end();
}

// The late times of a new stage are its own: a message that was posted in it.
static void test_late(void **state)
{
    (void)state;
    ps_t late[PATH_CAUSES] = {[PATH_SENDING] = 30}, sums[3][PATH_CAUSES] = {{0}};
    path_book_init(&book, 1);
    uint32_t id = path_new(&book, 0, 0);
    path_stage(&book, id, 1, NULL);
    path_extend(&book, id, PATH_SENDING, 100);
    path_stage(&book, id, 2, late);
    path_extend(&book, id, PATH_NETWORK, 105);
    path_stages(&book, path_at(&book, id), sums, 3);
    assert_int_equal(sums[1][PATH_SENDING], 70);
    assert_int_equal(sums[2][PATH_SENDING], 30);
    assert_int_equal(sums[2][PATH_NETWORK], 5);
    path_drop(&book, id);
    path_book_free(&book);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_dropped),
        cmocka_unit_test(test_late),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
