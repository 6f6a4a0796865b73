// SPDX-License-Identifier: MIT
// Which hypotheses give what was measured.
//
// A hypothesis is a run of the scenario with its settings. Its misfit is the sum of squares of the
// distances from the measured values in their spreads, as in a fit; all quantities count. What does
// not come nearer than the healthy network is no cause.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diagnose/diagnose.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

#define FAR 3.0       // sigmas from which a value counts by its logarithm
#define BETTER 4.0    // by which the misfit of a cause is below the healthy network's: two sigmas
#define LEVELS 2.3    // sigmas of chi square up to which a network is as it was measured
#define PAIRS_OF 8    // best causes that are joined in pairs
#define PAIR_LEFT 0.5 // of the misfit of the best one that a pair may leave, at most
#define ALONE 0.7     // share of the gap from which one cause suffices
#define TIES 4.0      // of the misfit: causes that the values do not tell apart
#define APART 0.1     // as a logarithm: a probe that tells them apart

// The misfit of a network that is as it was measured, at most. Counts that are 0 and should be say
// nothing of its spread.
static double usual(const struct diagnosis *d)
{
    double n = 0;
    for (size_t i = 0; i < d->measured; i++)
        n += d->fit.measured.list[i].value > 0;
    return n + LEVELS * sqrt(2 * n);
}

// A value that is off by a factor, as a count may be, does not outweigh all others: beyond some
// three sigmas it counts by its logarithm.
static double misfit_of(const struct diagnosis *d, const struct fit_point *p)
{
    double sum = 0;
    for (size_t i = 0; i < d->measured; i++) {
        double r = fit_residual(&d->fit, p, i);
        if (isnan(p->log_mean[i])) // it did not complete
            return INFINITY;
        sum += FAR * FAR * log1p(r * r / (FAR * FAR));
    }
    return sum;
}

static void run_from(struct diagnosis *d, size_t from)
{
    size_t n = d->n - from;
    double(*places)[UNKNOWNS_MOST] = memory_zeroed(n + 1, sizeof *places);
    struct fit_point **points = memory_zeroed(n + 1, sizeof *points);
    for (size_t i = 0; i < n; i++)
        places[i][0] = (double)(from + i);
    fit_run(&d->fit, n, places, points);
    for (size_t i = 0; i < n; i++) {
        struct hypothesis *h = &d->list[from + i];
        h->point = points[i];
        if (!h->point)
            continue;
        h->misfit = misfit_of(d, h->point);
    }
    free(points);
    free(places);
}

double cause_explains(const struct diagnosis *d, const struct hypothesis *h)
{
    double gap = d->list[0].misfit, left = h->misfit;
    return gap > 0 && left < gap ? 1 - left / gap : 0;
}

/* ---- order ---- */

struct ranked {
    size_t index;
    double rank;
};

static int by_rank(const void *a, const void *b)
{
    const struct ranked *x = a, *y = b;
    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
                              : (x->index > y->index) - (x->index < y->index);
}

// The misfit of a hypothesis and what its kind costs: each kind is as likely before anything was
// measured, and one that may be at many places or of many strengths is so less at each.
static double rank_of(const struct diagnosis *d, const struct hypothesis *h)
{
    double same = 0;
    for (size_t i = 0; i < d->n; i++)
        same += strcmp(d->list[i].kind, h->kind) == 0;
    return h->misfit + 2 * log(same > 1 ? same : 1);
}

// The same cause with another strength, or at a place that the values do not tell from this one.
static bool same_cause(const struct hypothesis *a, const struct hypothesis *b)
{
    return strcmp(a->kind, b->kind) == 0 &&
           (strcmp(a->at, b->at) == 0 || fabs(a->misfit - b->misfit) < TIES);
}

// All causes that come nearer, each once, with its best strength.
static void put_in_order(struct diagnosis *d)
{
    struct ranked *all = memory_zeroed(d->n, sizeof *all);
    for (size_t i = 0; i < d->n; i++)
        all[i] = (struct ranked){i, rank_of(d, &d->list[i])};
    qsort(all, d->n, sizeof *all, by_rank);
    d->order = memory_resize(d->order, d->n, sizeof *d->order);
    d->n_causes = 0;
    for (size_t i = 0; i < d->n; i++) {
        const struct hypothesis *h = &d->list[all[i].index];
        bool known = all[i].index == 0 || !(h->misfit < d->list[0].misfit - BETTER);
        for (size_t k = 0; k < d->n_causes && !known; k++)
            known = same_cause(&d->list[d->order[k]], h);
        if (!known)
            d->order[d->n_causes++] = all[i].index;
    }
    free(all);
}

