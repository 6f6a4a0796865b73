// SPDX-License-Identifier: MIT
// Reading, checking, and what the user is told.
#include "cli/import/import.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/clocks.h"
#include "cli/import/import_folder.h"
#include "cli/import/import_scenario.h"
#include "cli/import/inspector.h"
#include "cli/import/kineto.h"
#include "cli/import/match.h"
#include "cli/import/nsys.h"
#include "cli/import/observer.h"
#include "cli/import/recording.h"
#include "cli/import/replicate.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"

/* ---- import ---- */

#define NAME_MOST 64
#define CLOCKS_MOST_NS INT64_C(31536000000000000)

static const struct format {
    const char *name;
    const char *ends[8];
    void (*read)(struct recording *r, const char *path);
    // Read what belongs to several files. Returns true if the file needs no read(); NULL = none.
    bool (*look)(struct recording *r, const char *path);
    void (*end)(struct recording *r); // all files have been read; NULL = nothing to do
} formats[] = {
    {"kineto", {".json", ".json.gz"}, kineto_read, kineto_graph_read, kineto_end},
    {"inspector",
     {".log", ".log.gz", ".json", ".json.gz", ".jsonl", ".jsonl.gz"},
     inspector_read,
     NULL,
     inspector_end},
    {"observer", {".json", ".json.gz"}, observer_read, NULL, NULL},
    {"nsys", {".sqlite", ".sqlite3", ".db"}, nsys_read, NULL, nsys_end},
};
#define N_FORMATS (sizeof formats / sizeof *formats)

static const struct format *format_find(const char *word)
{
    for (size_t i = 0; i < N_FORMATS; i++)
        if (strcmp(formats[i].name, word) == 0)
            return &formats[i];
    return NULL;
}

bool profile_format_known(const char *word) { return format_find(word) != NULL; }

/* ---- what the user is told ---- */

// A difference of times, whatever its sign.
static const char *time_text(int64_t ns, char *text)
{
    return human_ns(ns > INT64_MIN && ns < 0 ? -ns : ns, text);
}

static void put_sums(FILE *out, const struct recording *r)
{
    uint64_t collectives = 0, messages = 0, nodes = 0;
    int64_t compute_ns = 0, wait_ns = 0;
    for (size_t i = 0; i < r->n_ranks; i++) {
        for (size_t c = 0; c < r->ranks[i].n_calls; c++)
            messages += r->ranks[i].calls[c].kind == CALL_SEND;
        nodes += r->ranks[i].n_nodes;
        for (size_t n = 0; n < r->ranks[i].n_nodes; n++) {
            const struct trace_node *node = &r->ranks[i].nodes[n];
            if (node->stream != TRACE_STREAM_COMPUTE)
                continue;
            int64_t *sum = node->kind == TRACE_COMPUTE ? &compute_ns : &wait_ns;
            *sum = time_sum(*sum, node->takes_ns);
        }
    }
    for (size_t g = 0; g < r->n_groups; g++)
        collectives += r->groups[g].n_collectives;
    int64_t ranks = r->world > 0 ? r->world : 1;
    char compute[UNIT_TEXT], wait[UNIT_TEXT];
    fprintf(out,
            "  %u ranks, %zu group%s, %" PRIu64 " collective%s, %" PRIu64 " messages, %" PRIu64
            " nodes\n",
            r->world, r->n_groups, r->n_groups == 1 ? "" : "s", collectives,
            collectives == 1 ? "" : "s", messages, nodes);
    if (!r->no_times)
        fprintf(out, "  a rank computes %s, and %s pass between without communication (means)\n",
                time_text(compute_ns / ranks, compute), time_text(wait_ns / ranks, wait));
}

