// SPDX-License-Identifier: MIT
#include "cli/library/query.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

/* ---- options ---- */

#define KIB UINT64_C(1024)
#define LEAST_SIZE KIB                  // smallest size of the table
#define MOST_SIZE (8 * KIB * KIB * KIB) // largest size of the table
#define MACHINES_MAX 64                 // machines that the table lists

#define OPS (COLL_REDUCE + 1) // the operations of --op are the first ones

// The options that have one value, as the tables of parameters describe them.
struct values {
    int op, machine;
    uint64_t nodes, bytes;
};
#define FIELD(name) offsetof(struct values, name)

static void read_value(const struct param *row, void *base, const char *text, const char *path,
                       struct err *err)
{
    if (text != NULL)
        param_set(row, base, text, path, err);
}

json_t *query_machine(const struct options *o)
{
    if (nccl_machine_named(o->machine) != NULL)
        return json_string(o->machine);
    return o->machine[0] == '{' ? json_loads(o->machine, 0, NULL)
                                : json_pack("{s:s}", "file", o->machine);
}

// A machine as an object or a file: read as a scenario of such servers, which the query keeps. One
// server may be one without NICs.
static void read_own_machine(struct query *q, const struct options *o, struct err *err)
{
    json_t *machine = query_machine(o);
    int nodes = o->nodes != NULL && strcmp(o->nodes, "1") == 0 ? 1 : 2;
    if (machine == NULL) {
        err_add(err, "--machine", "is neither a name nor a JSON object");
        return;
    }
    json_t *scenario =
        json_pack("{s:s, s:{s:o, s:i}, s:{s:s, s:[{s:i, s:i, s:s}]}}", "name", "machine",
                  "topology", "machine", machine, "nodes", nodes, "workload", "kind", "flows",
                  "flows", "src", 0, "dst", 1, "bytes", "1B");
    struct options none = {.policies = o->policies};
    q->scenario = scenario_of_json(&none, scenario, ".", err);
    json_decref(scenario);
    if (q->scenario != NULL)
        q->machine = scenario_spec(scenario_of(q->scenario))->machine;
}

void query_free(struct query *q) { collwire_scenario_free(q->scenario); }

static void read_machine(struct query *q, const struct options *o, struct err *err)
{
    const char *name = o->machine;
    if (name != NULL && nccl_machine_named(name) == NULL &&
        (name[0] == '{' || strpbrk(name, "/.") != NULL)) {
        read_own_machine(q, o, err);
        return;
    }
    const char *names[MACHINES_MAX + 1] = {NULL};
    for (uint32_t i = 0; i < MACHINES_MAX && nccl_machine_at(i) != NULL; i++)
        names[i] = nccl_machine_at(i)->name;
    struct param row = PARAM_ROW("machine", ENUM, FIELD(machine), .choices = names);
    struct values v = {0};
    q->machine = name != NULL ? nccl_machine_named(name) : NULL;
    if (name == NULL)
        err_add(err, "--machine", "a machine is needed, such as %s",
                q->settings.rccl ? "mi300x" : "dgx_h100");
    else if (q->machine == NULL)
        param_set(&row, &v, name, "--machine", err);
}

// Returns true for operations whose buffer is divided among the ranks, so that it needs at least a
// byte for each.
static bool is_divided(enum coll_op op)
{
    return op == COLL_REDUCE_SCATTER || op == COLL_ALL_GATHER || op == COLL_ALL_TO_ALL;
}

static void check_sizes(const struct query *q, struct err *err)
{
    uint64_t ranks = q->nodes * q->machine->gpus;
    if (ranks < 2)
        err_add(err, "--nodes",
                "a communicator has at least two ranks, and one server of %s "
                "has one GPU",
                q->machine->name);
    if (is_divided(q->op) && q->bytes > 0 && q->bytes < ranks)
        err_add(err, "--bytes", "%llu bytes are less than one byte for each of %llu ranks",
                (unsigned long long)q->bytes, (unsigned long long)ranks);
}

// The first version with rules for Blackwell is a later one.
static void check_version(const struct query *q, struct err *err)
{
    if (q->machine->gpu == NCCL_BLACKWELL && q->settings.version == NCCL_2_21_5)
        err_add(err, "--nccl", "%s has no tables for the GPUs of %s; take a later version",
                nccl_version_name(NCCL_2_21_5), q->machine->name);
}

static void read_op(struct values *v, const char *text, struct err *err)
{
    const char *names[OPS + 1] = {NULL};
    memcpy(names, coll_op_names, OPS * sizeof *names);
    struct param row = PARAM_ROW("op", ENUM, FIELD(op), .choices = names);
    read_value(&row, v, text, "--op", err);
}

static void read_version(struct query *q, const struct options *o, struct err *err)
{
    struct nccl_rows rows = nccl_rows(false);
    struct param version = param_find(rows.rows, rows.n, "nccl");
    if (!q->settings.rccl)
        read_value(&version, &q->settings, o->nccl, "--nccl", err);
    else if (o->nccl != NULL)
        err_add(err, "--nccl", "is of library nccl; of rccl only version 2.21.5 is known");
}

