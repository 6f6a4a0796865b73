// SPDX-License-Identifier: MIT
// Adds sentences to a result, and the figures that several of them need.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "sim/explain/explain_internal.h"

void result_explain(struct result *r, double weight, char *sentence)
{
    size_t at = r->n_explain++;
    r->explain = memory_resize(r->explain, r->n_explain, sizeof *r->explain);
    r->explain_weights =
        memory_resize(r->explain_weights, r->n_explain, sizeof *r->explain_weights);
    for (; at > 0 && r->explain_weights[at - 1] < weight; at--) {
        r->explain[at] = r->explain[at - 1];
        r->explain_weights[at] = r->explain_weights[at - 1];
    }
    r->explain[at] = sentence;
    r->explain_weights[at] = weight;
}

// An untried cause may save nothing, so the sentence states no figure.
static char *untried(const struct reason_result *reason)
{
    if (!reason->change)
        return text_format("%s", reason->seen);
    return text_format("%s; %s: not tried", reason->seen, reason->change);
}

static struct reason_result *reason_add(struct result *r, double weight,
                                        const struct reason_result *one)
{
    size_t at = r->n_reasons++;
    char *sentence = untried(one);
    r->reasons = memory_resize(r->reasons, r->n_reasons, sizeof *r->reasons);
    for (; at > 0 && r->reasons[at - 1].weight < weight; at--)
        r->reasons[at] = r->reasons[at - 1];
    r->reasons[at] = *one;
    r->reasons[at].weight = weight;
    r->reasons[at].sentence = sentence;
    result_explain(r, weight, sentence);
    return &r->reasons[at];
}

struct reason_result *result_reason(struct result *r, enum reason_kind kind, double weight,
                                    char *seen)
{
    struct reason_result one = {
        .kind = (uint8_t)kind, .job = r->last ? r->last->job : 0, .saving_ps = -1, .seen = seen};
    return reason_add(r, weight, &one);
}

#define SHARE_MOST 0.99 // below EXPLAIN_END with EXPLAIN_TIME

struct reason_result *result_cause(struct result *r, enum reason_kind kind, ps_t saving_ps,
                                   char *seen, const char *change)
{
    struct reason_result one = {.kind = (uint8_t)kind,
                                .job = r->last->job,
                                .saving_ps = saving_ps,
                                .seen = seen,
                                .change = text_format("%s", change)};
    double share = result_share_of(r, saving_ps);
    return reason_add(r, EXPLAIN_TIME + (share < SHARE_MOST ? share : SHARE_MOST), &one);
}

void reason_set(struct reason_result *reason, const char *format, ...)
{
    va_list arguments;
    struct text text;
    FILE *out = text_open(&text);
    va_start(arguments, format);
    vfprintf(out, format, arguments);
    va_end(arguments);
    reason->set = memory_resize(reason->set, reason->n_set + 1, sizeof *reason->set);
    reason->set[reason->n_set++] = text_close(out, &text);
}

char *job_key(const struct fabric *fabric, uint32_t job, const char *key)
{
    const char *dot = key[0] ? "." : "";
    if (fabric->spec->n_jobs == 1)
        return text_format("workload%s%s", dot, key);
    return text_format("workload[%u]%s%s", job, dot, key);
}

bool result_has_faults(const struct result *r)
{
    return r->drops[DROP_LINK_DOWN] + r->drops[DROP_LINK_LOSS] + r->drops[DROP_LINK_CORRUPTION] > 0;
}

uint64_t result_queue_drops(const struct result *r)
{
    return r->drops[DROP_LOSSY_THRESHOLD] + r->drops[DROP_QUEUE_LIMIT];
}

void result_wait(struct result *r, char *sentence)
{
    r->waiting = memory_resize(r->waiting, r->n_waiting + 1, sizeof *r->waiting);
    r->waiting[r->n_waiting++] = sentence;
}

#define WHOLE 0.95 // share of the run that the path covers

bool result_has_path(const struct result *r) { return r->last && r->last->critical.total_ps > 0; }

ps_t critical_sum_ps(const struct critical_result *c, unsigned causes)
{
    ps_t sum = 0;
    for (unsigned cause = 0; cause < PATH_CAUSES; cause++)
        if (causes >> cause & 1)
            sum += c->parts[cause];
    return sum;
}

double result_share_of(const struct result *r, ps_t ps)
{
    return (double)ps / (double)r->last->critical.total_ps;
}

double result_share(const struct result *r, enum path_cause cause)
{
    if (!result_has_path(r))
        return 0;
    return result_share_of(r, r->last->critical.parts[cause]);
}

// The time until the last job ended: timers of transports may last longer. All of the time where
// the run did not complete.
static ps_t active_ps(const struct result *r)
{
    ps_t end = 0;
    for (size_t i = 0; i < r->n_slowest && r->status == RUN_COMPLETED; i++)
        end = r->slowest[i].end_ps > end ? r->slowest[i].end_ps : end;
    return end > 0 && end < r->sim_time_ps ? end : r->sim_time_ps;
}

double result_use(const struct result *r, const struct port_result *link)
{
    double use = link->utilization * (double)r->sim_time_ps / (double)active_ps(r);
    return use < 1 ? use : 1;
}

