// SPDX-License-Identifier: MIT
// The metrics of messages and collectives.
#include "report/critical.h"
#include "report/metric_parts.h"
#include "sim/result/result.h"

// ---- flows ----

static const char *const flow_words[] = {"running", "completed", "failed"};

static bool took_time(const void *record)
{
    const struct flow_record *f = record;
    return f->fct_ps > 0;
}

static bool has_slowdown(const void *record)
{
    const struct flow_record *f = record;
    return f->fct_ps > 0 && f->ideal_ps > 0;
}

static double slowdown(const void *record)
{
    const struct flow_record *f = record;
    return (double)f->fct_ps / (double)f->ideal_ps;
}

static double goodput(const void *record)
{
    const struct flow_record *f = record;
    return (double)f->bytes * 8 / ((double)f->fct_ps / (double)PS_PER_S);
}

static bool was_delivered(const void *record)
{
    const struct flow_record *f = record;
    return f->delivered_ps >= 0;
}

static void write_life(struct json_writer *w, const void *record)
{
    const struct flow_record *f = record;
    causes_write(w, f->life_ps, f->delivered_ps);
}

static void write_dim(struct json_writer *w, const void *record)
{
    const struct flow_record *f = record;
    if (f->dim != FLOW_DIM_NONE)
        json_writer_integer(w, f->dim);
}

// Keys of messages from a capture; others do not have them.
static void write_measured(struct json_writer *w, const void *record)
{
    const struct flow_record *f = record;
    if (f->measured_ps > 0)
        json_writer_integer(w, ns_of_ps(f->measured_ps));
}

static void write_simulated(struct json_writer *w, const void *record)
{
    const struct flow_record *f = record;
    if (f->measured_ps == 0)
        return;
    if (f->simulated_ps > 0)
        json_writer_integer(w, ns_of_ps(f->simulated_ps));
    else
        json_writer_null(w);
}

static void write_measured_ratio(struct json_writer *w, const void *record)
{
    const struct flow_record *f = record;
    if (f->measured_ps == 0)
        return;
    if (f->simulated_ps > 0)
        json_writer_real(w, (double)f->simulated_ps / (double)f->measured_ps);
    else
        json_writer_null(w);
}

static const struct metric flow_rows[] = {
    {"id", METRIC_WORDS, "number of the message, in the order of posting",
     INTEGER(flow_record, id)},
    {"job", METRIC_WORDS, "index of its job in `workload`", INTEGER(flow_record, job)},
    {"qp", METRIC_WORDS,
     "number of its queue pair: the key of flows in `series`, a row of qpmap.csv",
     INTEGER(flow_record, qp)},
    {"src", METRIC_WORDS, "rank that sends", INTEGER(flow_record, src)},
    {"dst", METRIC_WORDS, "rank that receives", INTEGER(flow_record, dst)},
    {"dim", METRIC_WORDS,
     "only in a network of several dimensions: index of the one that the message crosses; the "
     "number of dimensions = several at once",
     .type = METRIC_CUSTOM, .write = write_dim},
    {"bytes", METRIC_BYTES, "payload", INTEGER(flow_record, bytes)},
    {"start_ns", METRIC_NS, "simulated time at which the message was posted",
     TIME(flow_record, start_ps)},
    {"fct_ns", METRIC_NS,
     "flow completion time: from posting to the last ACK at the sender; null = not completed",
     TIME(flow_record, fct_ps)},
    {"delivered_ns", METRIC_NS,
     "from posting to the last byte at the receiver; null = not delivered",
     TIME(flow_record, delivered_ps)},
    {"ideal_ns", METRIC_NS, "completion time of the message alone on an empty network",
     TIME(flow_record, ideal_ps)},
    {"slowdown", METRIC_RATIO, "fct_ns / ideal_ns", .type = METRIC_REAL, .real = slowdown,
     .known = has_slowdown},
    {"delivered_bytes", METRIC_BYTES, "payload delivered in order",
     INTEGER(flow_record, delivered_bytes)},
    {"goodput_bps", METRIC_BPS, "payload by fct_ns", .type = METRIC_ROUNDED, .real = goodput,
     .known = took_time},
    {"packets", METRIC_COUNT, "data packets sent, retransmissions included",
     INTEGER(flow_record, packets)},
    {"retransmitted_packets", METRIC_COUNT, "data packets sent again",
     INTEGER(flow_record, retransmitted)},
    {"cnps", METRIC_COUNT, "congestion notifications for the flow", INTEGER(flow_record, cnps)},
    {"timeouts", METRIC_COUNT, "retransmission timeouts", INTEGER(flow_record, timeouts)},
    {"time", METRIC_NS,
     "where the time from posting to delivery went; only what is not zero; null = not delivered",
     .type = METRIC_CUSTOM, .table = &life_table, .write = write_life, .known = was_delivered},
    {"status", METRIC_WORDS, "running, completed or failed", WORD(flow_record, status, flow_words)},
    {"measured_ns", METRIC_NS,
     "from the first to the last packet in the capture that the message is from; only of such "
     "messages, as are the next two",
     .type = METRIC_CUSTOM, .write = write_measured},
    {"simulated_ns", METRIC_NS,
     "the same here: delivered_ns less the time of the first packet alone; null = not delivered",
     .type = METRIC_CUSTOM, .write = write_simulated},
    {"measured_ratio", METRIC_RATIO, "simulated_ns / measured_ns", .type = METRIC_CUSTOM,
     .write = write_measured_ratio},
};
METRIC_TABLE(flow_table, flow_rows);

