// SPDX-License-Identifier: MIT
// The table of assumptions, and which of them a scenario leaves open.
//
// An object that dimensions inherit (`switch`, `transport`) is set at the root of the scenario: a
// dimension that states the key keeps its own value. An assumption is stated if the root, or every
// dimension, states it.
#include "cli/draws/assumption.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "sim/spec/spec.h"
#include "workload/kind.h"

/* ---- what a scenario has ---- */

static const char *without_packets(const struct scenario *s, const json_t *given)
{
    (void)given;
    return scenario_spec(s)->network != NETWORK_ANALYTICAL ? NULL : "the network is in closed form";
}

static const char *without_roce(const struct scenario *s, const json_t *given)
{
    if (without_packets(s, given))
        return without_packets(s, given);
    json_t *resolved = json_loads(scenario_resolved(s), 0, NULL);
    const char *kind =
        json_string_value(json_object_get(json_object_get(resolved, "transport"), "kind"));
    bool roce = kind && strcmp(kind, "roce") == 0;
    json_decref(resolved);
    return roce ? NULL : "the transport is not RoCE alone";
}

// The object of the scenario's only job, if that is a collective; NULL = it is not. Borrowed from
// `tree`.
static const json_t *collective_in(const json_t *tree)
{
    const json_t *job = json_object_get(tree, "workload");
    if (json_is_array(job))
        job = json_array_size(job) == 1 ? json_array_get(job, 0) : NULL;
    const char *kind = json_string_value(json_object_get(job, "kind"));
    return kind && strcmp(kind, "collective") == 0 ? job : NULL;
}

static const char *without_collective(const struct scenario *s, const json_t *given)
{
    if (without_packets(s, given))
        return without_packets(s, given);
    json_t *resolved = json_loads(scenario_resolved(s), 0, NULL);
    const json_t *job = collective_in(resolved);
    json_decref(resolved);
    return job ? NULL : "the work is not one collective";
}

static const char *without_programs(const struct scenario *s, const json_t *given)
{
    const struct spec *spec = scenario_spec(s);
    if (without_packets(s, given))
        return without_packets(s, given);
    for (size_t i = 0; i < spec->n_jobs; i++)
        if (!spec->jobs[i].kind->raw)
            return NULL;
    return "all jobs are raw flows, on which noise does not act";
}

static const char *without_machine(const struct scenario *s, const json_t *given)
{
    const char *other = without_collective(s, given);
    return other                       ? other
           : scenario_spec(s)->machine ? NULL
                                       : "NCCL needs a machine (topology.machine)";
}

// True if the job's algorithm is stated, so that no library may choose it.
static bool states_algorithm(const json_t *job)
{
    static const char *const keys[] = {"algorithm", "schedule", "chunks", NULL};
    bool states = false;
    for (size_t i = 0; keys[i]; i++)
        states |= json_object_get(job, keys[i]) != NULL;
    return states;
}

// A library, stated or drawn, has queue pairs of its own.
static const char *with_library(const struct scenario *s, const json_t *given)
{
    const json_t *job = collective_in(given);
    if (without_roce(s, given))
        return without_roce(s, given);
    bool chooses =
        json_object_get(job, "library") || (!without_machine(s, given) && !states_algorithm(job));
    return chooses ? "the collective library chooses them" : NULL;
}

static const json_t *dims_of(const json_t *given)
{
    return json_object_get(json_object_get(given, "topology"), "dims");
}

static const char *without_links(const struct scenario *s, const json_t *given)
{
    (void)s;
    if (json_object_get(json_object_get(given, "topology"), "machine"))
        return "the machine makes the links";
    return json_array_size(dims_of(given)) > 0 ? NULL : "the topology does not list its dimensions";
}

static const char *without_nothing(const struct scenario *s, const json_t *given)
{
    (void)s;
    (void)given;
    return NULL;
}

/* ---- the table ---- */

