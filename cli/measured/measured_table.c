// SPDX-License-Identifier: MIT
// Format: nccl-tests, src/common.cu: a heading "# size count type redop root time algbw busbw
// #wrong time algbw busbw #wrong", out of place and in place, and a row for each size. Older
// versions have no #wrong, or "error", and leave redop and root empty where an operation has none.
// So columns are counted from the right. Its JSON (`-J`) has the same as "results": [{"size",
// "out_of_place": {"time", "alg_bw"}}].
//
// Format: OSU micro-benchmarks: "# OSU MPI Allreduce Latency Test v7.1", "# Size  Avg Latency(us)",
// perhaps with more columns, and a row for each size. The title tells what a size is. Tests between
// two hosts, which also perftest has, are no collectives, and refused.
#include "cli/measured/measured_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "collective/algorithm/collective.h"
#include "engine/base/memory.h"
#include "engine/base/regular_file.h"
#include "engine/base/text.h"
#include "engine/base/units.h"
#include "engine/text/json_file.h"

#define WORDS 64
#define FACTOR_NEAR 0.02 // two decimals of a bandwidth of 1 GB/s

/* ---- what tables there are ---- */

// Words of a title of OSU's, and what its sizes are; those without an operation are refused.
static const struct title {
    const char *words, *op;
    bool per_rank;
} titles[] = {
    {"osu * allreduce latency", "all_reduce", false},
    {"osu * reduce_scatter latency", "reduce_scatter", false},
    {"osu * allgather latency", "all_gather", true},
    {"osu * all-to-all personalized exchange latency", "all_to_all", true},
    {"osu * broadcast latency", "broadcast", false},
    {"osu * reduce latency", "reduce", false},
    {"osu *", NULL, false},
    {"#bytes *", NULL, false}, // perftest
};
#define N_TITLES (sizeof titles / sizeof *titles)

// Headings of OSU's columns after "Size".
static const char *const latencies[] = {"avg latency(us)", "avg latency (us)", "latency (us)",
                                        "latency(us)", NULL};

struct reading {
    struct measured_table *table;
    const struct title *title; // of OSU's; NULL = none yet
    bool osu;                  // its heading has been read
    const char *path;
    struct err *err;
    size_t cap, line; // of the file; in JSON the index in `results`
    bool json;
    size_t after; // words of the heading from its first "time" on; 0 = no heading yet
};

static int wrong(const struct reading *r, const char *what)
{
    char *at = text_format(r->json ? "%s: results[%zu]" : "%s:%zu", r->path, r->line);
    err_add(r->err, at, "%s", what);
    free(at);
    return -1;
}

static size_t cut(char *line, char *words[WORDS])
{
    size_t n = 0;
    for (char *at = strtok(line, " \t\r\n"); at; at = strtok(NULL, " \t\r\n"))
        if (n < WORDS)
            words[n++] = strstr(at, ">:") && strstr(at, ">:")[2] ? strstr(at, ">:") + 2 : at;
    return n; // mpirun puts "[1,0]<stdout>:" before the first word
}

// Whether the words from `at` on are "size count type": a heading, perhaps behind "#".
static bool is_heading(char *const *words, size_t n, size_t at)
{
    return at + 3 < n && strcmp(words[at], "size") == 0 && strcmp(words[at + 1], "count") == 0 &&
           strcmp(words[at + 2], "type") == 0;
}

static int heading(struct reading *r, char *const *words, size_t n)
{
    size_t at = 0;
    while (at < n && strcmp(words[at], "time") != 0)
        at++;
    if (at + 2 >= n || strcmp(words[at + 1], "algbw") != 0 || strcmp(words[at + 2], "busbw") != 0)
        return wrong(r, "the heading has no columns time, algbw and busbw");
    r->after = n - at;
    return 0;
}

static bool number(const char *word, double *value)
{
    char *end;
    *value = strtod(word, &end);
    return end != word && *end == '\0' && isfinite(*value) && *value >= 0;
}

// The word at which a row begins: a size and a count, both whole; n = there is none.
static size_t row_begin(char *const *words, size_t n)
{
    uint64_t size, count;
    for (size_t i = 0; i + 2 < n; i++)
        if (parse_count(words[i], &size) == 0 && parse_count(words[i + 1], &count) == 0)
            return i;
    return n;
}

static int add(struct reading *r, const struct measured_row *new)
{
    if (measured_table_at(r->table, new->bytes))
        return wrong(r, "a second row of this size: give one table of one operation");
    if (r->table->n == r->cap)
        r->table->rows = memory_grow(r->table->rows, &r->cap, sizeof *r->table->rows);
    r->table->rows[r->table->n++] = *new;
    return 0;
}

// The quotient of the two bandwidths tells operation and ranks; small numbers are rounded too much.
static void note_factor(struct measured_table *t, double algbw, double busbw)
{
    if (algbw < 1 || busbw <= t->digits)
        return;
    t->digits = busbw;
    t->factor = busbw / algbw;
}