#define STATS(kind, unit)                                                                          \
    {"min", unit, "least", kind(stats, min)},                                                      \
        {"mean", unit, "arithmetic mean", kind(stats, mean)},                                      \
        {"p50", unit, "median", kind(stats, p50)},                                                 \
        {"p95", unit, "95th percentile", kind(stats, p95)},                                        \
        {"p99", unit, "99th percentile", kind(stats, p99)},                                        \
    {                                                                                              \
        "max", unit, "largest", kind(stats, max)                                                   \
    }
static const struct metric time_stats_rows[] = {STATS(ROUNDED, METRIC_NS)};
static const struct metric ratio_stats_rows[] = {STATS(REAL, METRIC_RATIO)};
METRIC_TABLE(time_stats_table, time_stats_rows);
METRIC_TABLE(ratio_stats_table, ratio_stats_rows);

static bool any_completed(const void *record)
{
    const struct flows_summary *s = record;
    return s->count != s->failed + s->running;
}

// A histogram as two lists; left out where every message has a record.
static void write_histogram(struct json_writer *w, const struct histogram *h)
{
    if (h->n == 0)
        return;
    json_writer_object(w);
    json_writer_key(w, "below");
    json_writer_list(w);
    for (size_t i = 0; i < h->n; i++)
        json_writer_real(w, h->bins[i].below);
    json_writer_end(w);
    json_writer_key(w, "count");
    json_writer_list(w);
    for (size_t i = 0; i < h->n; i++)
        json_writer_integer(w, (int64_t)h->bins[i].count);
    json_writer_end(w);
    json_writer_end(w);
}

static void write_fct_bins(struct json_writer *w, const void *record)
{
    write_histogram(w, &((const struct flows_summary *)record)->fct_ns_bins);
}

static void write_slowdown_bins(struct json_writer *w, const void *record)
{
    write_histogram(w, &((const struct flows_summary *)record)->slowdown_bins);
}

#define HISTOGRAM                                                                                  \
    ", above report.flows_max messages: `count` of messages for each upper edge `below`, 32 "      \
    "edges for each power of two, without empty bins"

