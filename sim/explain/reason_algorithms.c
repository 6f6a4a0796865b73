// SPDX-License-Identifier: MIT
// A sentence about the algorithm of a collective, if another would be faster for its bytes on its
// network: closed forms of all algorithms that could run, with the contention of their own
// messages (sim/ideal/ideal_contention.h), without that of other traffic and of the policy.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collective/algorithm/grid.h"
#include "engine/base/memory.h"
#include "sim/explain/explain_internal.h"
#include "sim/ideal/ideal_contention.h"

#define FASTER 0.8 // of the present algorithm's closed form, and of the run: from it one is named

#define MESSAGES_LEAST (1u << 18) // closed forms have at most so many, or as many as the run
#define MESSAGES_MOST (1u << 22)
#define MUCH_LONGER 1.5 // than its closed form: then the algorithm is not what decides
#define CLEARLY 0.95    // of the best so far: algorithms with fewer flows at a time come first

struct candidate {
    const struct coll_algorithm *algorithm;
    ps_t ps; // closed form; -1 = not known
    uint32_t steps;
};

// The record of the collective that ended last in a job, if it runs in one phase; else NULL.
static const struct collective_record *last_record(const struct explain_facts *facts,
                                                   const struct slowest_result *slowest)
{
    const struct workload *w = facts->workload;
    if (slowest->kind != SLOWEST_COLLECTIVE)
        return NULL;
    for (size_t i = w->recorder.n; i-- > 0;) {
        const struct collective_record *record = &w->recorder.records[i];
        const struct coll_schedule *s = record->schedule;
        if (record->job != slowest->job || record->end_ps != slowest->end_ps)
            continue;
        bool one = (s->n_dims == 1 || s->flat[record->request.op]) && !s->streams.enabled &&
                   s->library == NULL;
        return one && !record->request.uneven && coll_ranks(s) > 1 ? record : NULL;
    }
    return NULL;
}

static uint32_t place_of_choice(const struct coll_schedule *s, enum coll_op op)
{
    return s->flat[op] ? s->n_dims : 0;
}

// Algorithms that libraries of collectives choose from: dense vectors, added by ranks, whatever the
// network.
static bool is_common(const struct coll_algorithm *a)
{
    static const char *const names[] = {
        "ring", "direct", "halving_doubling", "tree", "double_binary_tree", "bruck"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(a->name, names[i]) == 0)
            return true;
    return false;
}

#define INCAST_MAX (256 * 1024) // bytes that a rank may receive from several others at once

// True if ranks receive much from several others at once. How long such an incast takes depends on
// buffers and on the policy, which closed forms do not know.
static bool is_incast(const struct coll_algorithm *a, const struct coll_shape *shape)
{
    return shape->bytes > INCAST_MAX && a->n_recvs(shape, 0, 0) > 1;
}

static struct candidate closed_form(const struct explain_facts *facts,
                                    const struct collective_record *record,
                                    const struct coll_choice *choice,
                                    const struct coll_algorithm *now, bool spread,
                                    uint64_t messages)
{
    const struct comm_request *request = &record->request;
    const struct coll_algorithm *a = choice->algorithm;
    uint32_t transport = facts->fabric->spec->jobs[record->job].transport;
    struct coll_schedule schedule = *record->schedule;
    schedule.choice[request->op][place_of_choice(&schedule, request->op)] = *choice;
    struct coll_shape shape = {.op = request->op,
                               .ranks = coll_ranks(&schedule),
                               .bytes = request->bytes,
                               .root = request->root,
                               .inner = request->inner,
                               .params = choice->params,
                               .chunks = 1};
    struct candidate c = {.algorithm = a, .ps = -1};
    const char *why;
    if (!is_common(a) || !a->supports(&shape, &why) || (a != now && is_incast(a, &shape)))
        return c;
    ps_t more =
        ideal_contention_ps(facts->ideals, record->ranks, a, &shape, transport, spread, messages);
    if (more < 0)
        return c;
    c.steps = a->steps(&shape);
    c.ps = more + ideal_collective_ps(facts->ideals, record->ranks, &schedule, request, transport);
    return c;
}

// What the policy adds to the present algorithm's closed form, it may add to another's.
static void explain_better(const struct explain_facts *facts, struct result *r,
                           const struct collective_record *record, const struct candidate *now,
                           const struct candidate *best)
{
    char of_best[UNIT_TEXT], of_now[UNIT_TEXT], change[64];
    ps_t total = r->last->critical.total_ps;
    double ratio = (double)total / (double)now->ps, slower = ratio > 1 ? ratio : 1,
           likely = ratio > MUCH_LONGER ? (double)(now->ps - best->ps)
                                        : (double)total - slower * (double)best->ps;
    snprintf(change, sizeof change, "with %s", best->algorithm->name);
    struct reason_result *reason = result_cause(
        r, REASON_ALGORITHM, (ps_t)likely,
        text_format("algorithm: %s over %u ranks by %s takes about %s in %u steps (closed form), "
                    "by %s %s in %u",
                    coll_op_name(record->request.op), coll_ranks(record->schedule),
                    now->algorithm->name, human_time(now->ps, of_now), now->steps,
                    best->algorithm->name, human_time(best->ps, of_best), best->steps),
        change);
    char *key = job_key(facts->fabric, r->last->job, "algorithm");
    reason_set(reason, "%s=%s", key, best->algorithm->name);
    free(key);
}

void explain_algorithm(const struct explain_facts *facts, struct result *r)
{
    if (!result_has_path(r))
        return;
    const struct collective_record *record = last_record(facts, r->last);
    if (!record)
        return;
    const struct coll_schedule *s = record->schedule;
    enum coll_op op = record->request.op;
    const struct coll_choice *choice = &s->choice[op][place_of_choice(s, op)];
    uint64_t sent = r->summary.count, limit = sent > MESSAGES_LEAST ? sent : MESSAGES_LEAST;
    struct candidate now = closed_form(facts, record, choice, choice->algorithm, false, limit),
                     best = now;
    for (size_t i = 0; coll_registry[i] && now.ps > 0 && is_common(now.algorithm); i++) {
        if (coll_registry[i] == choice->algorithm || !is_common(coll_registry[i]))
            continue;
        struct coll_choice other = coll_choice_of(coll_registry[i]);
        struct candidate c = closed_form(facts, record, &other, choice->algorithm, false, limit);
        if (c.ps >= 0 && (double)c.ps < CLEARLY * (double)best.ps)
            best = c;
    }
    if (now.ps > 0 && (double)best.ps <= FASTER * (double)now.ps)
        explain_better(facts, r, record, &now, &best);
}

ps_t explain_alone_ps(const struct explain_facts *facts, const struct slowest_result *slowest,
                      bool spread)
{
    const struct collective_record *record = last_record(facts, slowest);
    if (!record)
        return -1;
    const struct coll_schedule *s = record->schedule;
    enum coll_op op = record->request.op;
    const struct coll_choice *choice = &s->choice[op][place_of_choice(s, op)];
    return closed_form(facts, record, choice, choice->algorithm, spread, MESSAGES_MOST).ps;
}
