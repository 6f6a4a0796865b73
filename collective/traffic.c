// SPDX-License-Identifier: MIT
// The messages and queue pairs of collectives, from the steps of a few members.
#include "collective/traffic.h"

#include <stdlib.h>

#include "collective/algorithm/algorithm_settings.h"
#include "collective/algorithm/grid.h"
#include "collective/algorithm/phase_plan.h"
#include "engine/base/memory.h"

#define MEMBERS_SEEN 16
#define STEPS_SEEN 4096     // for the peers of a member
#define STEPS_COUNTED 64    // for its messages
#define SAMPLES_OF_MEMBER 2 // messages of a phase

void comm_traffic_add(struct comm_traffic *t, uint32_t src, uint32_t dst, uint64_t bytes,
                      double times, bool sampled)
{
    double packets = (double)(bytes > 0 ? (bytes - 1) / t->mtu_bytes + 1 : 1);
    t->messages += times;
    t->packets += times * packets;
    t->bytes += times * (double)bytes;
    if (sampled && t->n < COMM_SAMPLE)
        t->sample[t->n++] = (struct comm_message){src, dst, times * packets};
}

/* ---- the plan of a chunk ---- */

struct plan {
    struct coll_phase phases[COLL_MAX_PHASES];
    uint32_t n;
};

static struct plan plan_of(const struct coll_schedule *s, enum coll_op op, uint32_t dims,
                           uint64_t bytes)
{
    struct coll_planner planner;
    struct coll_schedule even = *s; // bandwidths are measured only when a communicator is made
    struct plan plan;
    for (uint32_t d = 0; d < even.n_dims; d++)
        even.dim_bandwidth[d] = 1;
    coll_planner_init(&planner, &even);
    coll_planner_begin(&planner, 0);
    plan.n = coll_plan(&planner, op, dims, bytes, plan.phases);
    return plan;
}

/* ---- messages ---- */

// A member of a group whose messages are counted.
struct seen_member {
    uint32_t dim, number; // of the members that are counted
    uint32_t member;
    double times; // that each of its messages stands for
};

// The messages of a member in a few steps. Those of the sample are at other places among its
// messages than those of other members, so that near and far peers are met.
static void count_member(struct comm_traffic *t, const struct coll_schedule *s,
                         const struct coll_algorithm *a, const struct coll_shape *shape,
                         const struct seen_member *of)
{
    uint32_t m = of->member, dim = of->dim, steps = a->steps(shape), sampled = 0, number = 0;
    uint32_t seen = steps < STEPS_COUNTED ? steps : STEPS_COUNTED;
    uint32_t group = (uint32_t)((uint64_t)m * coll_n_groups(s, dim) / shape->ranks);
    uint32_t src = coll_rank_of(s, dim, group, m);
    double place = of->number * 0.618 - (uint32_t)(of->number * 0.618); // golden section
    for (uint32_t i = 0; i < seen; i++) {
        uint32_t step = (uint32_t)((uint64_t)i * steps / seen), n = a->n_sends(shape, m, step);
        uint32_t shown = n < STEPS_COUNTED ? n : STEPS_COUNTED;
        for (uint32_t k = 0; k < shown; k++) {
            struct coll_send send = a->send(shape, m, step, (uint32_t)((uint64_t)k * n / shown));
            bool due = sampled < SAMPLES_OF_MEMBER &&
                       number++ >= (sampled + place) * seen * shown / SAMPLES_OF_MEMBER - 1;
            comm_traffic_add(t, src, coll_rank_of(s, dim, group, send.peer), send.bytes,
                             of->times * steps / seen * n / shown, due);
            sampled += due;
        }
    }
}

void comm_traffic_collective(struct comm_traffic *t, const struct coll_schedule *s, enum coll_op op,
                             uint32_t dims, uint64_t bytes, double times)
{
    double chunks = s->chunks > 0 ? (double)s->chunks : 1, ranks = coll_ranks(s);
    struct plan plan = plan_of(s, op, dims, (uint64_t)((double)bytes / chunks));
    t->phases += times * chunks * plan.n;
    t->at_once = chunks > t->at_once ? chunks : t->at_once;
    for (uint32_t i = 0; i < plan.n; i++) {
        const struct coll_phase *phase = &plan.phases[i];
        const struct coll_choice *choice = coll_choice_at(s, op, phase);
        uint32_t size = coll_group_size(s, phase->dim);
        struct coll_shape shape = {.op = phase->op,
                                   .ranks = size,
                                   .bytes = phase->op == COLL_ALL_GATHER ? phase->bytes * size
                                                                         : phase->bytes,
                                   .chunks = (uint32_t)chunks,
                                   .params = choice->params};
        const char *why;
        // messages to and from aggregators are not known before these have been reserved
        if (!choice->algorithm || choice->algorithm->members ||
            !choice->algorithm->supports(&shape, &why))
            continue;
        uint32_t seen = size < MEMBERS_SEEN ? size : MEMBERS_SEEN;
        for (uint32_t m = 0; m < seen; m++) {
            // The members are not evenly spaced, so that they are at different places below their
            // switches.
            struct seen_member of = {phase->dim, m,
                                     (uint32_t)((uint64_t)m * size / seen + m) % size,
                                     times * chunks * ranks / seen};
            count_member(t, s, choice->algorithm, &shape, &of);
        }
    }
}

/* ---- queue pairs ---- */

// Mean number of peers that a rank of a group sends to, over a few members.
static double peers_of(const struct coll_algorithm *a, const struct coll_shape *shape)
{
    uint32_t n = shape->ranks < MEMBERS_SEEN ? shape->ranks : MEMBERS_SEEN, steps = a->steps(shape);
    uint64_t sum = 0;
    bool *seen = memory_zeroed(shape->ranks, sizeof *seen);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t m = (uint32_t)((uint64_t)i * shape->ranks / n), peers = 0;
        uint32_t *list = memory_zeroed(shape->ranks, sizeof *list);
        for (uint32_t s = 0; s < steps && s < STEPS_SEEN; s++)
            for (uint32_t k = 0; k < a->n_sends(shape, m, s); k++) {
                uint32_t peer = a->send(shape, m, s, k).peer;
                if (!seen[peer])
                    list[peers++] = peer;
                seen[peer] = true;
            }
        for (uint32_t p = 0; p < peers; p++)
            seen[list[p]] = false;
        free(list);
        sum += peers;
    }
    free(seen);
    return (double)sum / n;
}

double comm_queue_pairs(const struct coll_schedule *s, enum coll_op op, uint32_t dims,
                        uint64_t bytes)
{
    double pairs = 0;
    struct plan plan = plan_of(s, op, dims, bytes);
    for (uint32_t i = 0; i < plan.n; i++) {
        const struct coll_phase *phase = &plan.phases[i];
        struct coll_choice choice = *coll_choice_at(s, op, phase);
        coll_choice_set(&choice, "pieces", "1"); // more pieces use the same queue pairs
        struct coll_shape shape = {.op = phase->op,
                                   .ranks = coll_group_size(s, phase->dim),
                                   .bytes = bytes,
                                   .params = choice.params};
        const char *why;
        if (!choice.algorithm || !choice.algorithm->supports(&shape, &why))
            continue;
        bool by_tree = choice.algorithm->members != NULL; // a queue pair up and one down
        pairs += (by_tree ? 2 : peers_of(choice.algorithm, &shape)) * coll_ranks(s);
    }
    return pairs;
}