static const struct metric summary_rows[] = {
    {"count", METRIC_COUNT, "messages posted", INTEGER(flows_summary, count)},
    {"failed", METRIC_COUNT, "messages whose retries were used up", INTEGER(flows_summary, failed)},
    {"running", METRIC_COUNT, "messages not completed at the end", INTEGER(flows_summary, running)},
    {"bytes", METRIC_BYTES, "payload posted", INTEGER(flows_summary, bytes)},
    {"fct_ns", METRIC_NS, "completion times of completed messages",
     OBJECT(flows_summary, fct_ns, time_stats_table), .known = any_completed},
    {"slowdown", METRIC_RATIO, "slowdowns of completed messages",
     OBJECT(flows_summary, slowdown, ratio_stats_table), .known = any_completed},
    {"fct_ns_histogram", METRIC_NS, "histogram of completion times" HISTOGRAM,
     .type = METRIC_CUSTOM, .write = write_fct_bins},
    {"slowdown_histogram", METRIC_RATIO, "histogram of slowdowns" HISTOGRAM, .type = METRIC_CUSTOM,
     .write = write_slowdown_bins},
    {"jain", METRIC_RATIO, "Jain's fairness index of goodputs: 1 = all equal, 1/n = one has all",
     REAL(flows_summary, jain), .known = any_completed},
};
METRIC_TABLE(summary_table, summary_rows);

static double ratio_of_sums(const void *record)
{
    const struct measured_summary *m = record;
    return m->simulated_ns / m->measured_ns;
}

static const struct metric measured_rows[] = {
    {"count", METRIC_COUNT, "messages from a capture that were delivered",
     INTEGER(measured_summary, count)},
    {"measured_ns", METRIC_NS, "sum over them", ROUNDED(measured_summary, measured_ns)},
    {"simulated_ns", METRIC_NS, "sum over them", ROUNDED(measured_summary, simulated_ns)},
    {"ratio", METRIC_RATIO, "simulated_ns / measured_ns", .type = METRIC_REAL,
     .real = ratio_of_sums},
    {"ratios", METRIC_RATIO, "measured_ratio of single messages",
     OBJECT(measured_summary, ratio, ratio_stats_table)},
};
METRIC_TABLE(measured_table, measured_rows);

// ---- collectives ----

static bool ended(const void *record)
{
    const struct collective_result *c = record;
    return c->end_ps >= 0;
}

static bool ended_with_ideal(const void *record)
{
    const struct collective_result *c = record;
    return c->end_ps >= 0 && c->ideal_ps >= 0;
}

static ps_t duration(const void *record)
{
    const struct collective_result *c = record;
    return c->end_ps - c->start_ps;
}

static bool is_on_path(const void *record)
{
    const struct phase_result *p = record;
    return p->critical.total_ps >= 0;
}

static const struct metric phase_rows[] = {
    {"dim", METRIC_WORDS, "index of the dimension; the number of dimensions = all ranks at once",
     INTEGER(phase_result, dim)},
    {"op", METRIC_WORDS, "operation along the dimension", TEXT(phase_result, op)},
    {"algorithm", METRIC_WORDS, "its algorithm", TEXT(phase_result, algorithm)},
    {"start_ns", METRIC_NS, "start of the first phase", TIME(phase_result, start_ps)},
    {"end_ns", METRIC_NS, "end of the last phase", TIME(phase_result, end_ps)},
    {"bytes", METRIC_BYTES, "sent by all ranks", INTEGER(phase_result, bytes)},
    {"messages", METRIC_COUNT, "sent by all ranks", INTEGER(phase_result, messages)},
    {"queueing_ns", METRIC_NS, "mean over ranks and chunks: ready, but the dimension was busy",
     TIME(phase_result, queueing_ps)},
    {"network_ns", METRIC_NS, "mean over messages: from posting to the last byte",
     TIME(phase_result, network_ps)},
    {"critical", METRIC_WORDS,
     "its part of the collective's critical path; null = that has not ended",
     OBJECT(phase_result, critical, critical_phase_table), .known = is_on_path},
};
static METRIC_TABLE(phase_table, phase_rows);

static const struct metric dim_rows[] = {
    {"bytes", METRIC_BYTES, "sent along the dimension", INTEGER(dim_result, bytes)},
    {"busy", METRIC_RATIO, "share of the collective's time in which a phase ran, mean over groups",
     REAL(dim_result, busy)},
};
static METRIC_TABLE(dim_table, dim_rows);

