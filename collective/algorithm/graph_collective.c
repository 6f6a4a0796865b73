// SPDX-License-Identifier: MIT
// A graph as an algorithm: it has a name and a number of bytes, and no steps.
#include "collective/algorithm/graph_collective.h"

#include <string.h>

struct graph_params {
    const struct coll_graph *graph;
};

static bool supports(const struct coll_shape *shape, const char **why)
{
    (void)shape;
    *why = "any number of ranks";
    return true;
}

static uint32_t no_steps(const struct coll_shape *shape)
{
    (void)shape;
    return 0;
}

static uint32_t none(const struct coll_shape *shape, uint32_t rank, uint32_t step)
{
    (void)shape;
    (void)rank;
    (void)step;
    return 0;
}

static struct coll_send no_send(const struct coll_shape *shape, uint32_t rank, uint32_t step,
                                uint32_t k)
{
    (void)shape;
    (void)rank;
    (void)step;
    (void)k;
    return (struct coll_send){.bytes = 0};
}

static uint64_t total(const struct coll_shape *shape)
{
    const struct graph_params *params = shape->params;
    return params != NULL && params->graph != NULL ? params->graph->bytes : 0;
}

static const struct coll_algorithm custom = {.name = "custom",
                                             .doc = "a graph of sends and receives",
                                             .supports = supports,
                                             .steps = no_steps,
                                             .n_sends = none,
                                             .send = no_send,
                                             .n_recvs = none,
                                             .total = total};

struct coll_choice coll_graph_choice(const struct coll_graph *graph)
{
    struct coll_choice choice = {.algorithm = &custom};
    const struct graph_params params = {graph};
    memcpy(choice.params, &params, sizeof params);
    return choice;
}

const struct coll_graph *coll_graph_of(const struct coll_schedule *s, enum coll_op op)
{
    const struct coll_choice *choice = &s->choice[op][s->n_dims];
    struct graph_params params;
    memcpy(&params, choice->params, sizeof params);
    return s->flat[op] && choice->algorithm == &custom ? params.graph : NULL;
}
