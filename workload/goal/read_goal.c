// SPDX-License-Identifier: MIT
// Reads goal jobs: the file, and checks of the program as a whole.
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/err.h"
#include "engine/base/memory.h"
#include "engine/base/regular_file.h"
#include "engine/text/json_file.h"
#include "workload/goal/goal_job.h"
#include "workload/goal/goal_labels.h"
#include "workload/goal/goal_words.h"
#include "workload/nodes/node.h"
#include "workload/nodes/node_check.h"
#include "workload/nodes/node_list.h"
#include "workload/read/job_reader.h"

/* ---- goal file ---- */

// Programs in the text format GOAL: for each rank calculations, sends and receives, with the
// dependencies of each.
//
//   num_ranks 2
//   rank 0 {
//     l1: calc 100            // ns, on cpu 0
//     l2: send 10b to 1 tag 5 // cpu and nic may follow
//     l3: recv 10b from 1
//     l2 requires l1          // starts when l1 has ended
//     l3 irequires l1         // starts when l1 has started
//   }
//
// Statements may also be separated by semicolons, and labels left out. Calculations of one cpu run
// one at a time; sends and receives take no time of a cpu, and the nic is not used: a rank's ports
// are those of the scenario.
// Sources: Hoefler, Siebert & Lumsdaine, ICPP 2009 (GOAL); Hoefler, Schneider & Lumsdaine, HPDC
// 2010 (LogGOPSim); Shen et al., 2025 (ATLAHS).

#define ERRORS_MAX 20
#define CPUS_MAX (NODE_STREAMS_MAX - NODE_COMM_STREAM)
#define NS_MAX UINT64_C(100000000000000)
#define BYTES_MAX UINT64_C(1000000000000000)
#define START_ID (UINT64_C(1) << 62) // added to an operation's id: the node that ends at its start
#define NO_OPERATION UINT32_MAX

struct operation {
    struct node node;
    uint64_t line;
    bool marked; // others wait for its start
};

struct dependency {
    uint32_t operation, on; // numbers of operations
    bool start;
};

struct goal_reader {
    struct goal_words words;
    const char *file, *path;
    struct err *err;
    uint32_t n_ranks, rank;
    unsigned n_errors;
    struct node_list *list;
    bool *seen; // [rank]
    /* of the present rank */
    struct goal_labels labels;
    struct operation *operations;
    size_t n_operations, cap_operations;
    struct dependency *dependencies;
    size_t n_dependencies, cap_dependencies;
    struct { // labels that are used before their operation
        char *label;
        uint64_t line;
        size_t dependency;
        bool on;
    } * open;
    size_t n_open, cap_open;
};

__attribute__((format(printf, 3, 4))) static int fail(struct goal_reader *g, uint64_t line,
                                                      const char *format, ...)
{
    char text[400];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (g->n_errors++ < ERRORS_MAX)
        err_add(g->err, g->path, "%s, line %" PRIu64 ": %s", g->file, line, text);
    return -1;
}

/* ---- words ---- */

static bool at(const struct goal_reader *g, const char *word)
{
    return strcmp(g->words.word, word) == 0;
}

static void next(struct goal_reader *g) { goal_words_next(&g->words); }

static int expect(struct goal_reader *g, const char *word)
{
    if (!at(g, word))
        return fail(g, g->words.line, "\"%.40s\" where \"%s\" is expected", g->words.word, word);
    next(g);
    return 0;
}

// Read a whole number from 0 to `max`, with `unit` behind it if that is not "".
static int number(struct goal_reader *g, const char *what, const char *unit, uint64_t max,
                  uint64_t *value)
{
    const char *text = g->words.word;
    char *end;
    errno = 0;
    unsigned long long read = strtoull(text, &end, 10);
    bool digits = text[0] >= '0' && text[0] <= '9' && errno == 0;
    if (!digits || (*end != '\0' && strcmp(end, unit) != 0) || read > max)
        return fail(g, g->words.line, "%s \"%.40s\" must be a whole number%s%s from 0 to %" PRIu64,
                    what, text, unit[0] ? " with the unit " : "", unit, max);
    *value = read;
    next(g);
    return 0;
}

/* ---- operations ---- */

