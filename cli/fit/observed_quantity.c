// SPDX-License-Identifier: MIT
// Quantities: what each is in the results of a run, how near a simulated value may come to a real
// one, and the runs of its own that a test between ranks has.
#include "cli/fit/observed.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/fit/observed_counter.h"
#include "cli/fit/observed_place.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

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

// Bytes over the time from the first post to the end of the last message.
static double goodput(const json_t *metrics, struct where w)
{
    const json_t *flows = json_object_get(metrics, "flows"), *flow;
    double first = INFINITY, last = 0, bytes = 0, end = number_at(metrics, "sim_time_ns");
    size_t i;
    json_array_foreach(flows, i, flow)
    {
        double start = number_at(flow, "start_ns"), fct = number_at(flow, "fct_ns");
        if (!is_between(flow, w))
            continue;
        bytes += number_at(flow, "delivered_bytes");
        first = fmin(first, start);
        last = fmax(last, isnan(fct) ? end : start + fct);
    }
    return last > first ? bytes * 8e9 / (last - first) : (double)NAN;
}

static double fct(const json_t *metrics, struct where w)
{
    return over_flows(metrics, w, "fct_ns", true);
}

// As ib_write_lat has it: half of a round trip of messages.
static double delivery(const json_t *metrics, struct where w)
{
    return over_flows(metrics, w, "delivered_ns", true);
}

static double job_time(const json_t *metrics, struct where w)
{
    return number_at(job_of(metrics, w.place), "time_ns");
}

static double busbw(const json_t *metrics, struct where w)
{
    return number_at(job_of(metrics, w.place), "busbw_bps");
}

static double drops(const json_t *metrics, struct where w)
{
    const json_t *all = json_object_get(metrics, "drops");
    return *w.place == '\0' ? number_at(all, "packets")
                            : at_place(json_object_get(all, "by_place"), w, "packets", false,
                                       zero_at(metrics, w));
}

// Dropped by NICs whose receive buffer was full; the results have their places with others.
static double nic_drops(const json_t *metrics, struct where w)
{
    return fmin(number_at_path(metrics, "drops.by_reason.nic_buffer"), drops(metrics, w));
}

static double marks(const json_t *metrics, struct where w)
{
    const json_t *ports = json_object_get(json_object_get(metrics, "queues"), "ports");
    if (*w.place == '\0')
        return number_at_path(metrics, "ecn.marked_packets");
    if (strncmp(w.place, "rank", 4) == 0) { // what a NIC receives, its switches have marked
        const json_t *links = json_object_get(metrics, "links"), *link;
        size_t i;
        json_array_foreach(
            links, i,
            link) if (!strstr(json_string_value(json_object_get(link, "at")),
                              "rank")) return NAN; // which of them, the results do not say
        w.other_end = true;
    }
    return at_place(ports, w, "marked_packets", false, NAN);
}

static double max_queue(const json_t *metrics, struct where w)
{
    const json_t *queues = json_object_get(metrics, "queues");
    return *w.place == '\0' ? number_at(queues, "max_bytes")
                            : at_place(json_object_get(queues, "ports"), w, "max_bytes", true, NAN);
}

static double pauses(const json_t *metrics, struct where w)
{
    const json_t *pfc = json_object_get(metrics, "pfc");
    return *w.place == '\0'
               ? number_at(pfc, "pause_frames")
               : at_place(json_object_get(pfc, "ports"), w, "pauses", false, zero_at(metrics, w));
}

// A count of all messages, or of those of a place.
static double count(const json_t *metrics, struct where w, const char *path, const char *key)
{
    double found =
        *w.place == '\0' ? number_at_path(metrics, path) : over_flows(metrics, w, key, false);
    return isnan(found) && *w.place ? zero_at(metrics, w) : found; // a rank without messages
}

static double cnps(const json_t *metrics, struct where w)
{
    return count(metrics, w, "cnps", "cnps");
}

static double timeouts(const json_t *metrics, struct where w)
{
    return count(metrics, w, "recovery.timeouts", "timeouts");
}

