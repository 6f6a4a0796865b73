// SPDX-License-Identifier: MIT
// How far values are spread among seeds, and which of them together: estimated from the runs of
// the healthy network, from those of the same kind of cause, and of the hypothesis where it has
// several.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diagnose/diagnose.h"
#include "engine/base/memory.h"

#define OWN_WEIGHT 2.0 // runs that the spread of the healthy network counts as
#define SEVERAL 3      // runs of a hypothesis that say how far they are spread
#define FEW 2.0        // seeds, as many as which say that values are not related

// Add the products of the deviations of each two measured values.
static void add_products(const struct diagnosis *d, const struct hypothesis *h, double *sums)
{
    size_t m = d->measured;
    double *off = memory_zeroed(m + 1, sizeof *off);
    for (uint64_t s = 0; s < h->point->seeds; s++) {
        for (size_t i = 0; i < m; i++) {
            off[i] = run_level(d, h, s, i) - mean_level(d, h, i).mean;
            off[i] = isnan(off[i]) ? 0 : off[i];
        }
        for (size_t i = 0; i < m; i++)
            for (size_t k = 0; k < m; k++)
                sums[i * m + k] += off[i] * off[k];
    }
    free(off);
}

// Turn sums of products into correlations, and reduce them where few seeds were run. More
// hypotheses do not help: they run with the same seeds, and so with the same paths.
static void make_correlations(double *sums, size_t m, double seeds)
{
    double *root = memory_zeroed(m + 1, sizeof *root), shrunk = (seeds - 1) / (seeds - 1 + FEW);
    for (size_t i = 0; i < m; i++)
        root[i] = sqrt(sums[i * m + i]);
    for (size_t i = 0; i < m; i++)
        for (size_t k = 0; k < m; k++) {
            double both = root[i] * root[k];
            bool known = both > 0 && isfinite(both);
            sums[i * m + k] = i == k ? 1 : known ? shrunk * sums[i * m + k] / both : 0;
        }
    free(root);
}

// Average the variance over links of the same class: with few seeds, chance may have given a link
// no flow, or the same load, in all of them. Writes the larger one of that and the link's own.
static void pool_alike(const struct diagnosis *d, const double *own, double *spread)
{
    size_t n = d->fit.measured.n;
    double *sum = memory_zeroed(2 * n + 1, sizeof *sum), *count = sum + n;
    for (size_t i = 0; i < n; i++) {
        sum[d->alike[i]] += own[i];
        count[d->alike[i]]++;
    }
    for (size_t i = 0; i < n; i++)
        spread[i] = fmax(own[i], sum[d->alike[i]] / count[d->alike[i]]);
    free(sum);
}

void spread_of_seeds(struct diagnosis *d)
{
    const struct hypothesis *healthy = &d->list[0];
    const struct observed_value *list = d->fit.measured.list;
    size_t n = d->fit.measured.n;
    double seeds = (double)healthy->point->seeds, *own = memory_zeroed(n + 1, sizeof *own);
    free(d->spread);
    free(d->alike);
    free(d->related);
    d->spread = memory_zeroed(n + 1, sizeof *d->spread);
    d->clock = clock_of(d);
    for (size_t i = 0; i < n; i++) {
        struct level level = mean_level(d, healthy, i);
        own[i] = level.n > 1 && isfinite(level.squares) ? level.squares / (level.n - 1) : 0;
    }
    d->alike = memory_zeroed(n + 1, sizeof *d->alike);
    for (size_t i = 0; i < n; i++) {
        size_t k = 0;
        while (strcmp(list[i].quantity, list[k].quantity) != 0 ||
               !names_alike(list[i].place, list[k].place))
            k++;
        d->alike[i] = k;
    }
    pool_alike(d, own, d->spread);
    free(own);
    d->related = memory_zeroed(d->measured * d->measured + 1, sizeof *d->related);
    add_products(d, healthy, d->related);
    make_correlations(d->related, d->measured, seeds);
}

struct cause *first_of_kind(const struct diagnosis *d, size_t cause)
{
    size_t first = 0;
    while (d->causes[first].kind != d->causes[cause].kind)
        first++;
    return &d->causes[first];
}

void spread_of_kinds(struct diagnosis *d)
{
    size_t n = d->fit.measured.n;
    double *runs = memory_zeroed(d->n_causes * n + 1, sizeof *runs),
           *most = memory_zeroed(d->n_causes + 1, sizeof *most);
    for (size_t c = 0; c < d->n_causes; c++) {
        free(d->causes[c].spread);
        free(d->causes[c].related);
        d->causes[c].spread = d->causes[c].related = NULL;
    }
    for (size_t i = 1; i < d->n; i++) {
        const struct hypothesis *h = &d->list[i];
        if (!h->point || h->point->seeds < SEVERAL || !isfinite(h->misfit))
            continue;
        struct cause *c = first_of_kind(d, h->cause);
        if (!c->spread) {
            c->spread = memory_zeroed(n + 1, sizeof *c->spread);
            c->related = memory_zeroed(d->measured * d->measured + 1, sizeof *c->related);
        }
        add_products(d, h, c->related);
        most[c - d->causes] = fmax(most[c - d->causes], (double)h->point->seeds);
        for (size_t v = 0; v < n; v++) {
            struct level level = mean_level(d, h, v);
            if (!(level.n > 0)) // a test that was not made
                continue;
            c->spread[v] += level.squares;
            runs[(size_t)(c - d->causes) * n + v] += level.n - 1;
        }
    }
    for (size_t c = 0; c < d->n_causes; c++) {
        double *own = d->causes[c].spread;
        if (!own)
            continue;
        for (size_t v = 0; v < n; v++)
            own[v] /= fmax(1, runs[c * n + v]);
        pool_alike(d, own, own);
        for (size_t v = 0; v < n; v++)
            own[v] = fmax(d->spread[v], own[v]);
        make_correlations(d->causes[c].related, d->measured, most[c]);
    }
    free(runs);
    free(most);
}

double seeds_variance(double usual, double squares, double n)
{
    return (OWN_WEIGHT * usual + squares) / (OWN_WEIGHT + n - 1) * (1 + 1 / n);
}

double level_variance(const struct diagnosis *d, const struct hypothesis *h, size_t value,
                      const struct level *level)
{
    const double *of_kind = h->cause == SIZE_MAX ? NULL : first_of_kind(d, h->cause)->spread;
    return seeds_variance(of_kind ? of_kind[value] : d->spread[value], level->squares, level->n);
}

double predicted_level(const struct diagnosis *d, const struct hypothesis *h, size_t value,
                       double *variance)
{
    struct level level = mean_level(d, h, value);
    *variance = level_variance(d, h, value, &level);
    return level.mean;
}
