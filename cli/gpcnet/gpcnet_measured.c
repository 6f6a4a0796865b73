// SPDX-License-Identifier: MIT
#include "cli/gpcnet/gpcnet_measured.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/memory.h"

static double number(const json_t *of, const char *key)
{
    const json_t *value = json_object_get(of, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static void add_value(struct measured *m, double value)
{
    if (m->n == m->cap)
        m->values = memory_grow(m->values, &m->cap, sizeof *m->values);
    m->values[m->n++] = value;
}

static void add(struct measured *m, double ns, enum gpcnet_test test)
{
    double bytes = (double)gpcnet_test_bytes(test);
    add_value(m, bytes > 0 ? bytes / (ns * 1e-9) / (1 << 20) : ns * 1e-3);
}

// Ranks run ahead of each other, so a turn lasts longer than it takes: what counts is the time from
// the end of the turn before. The first turn opens connections and windows and is left out, unless
// it is the only one.
void measured_add(struct measured *m, const char *metrics, enum gpcnet_test test, uint64_t end_ns)
{
    json_t *all = json_loads(metrics, 0, NULL), *turn;
    double first_ns = GPCNET_START_NS, last_ns = first_ns;
    size_t i, ended = 0;
    json_array_foreach(json_object_get(all, "collectives"), i, turn)
    {
        double turn_end_ns = number(turn, "end_ns");
        if (number(turn, "job") > 0 || isnan(turn_end_ns))
            continue;
        if (ended > 0)
            add(m, turn_end_ns - last_ns, test);
        else
            first_ns = turn_end_ns;
        last_ns = turn_end_ns;
        ended++;
    }
    m->runs++;
    if (ended < gpcnet_test_turns(test)) {
        double rest_ns = (double)end_ns - last_ns;
        if (ended < 2 || rest_ns > (last_ns - first_ns) / (double)(ended - 1))
            add(m, rest_ns, test);
        m->unfinished++;
    }
    json_decref(all);
}

void measured_join(struct measured *m, const struct measured *more)
{
    for (size_t i = 0; i < more->n; i++)
        add_value(m, more->values[i]);
    m->runs += more->runs;
    m->unfinished += more->unfinished;
}

void measured_free(struct measured *m) { free(m->values); }

double measured_mean(const struct measured *m)
{
    double sum = 0;
    for (size_t i = 0; i < m->n; i++)
        sum += m->values[i];
    return sum / (double)m->n;
}

static int by_size(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

double measured_p99(const struct measured *m, enum gpcnet_test test)
{
    double *sorted = memory_zeroed(m->n, sizeof *sorted);
    for (size_t i = 0; i < m->n; i++)
        sorted[i] = m->values[i];
    qsort(sorted, m->n, sizeof *sorted, by_size);
    size_t rank = (size_t)ceil(0.99 * (double)m->n); // nearest rank, from 1
    double p99 = gpcnet_test_bytes(test) > 0 ? sorted[m->n - rank] : sorted[rank - 1];
    free(sorted);
    return p99;
}
