// SPDX-License-Identifier: MIT
// Format: nccl-tests, src/common.cu: a heading "# size count type redop root time algbw busbw
// #wrong time algbw busbw #wrong", out of place and in place, and a row for each size. Older
// versions have no #wrong, or "error", and leave redop and root empty where an operation has none.
// So columns are counted from the right. Its JSON (`-J`) has the same as "results": [{"size",
// "out_of_place": {"time", "alg_bw"}}].
//
// Format: rccl-tests, `-Z json -x FILE`: a list of objects, or an object a line, one for each size
// and each of out of place and in place: {"name": "AllReduce", "ranks": 8, "size", "inPlace": 0,
// "time", "algBw", "busBw"}. Keys that say nothing of the time (type, nodes, wrong) are not read.
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/measured/measured_internal.h"
#include "engine/base/text.h"
#include "engine/base/units.h"
#include "engine/text/json_file.h"

// Whether the words from `at` on are "size count type": a heading, perhaps behind "#".
static bool is_heading(char *const *words, size_t n, size_t at)
{
    return at + 3 < n && strcmp(words[at], "size") == 0 && strcmp(words[at + 1], "count") == 0 &&
           strcmp(words[at + 2], "type") == 0;
}

static int heading(struct measured_reading *r, char *const *words, size_t n)
{
    size_t at = 0;
    while (at < n && !is_heading(words, n, at))
        at++;
    if (at == n)
        return 0;
    while (at < n && strcmp(words[at], "time") != 0)
        at++;
    if (at + 2 >= n || strcmp(words[at + 1], "algbw") != 0 || strcmp(words[at + 2], "busbw") != 0)
        return measured_wrong(r, "the heading has no columns time, algbw and busbw");
    r->after = n - at;
    return 1;
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

// The quotient of the two bandwidths tells operation and ranks; small numbers are rounded too much.
static void note_factor(struct measured_signs *s, double algbw, double busbw)
{
    if (algbw < 1 || busbw <= s->digits)
        return;
    s->digits = busbw;
    s->factor = busbw / algbw;
}

// The columns type, redop and root of a row, where it has all of them, and its in-place errors.
static void note_columns(struct measured_signs *s, char *const *words, size_t n, const char *last)
{
    if (n < 3)
        return;
    s->reduces = strcmp(words[1], "none") == 0 ? REDUCES_NOT : REDUCES;
    s->rooted = strcmp(words[2], "-1") != 0;
    s->in_place = strcmp(last, "N/A") != 0;
}

// algbw is the size by the time: so the values are what they are taken for.
static bool is_algbw(const struct measured_row *row, double algbw)
{
    double own = (double)row->bytes / row->time_us / 1e3;
    return fabs(algbw - own) <= 0.02 * own + 0.011;
}

static int row(struct measured_reading *r, char *const *words, size_t n)
{
    size_t begin = row_begin(words, n);
    struct measured_row new = {0};
    double algbw, busbw;
    if (begin == n)
        return 0; // a comment, or what the launcher says
    if (n - begin < 3 + r->after || !measured_number(words[n - r->after], &new.time_us) ||
        !measured_number(words[n - r->after + 1], &algbw) ||
        !measured_number(words[n - r->after + 2], &busbw) || new.time_us <= 0)
        return measured_wrong(r, "the row has other columns than the heading");
    parse_count(words[begin], &new.bytes);
    if (!is_algbw(&new, algbw))
        return measured_wrong(r, "algbw is not size by time: columns that are not understood");
    note_factor(&r->table->signs, algbw, busbw);
    note_columns(&r->table->signs, words + begin + 2, n - begin - 2 - r->after, words[n - 1]);
    return measured_row_add(r, &new);
}

const struct measured_format measured_nccl = {"nccl-tests", heading, row};

/* ---- JSON ---- */

// Add a row whose time and bandwidths stand in `of`.
static int add_json(struct measured_reading *r, json_t *size, json_t *of, const char *const keys[3],
                    const char *needs)
{
    json_t *time = json_object_get(of, keys[0]), *algbw = json_object_get(of, keys[1]);
    struct measured_row new = {.bytes = (uint64_t)json_integer_value(size),
                               .time_us = json_number_value(time)};
    if (!json_is_integer(size) || json_integer_value(size) < 0 || !json_is_number(time))
        return measured_wrong(r, needs);
    if (new.bytes == 0)
        return 0;
    if (!(new.time_us > 0) || !is_algbw(&new, json_number_value(algbw)))
        return measured_wrong(r, "alg_bw is not size by time: values that are not understood");
    note_factor(&r->table->signs, json_number_value(algbw),
                json_number_value(json_object_get(of, keys[2])));
    return measured_row_add(r, &new);
}

static int read_results(struct measured_reading *r, json_t *results)
{
    static const char *const keys[] = {"time", "alg_bw", "bus_bw"};
    json_t *result;
    size_t i;
    if (json_array_size(results) == 0)
        return err_add(r->err, r->path,
                       "has no list `results`, as nccl-tests writes it with -J, and no object with "
                       "`name`, `size`, `inPlace`, `time` and `algBw`, as rccl-tests does");
    json_array_foreach(results, i, result)
    {
        free(r->place);
        r->place = text_format("results[%zu]", i);
        if (add_json(r, json_object_get(result, "size"), json_object_get(result, "out_of_place"),
                     keys, "needs `size` and `out_of_place` with `time`") != 0)
            return -1;
    }
    return 0;
}

static const struct {
    const char *name, *op;
} rccl_names[] = {
    {"AllReduce", "all_reduce"}, {"ReduceScatter", "reduce_scatter"},
    {"AllGather", "all_gather"}, {"AlltoAll", "all_to_all"},
    {"Broadcast", "broadcast"},  {"Reduce", "reduce"},
    {"Gather", "gather"},        {"Scatter", "scatter"},
    {"SendRecv", "send_recv"},
};

static const char *rccl_op(const char *name)
{
    for (size_t i = 0; name != NULL && i < sizeof rccl_names / sizeof *rccl_names; i++)
        if (strcmp(rccl_names[i].name, name) == 0)
            return rccl_names[i].op;
    return NULL;
}

// A record of rccl-tests.
static int read_record(struct measured_reading *r, json_t *record)
{
    static const char *const keys[] = {"time", "algBw", "busBw"};
    json_t *in_place = json_object_get(record, "inPlace"),
           *ranks = json_object_get(record, "ranks");
    const char *op = rccl_op(json_string_value(json_object_get(record, "name")));
    if (op == NULL)
        return measured_wrong(r, "needs `name` with a collective, as \"AllReduce\"");
    if (r->table->op != NULL && strcmp(r->table->op, op) != 0)
        return measured_wrong(r, "a second operation: give one table of one operation");
    if (!json_is_boolean(in_place) &&
        !(json_is_integer(in_place) && (json_integer_value(in_place) | 1) == 1))
        return measured_wrong(r, "needs `inPlace`, 0 or 1");
    if (ranks != NULL && (!json_is_integer(ranks) || json_integer_value(ranks) < 1 ||
                          json_integer_value(ranks) > UINT32_MAX))
        return measured_wrong(r, "`ranks` must be a number from 1 on");
    if (r->table->ranks != 0 && r->table->ranks != (uint32_t)json_integer_value(ranks))
        return measured_wrong(r, "another number of ranks than before: give one table of one run");
    r->table->op = op;
    r->table->ranks = (uint32_t)json_integer_value(ranks);
    if (json_is_true(in_place) || json_integer_value(in_place) == 1)
        return 0;
    return add_json(r, json_object_get(record, "size"), record, keys,
                    "needs `size` and `time`, of which the size is whole");
}

// Move on over blanks and count lines; `column` is that of the next byte, from 0 on.
static const char *blanks_skip(const char *at, size_t *line, size_t *column)
{
    for (; *at == ' ' || *at == '\t' || *at == '\r' || *at == '\n'; at++) {
        *line += *at == '\n';
        *column = *at == '\n' ? 0 : *column + 1;
    }
    return at;
}

// One value: a list of records, an object with `results`, or a record.
static int read_value(struct measured_reading *r, json_t *value)
{
    json_t *record;
    size_t i;
    if (json_is_object(value) && json_object_get(value, "name") == NULL)
        return read_results(r, json_object_get(value, "results"));
    r->table->kind = "rccl-tests";
    if (json_is_object(value))
        return read_record(r, value);
    json_array_foreach(value, i, record)
    {
        free(r->place);
        r->place = text_format("[%zu]", i);
        if (read_record(r, record) != 0)
            return -1;
    }
    return 0;
}

int measured_json_read(struct measured_reading *r)
{
    size_t length, line = 1, column = 0;
    char *text = file_read(r->path, &length, r->err);
    int status = text == NULL ? -1 : 0;
    r->table->kind = "nccl-tests";
    for (const char *at = text; status == 0;) {
        json_error_t error;
        at = blanks_skip(at, &line, &column);
        if ((size_t)(at - text) == length)
            break;
        json_t *value = json_loadb(at, length - (size_t)(at - text),
                                   JSON_REJECT_DUPLICATES | JSON_DISABLE_EOF_CHECK, &error);
        free(r->place);
        r->place = text_format("line %zu", line);
        if (value == NULL)
            status = err_add(r->err, r->path, "line %zu, column %zu: not JSON: %s",
                             line + (size_t)error.line - 1,
                             (size_t)error.column + (error.line == 1 ? column : 0), error.text);
        else
            status = read_value(r, value);
        for (const char *end = at + (value ? error.position : 0); at < end; at++) {
            line += *at == '\n';
            column = *at == '\n' ? 0 : column + 1;
        }
        json_decref(value);
    }
    free(text);
    return status;
}
