// SPDX-License-Identifier: MIT
// Which hypotheses give what was measured.
//
// All causes run at a few strengths; those that come near run again at strengths between them,
// where the interpolated values come nearest; and the nearest over more seeds. What does not come
// nearer than the healthy network is no cause.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diagnose/diagnose.h"
#include "engine/base/memory.h"

#define HEALTHY_SEEDS 8 // of the healthy network, for the spread among seeds
#define FIRST_SEEDS 3   // of the best one of each kind
#define UNFINISHED_OF 6 // hypotheses whose first run took too long that run again
#define DRAWN_SEEDS 2   // of finer strengths whose effect is a matter of chance
#define BEST_SEEDS 4    // of the best ones
#define ROUNDS 5        // at most; in each, causes run with one more strength
#define FINER_OF 22     // causes whose strength is made finer
#define FINER_KIND 5    // of one kind at most
#define PLACES_OF 6     // causes that are tried at more places
#define SOURCES_OF 3    // destinations of another job for which other sources are tried
#define FITS 4.0        // misfit of a cause above which other places of it are tried
#define BEST_OF 12      // causes that run over more seeds
#define BEST_KIND 3     // of one kind at most
#define SURE 8.0        // by which its rank is, if the healthy network is within its spread
#define LARGER 9.0      // the misfit of a larger size up to which the network is healthy
#define PAIRS_OF 8      // best causes that are joined in pairs
#define TESTED 6        // best causes for which the results of further tests are predicted
#define PAIR_LEFT 0.5   // of the misfit of the best one that a pair may leave, at most
#define ALONE 0.7       // share of the gap from which one cause suffices

/* ---- runs ---- */

// Run the hypotheses of a list of numbers over `seeds` seeds at least.
static void run_list(struct diagnosis *d, const size_t *numbers, size_t n, uint64_t seeds)
{
    double(*places)[UNKNOWNS_MOST] = memory_zeroed(n + 1, sizeof *places);
    struct fit_point **points = memory_zeroed(n + 1, sizeof *points);
    uint64_t usual = d->fit.seeds;
    d->fit.seeds = seeds > usual ? seeds : usual;
    for (size_t i = 0; i < n; i++)
        places[i][0] = (double)numbers[i];
    fit_run(&d->fit, n, places, points);
    for (size_t i = 0; i < n; i++)
        d->list[numbers[i]].point = points[i];
    d->fit.seeds = usual;
    free(points);
    free(places);
}

static bool is_drawn(const struct diagnosis *d, size_t hypothesis)
{
    size_t cause = d->list[hypothesis].cause;
    return cause != SIZE_MAX && d->causes[cause].kind->drawn;
}

static void judge_from(struct diagnosis *d, size_t from)
{
    for (size_t i = from; i < d->n; i++)
        d->list[i].misfit = hypothesis_misfit(d, &d->list[i]);
    for (size_t c = 0; c < d->n_causes; c++)
        cause_rank(d, c);
}

static void run_from(struct diagnosis *d, size_t from)
{
    size_t *numbers = memory_zeroed(d->n + 1, sizeof *numbers);
    for (int drawn = 0; drawn < 2; drawn++) {
        size_t n = 0;
        for (size_t i = from; i < d->n; i++)
            if (is_drawn(d, i) == (drawn == 1))
                numbers[n++] = i;
        run_list(d, numbers, n, drawn && from > 1 ? DRAWN_SEEDS : 1);
    }
    free(numbers);
    judge_from(d, from);
}

/* ---- rounds ---- */

static void make_finer(struct diagnosis *d)
{
    size_t numbers[FINER_OF], from = d->n,
                              n = causes_nearest(d, FINER_OF, FINER_KIND, true, numbers);
    for (size_t i = 0; i < n; i++) {
        double strength = strength_between(d, &d->causes[numbers[i]]);
        if (strength > 0)
            hypothesis_add(d, numbers[i], strength);
    }
    hypotheses_give(d, from);
    run_from(d, from);
}

