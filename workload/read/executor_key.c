// SPDX-License-Identifier: MIT
// "library": {"kind": "nccl", "nccl": "2.27.7", "proto": "ll128", "env": "NCCL_MIN_NCHANNELS=8"},
// the same of kind rccl, or of kind xml (library_xml.h).
#include "workload/read/executor_key.h"

#include <stdio.h>
#include <stdlib.h>

#include "collective/algorithm/collective.h"
#include "collective/mpi/mpi.h"
#include "collective/nccl/known.h"
#include "engine/base/memory.h"
#include "engine/text/schema_parts.h"
#include "workload/kind.h"
#include "workload/read/nccl_settings.h"
#include "workload/read/xml_key.h"

/* ---- library mpi ---- */

// "library": {"kind": "mpi", "algo": "rabenseifner", "copy_rate": "15Gbps"}: Open MPI.

#define FIELD(name) offsetof(struct mpi_settings, name)
#define SOURCE "Open MPI 4.1.4"

// The order of enum mpi_algorithm.
static const char *const algos[] = {"auto",
                                    "ring",
                                    "segmented_ring",
                                    "recursive_doubling",
                                    "rabenseifner",
                                    "linear",
                                    "pairwise",
                                    "binomial",
                                    NULL};

static const struct param mpi_params[] = {
    PARAM_ROW("algo", ENUM, FIELD(algorithm), .def = "auto", .choices = algos,
              .help = "of operations that have it; auto, and the others: by the fixed rules of "
                      "coll_tuned",
              .source = SOURCE ": coll_tuned_allreduce_algorithm and its siblings"),
    PARAM_ROW(
        "segment", BYTES, FIELD(segment_bytes), .def = "0B", .max = "1GB",
        .help =
            "of the segmented ring, which is a ring where this is 0; larger where a block would "
            "have more than 32768",
        .source = SOURCE ": coll_tuned_allreduce_algorithm_segmentsize"),
    PARAM_ROW("eager_limit", BYTES, FIELD(eager_bytes), .def = "65480B", .max = "1GB",
              .help = "a message of this size or more waits until its receive is posted",
              .source = SOURCE ": btl_tcp_eager_limit 64 KB less the largest header"),
    PARAM_ROW("event", TIME, FIELD(event_ps), .def = "0ns", .max = "1s",
              .help = "time of a process for each message, request or answer that comes",
              .source = "docs/mpi.md"),
    PARAM_ROW("step", TIME, FIELD(step_ps), .def = "0ns", .max = "1s",
              .help = "time of a process from the end of a wait to its next message, and before "
                      "its first",
              .source = "docs/mpi.md"),
    PARAM_ROW("copy_rate", RATE, FIELD(copy_bps), .def = "0bps", .max = "100Tbps",
              .help = "at which a process copies its input at the start; 0 = at once",
              .source = "docs/mpi.md"),
    PARAM_ROW("reduce_rate", RATE, FIELD(reduce_bps), .def = "0bps", .max = "100Tbps",
              .help = "at which a process adds what has come; 0 = at once",
              .source = "docs/mpi.md"),
};
enum { N_PARAMS = sizeof mpi_params / sizeof *mpi_params };

static void executor_mpi_read(struct reader *r, const struct place *place, struct keys *own,
                              struct executor_spec *spec)
{
    struct mpi_settings *settings = memory_zeroed(1, sizeof *settings);
    reader_keep(r, settings);
    params_default(mpi_params, N_PARAMS, settings);
    read_params(r, place, own, mpi_params, N_PARAMS, settings);
    spec->mpi = settings;
    spec->gpus = 1;
}

static json_t *executor_mpi_schema(void)
{
    json_t *object = schema_object();
    schema_key(object, "kind", schema_constant("mpi"), true);
    schema_params(object, mpi_params, N_PARAMS);
    return object;
}

/* ---- checks ---- */