int query_read(struct query *q, bool rccl, const struct options *o, struct err *err)
{
    static const struct param nodes = PARAM_ROW("nodes", COUNT, FIELD(nodes), .min = "1",
                                                .max = "4096"),
                              bytes = PARAM_ROW("bytes", BYTES, FIELD(bytes), .min = "1B");
    struct values v = {0};
    size_t errors = err->n_errors;
    *q = (struct query){0};
    q->settings = nccl_defaults(rccl);
    read_version(q, o, err);
    read_machine(q, o, err);
    if (o->nodes == NULL)
        err_add(err, "--nodes", "the number of servers is needed");
    read_value(&nodes, &v, o->nodes, "--nodes", err);
    read_op(&v, o->op, err);
    read_value(&bytes, &v, o->bytes, "--bytes", err);
    if (o->env != NULL)
        nccl_env_apply(&q->settings, o->env, "--env", err);
    if (o->format == FORMAT_CSV)
        err_add(err, "--format", "library prints a table or json, not csv");
    q->op = (enum coll_op)v.op;
    q->nodes = v.nodes;
    q->bytes = v.bytes;
    if (q->machine != NULL)
        check_version(q, err);
    if (err->n_errors == errors)
        check_sizes(q, err);
    return err->n_errors == errors ? 0 : -1;
}

/* ---- the communicator ---- */

static int check_function(struct answer *a, struct err *err)
{
    const struct nccl_settings *s = &a->comm.settings;
    struct nccl_operation o;
    a->has_function = executor_function_of(a->query->op, &a->function);
    if (!a->has_function || nccl_operation_init(&o, &a->comm, a->function, MOST_SIZE, 0))
        return 0;
    return err_add(err, NULL,
                   "%s %s has no %s on these ranks by the algorithms and protocols "
                   "that --env allows",
                   nccl_library_name(s->rccl), nccl_version_name(s->version),
                   coll_op_name(a->query->op));
}

int answer_init(struct answer *a, const struct query *query, struct err *err)
{
    const struct nccl_machine *machine = query->machine;
    struct nccl_settings settings = nccl_settings_of(&query->settings);
    uint32_t n = (uint32_t)query->nodes * machine->gpus;
    struct nccl_member *members = memory_zeroed(n, sizeof *members);
    char why[256] = "";
    *a = (struct answer){.query = query};
    for (uint32_t r = 0; r < n; r++)
        members[r] = (struct nccl_member){r / machine->gpus, r % machine->gpus};
    bool made = nccl_communicator_init(&a->comm, machine, &settings, members, n, why, sizeof why);
    free(members);
    if (!made)
        return err_add(err, NULL, "%s would not run here: %s", nccl_library_name(settings.rccl),
                       why);
    if (check_function(a, err) == 0)
        return 0;
    answer_free(a);
    return -1;
}

void answer_free(struct answer *a) { nccl_communicator_free(&a->comm); }

/* ---- what it says ---- */

bool answer_next_size(const struct answer *a, uint64_t *bytes)
{
    uint64_t given = a->query->bytes, before = *bytes;
    if (given > 0) {
        *bytes = given;
        return before == 0;
    }
    *bytes = before > 0 ? 2 * before : LEAST_SIZE;
    while (is_divided(a->query->op) && *bytes < a->comm.ranks)
        *bytes *= 2;
    return *bytes <= MOST_SIZE;
}

struct nccl_operation answer_choice(const struct answer *a, uint64_t bytes)
{
    struct nccl_operation o;
    nccl_operation_init(&o, &a->comm, a->function, bytes, 0);
    return o;
}

struct nccl_p2p answer_p2p(const struct answer *a)
{
    return (struct nccl_p2p){.nodes = (uint32_t)a->query->nodes,
                             .per_node = a->query->machine->gpus,
                             .channels = a->comm.layout.channels,
                             .rccl = a->comm.settings.rccl,
                             .one_server = a->query->nodes == 1};
}

bool answer_possible(const struct answer *a, enum nccl_function function,
                     enum nccl_algorithm algorithm, enum nccl_protocol protocol)
{
    const struct nccl_settings *s = &a->comm.settings;
    return a->comm.model.costs[function][algorithm][protocol].bw > 0 &&
           s->algorithms >> algorithm & 1 && s->protocols >> protocol & 1;
}

void answer_ring(const struct answer *a, uint32_t channel, uint32_t *ranks)
{
    size_t first = (size_t)channel * a->comm.ranks;
    for (uint32_t r = 0; r < a->comm.ranks; r++)
        ranks[a->comm.position[first + r]] = r;
}

uint32_t answer_heads(const struct answer *a, uint32_t head, uint32_t *ranks)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < a->comm.ranks; r++)
        if (nccl_layout_nvls(&a->comm.layout, 0, r).head == (int32_t)head)
            ranks[n++] = r;
    return n;
}