static bool has_critical(const void *record)
{
    const struct collective_result *c = record;
    return c->critical.known;
}

static bool has_library(const void *record)
{
    const struct collective_result *c = record;
    return c->library.channels > 0;
}

static bool has_algorithm(const void *record)
{
    return ((const struct executor_result *)record)->algorithm != NULL;
}

static bool has_threads(const void *record)
{
    return ((const struct executor_result *)record)->threads > 0;
}

static const struct metric nccl_rows[] = {
    {"algorithm", METRIC_WORDS,
     "in NCCL's words, or the name in its file; null = messages between pairs of ranks",
     TEXT(executor_result, algorithm), .known = has_algorithm},
    {"protocol", METRIC_WORDS, "LL, LL128 or Simple", TEXT(executor_result, protocol)},
    {"channels", METRIC_COUNT, "that have data", INTEGER(executor_result, channels)},
    {"threads", METRIC_COUNT, "of a channel; null = not known", INTEGER(executor_result, threads),
     .known = has_threads},
    {"chunk_bytes", METRIC_BYTES, "of the first channel; of a file, what a loop handles of a chunk",
     INTEGER(executor_result, chunk_bytes), .known = has_algorithm},
};
static METRIC_TABLE(executor_table, nccl_rows);

static const struct metric collective_rows[] = {
    {"job", METRIC_WORDS, "index of its job in `workload`", INTEGER(collective_result, job)},
    {"name", METRIC_WORDS, "of the job, or of the layer", TEXT(collective_result, name)},
    {"op", METRIC_WORDS, "operation", TEXT(collective_result, op)},
    {"algorithm", METRIC_WORDS, "one name, or one a dimension joined by +; or the library",
     TEXT(collective_result, algorithm)},
    {"library", METRIC_WORDS, "what the library has chosen; null = no library",
     OBJECT(collective_result, library, executor_table), .known = has_library},
    {"ranks", METRIC_COUNT, "ranks that take part", INTEGER(collective_result, ranks)},
    {"bytes", METRIC_BYTES, "largest buffer of a rank (NCCL)", INTEGER(collective_result, bytes)},
    {"start_ns", METRIC_NS, "when its first rank began", TIME(collective_result, start_ps)},
    {"end_ns", METRIC_NS, "when its last rank had its last byte", TIME(collective_result, end_ps)},
    {"duration_ns", METRIC_NS, "end_ns - start_ns", .type = METRIC_TIME, .time = duration,
     .known = ended},
    {"algbw_bps", METRIC_BPS, "bytes by duration (NCCL tests)",
     ROUNDED(collective_result, algbw_bps), .known = ended},
    {"busbw_bps", METRIC_BPS,
     "algbw times the operation's bus factor, 2 (n-1)/n of an all-reduce (NCCL tests); of the "
     "whole buffers, so above the ports' rate where sparse algorithms or wire_precision send "
     "less, and in closed form where several chunks are under way at once, which `explain` says",
     ROUNDED(collective_result, busbw_bps), .known = ended},
    {"ideal_ns", METRIC_NS, "time of the same steps on an empty network; null = not known",
     TIME(collective_result, ideal_ps)},
    {"efficiency", METRIC_RATIO, "ideal_ns / duration_ns", REAL(collective_result, efficiency),
     .known = ended_with_ideal},
    {"critical", METRIC_WORDS, "its critical path, from start_ns to end_ns; null = has not ended",
     OBJECT(collective_result, critical, critical_table), .known = has_critical},
    {"phases", METRIC_WORDS, "all chunks' phases of one operation along one dimension",
     LIST(collective_result, phases, n_phases, phase_table)},
    {"dims", METRIC_WORDS, "use of the dimensions",
     LIST(collective_result, dims, n_dims, dim_table)},
};
METRIC_TABLE(collective_table, collective_rows);
