// SPDX-License-Identifier: MIT
// Turns of a test follow each other rank by rank: a rank begins the next when it has sent and
// received, as the benchmark's ranks do. Differences from the benchmark are listed in
// docs/gpcnet.md.
#include "cli/gpcnet/nodes.h"

#include <math.h>
#include <stdio.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"

#define VICTIM_SHARE 0.2
#define CONGESTOR_BYTES 4096
#define LATENCY_TURNS 60 // of latency tests; the first is left out
#define BANDWIDTH_TURNS 12
#define LEAST_NS 20e6   // of a run
#define TURNS_MOST 6000 // of a congestor
#define BANDWIDTH_BYTES (16 * 131072)

const char *const gpcnet_test_names[GPCNET_TESTS] = {
    "RR Two-sided Lat (8 B)", "RR Two-sided BW+Sync (131072 B)", "Multiple Allreduce (8 B)"};

struct gpcnet_nodes gpcnet_nodes_draw(uint32_t n, uint64_t seed)
{
    struct gpcnet_nodes nodes = {memory_zeroed(n, sizeof *nodes.order), n,
                                 (uint32_t)(n * VICTIM_SHARE)};
    struct rng rng = rng_init(seed, RNG_WORKLOAD, n);
    nodes.victims = nodes.victims < 2 ? 2 : nodes.victims;
    rng_permutation(&rng, nodes.order, n);
    return nodes;
}

uint64_t gpcnet_test_bytes(enum gpcnet_test test)
{
    return test == GPCNET_BANDWIDTH ? BANDWIDTH_BYTES : 0;
}

size_t gpcnet_test_turns(enum gpcnet_test test)
{
    return test == GPCNET_BANDWIDTH ? BANDWIDTH_TURNS : LATENCY_TURNS;
}

// Every `step`th of the ranks `first` to `end` of the order.
static json_t *ranks(const struct gpcnet_nodes *nodes, uint32_t first, uint32_t end, uint32_t step)
{
    json_t *list = json_array();
    for (uint32_t i = first; i < end; i += step)
        json_array_append_new(list, json_integer(nodes->order[i]));
    return list;
}

static json_t *test_job(const struct gpcnet_nodes *nodes, enum gpcnet_test test)
{
    static const char *const ops[GPCNET_TESTS] = {"send_recv", "send_recv", "all_reduce"};
    json_int_t bytes = test == GPCNET_BANDWIDTH ? BANDWIDTH_BYTES : 8,
               turns = (json_int_t)gpcnet_test_turns(test);
    char start[32];
    snprintf(start, sizeof start, "%dns", GPCNET_START_NS);
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:s, s:o, s:s}", "kind", "collective", "name",
                     "network-test", "op", ops[test], "bytes", bytes, "repeat", turns, "start",
                     start, "ranks", ranks(nodes, 0, nodes->victims, 1), "algorithm",
                     test == GPCNET_ALLREDUCE ? "halving_doubling" : "direct");
}

struct gpcnet_span gpcnet_span_of(double link_bps, double rank_bps)
{
    double test_ns = BANDWIDTH_TURNS * BANDWIDTH_BYTES * 8e9 / link_bps;
    return (struct gpcnet_span){link_bps, rank_bps,
                                (uint64_t)(GPCNET_START_NS + fmax(LEAST_NS, 4 * test_ns))};
}

// So many turns that the congestor would not end earlier even if it were alone; of larger messages
// where that would be very many.
static json_t *congestor_job(const struct gpcnet_nodes *nodes, uint32_t which,
                             const struct gpcnet_span *span)
{
    static const struct {
        const char *name, *op, *algorithm;
    } kinds[GPCNET_CONGESTORS] = {{"alltoall", "all_to_all", "ring"},
                                  {"incast", "gather", "direct"},
                                  {"put-incast", "gather", "direct"},
                                  {"get-bcast", "scatter", "direct"}};
    json_t *list = ranks(nodes, nodes->victims + which, nodes->n, GPCNET_CONGESTORS);
    double others = (double)json_array_size(list) - 1,
           turn_ns = others * CONGESTOR_BYTES * 8e9 / span->rank_bps,
           turns = ceil((double)span->end_ns / turn_ns) + 1, factor = ceil(turns / TURNS_MOST);
    return json_pack("{s:s, s:s, s:s, s:I, s:I, s:o, s:s}", "kind", "collective", "name",
                     kinds[which].name, "op", kinds[which].op, "bytes",
                     (json_int_t)((others + 1) * CONGESTOR_BYTES * factor), "repeat",
                     (json_int_t)ceil(turns / factor), "ranks", list, "algorithm",
                     kinds[which].algorithm);
}

json_t *gpcnet_jobs(const struct gpcnet_nodes *nodes, enum gpcnet_test test, bool congested,
                    const struct gpcnet_span *span)
{
    json_t *jobs = json_array();
    json_array_append_new(jobs, test_job(nodes, test));
    for (uint32_t i = 0; i < GPCNET_CONGESTORS && congested; i++)
        json_array_append_new(jobs, congestor_job(nodes, i, span));
    return jobs;
}