static int row(struct reading *r, char *const *words, size_t n)
{
    size_t begin = row_begin(words, n);
    struct measured_row new = {0};
    double algbw, busbw;
    if (begin == n || r->after == 0)
        return 0; // a comment, or what the launcher says
    if (n - begin < 3 + r->after || !number(words[n - r->after], &new.time_us) ||
        !number(words[n - r->after + 1], &algbw) || !number(words[n - r->after + 2], &busbw) ||
        new.time_us <= 0)
        return wrong(r, "the row has other columns than the heading");
    parse_count(words[begin], &new.bytes);
    // algbw is the size by the time: so the columns are what they are taken for.
    double own = (double)new.bytes / new.time_us / 1e3;
    if (fabs(algbw - own) > 0.02 * own + 0.011)
        return wrong(r, "algbw is not size by time: columns that are not understood");
    note_factor(r->table, algbw, busbw);
    return add(r, &new);
}

/* ---- OSU ---- */

// Whether words follow the pattern of a title, "*" being any one word, and more may follow.
static bool follows(char *const *words, size_t n, const char *pattern)
{
    for (size_t i = 0; *pattern != '\0'; i++) {
        size_t length = strcspn(pattern, " ");
        if (i >= n || (strncmp(pattern, "*", length) != 0 &&
                       (strlen(words[i]) != length || strncasecmp(words[i], pattern, length) != 0)))
            return false;
        pattern += length + (pattern[length] == ' ');
    }
    return true;
}

// Find the title of a benchmark between words. Returns -1 for one that has no collective.
static int title(struct reading *r, char *const *words, size_t n)
{
    for (size_t at = 0; at < n; at++)
        for (size_t i = 0; i < N_TITLES; i++)
            if (follows(words + at, n - at, titles[i].words)) {
                if (r->title != NULL && r->title != &titles[i])
                    return wrong(r, "a second title: give one table of one operation");
                r->title = &titles[i];
                return titles[i].op != NULL
                           ? 0
                           : wrong(r, "is no collective whose sizes are understood, and a sweep of "
                                      "--sizes has one: give messages between two hosts as "
                                      "`flows` with measured_ns");
            }
    return 0;
}

// Whether the words are a heading of OSU's: "Size", and a latency right behind it.
static bool is_osu_heading(char *const *words, size_t n)
{
    char after[64] = "";
    size_t at = 0, used = 0;
    while (at < n && strcmp(words[at], "Size") != 0)
        at++;
    for (size_t i = at + 1; i < n && used < sizeof after - 1; i++)
        used += (size_t)snprintf(after + used, sizeof after - used, "%s%s", used > 0 ? " " : "",
                                 words[i]);
    for (size_t i = 0; latencies[i] != NULL; i++)
        if (strncasecmp(after, latencies[i], strlen(latencies[i])) == 0)
            return true;
    return false;
}

static int osu_row(struct reading *r, char *const *words, size_t n)
{
    struct measured_row new = {0};
    double value;
    size_t begin = 0;
    while (begin + 1 < n && (parse_count(words[begin], &new.bytes) != 0 ||
                             words[begin + 1][0] < '0' || words[begin + 1][0] > '9'))
        begin++;
    if (begin + 1 >= n || words[0][0] == '#')
        return 0;
    for (size_t i = begin + 1; i < n; i++)
        if (!number(words[i], &value))
            return wrong(r, "the row has other columns than the heading");
    if (!number(words[begin + 1], &new.time_us) || new.time_us <= 0)
        return wrong(r, "the latency must be above 0");
    return new.bytes > 0 ? add(r, &new) : 0;
}

/* ---- JSON of nccl-tests ---- */

static int read_json(struct reading *r)
{
    json_t *json = json_file_read(r->path, r->err), *result;
    json_t *results = json_object_get(json, "results");
    size_t i;
    int status = json == NULL ? -1 : 0;
    if (status == 0 && json_array_size(results) == 0)
        status = err_add(r->err, r->path, "has no list `results`, as nccl-tests writes it with -J");
    if (status == 0)
        json_array_foreach(results, i, result)
        {
            json_t *out = json_object_get(result, "out_of_place"),
                   *size = json_object_get(result, "size"), *time = json_object_get(out, "time");
            struct measured_row new = {.bytes = (uint64_t)json_integer_value(size),
                                       .time_us = json_number_value(time)};
            double own = (double)new.bytes / new.time_us / 1e3;
            double algbw = json_number_value(json_object_get(out, "alg_bw"));
            r->line = i;
            r->json = true;
            if (!json_is_integer(size) || json_integer_value(size) < 0 || !json_is_number(time))
                status = wrong(r, "needs `size` and `out_of_place` with `time`");
            else if (new.bytes == 0)
                continue;
            else if (!(new.time_us > 0) || fabs(algbw - own) > 0.02 * own + 0.011)
                status = wrong(r, "alg_bw is not size by time: values that are not understood");
            else
                status = add(r, &new);
            note_factor(r->table, algbw, json_number_value(json_object_get(out, "bus_bw")));
            if (status != 0)
                break;
        }
    json_decref(json);
    return status;
}

