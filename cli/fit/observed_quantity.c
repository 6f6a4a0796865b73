// SPDX-License-Identifier: MIT
// Quantities: what each is in the results of a run, how near a simulated value may come to a real
// one, and the runs of its own that a test between ranks has.
#include "cli/fit/observed.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"

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

char *observed_test_job(const char *quantity, const char *place)
{
    const struct quantity *q = quantity_of(quantity);
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

bool observed_is_test(const char *quantity)
{
    const struct quantity *q = quantity_of(quantity);
    return q && q->messages > 0;
}
