// SPDX-License-Identifier: MIT
// Format: OSU micro-benchmarks: "# OSU MPI Allreduce Latency Test v7.1", "# Size  Avg Latency(us)",
// perhaps with more columns, and a row for each size. The title tells what a size is: the largest
// buffer of a rank, one rank's part, or a message between two hosts. A latency of messages is half
// a round trip, and a bandwidth has 10^6 bytes in its MB.
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "cli/measured/measured_internal.h"
#include "engine/base/units.h"

// Words of a title, what the table is of, and headings of its column after "Size"; those without
// an operation are refused.
static const struct title {
    const char *words, *op;
    bool per_rank;
    enum against_what what;
} titles[] = {
    {"osu * allreduce latency", "all_reduce", false, AGAINST_COLLECTIVES},
    {"osu * reduce_scatter latency", "reduce_scatter", false, AGAINST_COLLECTIVES},
    {"osu * allgather latency", "all_gather", true, AGAINST_COLLECTIVES},
    {"osu * all-to-all personalized exchange latency", "all_to_all", true, AGAINST_COLLECTIVES},
    {"osu * broadcast latency", "broadcast", false, AGAINST_COLLECTIVES},
    {"osu * reduce latency", "reduce", false, AGAINST_COLLECTIVES},
    {"osu * latency test", "message", false, AGAINST_DELIVERY},
    {"osu * bandwidth test", "message", false, AGAINST_GOODPUT},
    {"osu * bi-directional bandwidth test", "message", false, AGAINST_GOODPUT_BOTH},
    {"osu *", NULL, false, AGAINST_COLLECTIVES},
};
#define N_TITLES (sizeof titles / sizeof *titles)

static const struct column {
    const char *words;
    bool bandwidth;
} columns[] = {
    {"avg latency(us)", false}, {"avg latency (us)", false}, {"latency (us)", false},
    {"latency(us)", false},     {"bandwidth (MB/s)", true},
};
#define N_COLUMNS (sizeof columns / sizeof *columns)
#define MEGABYTE 1e6

// Find the title of a benchmark between words. Returns -1 for one whose sizes are not understood.
static int title(struct measured_reading *r, char *const *words, size_t n)
{
    for (size_t at = 0; at < n; at++)
        for (size_t i = 0; i < N_TITLES; i++) {
            if (!measured_follows(words + at, n - at, titles[i].words))
                continue;
            if (titles[i].op == NULL)
                return measured_wrong(r, "is no benchmark whose sizes are understood: those of "
                                         "collectives, and between two hosts latency, bw and "
                                         "bibw");
            return measured_title_note(r, &measured_osu, &titles[i], titles[i].op);
        }
    return 0;
}

// The column right behind "Size"; NULL = the words are no heading.
static const struct column *column_of(char *const *words, size_t n)
{
    char after[64] = "";
    size_t at = 0, used = 0;
    while (at < n && strcmp(words[at], "Size") != 0)
        at++;
    for (size_t i = at + 1; i < n && used < sizeof after - 1; i++)
        used += (size_t)snprintf(after + used, sizeof after - used, "%s%s", used > 0 ? " " : "",
                                 words[i]);
    for (size_t i = 0; i < N_COLUMNS; i++)
        if (strncasecmp(after, columns[i].words, strlen(columns[i].words)) == 0)
            return &columns[i];
    return NULL;
}

static int heading(struct measured_reading *r, char *const *words, size_t n)
{
    if (title(r, words, n) != 0)
        return -1;
    const struct column *column = column_of(words, n);
    const struct title *of = measured_title(r, &measured_osu);
    if (column == NULL)
        return 0;
    if (of == NULL)
        return measured_wrong(r, "the line with the title is missing, which tells the operation: "
                                 "\"# OSU MPI .. Latency Test\"");
    if (column->bandwidth != (of->what == AGAINST_GOODPUT || of->what == AGAINST_GOODPUT_BOTH))
        return measured_wrong(r, "the title is of another test than the columns");
    r->heading = column;
    r->table->per_rank = of->per_rank;
    r->table->what = of->what;
    return 1;
}

static int row(struct measured_reading *r, char *const *words, size_t n)
{
    const struct column *column = r->heading;
    struct measured_row new = {0};
    double value;
    size_t begin = 0;
    while (begin + 1 < n && (parse_count(words[begin], &new.bytes) != 0 ||
                             words[begin + 1][0] < '0' || words[begin + 1][0] > '9'))
        begin++;
    if (begin + 1 >= n || words[0][0] == '#')
        return 0;
    for (size_t i = begin + 1; i < n; i++)
        if (!measured_number(words[i], &value))
            return measured_wrong(r, "the row has other columns than the heading");
    if (!measured_number(words[begin + 1], &value) || value <= 0)
        return measured_wrong(r, column->bandwidth ? "the bandwidth must be above 0"
                                                   : "the latency must be above 0");
    new.time_us = column->bandwidth ? (double)new.bytes / value / MEGABYTE * 1e6 : value;
    return new.bytes > 0 ? measured_row_add(r, &new) : 0;
}

const struct measured_format measured_osu = {"OSU", heading, row};