// Returns true if the first character of a file that is no blank begins a JSON object.
static bool is_json(FILE *in)
{
    int c;
    while ((c = fgetc(in)) == ' ' || c == '\n' || c == '\r' || c == '\t')
        continue;
    rewind(in);
    return c == '{';
}

static int read_line(struct reading *r, char *const *words, size_t n)
{
    size_t at = 0;
    while (at < n && !is_heading(words, n, at))
        at++;
    if (at < n)
        return heading(r, words, n);
    if (title(r, words, n) != 0)
        return -1;
    if (!is_osu_heading(words, n))
        return r->osu ? osu_row(r, words, n) : row(r, words, n);
    if (r->title == NULL)
        return wrong(r, "the line with the title is missing, which tells the operation: "
                        "\"# OSU MPI .. Latency Test\"");
    r->osu = true;
    r->table->op = r->title->op;
    r->table->per_rank = r->title->per_rank;
    return 0;
}

int measured_table_read(struct measured_table *t, const char *path, struct err *err)
{
    struct reading r = {.table = t, .path = path, .err = err};
    const char *why;
    char *line = NULL, *words[WORDS];
    size_t room = 0;
    int status = 0;
    *t = (struct measured_table){0};
    FILE *in = regular_file_stream(path, &why);
    if (!in)
        return err_add(err, path, "cannot be read: %s", why);
    bool json = is_json(in);
    while (!json && status == 0 && getline(&line, &room, in) > 0) {
        size_t n = cut(line, words);
        r.line++;
        status = read_line(&r, words, n);
    }
    if (json)
        status = read_json(&r);
    free(line);
    fclose(in);
    if (status == 0 && t->n == 0)
        status = err_add(err, path,
                         "has no table of nccl-tests (a heading with size, count, type, time, "
                         "algbw and busbw, and a row for each size) or of OSU's collectives");
    t->kind = r.osu ? "OSU" : "nccl-tests";
    if (status != 0)
        measured_table_free(t);
    return status;
}

int measured_table_need(const struct measured_table *t, const char *path, uint64_t bytes,
                        struct err *err)
{
    uint64_t least = UINT64_MAX, most = 0;
    if (measured_table_at(t, bytes))
        return 0;
    for (size_t i = 0; i < t->n; i++) {
        least = t->rows[i].bytes < least ? t->rows[i].bytes : least;
        most = t->rows[i].bytes > most ? t->rows[i].bytes : most;
    }
    return err_add(err, path,
                   "has no row of %" PRIu64 " B, but %zu size%s from %" PRIu64 " B to %" PRIu64
                   " B",
                   bytes, t->n, t->n == 1 ? "" : "s", least, most);
}

// Warn where the bus bandwidths are of another operation or number of ranks.
static void check_factor(const struct measured_table *t, const char *path, const char *op,
                         uint32_t ranks, struct err *err)
{
    enum coll_op found;
    double here = coll_op_find(op, &found) == 0 ? coll_bus_factor(found, ranks) : 0;
    if (t->factor > 0 && here > 0 && fabs(t->factor / here - 1) > FACTOR_NEAR)
        err_warn(err, path,
                 "busbw is %.2f times algbw, and %.2f times for %s of %u ranks: is the table of "
                 "another operation or number of ranks?",
                 t->factor, here, op, ranks);
}

// Keep the rows of a recording that are of this operation and number of ranks.
static int rows_keep(struct measured_table *t, const char *path, const char *op, uint32_t ranks,
                     struct err *err)
{
    const struct measured_row *most = NULL;
    size_t kept = 0;
    for (size_t i = 0; i < t->n; i++)
        most = most == NULL || t->rows[i].count > most->count ? &t->rows[i] : most;
    const char *often = most != NULL ? most->op : "";
    uint32_t of = most != NULL ? most->ranks : 0;
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(t->rows[i].op, op) == 0 && t->rows[i].ranks == ranks)
            t->rows[kept++] = t->rows[i];
    if (kept == 0)
        return err_add(err, path,
                       "has no %s of %u ranks; most of its collectives are %s of %u ranks", op,
                       ranks, often, of);
    t->n = kept;
    return 0;
}

int measured_table_fit(struct measured_table *t, const char *path, const char *op, uint32_t ranks,
                       struct err *err)
{
    if (t->recording)
        return rows_keep(t, path, op, ranks, err);
    if (t->op != NULL && strcmp(t->op, op) != 0)
        return err_add(err, path, "is of %s, and the job of %s", t->op, op);
    for (size_t i = 0; i < t->n && t->per_rank; i++)
        if (__builtin_mul_overflow(t->rows[i].bytes, ranks, &t->rows[i].bytes))
            return err_add(err, path, "has a size that is out of range for %u ranks", ranks);
    t->per_rank = false;
    check_factor(t, path, op, ranks, err);
    return 0;
}

void measured_table_free(struct measured_table *t)
{
    free(t->rows);
    free(t->of_ranks);
    *t = (struct measured_table){0};
}

const struct measured_row *measured_table_at(const struct measured_table *t, uint64_t bytes)
{
    for (size_t i = 0; i < t->n; i++)
        if (t->rows[i].bytes == bytes)
            return &t->rows[i];
    return NULL;
}