// Check the pairs of an algorithm. Peers depend on the number of processes alone, and segments
// repeat those of the plain ring.
static bool pairs_check(struct reader *r, const struct place *place, const struct job_spec *job,
                        struct mpi_shape shape, const uint32_t *members)
{
    if (pairs_all_joined(r))
        return true;
    shape.bytes = shape.segment_bytes = 0;
    uint32_t steps = mpi_steps(&shape);
    for (uint32_t m = 0; m < shape.ranks; m++)
        for (uint32_t i = 0; i < steps; i++) {
            uint32_t peer = mpi_step(&shape, m, i).sends_to;
            if (peer != MPI_NONE && !pair_check(r, place, job, members ? members[m] : m,
                                                members ? members[peer] : peer))
                return false;
        }
    return true;
}

// Check the pairs of all algorithms that the operation may run: by its bytes, or by any.
static bool choices_check(struct reader *r, const struct place *place, const struct job_spec *job,
                          const struct mpi_settings *settings, enum mpi_operation op,
                          const struct coll_shape *shape, const uint32_t *members)
{
    bool any = shape->bytes == EXECUTOR_ANY_BYTES, seen[MPI_ALGORITHMS] = {false};
    for (unsigned log = 0; log < (any ? 50 : 1); log++) { // 2^50: the largest size of a scenario
        struct mpi_shape s = mpi_shape_of(settings, op, shape->ranks, shape->root,
                                          any ? UINT64_C(1) << log : shape->bytes);
        if (!seen[s.algorithm] && !pairs_check(r, place, job, s, members))
            return false;
        seen[s.algorithm] = true;
    }
    return true;
}

// executor_check() for this kind. An operation of EXECUTOR_ANY_BYTES is one of several in a
// program, and runs by the fixed rules where `algo` is not one of its algorithms.
static bool executor_mpi_check(struct reader *r, const struct place *place,
                               const struct job_spec *job, const struct executor_spec *spec,
                               const struct coll_shape *shape, const uint32_t *members)
{
    static const struct {
        enum coll_op op;
        enum mpi_operation mpi;
    } operations[] = {{COLL_ALL_REDUCE, MPI_ALL_REDUCE},
                      {COLL_ALL_TO_ALL, MPI_ALL_TO_ALL},
                      {COLL_BROADCAST, MPI_BROADCAST},
                      {COLL_BARRIER, MPI_BARRIER}};
    enum mpi_algorithm algorithm = (enum mpi_algorithm)spec->mpi->algorithm;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        if (operations[i].op != shape->op)
            continue;
        if (shape->bytes == EXECUTOR_ANY_BYTES || mpi_algorithm_is_of(algorithm, operations[i].mpi))
            return choices_check(r, place, job, spec->mpi, operations[i].mpi, shape, members);
        place_error(r->err, place, "%s is no algorithm of %s", mpi_algorithm_name(algorithm),
                    coll_op_name(shape->op));
        return false;
    }
    place_error(r->err, place,
                "kind mpi has all_reduce, all_to_all, broadcast and barrier, and not %s",
                coll_op_name(shape->op));
    return false;
}

/* ---- reading ---- */

#define COST(name) offsetof(struct nccl_host_cost, name)
#define COST_ROW(key, type_, field, limit, text)                                                   \
    PARAM_ROW(key, type_, COST(field), .def = "0" limit, .help = text)
#define COST_ROWS(key, type, field, unit, text)                                                    \
    COST_ROW(key "_ll", type, field[NCCL_LL], unit, text ", under LL"),                            \
        COST_ROW(key "_ll128", type, field[NCCL_LL128], unit, text ", under LL128"),               \
        COST_ROW(key "_simple", type, field[NCCL_SIMPLE], unit, text ", under Simple")

static const struct param cost_params[] = {
    COST_ROWS("launch", TIME, launch_ps, "ns", "launch and end of a kernel"),
    COST_ROWS("primitive", TIME, primitive_ps, "ns", "threads of a block wait for each other"),
    COST_ROWS("link", TIME, link_ps, "ns", "of a message over NVLink until it is seen"),
    COST_ROWS("tree_link", TIME, tree_link_ps, "ns", "of a message over NVLink on a tree"),
    COST_ROWS("send", TIME, send_ps, "ns", "from the block to the NIC"),
    COST_ROWS("receive", TIME, receive_ps, "ns", "from the NIC to the block"),
    COST_ROW("proxy", TIME, proxy_ps, "ns", "that the proxy's thread is busy with a message"),
    COST_ROW("check_rate", RATE, check_bps, "bps",
             "that the proxy's thread looks at data of LL; 0bps = any"),
    COST_ROWS("block_rate", RATE, block_bps, "bps", "that a channel copies or reduces; 0bps = any"),
};
enum { N_COSTS = sizeof cost_params / sizeof *cost_params };