static int options(struct goal_reader *g, uint64_t *tag, uint64_t *cpu)
{
    uint64_t nic;
    for (;;) {
        bool is_tag = at(g, "tag"), is_cpu = at(g, "cpu");
        if (!is_tag && !is_cpu && !at(g, "nic"))
            return 0;
        next(g);
        int result = is_tag   ? number(g, "tag", "", UINT32_MAX, tag)
                     : is_cpu ? number(g, "cpu", "", CPUS_MAX, cpu)
                              : number(g, "nic", "", UINT32_MAX, &nic);
        if (result != 0)
            return -1;
    }
}

static int message(struct goal_reader *g, struct node *node, uint64_t *tag, uint64_t *cpu)
{
    bool sends = node->kind == NODE_SEND;
    uint64_t peer, line = g->words.line;
    node->stream = NODE_NO_STREAM;
    if (number(g, "size", "b", BYTES_MAX, &node->bytes) != 0 ||
        expect(g, sends ? "to" : "from") != 0 ||
        number(g, "rank", "", g->n_ranks - 1, &peer) != 0 || options(g, tag, cpu) != 0)
        return -1;
    if (peer == g->rank)
        return fail(g, line, "rank %u sends a message to itself", g->rank);
    node->peer = (uint32_t)peer;
    node->tag = (uint32_t)*tag;
    return 0;
}

// Read an operation, whose first word is the current one; returns its number, or NO_OPERATION.
static uint32_t operation(struct goal_reader *g)
{
    struct operation o = {.line = g->words.line};
    uint64_t tag = 0, cpu = 0, ns;
    int result;
    o.node.kind = at(g, "calc") ? NODE_COMPUTE : at(g, "send") ? NODE_SEND : NODE_RECV;
    next(g);
    if (o.node.kind == NODE_COMPUTE) {
        result = number(g, "time", "", NS_MAX, &ns);
        if (result == 0)
            result = options(g, &tag, &cpu);
        o.node.takes_ps = result == 0 ? (ps_t)ns * PS_PER_NS : 0;
        o.node.stream = cpu == 0 ? NODE_COMPUTE_STREAM : (uint8_t)(NODE_COMM_STREAM + cpu - 1);
    } else {
        result = message(g, &o.node, &tag, &cpu);
    }
    if (result != 0)
        return NO_OPERATION;
    uint64_t last = g->n_operations > 0 ? g->operations[g->n_operations - 1].node.id : 0;
    o.node.id = o.line > last ? o.line : last + 1;
    if (g->n_operations == g->cap_operations)
        g->operations = memory_grow(g->operations, &g->cap_operations, sizeof *g->operations);
    g->operations[g->n_operations++] = o;
    return (uint32_t)(g->n_operations - 1);
}

static bool at_operation(const struct goal_reader *g)
{
    return at(g, "calc") || at(g, "send") || at(g, "recv");
}

/* ---- dependencies ---- */

// The operation with a label, which may come later in the file.
static uint32_t refer(struct goal_reader *g, const char *label, uint64_t line, bool on)
{
    uint32_t found = goal_label_find(&g->labels, label);
    if (found != UINT32_MAX)
        return found;
    if (g->n_open == g->cap_open)
        g->open = memory_grow(g->open, &g->cap_open, sizeof *g->open);
    g->open[g->n_open].label = memory_text(label);
    g->open[g->n_open].line = line;
    g->open[g->n_open].dependency = g->n_dependencies;
    g->open[g->n_open++].on = on;
    return NO_OPERATION;
}

static int dependency(struct goal_reader *g, const char *label, uint64_t line)
{
    struct dependency d = {.start = at(g, "irequires")};
    next(g);
    if (g->words.word[0] == '\0' || strchr(":;{}", g->words.word[0]) != NULL)
        return fail(g, g->words.line, "a label is missing after \"requires\"");
    d.operation = refer(g, label, line, false);
    d.on = refer(g, g->words.word, g->words.line, true);
    next(g);
    if (g->n_dependencies == g->cap_dependencies)
        g->dependencies =
            memory_grow(g->dependencies, &g->cap_dependencies, sizeof *g->dependencies);
    g->dependencies[g->n_dependencies++] = d;
    return 0;
}

// "LABEL: operation", "operation", "LABEL requires LABEL" or "LABEL irequires LABEL".
static int statement(struct goal_reader *g)
{
    char label[GOAL_WORD_MAX];
    uint64_t line = g->words.line;
    if (at_operation(g))
        return operation(g) == NO_OPERATION ? -1 : 0;
    memcpy(label, g->words.word, sizeof label);
    next(g);
    if (at(g, "requires") || at(g, "irequires"))
        return dependency(g, label, line);
    if (expect(g, ":") != 0)
        return -1;
    if (!at_operation(g))
        return fail(g, g->words.line, "\"%.40s\" is not an operation: calc, send or recv",
                    g->words.word);
    uint32_t number_of = operation(g);
    if (number_of == NO_OPERATION)
        return -1;
    if (goal_label_find(&g->labels, label) != UINT32_MAX)
        return fail(g, line, "rank %u has two operations with the label \"%.40s\"", g->rank, label);
    goal_label_add(&g->labels, label, number_of);
    return 0;
}

