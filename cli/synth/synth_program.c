// SPDX-License-Identifier: MIT
// Sets of programs: NAME.json has the scenario, NAME.jsonl the nodes.
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/results/output.h"
#include "cli/synth/synth.h"
#include "cli/synth/synth_cli.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"
#include "collective/algorithm/grid.h"
#include "config/draft.h"
#include "config/program_scenario.h"
#include "config/program_text.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/file_set.h"
#include "engine/text/relative_path.h"

/* ---- summary ---- */

// One measure of a set, or of two.
struct synth_row {
    char *name;
    double source, made; // NaN = the set has no such measure
    bool exact;          // a count or a size, not a time
};

struct synth_table {
    struct synth_row *rows;
    size_t n, cap;
};

#define PER_OCTAVE 64 // a quantile is right to 1.1 %
#define BINS (64 * PER_OCTAVE)
#define COLLECTIVE_FIRST 8 // kinds of nodes, then operations of collectives
#define KINDS (COLLECTIVE_FIRST + COLL_OPS)
#define GROUP_SIZES 32

struct histogram {
    double count[BINS], sum_of[BINS], n, sum;
};

struct totals {
    double n_ranks;
    struct histogram size[KINDS]; // bytes, of nodes that have some
    double nodes[KINDS];
    struct histogram time; // ns of computations
    double *busy;          // [rank] ns
    double after, most_after;
    bool *used; // [group] a collective is of it: a set lists others too, which a new one leaves out
    double groups[GROUP_SIZES]; // [log2 of the size]
};

/* ---- counting ---- */

static void histogram_add(struct histogram *h, double value)
{
    double bin = value >= 1 ? log2(value) * PER_OCTAVE : 0;
    size_t at = (size_t)fmin(bin, BINS - 1);
    h->count[at]++;
    h->sum_of[at] += value;
    h->n++;
    h->sum += value;
}

static double quantile(const struct histogram *h, double share)
{
    double seen = 0;
    for (size_t i = 0; i < BINS; i++)
        if ((seen += h->count[i]) >= share * h->n && seen > 0)
            return h->sum_of[i] / h->count[i]; // the mean of the bin
    return NAN;
}

static void count_node(void *ctx, uint32_t rank, const struct node *node)
{
    struct totals *t = ctx;
    size_t kind = node->kind == NODE_COLLECTIVE ? COLLECTIVE_FIRST + (size_t)node->op : node->kind;
    t->nodes[kind]++;
    if (node->kind == NODE_COLLECTIVE)
        t->used[node->group] = true;
    if (node->bytes > 0)
        histogram_add(&t->size[kind], (double)node->bytes);
    if (synth_timed(node)) {
        double ns = (double)node->takes_ps / 1000;
        histogram_add(&t->time, ns);
        t->busy[rank] += ns;
    }
    t->after += node->n_after;
    t->most_after = fmax(t->most_after, node->n_after);
}

static void totals_free(struct totals *t)
{
    if (t != NULL) {
        free(t->busy);
        free(t->used);
    }
    free(t);
}

static struct totals *count(const struct node_program *p, struct err *err)
{
    struct totals *t = memory_zeroed(1, sizeof *t);
    t->busy = memory_zeroed(p->n_ranks, sizeof *t->busy);
    t->n_ranks = p->n_ranks;
    t->used = memory_zeroed((size_t)p->n_groups + 1, sizeof *t->used);
    if (synth_nodes(p, count_node, t, err) != 0) {
        totals_free(t);
        return NULL;
    }
    for (uint32_t g = 0; g < p->n_groups; g++)
        if (t->used[g])
            t->groups[(size_t)log2((double)coll_ranks(&p->groups[g].schedule))]++;
    return t;
}

/* ---- rows ---- */

static void row(struct synth_table *t, char *name, double source, double made, bool exact)
{
    if ((isnan(source) || source == 0) && (isnan(made) || made == 0)) {
        free(name);
        return;
    }
    if (t->n == t->cap)
        t->rows = memory_grow(t->rows, &t->cap, sizeof *t->rows);
    t->rows[t->n++] = (struct synth_row){name, source, made, exact};
}

