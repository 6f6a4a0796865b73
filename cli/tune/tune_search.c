// SPDX-License-Identifier: MIT
// The search: first a grid of low discrepancy over all keys, in rounds; each round keeps the better
// half of the combinations of listed values (successive halving). Then Sbplx (Rowan 1990, as NLopt
// has it) goes from the best place over the keys with ranges. With two goals it runs once for each
// of three weights.
#include <math.h>
#include <nlopt.h>
#include <stdlib.h>
#include <string.h>

#include "cli/tune/tune.h"
#include "engine/base/memory.h"

#define GRID 0.4        // of the runs
#define GRID_MOST 0.8   // where there are many combinations of listed values
#define PER_KEY 6       // places of a range around the best one
#define GRID_LEAST 4    // places of each key
#define TOLERANCE 0.005 // of a range
#define FLAT 0.01       // of the goal
#define ENDLESS 10.0    // the score of a ratio of which one value is 0

/* ---- the score of a place ---- */

static double ratio(double now, double before, bool most)
{
    if (isinf(now) && isinf(before)) // both are 0
        return 0;
    double r = isinf(now) ? -ENDLESS : isinf(before) ? ENDLESS : now - before;
    return most ? -r : r;
}

// Beyond all guards: how far, as a logarithm; 0 = they hold.
static double beyond(const struct tune *t, const struct fit_point *p)
{
    double sum = 0;
    for (size_t g = 0; g < t->n_guards; g++) {
        const struct tune_guard *guard = &t->guards[g];
        double value = exp(p->log_mean[t->n_goals + g]), bound = guard->bound;
        bool holds = guard->least ? value >= bound : value <= bound;
        double far = fabs(log((value + 1) / (bound + 1)));
        sum += holds ? 0 : 1 + (isfinite(far) ? far : ENDLESS);
    }
    return sum;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double together(const struct tune *t, double *scores)
{
    double sum = 0;
    if (t->quantile <= 0) {
        for (size_t c = 0; c < t->n_cases; c++)
            sum += scores[c];
        return sum / (double)t->n_cases;
    }
    qsort(scores, t->n_cases, sizeof *scores, by_value);
    size_t at = (size_t)ceil(t->quantile * (double)t->n_cases);
    return scores[at > 0 ? at - 1 : 0];
}

double tune_score(struct tune *t, const double *places, double second)
{
    double at[1][UNKNOWNS_MOST], scores[TUNE_SCENARIOS], broken = 0;
    memcpy(at[0], places, sizeof at[0]);
    for (size_t c = 0; c < t->n_cases; c++) {
        struct tune_case *one = &t->cases[c];
        struct fit_point *p = NULL;
        fit_run(&one->search, 1, at, &p); // after an interruption, of what has run
        t->interrupted |= one->search.interrupted;
        if (!p)
            return TUNE_NOT_RUN;
        scores[c] = 0;
        for (size_t g = 0; g < t->n_goals; g++) {
            double weight = g == 1 ? second : t->n_goals > 1 ? 1 - second : 1;
            scores[c] += weight * ratio(p->log_mean[g], one->start->log_mean[g], t->goals[g].most);
        }
        if (isnan(scores[c])) // a run that did not complete has no value
            scores[c] = TUNE_BREAKS;
        broken += beyond(t, p);
    }
    return together(t, scores) + (broken > 0 ? TUNE_BREAKS + broken : 0);
}

/* ---- places ---- */

// Places of a grid: of the listed values all combinations in turn, or those of `like`.
static void grid(const struct tune *t, size_t first, size_t n, const double *like,
                 double (*places)[UNKNOWNS_MOST])
{
    for (size_t i = 0; i < n; i++) {
        size_t combination = first + i, range = 0;
        for (size_t k = 0; k < t->keys.n; k++) {
            const struct unknown *u = &t->keys.list[k];
            if (u->kind != UNKNOWN_ONE_OF) {
                places[i][k] = fit_halton(first + i, range++);
                continue;
            }
            double at = (double)(combination % u->n_choices) + 0.5;
            places[i][k] = like ? like[k] : at / (double)u->n_choices;
            combination /= u->n_choices;
        }
    }
}

// How many combinations of listed values there are.
static size_t combinations(const struct tune *t)
{
    size_t n = 1;
    for (size_t k = 0; k < t->keys.n && n < SIZE_MAX / 1000; k++)
        if (t->keys.list[k].kind == UNKNOWN_ONE_OF)
            n *= t->keys.list[k].n_choices;
    return n;
}

static bool same_choices(const struct tune *t, const double *a, const double *b)
{
    for (size_t k = 0; k < t->keys.n; k++)
        if (t->keys.list[k].kind == UNKNOWN_ONE_OF &&
            unknown_value(&t->keys.list[k], a[k]) != unknown_value(&t->keys.list[k], b[k]))
            return false;
    return true;
}

/* ---- choices ---- */

struct choice {
    double best[UNKNOWNS_MOST], score;
};

static int by_score(const void *a, const void *b)
{
    return by_value(&((const struct choice *)a)->score, &((const struct choice *)b)->score);
}

static void note(struct tune *t, struct choice *list, size_t *n, const double *places, double score)
{
    size_t i = 0;
    while (i < *n && !same_choices(t, list[i].best, places))
        i++;
    if (i < *n && list[i].score <= score)
        return;
    memcpy(list[i].best, places, sizeof list[i].best);
    list[i].score = score;
    *n += i == *n;
}

static void run_batch(struct tune *t, size_t n, double (*places)[UNKNOWNS_MOST])
{
    struct fit_point **list = memory_zeroed(n, sizeof *list);
    for (size_t c = 0; c < t->n_cases && !t->interrupted; c++) {
        fit_run(&t->cases[c].search, n, places, list); // in parallel; scores find what has run
        t->interrupted |= t->cases[c].search.interrupted;
    }
    free(list);
}

// Places of the first grid, of `n` for all grids.
static size_t first_grid(const struct tune *t, size_t n)
{
    size_t all = combinations(t), half = n / 2 > 0 ? n / 2 : 1;
    return all <= half ? half : all < n ? all : n;
}

// Successive halving over the choices: all on a grid, then the better half of them on a finer one.
static void halve(struct tune *t, size_t n, double second, struct choice *best)
{
    double(*places)[UNKNOWNS_MOST] = memory_zeroed(n, sizeof *places);
    struct choice *list = memory_zeroed(n + 1, sizeof *list);
    size_t kept = 0, half = first_grid(t, n), done = 0;
    grid(t, 0, half, NULL, places);
    run_batch(t, half, places);
    for (; done < half; done++)
        note(t, list, &kept, places[done], tune_score(t, places[done], second));
    while (done < n && !t->interrupted) {
        qsort(list, kept, sizeof *list, by_score);
        kept = (kept + 1) / 2;
        size_t more = (n - done + 1) / 2, each = more / kept > 0 ? more / kept : 1;
        for (size_t i = 0, known = kept; i < known && done < n; i++) {
            size_t some = each < n - done ? each : n - done;
            grid(t, half + done, some, list[i].best, places);
            run_batch(t, some, places);
            for (size_t s = 0; s < some; s++)
                note(t, list, &kept, places[s], tune_score(t, places[s], second));
            done += some;
        }
    }
    qsort(list, kept, sizeof *list, by_score);
    *best = list[0];
    free(list);
    free(places);
}

/* ---- ranges ---- */

struct climb {
    struct tune *t;
    double second;
    double places[UNKNOWNS_MOST];
    size_t key[UNKNOWNS_MOST]; // of each variable
    struct choice *best;
};

static double score_at(unsigned n, const double *x, double *gradient, void *ctx)
{
    struct climb *c = ctx;
    (void)gradient;
    for (unsigned i = 0; i < n; i++)
        c->places[c->key[i]] = x[i];
    double score = tune_score(c->t, c->places, c->second);
    if (score < c->best->score) {
        c->best->score = score;
        memcpy(c->best->best, c->places, sizeof c->places);
    }
    return score;
}

static void climb(struct tune *t, size_t runs, double second, struct choice *best)
{
    struct climb c = {.t = t, .second = second, .best = best};
    double x[UNKNOWNS_MOST], least;
    unsigned n = 0;
    memcpy(c.places, best->best, sizeof c.places);
    for (size_t k = 0; k < t->keys.n; k++)
        if (t->keys.list[k].kind != UNKNOWN_ONE_OF) {
            x[n] = best->best[k];
            c.key[n++] = k;
        }
    if (n == 0 || runs == 0 || t->interrupted)
        return;
    nlopt_opt opt = nlopt_create(NLOPT_LN_SBPLX, n);
    nlopt_set_lower_bounds1(opt, 0);
    nlopt_set_upper_bounds1(opt, 1);
    nlopt_set_initial_step1(opt, 0.15);
    nlopt_set_xtol_abs1(opt, TOLERANCE);
    nlopt_set_maxeval(opt, (int)runs);
    nlopt_set_min_objective(opt, score_at, &c);
    nlopt_optimize(opt, x, &least);
    nlopt_destroy(opt);
}

/* ---- all ---- */

// Places around the best one that show what each key does.
static size_t places_around(const struct tune *t)
{
    size_t n = 0;
    for (size_t k = 0; k < t->keys.n; k++)
        n += t->keys.list[k].kind == UNKNOWN_ONE_OF ? t->keys.list[k].n_choices : PER_KEY;
    return n;
}

uint64_t tune_least(const struct tune *t)
{
    return tune_cost(t) * (GRID_LEAST * t->keys.n + places_around(t));
}

// Places of all grids, of `search` in all.
static size_t grids(const struct tune *t, size_t search)
{
    size_t n = (size_t)(GRID * (double)search), wanted = 2 * combinations(t),
           most = (size_t)(GRID_MOST * (double)search);
    if (wanted > n)
        n = wanted < most ? wanted : most;
    return n > 0 ? n : 1;
}

// Places of the search.
static size_t places_of(const struct tune *t)
{
    const struct fit *f = &t->cases[0].search;
    size_t all = (size_t)(f->budget / f->seeds), around = places_around(t);
    return all > around ? all - around : 0;
}

size_t tune_part(struct tune *t, size_t part, size_t parts)
{
    size_t n = first_grid(t, grids(t, places_of(t))), own = 0;
    double(*places)[UNKNOWNS_MOST] = memory_zeroed(n, sizeof *places);
    grid(t, 0, n, NULL, places);
    for (size_t i = part - 1; i < n; i += parts)
        memcpy(places[own++], places[i], sizeof *places);
    run_batch(t, own, places);
    free(places);
    return own;
}

bool tune_search(struct tune *t)
{
    static const double weights[] = {0, 0.5, 1};
    size_t turns = t->n_goals > 1 ? 3 : 1, search = places_of(t), on_grid = grids(t, search);
    struct choice best, chosen = {.score = TUNE_NOT_RUN};
    for (size_t i = 0; i < turns; i++) {
        halve(t, on_grid, weights[i], &best); // the grid runs once
        climb(t, (search > on_grid ? search - on_grid : 0) / turns, weights[i], &best);
        if (i == turns / 2)
            chosen = best; // two goals: both alike
    }
    memcpy(t->best, chosen.best, sizeof t->best);
    return chosen.score < TUNE_NOT_RUN;
}

struct tune_effect tune_effect(struct tune *t, size_t key)
{
    const struct unknown *u = &t->keys.list[key];
    size_t n = u->kind == UNKNOWN_ONE_OF ? u->n_choices : PER_KEY;
    double *parts = memory_zeroed(n, sizeof *parts), at = t->best[key],
           second = t->n_goals > 1 ? 0.5 : 0, least = tune_score(t, t->best, second);
    struct tune_effect e = {.low = at, .high = at};
    double low_end = -1, high_end = 2; // the nearest places that lose
    double(*places)[UNKNOWNS_MOST] = memory_zeroed(n, sizeof *places);
    for (size_t i = 0; i < n; i++) {
        parts[i] =
            u->kind == UNKNOWN_ONE_OF ? ((double)i + 0.5) / (double)n : (double)i / (double)(n - 1);
        memcpy(places[i], t->best, sizeof places[i]);
        places[i][key] = parts[i];
    }
    run_batch(t, n, places);
    for (size_t i = 0; i < n; i++) {
        double score = tune_score(t, places[i], second);
        if (score >= TUNE_NOT_RUN)
            continue;
        double loss = exp(score > TUNE_BREAKS ? ENDLESS : score - least) - 1;
        e.loss = loss > e.loss ? loss : e.loss;
        if (loss >= FLAT && parts[i] < at)
            low_end = parts[i];
        if (loss >= FLAT && parts[i] > at && high_end > 1)
            high_end = parts[i];
    }
    for (size_t i = 0; i < n; i++) {
        if (parts[i] > low_end && parts[i] < e.low)
            e.low = parts[i];
        if (parts[i] < high_end && parts[i] > e.high)
            e.high = parts[i];
    }
    free(places);
    free(parts);
    return e;
}
