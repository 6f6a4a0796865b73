// SPDX-License-Identifier: MIT
#include "cli/fit/observed.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/regular_file.h"
#include "engine/base/rng.h"
#include "engine/base/text.h"

#define SPREAD 0.02 // of a value that the file gives none of

/* ---- quantities ---- */

static double number_at(const json_t *o, const char *key)
{
    const json_t *value = json_object_get(o, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

const json_t *json_at_path(const json_t *o, const char *path)
{
    char key[64];
    while (o && *path != '\0') {
        size_t length = strcspn(path, ".[");
        if (*path == '[') {
            char *end;
            o = json_array_get(o, strtoul(path + 1, &end, 10));
            path = *end == ']' ? end + 1 : end;
        } else if (length < sizeof key) {
            memcpy(key, path, length);
            key[length] = '\0';
            o = json_object_get(o, key);
            path += length;
        } else {
            return NULL;
        }
        path += *path == '.';
    }
    return o;
}

// A number by its path in the results.
static double by_path(const json_t *o, const char *path)
{
    const json_t *value = json_at_path(o, path);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

// The job of this name, the first one for the empty name; NULL = there is none.
static const json_t *job_of(const json_t *metrics, const char *name)
{
    const json_t *jobs = json_object_get(metrics, "jobs"), *job;
    size_t i;
    json_array_foreach(jobs, i, job) if (*name == '\0' ||
                                         strcmp(json_string_value(json_object_get(job, "name")),
                                                name) == 0) return job;
    return NULL;
}

// True if a message belongs to the place "rank0->rank2", or "" for all.
static bool is_between(const json_t *flow, const char *place)
{
    char name[64];
    snprintf(name, sizeof name, "rank%lld->rank%lld",
             (long long)json_integer_value(json_object_get(flow, "src")),
             (long long)json_integer_value(json_object_get(flow, "dst")));
    return *place == '\0' || strcmp(name, place) == 0;
}

// The sum or the mean of a number over the messages of a place.
static double over_flows(const json_t *metrics, const char *place, const char *key, bool mean)
{
    const json_t *flows = json_object_get(metrics, "flows"), *flow;
    double sum = 0, n = 0;
    size_t i;
    json_array_foreach(flows, i, flow) if (is_between(flow, place) && !isnan(number_at(flow, key)))
    {
        sum += number_at(flow, key);
        n++;
    }
    return n > 0 ? (mean ? sum / n : sum) : (double)NAN;
}

// Bytes over the time from the first post to the end of the last message.
static double goodput(const json_t *metrics, const char *place)
{
    const json_t *flows = json_object_get(metrics, "flows"), *flow;
    double first = INFINITY, last = 0, bytes = 0, end = number_at(metrics, "sim_time_ns");
    size_t i;
    json_array_foreach(flows, i, flow)
    {
        double start = number_at(flow, "start_ns"), fct = number_at(flow, "fct_ns");
        if (!is_between(flow, place))
            continue;
        bytes += number_at(flow, "delivered_bytes");
        first = fmin(first, start);
        last = fmax(last, isnan(fct) ? end : start + fct);
    }
    return last > first ? bytes * 8e9 / (last - first) : (double)NAN;
}

static double fct(const json_t *metrics, const char *place)
{
    return over_flows(metrics, place, "fct_ns", true);
}

static double job_time(const json_t *metrics, const char *place)
{
    return number_at(job_of(metrics, place), "time_ns");
}

static double busbw(const json_t *metrics, const char *place)
{
    return number_at(job_of(metrics, place), "busbw_bps");
}

// A count of the whole run, or of one entry of a list.
static double at_place(const json_t *list, const char *place, const char *key, double none)
{
    const json_t *entry;
    size_t i;
    json_array_foreach(list, i, entry) if (strcmp(json_string_value(json_object_get(entry, "at")),
                                                  place) == 0) return number_at(entry, key);
    return none;
}

static double drops(const json_t *metrics, const char *place)
{
    const json_t *all = json_object_get(metrics, "drops");
    return *place == '\0' ? number_at(all, "packets")
                          : at_place(json_object_get(all, "by_place"), place, "packets", 0);
}

static double marks(const json_t *metrics, const char *place)
{
    const json_t *ports = json_object_get(json_object_get(metrics, "queues"), "ports");
    return *place == '\0' ? by_path(metrics, "ecn.marked_packets")
                          : at_place(ports, place, "marked_packets", NAN);
}

static double max_queue(const json_t *metrics, const char *place)
{
    const json_t *queues = json_object_get(metrics, "queues");
    return *place == '\0' ? number_at(queues, "max_bytes")
                          : at_place(json_object_get(queues, "ports"), place, "max_bytes", NAN);
}

static double pauses(const json_t *metrics, const char *place)
{
    const json_t *pfc = json_object_get(metrics, "pfc");
    return *place == '\0' ? number_at(pfc, "pause_frames")
                          : at_place(json_object_get(pfc, "ports"), place, "pause_frames", 0);
}

static double cnps(const json_t *metrics, const char *place)
{
    return *place == '\0' ? number_at(metrics, "cnps") : over_flows(metrics, place, "cnps", false);
}

static double timeouts(const json_t *metrics, const char *place)
{
    return *place == '\0' ? by_path(metrics, "recovery.timeouts")
                          : over_flows(metrics, place, "timeouts", false);
}

static double retransmitted(const json_t *metrics, const char *place)
{
    return *place == '\0' ? by_path(metrics, "recovery.retransmitted_packets")
                          : over_flows(metrics, place, "retransmitted_packets", false);
}

static double utilization(const json_t *metrics, const char *place)
{
    const json_t *links = json_object_get(metrics, "links"), *link;
    double most = NAN;
    size_t i;
    if (!strchr(place, '*'))
        return at_place(links, place, "utilization", NAN);
    json_array_foreach(
        links, i, link) if (fnmatch(place, json_string_value(json_object_get(link, "at")), 0) == 0)
        most = fmax(most, number_at(link, "utilization"));
    return most;
}

// Of a test of many pairs, one after the other: the slowest, or the fastest.
static double extreme_bandwidth(const json_t *metrics, double (*of_two)(double, double))
{
    const json_t *flows = json_object_get(metrics, "flows"), *flow;
    double found = NAN;
    size_t i;
    json_array_foreach(flows, i, flow) if (json_integer_value(json_object_get(flow, "job")) == 0)
        found = of_two(found, number_at(flow, "delivered_bytes") * 8e9 / number_at(flow, "fct_ns"));
    return found;
}

static double lowest_bandwidth(const json_t *metrics, const char *place)
{
    (void)place;
    return extreme_bandwidth(metrics, fmin);
}

static double highest_bandwidth(const json_t *metrics, const char *place)
{
    (void)place;
    return extreme_bandwidth(metrics, fmax);
}

// Packets of one message each, of the test of a pair.
#define PAIR_MESSAGES 256

static double message_rate(const json_t *metrics, const char *place)
{
    (void)place;
    return PAIR_MESSAGES * 1e9 / job_time(metrics, "");
}

static const struct quantity {
    const char *name;
    double (*predict)(const json_t *metrics, const char *place);
    struct observed_reach reach;
    uint32_t messages, bytes; // of its own run between two ranks, or all; 0 = of the job's run
} quantities[] = {
    {"goodput", goodput, {1, 0.02, false}, 0, 0},
    {"fct", fct, {1, 0.02, false}, 0, 0},
    {"time", job_time, {1, 0.02, false}, 0, 0},
    {"busbw", busbw, {1, 0.02, false}, 0, 0},
    {"drops", drops, {1, 0.3, true}, 0, 0},
    {"marks", marks, {1, 0.3, true}, 0, 0},
    {"cnps", cnps, {1, 0.3, true}, 0, 0},
    {"pauses", pauses, {1, 0.3, true}, 0, 0},
    {"timeouts", timeouts, {1, 0.3, true}, 0, 0},
    {"retransmitted", retransmitted, {1, 0.3, true}, 0, 0},
    {"max_queue", max_queue, {32768, 0.2, false}, 0, 0},
    {"utilization", utilization, {0.01, 0.02, false}, 0, 0},
    {"metric", by_path, {1, 0.1, false}, 0, 0},
    {"latency", fct, {1, 0.02, false}, 1, 2},
    {"bandwidth", goodput, {1, 0.02, false}, 1, 4000000},
    {"message_rate", message_rate, {1, 0.05, false}, PAIR_MESSAGES, 64},
    {"lowest_bandwidth", lowest_bandwidth, {1, 0.02, false}, 1, 262144},
    {"highest_bandwidth", highest_bandwidth, {1, 0.02, false}, 1, 262144},
};
enum { QUANTITIES = sizeof quantities / sizeof *quantities };

// Counters as the tools of NICs and switches call them.
static const char *const aliases[][2] = {
    {"np_cnp_sent", "cnps"},
    {"rp_cnp_handled", "cnps"},
    {"np_ecn_marked_roce_packets", "marks"},
    {"ecn_marked_packets", "marks"},
    {"rx_prio3_pause", "pauses"},
    {"tx_prio3_pause", "pauses"},
    {"pfc_rx", "pauses"},
    {"pfc_tx", "pauses"},
    {"ifOutDiscards", "drops"},
    {"out_discards", "drops"},
    {"rx_discards_phy", "drops"},
    {"local_ack_timeout_err", "timeouts"},
};

static const struct quantity *quantity_of(const char *name)
{
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (strcmp(aliases[i][0], name) == 0)
            name = aliases[i][1];
    for (size_t i = 0; i < QUANTITIES; i++)
        if (strcmp(quantities[i].name, name) == 0)
            return &quantities[i];
    return NULL;
}

bool observed_is_quantity(const char *name) { return quantity_of(name) != NULL; }

const char *observed_words(void)
{
    static char words[320];
    size_t n = 0;
    for (size_t i = 0; i < QUANTITIES; i++)
        n += (size_t)snprintf(words + n, sizeof words - n, "%s%s", i ? ", " : "",
                              quantities[i].name);
    return words;
}

double observed_predict(const struct observed_value *v, const json_t *metrics)
{
    return quantity_of(v->quantity)->predict(metrics, v->place);
}

struct observed_reach observed_reach(const struct observed_value *v)
{
    return quantity_of(v->quantity)->reach;
}

#define RANKS_TESTED 64  // of a test of many ranks
#define TEST_GAP_US 2000 // from one test to the next

// The job of a test, ib_write_lat and the like: between two ranks, "rank0->rank9", or of each rank
// with its neighbour, "rank0-15"; NULL = the place is neither.
static char *test_job(const struct quantity *q, const char *place)
{
    unsigned a = 0, b = 0;
    bool pair = sscanf(place, "rank%u->rank%u", &a, &b) == 2;
    struct text text;
    if (q->messages == 0 || (!pair && (sscanf(place, "rank%u-%u", &a, &b) != 2 || b <= a)))
        return NULL;
    unsigned step = pair ? 1 : (b - a) / RANKS_TESTED + 1, n = pair ? q->messages : (b - a) / step;
    FILE *out = text_open(&text);
    fputs("={\"kind\":\"flows\",\"connections\":\"pair\",\"flows\":[", out);
    for (unsigned i = 0; i < n; i++)
        fprintf(out, "%s{\"src\":%u,\"dst\":%u,\"bytes\":\"%uB\",\"start\":\"%uus\"}", i ? "," : "",
                pair ? a : a + i * step, pair ? b : a + i * step + 1, q->bytes,
                pair ? 0 : i * TEST_GAP_US);
    fputs("]}", out);
    return text_close(out, &text);
}

void observed_want(struct observed *m, const char *quantity, const char *place)
{
    for (size_t i = 0; i < m->n; i++)
        if (strcmp(m->list[i].quantity, quantity) == 0 && strcmp(m->list[i].place, place) == 0)
            return;
    m->list = memory_resize(m->list, m->n + 1, sizeof *m->list);
    m->list[m->n++] = (struct observed_value){.quantity = memory_text(quantity),
                                              .place = memory_text(place),
                                              .unit = memory_text(""),
                                              .job = test_job(quantity_of(quantity), place),
                                              .value = 1,
                                              .relative = 1,
                                              .scale = 1,
                                              .held_out = true};
}

/* ---- the file ---- */

static const struct {
    const char *name;
    double scale;
} units[] = {
    {"", 1},
    {"ns", 1},
    {"us", 1e3},
    {"ms", 1e6},
    {"s", 1e9},
    {"bit/s", 1},
    {"Mb/s", 1e6},
    {"Gb/s", 1e9},
    {"GB/s", 8e9},
    {"MB/s", 8e6},
    {"MiB/s", 8.0 * (1 << 20)},
    {"B", 1},
    {"KB", 1e3},
    {"KiB", 1 << 10},
    {"MB", 1e6},
    {"MiB", 1 << 20},
    {"packets", 1},
    {"%", 0.01},
};

enum column { QUANTITY, PLACE, VALUE, UNIT, SPREAD_OF, COLUMNS };
static const char *const column_names[COLUMNS] = {"quantity", "place", "value", "unit", "spread"};

struct table {
    const char *path;
    int at[COLUMNS]; // number of the column in the file; -1 = it has none
    unsigned line;
    struct err *err;
};

// Split a line of CSV into cells, in place, without their quotes and surrounding blanks. Returns
// the number of cells.
static int cells_of(char *line, char *cells[16])
{
    int n = 0;
    for (char *at = line; at && n < 16; n++) {
        while (*at == ' ')
            at++;
        bool quoted = *at == '"';
        cells[n] = at + quoted;
        char *end = quoted ? strchr(at + 1, '"') : at + strcspn(at, ",\r\n");
        char *comma = end ? strchr(end, ',') : NULL;
        if (end)
            *end = '\0';
        for (size_t l = strlen(cells[n]); l > 0 && cells[n][l - 1] == ' '; l--)
            cells[n][l - 1] = '\0';
        at = comma ? comma + 1 : NULL;
    }
    return n;
}

// An error at the line; `text` ends it.
static int wrong(const struct table *t, const char *what, const char *text)
{
    char *at = text_format("%s:%u", t->path, t->line);
    err_add(t->err, at, "%s '%s'", what, text);
    free(at);
    return -1;
}

static int heading(struct table *t, char *cells[16], int n)
{
    for (int c = 0; c < COLUMNS; c++)
        t->at[c] = -1;
    for (int i = 0; i < n; i++) {
        int c = 0;
        while (c < COLUMNS && strcmp(column_names[c], cells[i]) != 0)
            c++;
        if (c == COLUMNS)
            return wrong(t, "of quantity, place, value, unit and spread there is no", cells[i]);
        t->at[c] = i;
    }
    for (int c = QUANTITY; c <= VALUE; c++)
        if (t->at[c] < 0)
            return wrong(t, "there is no column", column_names[c]);
    return 0;
}

static const char *cell(const struct table *t, char *cells[16], int n, enum column c)
{
    return t->at[c] >= 0 && t->at[c] < n ? cells[t->at[c]] : "";
}

static int number(const struct table *t, const char *text, double *out)
{
    char *end;
    errno = 0;
    *out = strtod(text, &end);
    bool good = end != text && *end == '\0' && errno == 0 && isfinite(*out) && *out >= 0;
    return good ? 0 : wrong(t, "not a number from 0:", text);
}

// Read the spread of a value: in percent of the value ("2%"), or in the unit of the value.
static int spread_of(const struct table *t, const char *text, struct observed_value *v)
{
    size_t length = strlen(text);
    char *own = text_format("%s", text);
    bool percent = length > 0 && own[length - 1] == '%';
    double spread = 0;
    v->relative = SPREAD;
    if (percent)
        own[length - 1] = '\0';
    int status = length > 0 ? number(t, own, &spread) : 0;
    if (status == 0 && length > 0 && spread > 0)
        v->relative = percent ? spread / 100 : v->value > 0 ? spread * v->scale / v->value : SPREAD;
    free(own);
    return status;
}

// Counts are spread by their root at least.
static double least_spread(const struct observed_value *v)
{
    bool counts = quantity_of(v->quantity)->reach.counts && v->value > 0;
    double own = counts ? 1 / sqrt(v->value) : 0;
    return own > v->relative ? own : v->relative;
}

static int row(struct table *t, char *cells[16], int n, struct observed_value *v)
{
    const char *unit = cell(t, cells, n, UNIT), *quantity = cell(t, cells, n, QUANTITY);
    size_t u = 0;
    while (u < sizeof units / sizeof *units && strcmp(units[u].name, unit) != 0)
        u++;
    if (!quantity_of(quantity))
        return wrong(t, "collwire fit --help lists the quantities; there is no", quantity);
    if (u == sizeof units / sizeof *units)
        return wrong(t, "unknown unit", unit);
    *v = (struct observed_value){.scale = units[u].scale, .line = t->line};
    if (number(t, cell(t, cells, n, VALUE), &v->value) != 0)
        return -1;
    v->value *= v->scale;
    if (spread_of(t, cell(t, cells, n, SPREAD_OF), v) != 0)
        return -1;
    v->quantity = text_format("%s", quantity);
    v->place = text_format("%s", cell(t, cells, n, PLACE));
    v->unit = text_format("%s", unit);
    v->job = test_job(quantity_of(quantity), v->place);
    if (quantity_of(quantity)->messages > 0 && !v->job)
        return wrong(t, "the place of a test is rank0->rank1, or rank0-15 for all, not", v->place);
    v->relative = least_spread(v);
    return 0;
}

int observed_read(struct observed *m, const char *path, struct err *err)
{
    struct table t = {.path = path, .err = err};
    const char *why;
    char *line = NULL, *cells[16];
    size_t room = 0, cap = 0;
    bool headed = false;
    int status = 0;
    FILE *in = regular_file_stream(path, &why);
    *m = (struct observed){0};
    if (!in)
        return err_add(err, path, "cannot be read: %s", why);
    while (getline(&line, &room, in) > 0) {
        t.line++;
        if (line[strspn(line, " \t\r\n")] == '\0' || *line == '#')
            continue;
        int n = cells_of(line, cells);
        if (!headed) {
            headed = true;
            if ((status = heading(&t, cells, n)) != 0)
                break;
            continue;
        }
        if (m->n == cap)
            m->list = memory_grow(m->list, &cap, sizeof *m->list);
        if (row(&t, cells, n, &m->list[m->n]) == 0)
            m->n++;
        else
            status = -1;
    }
    free(line);
    fclose(in);
    if (status == 0 && m->n == 0)
        status = err_add(err, path, "has no measured value: lines of quantity,place,value");
    return status;
}

void observed_free(struct observed *m)
{
    for (size_t i = 0; i < m->n; i++) {
        free(m->list[i].quantity);
        free(m->list[i].place);
        free(m->list[i].unit);
        free(m->list[i].job);
    }
    free(m->list);
    *m = (struct observed){0};
}

void observed_hold_out(struct observed *m, size_t n, uint64_t seed)
{
    struct rng rng = rng_init(seed, RNG_DRAWS, 0);
    uint32_t *order = memory_zeroed(m->n, sizeof *order);
    rng_permutation(&rng, order, (uint32_t)m->n);
    for (size_t i = 0; i < n && i < m->n; i++)
        m->list[order[i]].held_out = true;
    free(order);
}