static void operation_rows(struct synth_table *t, size_t kind, const char *name,
                           const struct totals *a, const struct totals *b)
{
    const struct histogram *x = &a->size[kind], *y = &b->size[kind];
    row(t, text_format("%s, of a rank", name), a->nodes[kind] / a->n_ranks,
        b->nodes[kind] / b->n_ranks, true);
    row(t, text_format("%s, bytes of a rank", name), x->sum / a->n_ranks, y->sum / b->n_ranks,
        true);
    row(t, text_format("%s, median bytes", name), quantile(x, 0.5), quantile(y, 0.5), true);
    row(t, text_format("%s, 99 %% bytes", name), quantile(x, 0.99), quantile(y, 0.99), true);
}

static void time_rows(struct synth_table *t, const struct totals *a, const struct totals *b)
{
    static const double shares[] = {0.1, 0.5, 0.9, 0.99};
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        row(t, text_format("time of a computation, %.0f %%, ns", 100 * shares[i]),
            quantile(&a->time, shares[i]), quantile(&b->time, shares[i]), false);
    row(t, memory_text("computing of a rank, mean, ns"), a->time.sum / a->n_ranks,
        b->time.sum / b->n_ranks, false);
}

static double slowest(const struct totals *t)
{
    double most = 0;
    for (size_t r = 0; r < (size_t)t->n_ranks; r++)
        most = fmax(most, t->busy[r]);
    return t->time.sum > 0 ? most / (t->time.sum / t->n_ranks) : NAN;
}

static double all_nodes(const struct totals *t)
{
    double sum = 0;
    for (size_t k = 0; k < KINDS; k++)
        sum += t->nodes[k];
    return sum;
}

// Groups by size, from a power of two to the next one.
static char *group_name(size_t i)
{
    double least = exp2((double)i);
    return i == 0 ? memory_text("groups of one rank")
                  : text_format("groups of %.0f to %.0f ranks", least, 2 * least - 1);
}

static void width_rows(struct synth_table *t, const struct totals *a, const struct totals *b)
{
    row(t, memory_text("slowest rank over the mean"), slowest(a), slowest(b), false);
    row(t, memory_text("dependencies of a node, mean"), a->after / all_nodes(a),
        b->after / all_nodes(b), true);
    row(t, memory_text("dependencies of a node, most"), a->most_after, b->most_after, true);
    for (size_t i = 0; i < GROUP_SIZES; i++)
        row(t, group_name(i), a->groups[i], b->groups[i], true);
}

// Fill the table: nodes and bytes of each operation, sizes, times of computations by quantile,
// ranks' whole times, widths of dependencies, groups by size. Returns 0, or -1 with an error of a
// program's source; synth_table_free() in both cases.
static int synth_compare(struct synth_table *t, const struct node_program *source,
                         const struct node_program *made, struct err *err)
{
    static const char *const kinds[] = {
        [NODE_COMPUTE] = "computations", [NODE_WAIT] = "waits",  [NODE_SEND] = "sends",
        [NODE_RECV] = "receives",        [NODE_EMPTY] = "joins", [NODE_COPY] = "copies"};
    *t = (struct synth_table){0};
    struct totals *a = count(source, err), *b = a != NULL ? count(made, err) : NULL;
    if (b != NULL) {
        row(t, memory_text("ranks"), a->n_ranks, b->n_ranks, true);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
            if (kinds[k] != NULL)
                operation_rows(t, k, kinds[k], a, b);
        for (size_t op = 0; op < COLL_OPS; op++)
            operation_rows(t, COLLECTIVE_FIRST + op, coll_op_name((enum coll_op)op), a, b);
        time_rows(t, a, b);
        width_rows(t, a, b);
    }
    bool counted = b != NULL;
    totals_free(a);
    totals_free(b);
    return counted ? 0 : -1;
}

static void synth_table_free(struct synth_table *t)
{
    for (size_t i = 0; i < t->n; i++)
        free(t->rows[i].name);
    free(t->rows);
}

/* ---- program ---- */

struct making {
    const struct options *o;
    struct collwire_scenario *source;
    const struct node_program *from;
    struct node_program made;
    unsigned comm_streams;
    double contention;               // of the source's job
    bool unsaid;                     // the source has what a file of nodes cannot say
    char *nodes_file, *checked_file; // of the nodes, and its name until the scenario is checked
    struct err *err;
};

/* ---- the scenario ---- */