/* ---- a rank ---- */

static void open_resolve(struct goal_reader *g)
{
    for (size_t i = 0; i < g->n_open; i++) {
        uint32_t found = goal_label_find(&g->labels, g->open[i].label);
        struct dependency *d = &g->dependencies[g->open[i].dependency];
        if (found == UINT32_MAX)
            fail(g, g->open[i].line, "rank %u has no operation with the label \"%.40s\"", g->rank,
                 g->open[i].label);
        *(g->open[i].on ? &d->on : &d->operation) = found;
        free(g->open[i].label);
    }
    g->n_open = 0;
}

static int compare_dependencies(const void *a, const void *b)
{
    const struct dependency *x = a, *y = b;
    if (x->operation != y->operation)
        return x->operation > y->operation ? 1 : -1;
    return (x->on > y->on) - (x->on < y->on);
}

static void node_add(struct goal_reader *g, const struct operation *o, const uint64_t *after,
                     uint32_t n_after)
{
    struct node node = o->node;
    node.after = after;
    node.n_after = n_after;
    if (!o->marked) {
        node_list_add(g->list, g->rank, &node);
        return;
    }
    struct node start = {.id = START_ID + node.id,
                         .after = after,
                         .n_after = n_after,
                         .kind = NODE_EMPTY,
                         .stream = node.stream};
    node_list_add(g->list, g->rank, &start);
    node.after = &start.id;
    node.n_after = 1;
    node.priority = 1;
    node_list_add(g->list, g->rank, &node);
}

static int compare_ends(const void *a, const void *b)
{
    const struct operation *x = *(struct operation *const *)a, *y = *(struct operation *const *)b;
    if (x->node.kind != y->node.kind)
        return x->node.kind < y->node.kind ? -1 : 1;
    if (x->node.peer != y->node.peer)
        return x->node.peer < y->node.peer ? -1 : 1;
    if (x->node.tag != y->node.tag)
        return x->node.tag < y->node.tag ? -1 : 1;
    return (x > y) - (x < y);
}

// Whether two ends are of the same kind, with the same peer and tag.
static bool same_pair(const struct node *x, const struct node *y)
{
    return x->kind == y->kind && x->peer == y->peer && x->tag == y->tag;
}

// Number the sends to each peer and tag, and the receives from it, in the order of the file: the
// n-th receive gets the message of the n-th send, whenever either starts.
static void number_ends(struct goal_reader *g)
{
    struct operation **ends = memory_zeroed(g->n_operations + 1, sizeof *ends);
    size_t n = 0;
    for (size_t i = 0; i < g->n_operations; i++)
        if (g->operations[i].node.kind != NODE_COMPUTE)
            ends[n++] = &g->operations[i];
    qsort(ends, n, sizeof *ends, compare_ends);
    for (size_t i = 0; i < n; i++)
        ends[i]->node.order = i > 0 && same_pair(&ends[i - 1]->node, &ends[i]->node)
                                  ? ends[i - 1]->node.order + 1
                                  : 1;
    free(ends);
}

// Add the rank's operations as nodes.
static void rank_add(struct goal_reader *g)
{
    uint64_t *after = memory_zeroed(g->n_dependencies + 1, sizeof *after);
    size_t d = 0;
    number_ends(g);
    if (g->n_dependencies > 0)
        qsort(g->dependencies, g->n_dependencies, sizeof *g->dependencies, compare_dependencies);
    for (size_t i = 0; i < g->n_dependencies; i++)
        if (g->dependencies[i].start)
            g->operations[g->dependencies[i].on].marked = true;
    for (uint32_t i = 0; i < g->n_operations; i++) {
        uint32_t n = 0;
        for (; d < g->n_dependencies && g->dependencies[d].operation == i; d++)
            after[n++] = g->operations[g->dependencies[d].on].node.id +
                         (g->dependencies[d].start ? START_ID : 0);
        node_add(g, &g->operations[i], after, n);
    }
    free(after);
}

