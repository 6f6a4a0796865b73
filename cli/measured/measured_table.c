// SPDX-License-Identifier: MIT
// A table of measured times: which of the formats a file has, and what its rows are compared with.
#include "cli/measured/measured_table.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/measured/measured_internal.h"
#include "collective/algorithm/collective.h"
#include "engine/base/memory.h"
#include "engine/base/regular_file.h"
#include "engine/base/text.h"

#define FILE_MOST (256ll << 20)
#define ROWS_MOST 4096 // looked up one by one

#define FACTOR_NEAR 0.02 // two decimals of a bandwidth of 1 GB/s

static const struct measured_format *const formats[] = {&measured_nccl, &measured_osu,
                                                        &measured_perftest};
#define N_FORMATS (sizeof formats / sizeof *formats)

/* ---- what the formats share ---- */

int measured_wrong(const struct measured_reading *r, const char *what)
{
    char *at = r->place != NULL ? text_format("%s: %s", r->path, r->place)
                                : text_format("%s:%zu", r->path, r->line);
    err_add(r->err, at, "%s", what);
    free(at);
    return -1;
}

int measured_wrong_at(const struct measured_reading *r, const char *word, const char *what)
{
    char *at = text_format("%s:%zu:%zu", r->path, r->line, (size_t)(word - r->begin) + 1);
    err_add(r->err, at, "%s", what);
    free(at);
    return -1;
}

int measured_title_note(struct measured_reading *r, const struct measured_format *format,
                        const void *title, const char *op)
{
    if (r->titled != NULL && (r->title != title || strcmp(r->table->op, op) != 0))
        return measured_wrong(r, "a second title: give one table of one operation");
    r->titled = format;
    r->title = title;
    r->table->op = op;
    return 0;
}

const void *measured_title(const struct measured_reading *r, const struct measured_format *format)
{
    return r->titled == format ? r->title : NULL;
}

bool measured_number(const char *word, double *value)
{
    char *end;
    *value = strtod(word, &end);
    return end != word && *end == '\0' && isfinite(*value) && *value >= 0;
}

int measured_row_add(struct measured_reading *r, const struct measured_row *row)
{
    if (measured_table_at(r->table, row->bytes))
        return measured_wrong(r, "a second row of this size: give one table of one operation");
    if (r->table->n == ROWS_MOST)
        return measured_wrong(r, "more rows than a table has: a row for each size, 4096 at most");
    if (r->table->n == r->cap)
        r->table->rows = memory_grow(r->table->rows, &r->cap, sizeof *r->table->rows);
    r->table->rows[r->table->n++] = *row;
    return 0;
}

bool measured_follows(char *const *words, size_t n, const char *pattern)
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

/* ---- a file ---- */

static size_t cut(char *line, char *words[MEASURED_WORDS])
{
    size_t n = 0;
    for (char *at = strtok(line, " \t\r\n"); at; at = strtok(NULL, " \t\r\n"))
        if (n < MEASURED_WORDS)
            words[n++] = strstr(at, ">:") && strstr(at, ">:")[2] ? strstr(at, ">:") + 2 : at;
    return n; // mpirun puts "[1,0]<stdout>:" before the first word
}

// Returns true if the first character of a file that is no blank begins JSON. A launcher's prefix
// begins as a list does: "[1,0]<stdout>:".
static bool is_json(FILE *in)
{
    int c;
    while ((c = fgetc(in)) == ' ' || c == '\n' || c == '\r' || c == '\t')
        continue;
    bool list = c == '[';
    while (list && ((c = fgetc(in)) == ' ' || c == '\n' || c == '\r' || c == '\t'))
        continue;
    rewind(in);
    return c == '{';
}

static int read_line(struct measured_reading *r, char *const *words, size_t n)
{
    for (size_t i = 0; i < N_FORMATS; i++) {
        int is = formats[i]->heading(r, words, n);
        if (is < 0)
            return -1;
        if (is == 0)
            continue;
        if (r->format != NULL && r->format != formats[i])
            return measured_wrong(r, "a heading of another kind of table: give one table");
        r->format = formats[i];
        r->table->kind = r->format->name;
        return 0;
    }
    return r->format != NULL ? r->format->row(r, words, n) : 0;
}