// The outermost dimension grows with the ranks; where that is not possible, checking says so.
static void grow_network(json_t *root, const struct making *m)
{
    json_t *dims = json_object_get(json_object_get(root, "topology"), "dims"),
           *last = json_array_get(dims, json_array_size(dims) - 1);
    json_int_t size = json_integer_value(json_object_get(last, "size"));
    if (size > 0 && m->made.n_ranks != m->from->n_ranks)
        json_object_set_new(last, "size",
                            json_integer(size * (json_int_t)m->made.n_ranks / m->from->n_ranks));
}

// Rewrite the names of files in `topology` as relative paths from the folder of the new scenario.
static void move_files(const struct making *m, json_t *root, const char *folder)
{
    json_t *dims = json_object_get(json_object_get(root, "topology"), "dims"), *dim;
    size_t i;
    json_array_foreach(dims, i, dim)
    {
        const char *file = json_string_value(json_object_get(dim, "file"));
        if (file == NULL || file[0] == '/')
            continue;
        char *path = text_format("%s/%s", folder, file), *moved = path_relative(m->o->file, path);
        json_object_set_new(dim, "file", json_string(moved));
        free(path);
        free(moved);
    }
}

static json_t *network_of(const struct making *m)
{
    struct draft draft;
    if (m->o->network != NULL) {
        int read = draft_read(&draft, m->o->network, m->err);
        json_t *root = read == 0 ? json_incref(draft.json) : NULL;
        json_object_del(root, "capture");
        move_files(m, root, draft.folder);
        draft_free(&draft);
        return root;
    }
    json_t *root = json_loads(scenario_resolved(scenario_of(m->source)), 0, NULL);
    grow_network(root, m);
    move_files(m, root, scenario_dir(scenario_of(m->source)));
    return root;
}

// The ranks of the job: those of the source's if there are as many on its network, else the first.
static json_t *ranks_of(const struct making *m)
{
    const struct job_spec *job = &scenario_spec(scenario_of(m->source))->jobs[0];
    bool same = m->o->network == NULL && m->made.n_ranks == m->from->n_ranks && job->ranks != NULL;
    json_t *ranks = json_array();
    for (uint32_t r = 0; r < m->made.n_ranks; r++)
        json_array_append_new(ranks, json_integer(same ? job->ranks[r] : r));
    return ranks;
}

// The new scenario, whose job reads the nodes in `file`; NULL with errors.
static json_t *scenario_with(const struct making *m, json_t *network, const char *file)
{
    json_t *job =
        program_job_like(scenario_of(m->source), file_base(file), m->comm_streams, m->err);
    if (job == NULL)
        return NULL;
    json_t *root = json_deep_copy(network);
    json_object_set_new(job, "ranks", ranks_of(m));
    json_object_set_new(root, "workload", job);
    json_object_set_new(root, "name", json_string("synthetic"));
    json_object_set_new(root, "seed",
                        json_integer((json_int_t)scenario_spec(scenario_of(m->source))->seed));
    return root;
}

static bool checks(const struct making *m, json_t *network)
{
    char *folder = file_folder(m->o->file);
    json_t *root = scenario_with(m, network, m->checked_file);
    struct options plain = *m->o; // --set was for the source
    plain.n_sets = 0;
    struct collwire_scenario *parsed =
        root != NULL ? scenario_of_json(&plain, root, folder, m->err) : NULL;
    bool good = parsed != NULL;
    collwire_scenario_free(parsed);
    json_decref(root);
    free(folder);
    return good;
}

/* ---- writing ---- */

static void put_nodes(FILE *out, const void *ctx)
{
    const struct making *m = ctx;
    unsigned streams;
    program_write(out, &m->made, &streams, m->err);
}

static void note_stream(void *ctx, uint32_t rank, const struct node *node)
{
    struct making *m = ctx;
    (void)rank;
    bool own = node->own_contention && fabs(node->contention - m->contention) > 0;
    m->unsaid |= own || node->counts_as_use || node->shared > 0;
    if (node->stream != NODE_NO_STREAM && node->stream >= NODE_COMM_STREAM &&
        node->stream - NODE_COMM_STREAM + 1u > m->comm_streams)
        m->comm_streams = node->stream - NODE_COMM_STREAM + 1u;
}