static void put_clocks(FILE *out, const struct recording *r, const struct clock_estimate *c)
{
    char worst[UNIT_TEXT], spread[UNIT_TEXT];
    uint32_t unknown = r->world - 1 - c->n_ranks;
    if (c->n_ranks > 0)
        fprintf(out,
                "  clocks, from the ends of %" PRIu64
                " calls: up to %s%s from rank 0 (rank %u), spread %s\n",
                c->n_ends, c->worst_ns < 0 ? "-" : "", time_text(c->worst_ns, worst), c->worst_rank,
                time_text(c->spread_ns, spread));
    if (unknown > 0)
        fprintf(out, "  clocks: %u ranks share no call with the others, and begin at 0\n", unknown);
}

static void put_unused(FILE *out, const struct recording *r)
{
    const struct unused_events *largest = NULL;
    uint64_t n = 0;
    for (size_t i = 0; i < r->n_unused; i++) {
        n += r->unused[i].n;
        if (largest == NULL || r->unused[i].ns > largest->ns)
            largest = &r->unused[i];
    }
    char time[UNIT_TEXT];
    if (largest != NULL)
        fprintf(out,
                "  %" PRIu64 " events of %zu kinds are not used; the largest: %s, %" PRIu64
                " times, %s\n",
                n, r->n_unused, largest->what, largest->n, time_text(largest->ns, time));
}

static void put_assumptions(FILE *out, const struct recording *r)
{
    for (size_t i = 0; i < r->n_assumptions; i++) {
        const struct recorded_assumption *a = &r->assumptions[i];
        fprintf(out, "  assumed: %s", a->sentence);
        if (a->n > 1)
            fprintf(out, " (%" PRIu64 " times)", a->n);
        fputc('\n', out);
    }
}

static char *summary_text(const struct recording *r, const struct clock_estimate *clocks,
                          const char *said)
{
    struct text text;
    FILE *out = text_open(&text);
    put_sums(out, r);
    if (!r->no_times)
        put_clocks(out, r, clocks);
    put_unused(out, r);
    fputs(said, out);
    put_assumptions(out, r);
    if (r->no_starts)
        fputs("  no times of starts: collectives follow each other without computing between "
              "them\n",
              out);
    return text_close(out, &text);
}

/* ---- the import ---- */

// The last part of the folder's path, of characters that names may have.
static void name_of(char name[NAME_MOST], const char *folder)
{
    size_t n = strlen(folder), to = 0;
    while (n > 0 && folder[n - 1] == '/')
        n--;
    size_t from = n;
    while (from > 0 && folder[from - 1] != '/')
        from--;
    for (; from < n && to + 1 < NAME_MOST; from++) {
        char c = folder[from];
        bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                     c == '_' || c == '-';
        name[to++] = plain ? c : '-';
    }
    name[to] = '\0';
    if (to == 0 || strcmp(name, "-") == 0 || strcmp(name, "--") == 0)
        strcpy(name, "traces");
}

// Without world_size all ranks up to the highest are expected.
static void world_find(struct recording *r)
{
    if (r->world == 0)
        r->world = (uint32_t)r->n_ranks;
    for (uint32_t i = r->world; i < r->n_ranks; i++)
        if (r->ranks[i].path != NULL)
            err_add(r->err, r->ranks[i].path, "rank %u in a job of %u ranks", i, r->world);
    for (size_t g = 0; g < r->n_groups; g++)
        for (uint32_t m = 0; m < r->groups[g].size; m++)
            if (r->groups[g].ranks[m] >= r->world) {
                err_add(r->err, NULL, "group %s has rank %u, and the job %u ranks",
                        r->groups[g].name, r->groups[g].ranks[m], r->world);
                break;
            }
}