static void read_costs(struct reader *r, const struct place *place, struct nccl_host_cost *cost)
{
    struct keys keys = {0};
    if (place->json == NULL || !read_object(r, place))
        return;
    read_params(r, place, &keys, cost_params, N_COSTS, cost);
    keys_check(r, place, &keys);
}

static void read_settings(struct reader *r, const struct place *at, struct keys *own, bool rccl,
                          struct executor_spec *spec)
{
    struct place env = place_key(at, "env");
    struct nccl_rows rows = nccl_rows(rccl);
    struct nccl_params p = nccl_defaults(rccl);
    char path[PLACE_TEXT];
    read_params(r, at, own, rows.rows, rows.n, &p);
    nccl_env_apply(&p, p.env, place_text(&env, path), r->err);
    spec->settings = nccl_settings_of(&p);
}

static void end_known(void *known)
{
    nccl_known_end(known);
    free(known);
}

// The library runs on a machine, with the costs that were measured there.
static void use_machine(struct reader *r, struct executor_spec *spec,
                        const struct nccl_machine *machine)
{
    spec->machine = machine;
    spec->known = memory_zeroed(1, sizeof *spec->known);
    reader_keep_until(r, spec->known, end_known);
    spec->cost = spec->settings.rccl ? rccl_host_cost() : nccl_host_cost_of(machine);
    spec->gpus = machine->gpus;
}

void executor_read(struct reader *r, const struct place *place, struct executor_spec *spec)
{
    static const char *const words[] = {"textbook", NULL}, *const kinds[] = {"nccl", "rccl", "xml",
                                                                             "mpi", NULL};
    struct place at = place_key(place, "library"), kind = place_key(&at, "kind"),
                 cost = place_key(&at, "host_cost");
    struct keys own = {0};
    int which;
    *spec = (struct executor_spec){.machine = NULL};
    if (at.json == NULL || json_is_string(at.json)) {
        if (at.json != NULL)
            read_word(r, &at, "library", words);
        return;
    }
    if (!read_object(r, &at) || (which = read_word(r, &kind, "library", kinds)) < 0)
        return;
    if (which == 3) { // on any network, without a machine
        executor_mpi_read(r, &at, &own, spec);
        keys_add(&own, "kind");
        keys_check(r, &at, &own);
        return;
    }
    if (which < 2)
        read_settings(r, &at, &own, which == 1, spec);
    else
        executor_xml_read(r, &at, &own, spec);
    keys_add(&own, "kind");
    keys_add(&own, "host_cost");
    keys_check(r, &at, &own);
    const struct nccl_machine *machine = r->site->machine;
    if (machine == NULL) {
        if (r->site->ranks.n_ranks > 0)
            place_error(r->err, &at,
                        "needs a machine that %s runs on: give the topology a `machine`, such as "
                        "\"%s\"",
                        nccl_library_name(spec->settings.rccl),
                        spec->settings.rccl ? "mi300x" : "dgx_h100");
        return;
    }
    use_machine(r, spec, machine);
    spec->by_switches =
        spec->settings.algorithms == (1u << NCCL_COLLNET_DIRECT | 1u << NCCL_COLLNET_CHAIN);
    read_costs(r, &cost, &spec->cost);
}

void executor_default(struct reader *r, struct executor_spec *spec)
{
    const struct nccl_machine *machine = r->site->machine;
    struct nccl_params p = nccl_defaults(machine->gfx942);
    *spec = (struct executor_spec){.settings = nccl_settings_of(&p)};
    use_machine(r, spec, machine);
}

