// SPDX-License-Identifier: MIT
// Values as they are compared: their logarithms.
#include <math.h>
#include <string.h>

#include "cli/diagnose/diagnose.h"

double value_level(const struct observed_value *v, double value)
{
    return log(value + observed_reach(v).floor);
}

/* ---- rates, by the time ---- */

// A run that takes longer lowers all rates and uses of links at once. So they are compared as what
// was sent, which is theirs alone: as the rates that this would be in the measured time.

size_t clock_of(const struct diagnosis *d)
{
    for (size_t i = 0; i < d->measured; i++) {
        const struct observed_value *v = &d->fit.measured.list[i];
        if (strcmp(v->quantity, "time") == 0 && *v->place == '\0' && !v->job)
            return i;
    }
    return SIZE_MAX;
}

double weight_of(const struct diagnosis *d, size_t value)
{
    static const char *const rates[] = {"utilization", "busbw", "goodput"};
    const struct observed_value *v = &d->fit.measured.list[value];
    bool rate = false;
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        rate |= strcmp(v->quantity, rates[i]) == 0;
    return rate && !v->job && d->clock != SIZE_MAX ? v->value / (v->value + observed_reach(v).floor)
                                                   : 0;
}

double measured_level(const struct diagnosis *d, size_t value)
{
    const struct observed_value *v = &d->fit.measured.list[value];
    return value_level(v, v->value);
}

// A link that the network of a hypothesis has not carries nothing.
static double of_network(const struct observed_value *v, double value)
{
    static const char *const of_links[] = {"utilization", "bytes", "packets", "max_queue", "marks"};
    bool none = false;
    for (size_t i = 0; i < sizeof of_links / sizeof *of_links && isnan(value) && *v->place; i++)
        none |= observed_same_quantity(v->quantity, of_links[i]);
    return none ? 0 : value;
}

double run_value(const struct diagnosis *d, const struct hypothesis *h, uint64_t seed, size_t value)
{
    return of_network(&d->fit.measured.list[value],
                      fit_value(&d->fit, h->point, d->fit.first_seed + 1 + seed, value));
}

double run_level(const struct diagnosis *d, const struct hypothesis *h, uint64_t seed, size_t value)
{
    const struct observed_value *list = d->fit.measured.list;
    double longer = 1, here = run_value(d, h, seed, value);
    if (weight_of(d, value) > 0)
        longer = run_value(d, h, seed, d->clock) / list[d->clock].value;
    return value_level(&list[value], here * longer);
}

double own_level(const struct diagnosis *d, const struct hypothesis *h, size_t value)
{
    double sum = 0, n = 0;
    for (uint64_t s = 0; s < h->point->seeds; s++) {
        double level = value_level(&d->fit.measured.list[value], run_value(d, h, s, value));
        n += isnan(level) ? 0 : 1;
        sum += isnan(level) ? 0 : level;
    }
    return sum / n;
}

struct level mean_level(const struct diagnosis *d, const struct hypothesis *h, size_t value)
{
    struct level of = {0};
    double sum = 0;
    for (uint64_t s = 0; s < h->point->seeds; s++) {
        double level = run_level(d, h, s, value);
        of.n += isnan(level) ? 0 : 1;
        sum += isnan(level) ? 0 : level;
    }
    of.mean = of.n > 0 ? sum / of.n : (double)NAN;
    for (uint64_t s = 0; s < h->point->seeds; s++) {
        double off = run_level(d, h, s, value) - of.mean;
        of.squares += isnan(off) ? 0 : off * off;
    }
    return of;
}