static double retransmitted(const json_t *metrics, struct where w)
{
    return count(metrics, w, "recovery.retransmitted_packets", "retransmitted_packets");
}

// The results have them of all messages together.
static double naks(const json_t *metrics, struct where w)
{
    return *w.place == '\0' ? number_at_path(metrics, "recovery.naks") : (double)NAN;
}

static double utilization(const json_t *metrics, struct where w)
{
    return at_links(metrics, w, "utilization", true);
}

static double link_bytes(const json_t *metrics, struct where w)
{
    return at_links(metrics, w, "bytes", false);
}

static double link_packets(const json_t *metrics, struct where w)
{
    return at_links(metrics, w, "packets", false);
}

static double any_metric(const json_t *metrics, struct where w)
{
    return number_at_path(metrics, w.place);
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

static double lowest_bandwidth(const json_t *metrics, struct where w)
{
    (void)w;
    return extreme_bandwidth(metrics, fmin);
}

static double highest_bandwidth(const json_t *metrics, struct where w)
{
    (void)w;
    return extreme_bandwidth(metrics, fmax);
}

// What ranks send that is not of the job.
static double idle_bytes(const json_t *metrics, struct where w)
{
    w.place = "rank*";
    return link_bytes(metrics, w);
}

// Packets of one message each, of the test of a pair.
#define PAIR_MESSAGES 256

static double message_rate(const json_t *metrics, struct where w)
{
    w.place = "";
    return PAIR_MESSAGES * 1e9 / job_time(metrics, w);
}

static const struct quantity {
    const char *name;
    double (*predict)(const json_t *metrics, struct where w);
    struct observed_reach reach;
    uint32_t messages, bytes; // of its own run between two ranks, or all; 0 = of the job's run
    const char *job;          // its own run is the job with this setting; NULL = it is not
} quantities[] = {
    {"goodput", goodput, {1, 0.02, false, 0}, 0, 0, NULL},
    {"fct", fct, {1, 0.02, false, 0}, 0, 0, NULL},
    {"time", job_time, {1, 0.02, false, 0}, 0, 0, NULL},
    {"busbw", busbw, {1, 0.02, false, 0}, 0, 0, NULL},
    {"drops", drops, {1, 0.3, true, 1}, 0, 0, NULL},
    {"marks", marks, {1, 0.3, true, 1}, 0, 0, NULL},
    {"cnps", cnps, {1, 0.3, true, 1}, 0, 0, NULL},
    {"pauses", pauses, {1, 0.3, true, 1}, 0, 0, NULL},
    {"timeouts", timeouts, {1, 0.3, true, 1}, 0, 0, NULL},
    {"naks", naks, {1, 0.3, true, 1}, 0, 0, NULL},
    {"nic_drops", nic_drops, {1, 0.3, true, 1}, 0, 0, NULL},
    {"retransmitted", retransmitted, {1, 0.3, true, 1}, 0, 0, NULL},
    {"max_queue", max_queue, {32768, 0.2, false, 0}, 0, 0, NULL},
    {"utilization", utilization, {0.01, 0.02, false, 1e-3}, 0, 0, NULL},
    {"bytes", link_bytes, {4096, 0.02, false, 4096}, 0, 0, NULL},
    {"packets", link_packets, {10, 0.02, false, 10}, 0, 0, NULL},
    {"metric", any_metric, {1, 0.1, false, 0}, 0, 0, NULL},
    {"latency", delivery, {1, 0.02, false, 0}, 1, 2, NULL},
    {"bandwidth", goodput, {1, 0.02, false, 0}, 1, 4000000, NULL},
    {"message_rate", message_rate, {1, 0.05, false, 0}, PAIR_MESSAGES, 64, NULL},
    {"lowest_bandwidth", lowest_bandwidth, {1, 0.02, false, 0}, 1, 4000000, NULL},
    {"highest_bandwidth", highest_bandwidth, {1, 0.02, false, 0}, 1, 4000000, NULL},
    {"idle_bytes", idle_bytes, {1e6, 0.02, false, 0}, 1, 2, NULL},
    {"small_time", job_time, {1, 0.02, false, 0}, 0, 0, ".bytes=8192B"},
};
enum { QUANTITIES = sizeof quantities / sizeof *quantities };

static const struct quantity *quantity_named(const char *name)
{
    for (size_t i = 0; i < QUANTITIES; i++)
        if (strcmp(quantities[i].name, name) == 0)
            return &quantities[i];
    return NULL;
}

// The counter of a name that is none of the quantities' own; NULL = there is none.
static const struct counter *counter_named(const char *name)
{
    return quantity_named(name) ? NULL : counter_of(name);
}

static const struct quantity *quantity_of(const char *name)
{
    const struct counter *counter = counter_named(name);
    return quantity_named(counter ? counter->quantity : name);
}

bool observed_same_quantity(const char *a, const char *b)
{
    return quantity_of(a) == quantity_of(b);
}

bool observed_is_quantity(const char *name) { return quantity_of(name) != NULL; }

const char *observed_words(void)
{
    static char words[352];
    size_t n = 0;
    for (size_t i = 0; i < QUANTITIES; i++)
        n += (size_t)snprintf(words + n, sizeof words - n, "%s%s", i ? ", " : "",
                              quantities[i].name);
    return words;
}

double observed_predict(const struct observed_value *v, const json_t *metrics)
{
    const struct counter *counter = counter_named(v->quantity);
    return quantity_of(v->quantity)
        ->predict(metrics, (struct where){v->place, counter && counter->other_end});
}

bool observed_is_of_messages(const struct observed_value *v)
{
    static double (*const of_messages[])(const json_t *, struct where) = {
        goodput, fct, delivery, lowest_bandwidth, highest_bandwidth};
    static double (*const counts[])(const json_t *, struct where) = {cnps, timeouts, retransmitted};
    const struct quantity *q = quantity_of(v->quantity);
    bool is = q->predict == any_metric; // any part of the results
    for (size_t i = 0; i < sizeof of_messages / sizeof *of_messages; i++)
        is |= q->predict == of_messages[i];
    for (size_t i = 0; i < sizeof counts / sizeof *counts && *v->place; i++)
        is |= q->predict == counts[i];
    return is;
}

struct observed_reach observed_reach(const struct observed_value *v)
{
    return quantity_of(v->quantity)->reach;
}

#define RANKS_TESTED 64   // of a test of many ranks
#define TEST_GAP_US 20000 // from one test to the next

char *observed_test_job(const char *quantity, const char *place)
{
    const struct quantity *q = quantity_of(quantity);
    unsigned a = 0, b = 0, far = 1;
    bool pair = sscanf(place, "rank%u->rank%u", &a, &b) == 2;
    struct text text;
    if (q->job)
        return memory_text(q->job);
    bool all = !pair && sscanf(place, "rank%u-%u+%u", &a, &b, &far) >= 2 && far > 0 && b > a &&
               b - a >= far;
    if (q->messages == 0 || (!pair && !all))
        return NULL;
    unsigned pairs = pair ? 1 : b - a - far + 1, step = pair ? 1 : (pairs - 1) / RANKS_TESTED + 1,
             n = pair ? q->messages : (pairs - 1) / step + 1;
    FILE *out = text_open(&text);
    fputs("={\"kind\":\"flows\",\"connections\":\"pair\",\"flows\":[", out);
    for (unsigned i = 0; i < n; i++)
        fprintf(out, "%s{\"src\":%u,\"dst\":%u,\"bytes\":\"%uB\",\"start\":\"%uus\"}", i ? "," : "",
                pair ? a : a + i * step, pair ? b : a + i * step + far, q->bytes,
                pair ? 0 : i * TEST_GAP_US);
    fputs("]}", out);
    return text_close(out, &text);
}

bool observed_is_test(const char *quantity)
{
    const struct quantity *q = quantity_of(quantity);
    return q && (q->messages > 0 || q->job);
}