static int read_text(struct measured_reading *r, FILE *in)
{
    char *line = NULL, *words[MEASURED_WORDS];
    size_t room = 0;
    int status = 0;
    while (status == 0 && getline(&line, &room, in) > 0) {
        r->begin = line;
        r->line++;
        size_t n = cut(line, words);
        status = read_line(r, words, n);
    }
    free(line);
    return status;
}

int measured_table_read(struct measured_table *t, const char *path, struct err *err)
{
    struct measured_reading r = {.table = t, .path = path, .err = err};
    const char *why;
    *t = (struct measured_table){0};
    FILE *in = regular_file_stream(path, &why);
    if (!in)
        return err_add(err, path, "cannot be read: %s", why);
    int status = regular_file_bytes(in) > FILE_MOST ? err_add(err, path, "is larger than 256 MiB")
                 : is_json(in)                      ? measured_json_read(&r)
                                                    : read_text(&r, in);
    fclose(in);
    free(r.place);
    if (status == 0 && t->n == 0)
        status = err_add(err, path,
                         "has no table of nccl-tests (a heading with size, count, type, time, "
                         "algbw and busbw, and a row for each size), of OSU or of perftest");
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

static bool has_factor(const struct measured_signs *s, enum coll_op op, uint32_t ranks)
{
    double here = coll_bus_factor(op, ranks);
    return here > 0 && fabs(s->factor / here - 1) <= FACTOR_NEAR;
}

const char *measured_op_of(const struct measured_signs *s, uint32_t ranks)
{
    // nccl-tests, src/*.cu: the columns redop and root, and in-place results.
    static const struct {
        enum coll_op op;
        bool reduces, rooted, in_place;
    } rows[] = {{COLL_ALL_REDUCE, true, false, true},   {COLL_REDUCE_SCATTER, true, false, true},
                {COLL_REDUCE, true, true, true},        {COLL_ALL_GATHER, false, false, true},
                {COLL_ALL_TO_ALL, false, false, false}, {COLL_BROADCAST, false, true, true}};
    if (s->reduces == REDUCES_UNKNOWN || s->factor <= 0 || ranks < 2)
        return NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].reduces == (s->reduces == REDUCES) && rows[i].rooted == s->rooted &&
            rows[i].in_place == s->in_place && has_factor(s, rows[i].op, ranks))
            return coll_op_name(rows[i].op);
    return NULL;
}

void measured_factor_check(const struct measured_signs *signs, const char *path, const char *op,
                           uint32_t ranks, struct err *err)
{
    enum coll_op found;
    double factor = signs->factor,
           here = coll_op_find(op, &found) == 0 ? coll_bus_factor(found, ranks) : 0;
    if (factor > 0 && here > 0 && !has_factor(signs, found, ranks))
        err_warn(err, path,
                 "busbw is %.2f times algbw, and %.2f times for %s of %u ranks: is the table of "
                 "another operation or number of ranks?",
                 factor, here, op, ranks);
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
    if (t->what != AGAINST_COLLECTIVES)
        return err_add(err, path,
                       "is of messages between two hosts, and the job is a collective: give a job "
                       "of kind flows to collwire run");
    if (t->op != NULL && strcmp(t->op, op) != 0)
        return err_add(err, path, "is of %s, and the job of %s", t->op, op);
    for (size_t i = 0; i < t->n && t->per_rank; i++)
        if (__builtin_mul_overflow(t->rows[i].bytes, ranks, &t->rows[i].bytes))
            return err_add(err, path, "has a size that is out of range for %u ranks", ranks);
    t->per_rank = false;
    if (t->ranks != 0 && t->ranks != ranks)
        err_warn(err, path, "is of %u ranks, and the job of %u", t->ranks, ranks);
    measured_factor_check(&t->signs, path, op, ranks, err);
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
