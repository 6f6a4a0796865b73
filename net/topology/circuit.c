// SPDX-License-Identifier: MIT
// An optical circuit switch that joins ports of ranks directly: every circuit of its schedule is a
// link between two ranks, which has light only while its matching is set
// (sim/fabric/fabric_circuits.c). The delay of a link is that of the whole circuit; the switch adds
// none.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "net/topology/circuit_schedule.h"
#include "net/topology/kinds.h"

#define MAX_RANKS 2048
#define MAX_RANK_CIRCUITS 4095

#define CP(f) offsetof(struct circuit_params, f)
static const struct param params[] = {
    PARAM_ROW("ports", COUNT, CP(ports), .def = "2", .min = "1", .max = "64",
              .help = "ports of a rank at the circuit switch",
              .source = "Wang et al., NSDI 2023 (TopoOpt): 4 per server"),
    PARAM_ROW("schedule", TEXT, CP(schedule), .def = "ring",
              .help = "ring, rotation, or a list of matchings (docs/optical.md)",
              .source = "Mellette et al., SIGCOMM 2017 (RotorNet); Porter et al., SIGCOMM 2013 "
                        "(Mordia)"),
    PARAM_ROW("duration", TIME, CP(duration_ps), .def = "100us", .min = "1ns", .max = "10s",
              .help = "time for which a matching has light",
              .source = "Mellette et al., SIGCOMM 2017: 10 times the reconfiguration"),
    PARAM_ROW("reconfiguration", TIME, CP(reconfiguration_ps), .def = "10us", .min = "0ns",
              .max = "10s",
              .help = "time without light between two matchings; circuits of both keep theirs",
              .source = "Porter et al., SIGCOMM 2013: 11.5 us; 3D MEMS take 10 ms to 25 ms"),
    PARAM_ROW("threshold", BYTES, CP(threshold_bytes), .def = "0B", .min = "0B", .max = "1PB",
              .help =
                  "messages of pairs that another dimension joins too take their circuit from this "
                  "size on",
              .source = "Farrington et al., SIGCOMM 2010 (Helios): circuits for large flows"),
    PARAM_ROW("transit", BOOL, CP(transit), .def = "true",
              .help = "ranks forward for pairs that no circuit joins",
              .source = "Wang et al., NSDI 2023 (TopoOpt): host-based forwarding"),
};
_Static_assert(sizeof(struct circuit_params) <= TOPOLOGY_PARAMS_BYTES, "params fit");

static void check_counts(const struct circuit_schedule *s, uint32_t ranks, const char *path,
                         struct err *err)
{
    uint32_t *circuits = memory_zeroed(ranks, sizeof *circuits), most = 0;
    for (uint32_t i = 0; i < s->n_circuits; i++)
        for (int e = 0; e < 2; e++)
            if (++circuits[s->circuits[i].rank[e]] > most)
                most = circuits[s->circuits[i].rank[e]];
    free(circuits);
    if (most > MAX_RANK_CIRCUITS)
        err_add(err, path, "a rank would have %u circuits; the maximum is %d", most,
                MAX_RANK_CIRCUITS);
}

static void check(const void *p, uint32_t size, uint32_t ranks, const char *path, struct err *err)
{
    (void)size;
    struct circuit_schedule s;
    if (ranks > MAX_RANKS) {
        err_add(err, path, "%u ranks exceed the maximum %d of this kind", ranks, MAX_RANKS);
        return;
    }
    circuit_schedule_make(&s, p, ranks, path, err);
    check_counts(&s, ranks, path, err);
    circuit_schedule_free(&s);
}

// True if every pair of ranks has a circuit, so that no rank has to forward.
static bool joins_all(const struct circuit_schedule *s, uint32_t ranks)
{
    bool *joined = memory_zeroed((size_t)ranks * ranks, sizeof *joined);
    uint64_t pairs = 0;
    for (uint32_t i = 0; i < s->n_circuits; i++) {
        const uint32_t *rank = s->circuits[i].rank;
        bool *pair = &joined[(size_t)rank[0] * ranks + rank[1]];
        pairs += !*pair;
        *pair = true;
    }
    free(joined);
    return pairs == (uint64_t)ranks * (ranks - 1) / 2;
}

static void build(struct graph *g, uint32_t dim, const void *p, const struct link_spec *links)
{
    struct err none = {0}; // the schedule has been checked
    struct circuit_schedule s;
    circuit_schedule_make(&s, p, g->n_ranks, "", &none);
    for (uint32_t i = 0; i < s.n_circuits; i++)
        graph_add_link(g, s.circuits[i].rank[0], s.circuits[i].rank[1], dim, &links[0]);
    g->dim_direct[dim] = ((const struct circuit_params *)p)->transit && !joins_all(&s, g->n_ranks);
    circuit_schedule_free(&s);
    err_free(&none);
}

const struct topology_kind topology_circuit = {
    .direct = true,
    .name = "circuit",
    .doc = "an optical circuit switch joining all ranks by a schedule of matchings",
    .source = "Mellette et al., SIGCOMM 2017 (RotorNet); Wang et al., NSDI 2023 (TopoOpt)",
    .params = params,
    .n_params = sizeof params / sizeof *params,
    .params_bytes = sizeof(struct circuit_params),
    .fabric = true,
    .check = check,
    .build = build,
};