const struct port_result *result_busiest_link(const struct result *r)
{
    const struct port_result *best = NULL;
    for (size_t i = 0; i < r->n_ports; i++)
        if (!best || r->ports[i].utilization > best->utilization)
            best = &r->ports[i];
    return best;
}

const struct port_result *result_most_dropped(const struct result *r)
{
    const struct port_result *most = NULL;
    for (size_t i = 0; i < r->n_ports; i++)
        if (r->ports[i].dropped_packets > 0 &&
            (!most || r->ports[i].dropped_packets > most->dropped_packets))
            most = &r->ports[i];
    return most;
}

ps_t result_busy_ps(const struct result *r, const struct port_result *link)
{
    return (ps_t)(link->utilization * (double)r->sim_time_ps);
}

const struct critical_place *critical_place_of(const struct critical_result *c,
                                               enum path_cause cause)
{
    for (size_t i = 0; i < c->n_places; i++)
        if (c->places[i].cause == cause)
            return &c->places[i];
    return NULL;
}

enum path_cause critical_largest(const struct critical_result *c, const bool said[PATH_CAUSES])
{
    unsigned best = PATH_CAUSES;
    for (unsigned cause = 0; cause < PATH_CAUSES; cause++)
        if (!said[cause] && (best == PATH_CAUSES || c->parts[cause] > c->parts[best]))
            best = cause;
    return (enum path_cause)best;
}

static bool any_swaps(const struct spec *spec)
{
    struct job_swap swap;
    bool any = false;
    for (size_t j = 0; j < spec->n_jobs; j++)
        any |= spec->jobs[j].kind->swap != NULL && spec->jobs[j].kind->swap(&spec->jobs[j], &swap);
    return any;
}

const char *cause_phrase(const struct fabric *fabric, enum path_cause cause)
{
    if (cause == PATH_SCHEDULED && any_swaps(fabric->spec))
        return "transfers to and from the host, planned starts and fixed delays";
    if (fabric_is_analytical(fabric) && cause == PATH_NETWORK)
        return "messages in closed form";
    if (fabric->circuits && cause == PATH_PAUSED)
        return "waiting for light, or stopped by PFC";
    return path_cause_phrase(cause);
}

ps_t result_saving_ps(const struct result *r, ps_t cost, ps_t least)
{
    ps_t room = r->last->critical.total_ps - least;
    return room < 0 ? 0 : cost < room ? cost : room;
}

static bool covers_run(const struct result *r)
{
    return (double)r->last->critical.total_ps >= WHOLE * (double)active_ps(r);
}

// The largest share of what a link transmitted that may have been sent again: packets that were
// dropped before the link did not take its time.
static double resent_share(const struct result *r, const struct port_result *link)
{
    if (link->packets == 0 || r->retransmitted <= link->dropped_packets)
        return 0;
    double share = (double)(r->retransmitted - link->dropped_packets) / (double)link->packets;
    return share < 1 ? share : 1;
}

ps_t result_wait_saving_ps(const struct result *r, ps_t cost)
{
    const struct port_result *link = result_busiest_link(r);
    bool bounded = link && r->n_slowest == 1 && covers_run(r);
    ps_t least =
        bounded ? (ps_t)((double)result_busy_ps(r, link) * (1 - resent_share(r, link))) : 0;
    return result_saving_ps(r, cost, least);
}

double *result_same_shares(const struct result *r)
{
    double *share = memory_zeroed(r->n_ports, sizeof *share);
    for (size_t p = 0; p < r->n_ports; p++)
        share[p] = 1;
    return share;
}

ps_t result_saving_with(const struct result *r, const double *share)
{
    const struct critical_result *path = &r->last->critical;
    double most = 0, least = 0, once = 0, run = (double)active_ps(r);
    for (size_t p = 0; p < r->n_ports; p++) {
        const struct port_result *link = &r->ports[p];
        double then = result_use(r, link) * share[p], first = then * (1 - resent_share(r, link));
        most = result_use(r, link) > most ? result_use(r, link) : most;
        least = then > least ? then : least;
        once = first > once ? first : once;
    }
    ps_t direct = (ps_t)((most - least) * run), once_ps = (ps_t)(once * run);
    ps_t other = path->parts[PATH_COMPUTE] + path->parts[PATH_SCHEDULED];
    ps_t bound = result_saving_ps(r, path->total_ps, once_ps > other ? once_ps : other);
    if (!result_bound_by_rate(r) && result_may_be_bound(r)) // idle links may wait for busy ones
        return least < most ? (ps_t)((1 - least / most) / 2 * (double)path->total_ps) : 0;
    return (double)bound <= SAVING_TIGHT * (double)direct ? bound : direct;
}

#define BY_RATE 0.5 // use of a link from which its rate counts

bool result_bound_by_rate(const struct result *r)
{
    const struct port_result *link = result_busiest_link(r);
    return r->last && link && result_use(r, link) >= BY_RATE && covers_run(r);
}

#define MAY_BIND 0.02 // use of the busiest link from which it may bound the run

bool result_may_be_bound(const struct result *r)
{
    const struct port_result *link = result_busiest_link(r);
    return result_has_path(r) && link && result_use(r, link) >= MAY_BIND && covers_run(r);
}

bool result_bounded(const struct result *r)
{
    return r->n_slowest == 1 && covers_run(r) && r->retransmitted == 0;
}