static int rank_read(struct goal_reader *g)
{
    uint64_t rank, line = g->words.line;
    if (expect(g, "rank") != 0 || number(g, "rank", "", g->n_ranks - 1, &rank) != 0 ||
        expect(g, "{") != 0)
        return -1;
    g->rank = (uint32_t)rank;
    if (g->seen[rank])
        return fail(g, line, "rank %u is listed twice", g->rank);
    g->seen[rank] = true;
    goal_labels_clear(&g->labels);
    g->n_operations = g->n_dependencies = 0;
    unsigned errors = g->n_errors;
    while (!at(g, "}")) {
        if (at(g, ";")) {
            next(g);
            continue;
        }
        if (at(g, ""))
            return fail(g, line, "the file ends in rank %u, which begins here", g->rank);
        if (statement(g) != 0)
            return -1;
    }
    next(g);
    open_resolve(g);
    if (g->n_errors == errors)
        rank_add(g);
    return 0;
}

static void words_read(struct goal_reader *g)
{
    uint64_t n;
    if (expect(g, "num_ranks") != 0)
        return;
    uint64_t line = g->words.line;
    if (number(g, "num_ranks", "", UINT32_MAX, &n) != 0)
        return;
    if (n != g->n_ranks) {
        fail(g, line, "the program has %" PRIu64 " ranks, but the job has %u", n, g->n_ranks);
        return;
    }
    while (!at(g, "") && g->n_errors < ERRORS_MAX)
        if (rank_read(g) != 0)
            return;
    if (g->words.too_long)
        fail(g, g->words.line, "a word is longer than %d characters", GOAL_WORD_MAX - 1);
}

static void reader_free(struct goal_reader *g)
{
    for (size_t i = 0; i < g->n_open; i++)
        free(g->open[i].label);
    goal_labels_free(&g->labels);
    free(g->open);
    free(g->operations);
    free(g->dependencies);
    free(g->seen);
}

// Read `file` for `n_ranks` ranks into *p, which node_program_free() releases also after errors. A
// node's id is the line of its operation, where no other is on the line. Returns 0, or -1 with
// errors at `path` that name file and line.
static int goal_read(struct node_program *p, const char *file, uint32_t n_ranks, const char *path,
                     struct err *err)
{
    size_t errors = err->n_errors;
    struct goal_reader g = {.file = file, .path = path, .err = err, .n_ranks = n_ranks};
    g.list = node_list_new(n_ranks);
    *p = (struct node_program){
        .source = &node_list_source, .self = g.list, .n_ranks = n_ranks, .n_uses = 1};
    p->uses = memory_zeroed(1, sizeof *p->uses);
    p->uses[0] = memory_text("communication");
    p->idle_use = p->n_uses;
    const char *why;
    FILE *in = regular_file_stream(file, &why);
    if (in == NULL)
        return err_add(err, path, "%s cannot be opened: %s", file, why);
    g.seen = memory_zeroed(n_ranks, sizeof *g.seen);
    goal_words_begin(&g.words, in);
    words_read(&g);
    if (ferror(in))
        fail(&g, g.words.line, "cannot be read");
    reader_free(&g);
    fclose(in);
    return err->n_errors > errors ? -1 : 0;
}

/* ---- read goal ---- */

// Check that all pairs of ranks that exchange messages can do so.
static void pairs_check(struct reader *r, const struct place *place, const struct job_spec *job,
                        const struct node_program *p)
{
    void *cursor = p->source->open(p->self);
    struct node node;
    bool good = true;
    for (uint32_t rank = 0; rank < p->n_ranks && good; rank++)
        while (good && p->source->next(cursor, rank, &node, r->err) > 0)
            good = node.kind != NODE_SEND || pair_check(r, place, job, rank, node.peer);
    p->source->close(cursor);
}

static void read_goal(struct reader *r, const struct place *place, struct job_spec *job)
{
    struct goal_settings *s = job->settings;
    struct place file = place_key(place, "file");
    char path[PLACE_TEXT];
    map_ranks(r, place, job, &s->params.mapping);
    if (job_size(r, job) == 0 || s->params.file == NULL)
        return;
    place_text(&file, path);
    char *name = path_from(r->dir, s->params.file);
    if (goal_read(&s->program, name, job_size(r, job), path, r->err) == 0 &&
        node_program_check(&s->program, path, r->err) == 0)
        pairs_check(r, &file, job, &s->program);
    free(name);
}

const struct job_reader goal_reader = {.read = read_goal};
