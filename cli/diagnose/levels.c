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
// was sent in that time, which is theirs alone: the level of the time is added to their own, as far
// as they are above their floor.

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
    const struct observed_value *list = d->fit.measured.list;
    double weight = weight_of(d, value),
           clock = weight > 0 ? value_level(&list[d->clock], list[d->clock].value) : 0;
    return value_level(&list[value], list[value].value) + weight * clock;
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
    double weight = weight_of(d, value),
           clock = weight > 0 ? value_level(&list[d->clock], run_value(d, h, seed, d->clock)) : 0;
    return value_level(&list[value], run_value(d, h, seed, value)) + weight * clock;
}

double mean_level(const struct diagnosis *d, const struct hypothesis *h, size_t value,
                  double *squares)
{
    uint64_t n = h->point->seeds;
    double sum = 0;
    for (uint64_t s = 0; s < n; s++)
        sum += run_level(d, h, s, value);
    *squares = 0;
    for (uint64_t s = 0; s < n; s++) {
        double off = run_level(d, h, s, value) - sum / (double)n;
        *squares += off * off;
    }
    return sum / (double)n;
}