// Clocks that count from different epochs, or years apart, are of no common run.
static void clocks_check(struct recording *r)
{
    int64_t first_ns = TIME_UNKNOWN;
    for (size_t i = 0; i < r->n_ranks && !recording_is_full(r); i++) {
        const struct rank_recording *rank = &r->ranks[i];
        if (rank->begin_ns == TIME_UNKNOWN)
            continue;
        if (first_ns == TIME_UNKNOWN)
            first_ns = rank->begin_ns;
        if (rank->begin_ns - first_ns > CLOCKS_MOST_NS ||
            first_ns - rank->begin_ns > CLOCKS_MOST_NS)
            err_add(r->err, rank->path,
                    "its clock is more than a year from that of the first rank");
    }
}

static void calls_check(struct recording *r, const char *folder)
{
    size_t n = 0;
    for (size_t i = 0; i < r->n_ranks; i++)
        n += r->ranks[i].n_calls;
    if (n == 0)
        err_add(r->err, folder, "no file has communication of NCCL or RCCL");
    for (size_t i = 0; i < r->n_ranks; i++)
        for (size_t c = 0; c < r->ranks[i].n_calls; c++)
            if (r->ranks[i].calls[c].kind != CALL_COLLECTIVE &&
                r->ranks[i].calls[c].peer >= r->world) {
                err_add(r->err, r->ranks[i].path, "byte %" PRIu64 ": rank %u in a job of %u ranks",
                        r->ranks[i].calls[c].offset, r->ranks[i].calls[c].peer, r->world);
                return;
            }
}

static void files_read(struct recording *r, const struct format *format, const char *const *paths,
                       size_t n)
{
    bool *done = memory_zeroed(n + 1, sizeof *done);
    for (size_t i = 0; i < n && format->look != NULL && !recording_is_full(r); i++)
        done[i] = format->look(r, paths[i]);
    for (size_t i = 0; i < n && !recording_is_full(r); i++)
        if (!done[i])
            format->read(r, paths[i]);
    free(done);
    if (format->end != NULL)
        format->end(r);
}

// The scenario, and what the user is told.
static void outcome_make(const struct profile_import *from, struct recording *r,
                         struct profile_result *result, struct err *err)
{
    struct clock_estimate clocks = clocks_estimate(r);
    struct text text;
    char name[NAME_MOST];
    name_of(name, from->folder);
    struct recording_scenario of = {
        .output = from->output, .network = from->network, .program = from->program, .name = name};
    FILE *said = text_open(&text);
    result->scenario = recording_scenario(r, &of, said, err);
    char *lines = text_close(said, &text);
    result->summary = summary_text(r, &clocks, lines);
    free(lines);
    for (size_t i = 0; i < r->n_assumptions && from->strict; i++)
        err_add(err, NULL, "--strict: would be assumed: %s", r->assumptions[i].sentence);
}

int profile_read(const struct profile_import *from, struct profile_result *result, struct err *err)
{
    const struct format *format = format_find(from->format);
    struct folder folder = {0};
    struct recording *r = memory_zeroed(1, sizeof *r);
    size_t errors = err->n_errors;
    *result = (struct profile_result){.recording = r};
    r->err = err;
    r->world = from->ranks;
    r->world_given = from->ranks > 0;
    bool listed = from->files != NULL;
    if (listed || folder_list(&folder, from->folder, format->ends, err) == 0) {
        files_read(r, format, listed ? from->files : (const char *const *)folder.paths,
                   listed ? from->n_files : folder.n);
        if (!recording_is_full(r)) { // else not all files were read
            world_find(r);
            if (from->replicate && err->n_errors == errors)
                recording_replicate(r);
            clocks_check(r);
            if (err->n_errors == errors)
                calls_check(r, from->folder);
            if (!from->replicate || err->n_errors == errors) // else ranks may have no groups
                recording_match(r);
        }
    }
    folder_free(&folder);
    if (err->n_errors == errors)
        outcome_make(from, r, result, err);
    return err->n_errors == errors ? 0 : -1;
}

void profile_free(struct profile_result *result)
{
    free(result->scenario);
    free(result->summary);
    if (result->recording != NULL)
        recording_free(result->recording);
    free(result->recording);
}
