// SPDX-License-Identifier: MIT
// Format: perftest, src/perftest_parameters.h: a line with the title ("RDMA_Write BW Test", "Send
// Latency Test"), and a heading "#bytes #iterations BW peak[Gb/sec] BW average[Gb/sec]
// MsgRate[Mpps]" or "#bytes #iterations t_min[usec] t_max[usec] t_typical[usec] ..", each with rows
// of a size. MB/sec and MiB/sec are both 2^20 bytes, MsgRate counts messages. A latency is half of
// a round trip, but the whole of it for READ; of its columns the median (t_typical) is taken.
#include <math.h>
#include <string.h>

#include "cli/measured/measured_internal.h"
#include "engine/base/units.h"

static const struct test {
    const char *words, *op;
    enum against_what latency; // what a latency of this test is
} tests[] = {
    {"RDMA_Write *", "write", AGAINST_DELIVERY},
    {"Send *", "send", AGAINST_DELIVERY},
    {"RDMA_Read *", "read", AGAINST_COMPLETION},
};
#define N_TESTS (sizeof tests / sizeof *tests)

// What stands in a title before "Test".
static const struct measure {
    const char *words;
    bool bandwidth, both;
} measures[] = {
    {"Bidirectional BW Test", true, true}, {"Bidirectional Post List BW Test", true, true},
    {"Post List BW Test", true, false},    {"BW Test", true, false},
    {"Latency Test", false, false},
};
#define N_MEASURES (sizeof measures / sizeof *measures)

static const struct columns {
    const char *words;
    size_t value, rate, least; // indices, and the number of columns; rate 0 = there is none
    double unit;               // bytes/s of a bandwidth; 0 = a latency in us
} headings[] = {
    {"#bytes #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]", 3, 4, 5, 1e9 / 8},
    {"#bytes #iterations BW peak[MB/sec] BW average[MB/sec] MsgRate[Mpps]", 3, 4, 5, 0x100000},
    {"#bytes #iterations BW peak[MiB/sec] BW average[MiB/sec] MsgRate[Mpps]", 3, 4, 5, 0x100000},
    {"#bytes #iterations BW peak[MB/sec] BW average[MB/sec]", 3, 0, 4, 0x100000},
    {"#bytes #iterations BW peak[Gb/sec] BW average[Gb/sec]", 3, 0, 4, 1e9 / 8},
    {"#bytes #sl #iterations BW peak[Gb/sec] BW average[Gb/sec] MsgRate[Mpps]", 4, 5, 6, 1e9 / 8},
    {"#bytes #sl #iterations BW peak[MiB/sec] BW average[MiB/sec] MsgRate[Mpps]", 4, 5, 6,
     0x100000},
    {"#bytes #iterations t_min[usec] t_max[usec] t_typical[usec] t_avg[usec] t_stdev[usec] 99% * "
     "99.9%",
     4, 0, 9, 0},
    {"#bytes #iterations t_min[usec] t_max[usec] t_typical[usec]", 4, 0, 5, 0},
    {"#bytes #iterations t_avg[usec] tps", 2, 0, 4, 0},
};
#define N_HEADINGS (sizeof headings / sizeof *headings)

// A title sets what the table is of; other lines change nothing.
static int title(struct measured_reading *r, char *const *words, size_t n)
{
    const struct test *test = NULL;
    const struct measure *measure = NULL;
    for (size_t at = 0; at < n; at++) {
        for (size_t i = 0; i < N_TESTS && test == NULL; i++)
            test = measured_follows(words + at, n - at, tests[i].words) ? &tests[i] : NULL;
        for (size_t i = 0; i < N_MEASURES && measure == NULL; i++)
            measure = measured_follows(words + at, n - at, measures[i].words) ? &measures[i] : NULL;
    }
    if (test == NULL || measure == NULL)
        return 0;
    if (measured_title_note(r, &measured_perftest, measure, test->op) != 0)
        return -1;
    r->table->what = test->latency;
    if (measure->bandwidth)
        r->table->what = measure->both ? AGAINST_GOODPUT_BOTH : AGAINST_GOODPUT;
    return 0;
}

// Without a title a bandwidth is taken as one of one direction.
static int untitled(struct measured_reading *r, const struct columns *columns, const char *word)
{
    if (columns->unit == 0)
        return measured_wrong_at(r, word,
                                 "the line with the title is missing, which tells whether a "
                                 "latency is half of a round trip: \"RDMA_Write Latency Test\"");
    err_warn(r->err, r->path,
             "has no line with a title (\"RDMA_Write BW Test\"): its bandwidths are taken as those "
             "of one direction");
    r->table->op = "message";
    r->table->what = AGAINST_GOODPUT;
    return 0;
}

static int heading(struct measured_reading *r, char *const *words, size_t n)
{
    const struct columns *columns = NULL;
    size_t at = 0;
    if (title(r, words, n) != 0)
        return -1;
    const struct measure *measure = measured_title(r, &measured_perftest);
    while (at < n && strcmp(words[at], "#bytes") != 0)
        at++;
    if (at == n)
        return 0;
    for (size_t i = 0; i < N_HEADINGS && columns == NULL; i++)
        columns = measured_follows(words + at, n - at, headings[i].words) ? &headings[i] : NULL;
    if (columns == NULL)
        return measured_wrong_at(r, words[at],
                                 "columns that are not understood: needed are BW average in "
                                 "Gb/sec, MB/sec or MiB/sec, or t_typical in usec");
    if (measure != NULL && measure->bandwidth != (columns->unit > 0))
        return measured_wrong_at(r, words[at], "the title is of another test than the columns");
    r->heading = columns;
    return measure != NULL || untitled(r, columns, words[at]) == 0 ? 1 : -1;
}

static int row(struct measured_reading *r, char *const *words, size_t n)
{
    const struct columns *columns = r->heading;
    struct measured_row new = {0};
    uint64_t iterations;
    double value, rate;
    size_t at = 0;
    while (at + 1 < n && (parse_count(words[at], &new.bytes) != 0 ||
                          parse_count(words[at + 1], &iterations) != 0))
        at++;
    if (at + 1 >= n)
        return 0; // what surrounds the rows
    if (n - at < columns->least)
        return measured_wrong_at(r, words[at], "the row has fewer columns than the heading");
    const char *word = words[at + columns->value];
    if (new.bytes == 0 || !measured_number(word, &value) || value <= 0)
        return measured_wrong_at(r, word, "sizes and values must be numbers above 0");
    new.time_us = columns->unit > 0 ? (double)new.bytes / columns->unit / value * 1e6 : value;
    if (columns->rate == 0)
        return measured_row_add(r, &new);
    // The rate of messages gives the same, to its last digit: so the unit is the right one.
    word = words[at + columns->rate];
    double own = 1 / new.time_us, digit = 1e-6;
    if (!measured_number(word, &rate) || fabs(rate - own) > 0.02 * own + digit + 0.01 * own / value)
        return measured_wrong_at(r, word,
                                 "the message rate is not bandwidth by size: columns that are not "
                                 "understood");
    return measured_row_add(r, &new);
}

const struct measured_format measured_perftest = {"perftest", heading, row};