void executor_write(json_t *json, const char *key, const void *value, const json_t *given)
{
    const struct executor_spec *spec = value;
    (void)given;
    if (!executor_is_given(spec)) {
        json_object_set_new(json, key, json_string("textbook"));
        return;
    }
    json_t *library = json_pack("{s:s}", "kind", executor_kind(spec));
    if (spec->mpi != NULL) {
        write_params(library, mpi_params, N_PARAMS, spec->mpi);
    } else if (spec->xml != NULL) {
        executor_xml_write(library, spec);
    } else {
        struct nccl_params p = nccl_params_of(&spec->settings);
        struct nccl_rows rows = nccl_rows(p.rccl);
        write_params(library, rows.rows, rows.n, &p);
    }
    if (spec->mpi == NULL)
        json_object_set_new(library, "host_cost", params_json(cost_params, N_COSTS, &spec->cost));
    json_object_set_new(json, key, library);
}

json_t *executor_schema(void) { return schema_ref("library"); }

static json_t *settings_schema(bool rccl)
{
    struct nccl_rows rows = nccl_rows(rccl);
    json_t *object = schema_object();
    schema_key(object, "kind", schema_constant(rccl ? "rccl" : "nccl"), true);
    schema_params(object, rows.rows, rows.n);
    schema_key(object, "host_cost", schema_table(cost_params, N_COSTS), false);
    return object;
}

void executor_definition(json_t *defs)
{
    static const char *const words[] = {"textbook", NULL};
    json_t *xml = executor_xml_schema();
    schema_key(xml, "host_cost", schema_table(cost_params, N_COSTS), false);
    json_object_set_new(defs, "library",
                        json_pack("{s:[o,o,o,o,o]}", "anyOf", schema_words(words),
                                  settings_schema(false), settings_schema(true), xml,
                                  executor_mpi_schema()));
}

/* ---- checks ---- */

#define CHECKED_BYTES (1 << 20)

// Rings and trees lead from the NIC of any GPU to that of any other one.
static bool joins_nics(const struct reader *r, const struct executor_spec *spec)
{
    const struct site *s = r->site;
    bool joins = spec->gpus == 1 ? s->n_dims == 1 : s->n_dims < 2;
    for (uint32_t d = 0; d < s->n_dims; d++)
        joins |= s->dims[d].fabric;
    return joins || s->relays || s->analytical;
}

bool executor_check(struct reader *r, const struct place *place, const struct job_spec *job,
                    const struct executor_spec *spec, const struct coll_shape *shape,
                    const uint32_t *members)
{
    enum coll_op op = shape->op;
    uint32_t n = shape->ranks;
    char why[200] = "";
    const char *name = nccl_library_name(spec->settings.rccl);
    struct nccl_operation o;
    enum nccl_function function;
    if (spec->mpi != NULL)
        return n < 2 || executor_mpi_check(r, place, job, spec, shape, members);
    if (spec->machine == NULL || n < 2)
        return true;
    if (!joins_nics(r, spec)) {
        place_error(r->err, place,
                    "the NICs of a server's GPUs must reach those of all GPUs of other servers: a "
                    "fabric of kind rail, leaf_spine or fat_tree, or switch.routing.relay");
        return false;
    }
    uint32_t *ranks = memory_zeroed(n, sizeof *ranks);
    for (uint32_t m = 0; m < n; m++)
        ranks[m] = job_rank(job, members != NULL ? members[m] : m);
    struct nccl_member *list = nccl_members_of(ranks, n, spec->gpus);
    const struct nccl_communicator *c =
        nccl_known_make(spec->known, spec->machine, &spec->settings, list, n, why, sizeof why);
    free(list);
    free(ranks);
    if (c == NULL) {
        place_error(r->err, place, "%s would not run here: %s", name, why);
        return false;
    }
    if (spec->xml != NULL)
        return executor_xml_check(r, place, spec, op, shape->bytes, n);
    bool possible = !executor_function_of(op, &function) ||
                    nccl_operation_init(&o, c, function, CHECKED_BYTES, 0);
    if (!possible)
        place_error(r->err, place, "%s %s has no %s by the given `algo` and `proto` on these ranks",
                    name, nccl_version_name(spec->settings.version), coll_op_name(op));
    return possible;
}