// If the best cause of a kind does not fit at its place, run it at other places of the same class.
// This is done for the first PLACES_OF kinds; for another job, whose path depends on its source, it
// is always done, at its SOURCES_OF best destinations.
static void try_places(struct diagnosis *d)
{
    size_t *numbers = memory_zeroed(d->n_causes + 1, sizeof *numbers), from = d->n,
           n = causes_nearest(d, d->n_causes, SOURCES_OF, false, numbers);
    for (size_t i = 0; i < n; i++)
        if ((i < PLACES_OF || d->causes[numbers[i]].kind->sources) &&
            d->list[d->causes[numbers[i]].best].misfit > FITS)
            places_more(d, numbers[i]);
    free(numbers);
    hypotheses_give(d, from);
    run_from(d, from);
}

// Run hypotheses of a list of numbers over more seeds.
static void deepen_list(struct diagnosis *d, const size_t *numbers, size_t n, uint64_t seeds)
{
    struct fit_point **points = memory_zeroed(n + 1, sizeof *points);
    for (size_t i = 0; i < n; i++)
        points[i] = d->list[numbers[i]].point;
    fit_deepen(&d->fit, n, points, d->fit.seeds > seeds ? d->fit.seeds : seeds);
    for (size_t i = 0; i < n; i++)
        d->list[numbers[i]].point = points[i];
    spread_of_kinds(d);
    judge_from(d, 1);
    free(points);
}

// The best causes, of each kind at most `of_kind`.
static void deepen(struct diagnosis *d, size_t most, size_t of_kind, uint64_t seeds)
{
    size_t *numbers = memory_zeroed(most + 1, sizeof *numbers),
           n = causes_nearest(d, most, of_kind, false, numbers);
    for (size_t i = 0; i < n; i++)
        numbers[i] = d->causes[numbers[i]].best;
    deepen_list(d, numbers, n, seeds);
    free(numbers);
}

struct unfinished {
    size_t hypothesis;
    double misfit;
};

static int by_misfit(const void *a, const void *b)
{
    const struct unfinished *x = a, *y = b;
    return x->misfit != y->misfit
               ? (x->misfit > y->misfit) - (x->misfit < y->misfit)
               : (x->hypothesis > y->hypothesis) - (x->hypothesis < y->hypothesis);
}

// Run hypotheses whose run took too long over more seeds, the nearest ones, if what it gave until
// then comes nearer than the best cause: where packets are lost, chance decides on timeouts.
static void deepen_unfinished(struct diagnosis *d)
{
    struct unfinished *all = memory_zeroed(d->n + 1, sizeof *all);
    size_t n = 0, numbers[UNFINISHED_OF];
    double most = INFINITY;
    for (size_t i = 1; i < d->n; i++)
        most = fmin(most, d->list[i].misfit);
    for (size_t i = 1; i < d->n; i++) {
        const struct hypothesis *h = &d->list[i];
        bool may = h->point && !isfinite(h->misfit) && h->point->seeds < FIRST_SEEDS;
        all[n] = (struct unfinished){i, may ? unfinished_misfit(d, h) : INFINITY};
        n += all[n].misfit < most;
    }
    qsort(all, n, sizeof *all, by_misfit);
    n = n < UNFINISHED_OF ? n : UNFINISHED_OF;
    for (size_t i = 0; i < n; i++)
        numbers[i] = all[i].hypothesis;
    deepen_list(d, numbers, n, FIRST_SEEDS);
    free(all);
}

// Run causes that have one setting and a random effect, such as a random order of ranks, over as
// many seeds as the healthy network: with three seeds all may have had the same effect.
static void deepen_drawn(struct diagnosis *d)
{
    size_t *numbers = memory_zeroed(d->n + 1, sizeof *numbers), n = 0;
    for (size_t i = 1; i < d->n; i++) {
        const struct cause_kind *kind = d->causes[d->list[i].cause].kind;
        if (kind->drawn && kind->places == AT_ALL && !kind->strengths && d->list[i].point)
            numbers[n++] = i;
    }
    deepen_list(d, numbers, n, HEALTHY_SEEDS);
    free(numbers);
}

/* ---- pairs ---- */

