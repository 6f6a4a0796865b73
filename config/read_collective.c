// SPDX-License-Identifier: MIT
// Collective jobs: the algorithm, and whether it can run on these ranks over this network.
#include <string.h>

#include "config/read.h"

#define WORDS_MAX 64
#define WALKS_MAX (UINT64_C(1) << 27) // ranks * chunks that a message can name (collective_run.c)

static const struct coll_algorithm *read_name(struct reader *r, const struct place *place)
{
    const char *words[WORDS_MAX] = {0};
    for (size_t i = 0; coll_registry[i] != NULL && i + 1 < WORDS_MAX; i++)
        words[i] = coll_registry[i]->name;
    int word = read_word(r, place, "algorithm", words);
    return word >= 0 ? coll_registry[word] : NULL;
}

static const struct coll_algorithm *read_algorithm(struct reader *r, const struct place *place)
{
    size_t n = json_array_size(place->json), dims = r->scenario->spec.n_dims;
    if (place->json == NULL)
        return coll_registry[0];
    if (!json_is_array(place->json))
        return read_name(r, place);
    if (dims > 0 && n != dims)
        place_error(r->err, place, "lists %zu algorithms for %zu dimensions", n, dims);
    else if (dims > 1)
        place_error(r->err, place,
                    "one algorithm per dimension (hierarchical) is not available yet");
    else if (n == 0)
        place_error(r->err, place, "lists no algorithm");
    const struct coll_algorithm *first = NULL;
    for (size_t i = 0; i < n; i++) {
        struct place item = place_item(place, i);
        const struct coll_algorithm *algorithm = read_name(r, &item);
        first = i == 0 ? algorithm : first;
    }
    return first;
}

// Every pair that the program uses, up to the first that no dimension joins.
static void check_pairs(struct reader *r, const struct place *place, const struct job_spec *job,
                        const struct coll_shape *shape)
{
    const struct graph *g = &r->ranks;
    bool joined = g->n_dims == 1;
    for (uint32_t d = 0; d < g->n_dims; d++)
        joined = joined || g->dim_fabric[d];
    uint32_t steps = joined ? 0 : job->algorithm->steps(shape);
    for (uint32_t step = 0; step < steps; step++)
        for (uint32_t rank = 0; rank < shape->ranks; rank++) {
            uint32_t n = job->algorithm->n_sends(shape, rank, step);
            for (uint32_t k = 0; k < n; k++) {
                uint32_t peer = job->algorithm->send(shape, rank, step, k).peer;
                if (!pair_check(r, place, job, rank, peer))
                    return;
            }
        }
}

void read_collective(struct reader *r, const struct place *place, struct job_spec *job,
                     const struct job_params *params)
{
    struct place algorithm = place_key(place, "algorithm"), chunks = place_key(place, "chunks"),
                 op = place_key(place, "op");
    size_t errors = r->err->n_errors;
    uint32_t ranks = job_size(r, job);
    bool op_known = false;
    for (enum coll_op o = 0; o < COLL_OPS; o++)
        op_known |=
            json_is_string(op.json) && strcmp(coll_op_name(o), json_string_value(op.json)) == 0;
    job->algorithm = read_algorithm(r, &algorithm);
    if (ranks == 0 || !op_known || r->err->n_errors > errors)
        return;
    if (ranks * params->chunks > WALKS_MAX)
        place_error(r->err, &chunks, "%u chunks over %u ranks are too many",
                    (unsigned)params->chunks, ranks);
    const char *why = "";
    struct coll_shape shape = {.op = (enum coll_op)params->op,
                               .ranks = ranks,
                               .bytes = params->bytes,
                               .bidirectional = params->ring_directions == 2};
    if (!job->algorithm->supports(&shape, &why))
        place_error(r->err, &algorithm, "%s cannot run %s over %u ranks: %s", job->algorithm->name,
                    coll_op_name(shape.op), ranks, why);
    else
        check_pairs(r, place, job, &shape);
}