const struct assumption assumptions[ASSUMPTIONS] = {
    {.name = "connections",
     .path = "workload[].repeat",
     .values = {"1", "3"},
     .words = {"cold", "warm (last of 3)"},
     .source = "nccl-tests leaves out the first 5 repetitions (option -w), training does not: a "
               "policy begins with its own initial rates and windows",
     .unfit = without_collective},
    {.name = "noise",
     .path = "noise.preset",
     .values = {"none", "lab", "cluster"},
     .source = "docs/noise.md: estimates from sysjitter and Faraj et al., 2008",
     .unfit = without_programs},
    {.name = "switch latency",
     .path = "switch.latency",
     .kind = ASSUMPTION_TIME,
     .values = {"300ns", "800ns"},
     .source = "data sheets: Spectrum-2 300 ns, Trident 3 800 ns (docs/switches.md)",
     .unfit = without_packets},
    {.name = "link delay",
     .path = "topology.dims[].link.delay",
     .kind = ASSUMPTION_TIME,
     .values = {"50ns", "2500ns"},
     .source = "10 to 500 m of fibre at 5 ns a metre; 400GBASE-DR4 reaches 500 m (IEEE 802.3, "
               "clause 124)",
     .unfit = without_links},
    {.name = "buffer",
     .path = "switch.buffer",
     .values = {"12MB", "32MB", "64MB", "160MB"},
     .source = "Trident II, Trident 3, Tomahawk 3 and Spectrum-4 (docs/switches.md)",
     .unfit = without_packets},
    {.name = "ACK interval",
     .path = "transport.ack_interval",
     .values = {"1", "4", "16"},
     .source = "the requester chooses (InfiniBand 9.7.5): libraries each packet, Linux every 256th "
               "for ConnectX (docs/nic.md); up to 16 is our choice",
     .unfit = without_roce},
    {.name = "queue pairs",
     .path = "transport.qps_per_pair",
     .values = {"1", "4"},
     .also = {"transport.qp_scaling", "split"},
     .source = "NCCL_IB_QPS_PER_CONNECTION: 1 by default, more on ECMP (Gangidi et al., SIGCOMM "
               "2024, section 4)",
     .unfit = with_library},
    {.name = "library",
     .path = "workload[].library",
     .values = {"textbook", "{\"kind\":\"nccl\"}"},
     .words = {"textbook", "nccl"},
     .source = "the textbook algorithm, or what NCCL would choose (docs/nccl.md)",
     .unfit = without_machine},
    {.name = "seed",
     .path = "seed",
     .kind = ASSUMPTION_SEED,
     .source = "routes of ECMP, marking and noise are random",
     .unfit = without_nothing},
};

/* ---- open places ---- */

// The value below `tree` at a path of keys with dots; NULL = there is none.
static const json_t *value_at(const json_t *tree, const char *path)
{
    while (tree && *path != '\0') {
        size_t n = strcspn(path, ".");
        tree = json_object_getn(tree, path, n);
        path += n + (path[n] == '.');
    }
    return tree;
}

// An object that dimensions inherit.
static size_t inherited_paths(const struct assumption *a, const json_t *given, char **paths)
{
    const json_t *dims = dims_of(given), *dim;
    size_t i, stated = 0;
    json_array_foreach(dims, i, dim) stated += value_at(dim, a->path) != NULL;
    if (value_at(given, a->path) || (stated > 0 && stated == json_array_size(dims)))
        return 0;
    paths[0] = memory_text(a->path);
    return 1;
}

// The links of all dimensions but the innermost of several, which is inside of a server.
static size_t link_paths(const json_t *given, char **paths)
{
    const json_t *dims = dims_of(given);
    size_t n = 0, all = json_array_size(dims);
    for (size_t i = all > 1 ? 1 : 0; i < all && n < ASSUMPTION_PATHS; i++)
        if (!value_at(json_array_get(dims, i), "link.delay"))
            paths[n++] = text_format("topology.dims[%zu].link.delay", i);
    return n;
}

// A key of the only job, which may stand alone or in a list of one. A library is also stated by the
// algorithm that it would choose.
static size_t job_paths(const struct assumption *a, const json_t *given, char **paths)
{
    const char *key = a->path + strlen("workload[].");
    const json_t *job = collective_in(given);
    if (!job || value_at(job, key))
        return 0;
    if (strncmp(key, "library", 7) == 0 &&
        (states_algorithm(job) || json_object_get(job, "library")))
        return 0;
    bool list = json_is_array(json_object_get(given, "workload"));
    paths[0] = text_format("workload%s.%s", list ? "[0]" : "", key);
    return 1;
}

size_t assumption_paths(const struct assumption *a, const json_t *given,
                        char *paths[ASSUMPTION_PATHS])
{
    if (strncmp(a->path, "workload[]", 10) == 0)
        return job_paths(a, given, paths);
    if (strncmp(a->path, "topology.", 9) == 0)
        return link_paths(given, paths);
    if (strncmp(a->path, "noise.", 6) != 0)
        return inherited_paths(a, given, paths);
    if (json_object_get(given, "noise")) // any key of it: a preset is replaced by the keys
        return 0;
    paths[0] = memory_text(a->path);
    return 1;
}

char *assumption_range(const struct assumption *a, const size_t *values, size_t n)
{
    struct text text;
    if (a->kind == ASSUMPTION_SEED)
        return memory_text("another one in each draw");
    if (a->kind == ASSUMPTION_TIME)
        return text_format("%s to %s", a->values[0], a->values[1]);
    FILE *out = text_open(&text);
    for (size_t i = 0; i < n; i++) {
        const char *word = a->words[values[i]];
        fprintf(out, "%s%s",
                i == 0      ? ""
                : i + 1 < n ? ", "
                            : " or ",
                word ? word : a->values[values[i]]);
    }
    return text_close(out, &text);
}