// Both files get their names, or none.
static int write_scenario(struct making *m, json_t *network)
{
    json_t *root = scenario_with(m, network, m->nodes_file);
    char *text = json_dumps(root, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    char *draft = text_format("%s.json", m->checked_file);
    signals_remove_later(draft);
    int code = text_write(draft, text);
    free(text);
    json_decref(root);
    char *drafts[] = {m->checked_file, draft};
    char *files[] = {m->nodes_file, (char *)(uintptr_t)m->o->file};
    size_t at;
    signals_hold(true);
    if (code == EXIT_DONE && file_set_name(drafts, files, 2, &at) != 0) {
        err_add(m->err, files[at], "cannot be written: %s", strerror(errno));
        code = EXIT_BAD_USE;
    }
    unlink(draft);
    signals_keep_last();
    signals_hold(false);
    free(draft);
    return code;
}

static int write_files(struct making *m)
{
    json_t *network = network_of(m);
    if (network == NULL)
        return EXIT_BAD_USE;
    signals_remove_later(m->checked_file);
    int code = output_write(m->checked_file, put_nodes, m);
    if (code == EXIT_DONE && m->err->n_errors == 0 && checks(m, network))
        code = write_scenario(m, network);
    else if (code == EXIT_DONE)
        code = EXIT_BAD_USE;
    unlink(m->checked_file);
    signals_keep();
    json_decref(network);
    return code;
}

static void name_files(struct making *m)
{
    size_t n = strlen(m->o->file);
    int stem = n > 5 && strcmp(m->o->file + n - 5, ".json") == 0 ? (int)n - 5 : (int)n;
    m->nodes_file = text_format("%.*s.jsonl", stem, m->o->file);
    m->checked_file = text_format("%.*s.collwire-%ld.jsonl", stem, m->o->file, (long)getpid());
}

/* ---- what was made ---- */

static void print_made(const struct making *m, const struct synth_table *t)
{
    struct synth_measure *measures = memory_zeroed(t->n + 1, sizeof *measures);
    for (size_t i = 0; i < t->n; i++)
        measures[i] = (struct synth_measure){t->rows[i].name, t->rows[i].source, t->rows[i].made};
    synth_print(m->o, measures, t->n, "statistic");
    free(measures);
    if (m->o->format == FORMAT_JSON || m->o->quiet)
        return;
    printf("Times of single computations were moved by up to %.0f %%, and drawn anew around that; "
           "%u class%s of ranks have the same operations in the same order.\n",
           100 * SYNTH_BLUR, synth_classes(&m->made), synth_classes(&m->made) == 1 ? "" : "es");
    path_print(stdout, "scenario: %s\n", m->o->file);
}

static int make(struct making *m, const struct synth_wish *wish)
{
    struct synth_table table = {0};
    int code = EXIT_BAD_USE;
    if (synth_make(&m->made, m->from, wish, m->err) == 0 &&
        synth_nodes(&m->made, note_stream, m, m->err) == 0 &&
        synth_compare(&table, m->from, &m->made, m->err) == 0) {
        if (m->unsaid)
            err_add(m->err, "workload",
                    "has nodes that a file of nodes cannot say: contention of single kernels, "
                    "swaps out of core, or a memory that ranks share");
        else
            code = write_files(m);
    }
    if (code == EXIT_DONE)
        print_made(m, &table);
    synth_table_free(&table);
    node_program_free(&m->made);
    return code;
}

int synth_program(const struct options *o, const char *path, struct err *err)
{
    struct making m = {.o = o, .err = err};
    struct synth_wish wish = {.repeat = o->repeat > 0 ? (uint32_t)o->repeat : 1, .grow = o->grow};
    int code = EXIT_BAD_USE;
    synth_scale_read(&wish.scale, o->scale, err);
    if (o->flows > 0)
        err_add(err, "--flows", "is for lists of flows; programs take --repeat");
    m.source = scenario_open(o, path, o->sets, o->n_sets, err);
    json_t *job = m.source != NULL ? program_job_like(scenario_of(m.source), "", 1, err) : NULL;
    m.contention = json_number_value(json_object_get(job, "contention"));
    json_decref(job);
    if (job != NULL && err->n_errors == 0) {
        const struct spec *spec = scenario_spec(scenario_of(m.source));
        m.from = spec->jobs[0].kind->nodes(&spec->jobs[0]);
        wish.seed = spec->seed;
        wish.n_ranks = o->ranks > 0 ? (uint32_t)o->ranks : m.from->n_ranks;
        name_files(&m);
        code = make(&m, &wish);
    }
    free(m.nodes_file);
    free(m.checked_file);
    collwire_scenario_free(m.source);
    return code;
}