static void join_pairs(struct diagnosis *d)
{
    size_t n = d->n_causes < PAIRS_OF ? d->n_causes : PAIRS_OF, from = d->n;
    double best = n > 0 ? d->list[d->order[0]].misfit : INFINITY;
    for (size_t i = 0; i < n; i++)
        for (size_t k = i + 1; k < n; k++)
            if (strcmp(d->list[d->order[i]].kind, d->list[d->order[k]].kind) != 0)
                hypothesis_join(d, d->order[i], d->order[k]);
    hypotheses_give(d, from);
    run_from(d, from);
    for (size_t i = from; i < d->n; i++) // a second cause must be worth it
        if (d->list[i].misfit > PAIR_LEFT * best)
            d->list[i].misfit = INFINITY;
}

bool diagnosis_run(struct diagnosis *d)
{
    run_from(d, 0);
    if (!d->list[0].point)
        return false;
    d->healthy = d->list[0].misfit <= usual(d);
    put_in_order(d);
    if (!d->healthy && d->n_causes > 1 && d->list[d->order[0]].misfit > usual(d) &&
        cause_explains(d, &d->list[d->order[0]]) < ALONE && !d->fit.interrupted) {
        join_pairs(d);
        put_in_order(d);
    }
    return true;
}

/* ---- what next ---- */

static const struct {
    const char *kind, *next;
} confirms[] = {
    {"slow_link", "run ib_write_bw over it and over another link of its kind"},
    {"lossy_link", "read the counters of errors at both of its ends (FCS, symbol errors)"},
    {"oversubscription", "count the links between the switches that are up, and their rates"},
    {"mtu", "read the MTU of both ends and of the switch (ibv_devinfo, show interface)"},
    {"pfc_off", "read priority flow control and the class of RoCE at NIC and switch"},
    {"ecn_off", "read the marked packets of the switch, and np_ecn_marked_roce_packets"},
    {"cc_off", "read rp_cnp_handled at the senders"},
    {"ecn_units", "read kmin and kmax of the switch, with their units"},
    {"balancing_off", "read the loads of the links between the switches"},
    {"buffer", "read the buffer profile and the threshold of the port"},
    {"latency", "run ib_write_lat between two servers"},
    {"pcie", "read generation and lanes of the NIC's slot (lspci, LnkSta)"},
    {"fewer_nics", "read NCCL's log for the NICs that it uses (NET/IB)"},
    {"library", "read the environment of the job (NCCL_*), and NCCL's log"},
    {"host_cores", "read the load of the cores of the host"},
    {"straggler", "run the same computation on each GPU alone, and read its clocks"},
    {"hot_job", "look for other jobs, and read the bytes of the rank's port while the job stands"},
    {"two", "mend the first of the two, and measure again"},
};

// The probe whose values differ most between two causes; SIZE_MAX = none does.
static size_t separating(const struct diagnosis *d, const struct hypothesis *a,
                         const struct hypothesis *b)
{
    size_t best = SIZE_MAX;
    double most = APART;
    for (size_t i = d->measured; i < d->fit.measured.n; i++) {
        double x = exp(a->point->log_mean[i]), y = exp(b->point->log_mean[i]);
        double far = fabs(log((x + 0.001) / (y + 0.001)));
        if (isfinite(far) && far > most) {
            most = far;
            best = i;
        }
    }
    return best;
}

char *cause_next(const struct diagnosis *d, size_t place)
{
    const struct hypothesis *h = &d->list[d->order[place]];
    if (place + 1 < d->n_causes) {
        const struct hypothesis *other = &d->list[d->order[place + 1]];
        size_t probe = other->misfit - h->misfit < TIES ? separating(d, h, other) : SIZE_MAX;
        if (probe != SIZE_MAX) {
            const struct observed_value *v = &d->fit.measured.list[probe];
            return text_format("measure %s%s%s: %.4g, or %.4g where %s", v->quantity,
                               *v->place ? " of " : "", v->place, exp(h->point->log_mean[probe]),
                               exp(other->point->log_mean[probe]), other->words);
        }
    }
    for (size_t i = 0; i < sizeof confirms / sizeof *confirms; i++)
        if (strcmp(confirms[i].kind, h->kind) == 0)
            return memory_text(confirms[i].next);
    return memory_text("");
}