static void join_pairs(struct diagnosis *d)
{
    size_t n = d->n_order < PAIRS_OF ? d->n_order : PAIRS_OF, from = d->n;
    double best = d->list[d->causes[d->order[0]].best].misfit;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            hypothesis_join(d, d->causes[d->order[i]].best, d->causes[d->order[k]].best);
    hypotheses_give(d, from);
    run_from(d, from);
    deepen(d, PAIRS_OF, 1, BEST_SEEDS);
    for (size_t i = from; i < d->n; i++) // a second cause must be worth it
        if (d->list[i].misfit > PAIR_LEFT * best)
            d->causes[d->list[i].cause].best = SIZE_MAX;
}

uint64_t diagnosis_runs_least(const struct diagnosis *d)
{
    uint64_t runs = d->fit.seeds > HEALTHY_SEEDS ? d->fit.seeds : HEALTHY_SEEDS;
    return runs + d->fit.seeds * (d->n - 1);
}

// Predict tests that the user has not run, such as ib_write_bw between two ranks, for the nearest
// causes only.
static void run_tests(struct diagnosis *d)
{
    size_t numbers[TESTED] = {0}, n = d->n_order < TESTED ? d->n_order : TESTED;
    struct fit_point *before[TESTED];
    for (size_t i = 0; i < n; i++) {
        numbers[i] = d->causes[d->order[i]].best;
        before[i] = d->list[numbers[i]].point;
    }
    d->fit.stage = STAGE_TESTS;
    run_list(d, numbers, n, BEST_SEEDS);
    for (size_t i = 0; i < n; i++)
        if (!d->list[numbers[i]].point) // it was interrupted
            d->list[numbers[i]].point = before[i];
    spread_of_kinds(d);
}

// Check that the healthy network has run, and all tests that were measured.
static int check_healthy(const struct diagnosis *d, struct err *err)
{
    int status = 0;
    if (!d->list[0].point)
        return d->fit.interrupted ? -1 : healthy_failed(err);
    for (size_t i = 0; i < d->measured + d->later; i++) {
        const struct observed_value *v = &d->fit.measured.list[i];
        if (v->job && isnan(run_value(d, &d->list[0], 0, i)))
            status = err_add(err, "MEASURED", "the network cannot run the test %s %s", v->quantity,
                             v->place);
    }
    return status;
}

int diagnosis_run(struct diagnosis *d, struct err *err)
{
    const size_t healthy = 0;
    d->fit.stage = STAGE_TESTS;
    run_list(d, &healthy, 1, HEALTHY_SEEDS);
    if (check_healthy(d, err) != 0)
        return -1;
    limit_runs(d);
    d->fit.stage = STAGE_FIRST;
    spread_of_seeds(d);
    larger_promote(d);
    d->list[0].misfit = hypothesis_misfit(d, &d->list[0]);
    run_from(d, 1);
    deepen_drawn(d);
    deepen(d, d->n_causes, 1, FIRST_SEEDS); // how far runs of each kind are spread
    for (int round = 0; round < ROUNDS && !d->fit.interrupted; round++) {
        make_finer(d);
        if (round == 0 && !d->fit.interrupted)
            try_places(d);
        if (!d->fit.interrupted)
            deepen_unfinished(d);
    }
    for (int pass = 0; pass < 2 && !d->fit.interrupted; pass++)
        deepen(d, BEST_OF, BEST_KIND, BEST_SEEDS);
    causes_order(d);
    const struct cause *first = d->n_order > 0 ? &d->causes[d->order[0]] : NULL;
    d->healthy = d->list[0].misfit <= usual_misfit(d) &&
                 larger_misfit(d, &d->list[0], d->later) < LARGER &&
                 (!first || d->list[0].misfit - kind_rank(d, first) < SURE);
    if (!d->healthy && d->n_order > 1 && d->list[first->best].misfit > usual_misfit(d) &&
        cause_explains(d, first) < ALONE && !d->fit.interrupted) {
        join_pairs(d);
        causes_order(d);
    }
    if (!d->healthy && !d->fit.interrupted) {
        larger_try(d);
        causes_order(d);
        run_tests(d);
    }
    return 0;
}
