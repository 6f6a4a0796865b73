// SPDX-License-Identifier: MIT
// Sets of programs: NAME.json has the scenario, NAME.jsonl the nodes.
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/results/output.h"
#include "cli/synth/summary.h"
#include "cli/synth/synth_cli.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"
#include "config/draft.h"
#include "config/program_scenario.h"
#include "config/program_text.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/file_set.h"
#include "engine/text/relative_path.h"

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
