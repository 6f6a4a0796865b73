// SPDX-License-Identifier: MIT
// The tables of files and the top level of metrics.json; its parts are in metric_flows.c,
// metric_fabric.c and metric_training.c. One entry per metric: key, unit, meaning, and field of the
// record.
#include "report/metric_table.h"

#include "report/metric_json.h"
#include "report/metric_parts.h"
#include "report/series.h"

// ---- series ----

static const struct metric series_rows[] = {
    {"t_ns", METRIC_NS, "times of the samples", .type = METRIC_CUSTOM},
    {"queue_bytes", METRIC_BYTES, "queue of an output port, by place", .type = METRIC_CUSTOM},
    {"rate_bps", METRIC_BPS, "rate that the policy allows, by queue pair", .type = METRIC_CUSTOM},
    {"cwnd_bytes", METRIC_BYTES, "window that the policy allows, by queue pair; null = unlimited",
     .type = METRIC_CUSTOM},
    {"paused", METRIC_WORDS, "1 = a class of the output port is paused, by place",
     .type = METRIC_CUSTOM},
    {"observe", METRIC_WORDS, "what the policy shows of its state, by queue pair and name",
     .type = METRIC_CUSTOM},
};
METRIC_TABLE(series_table, series_rows);

static void write_series(struct json_writer *w, const void *record)
{
    const struct result *r = record;
    if (r->series)
        series_write(w, r->series);
}

static const struct metric thinned_rows[] = {
    {"asked_ns", METRIC_NS, "between samples, as report.sample gives it", TIME(series, asked_ps)},
    {"step_ns", METRIC_NS, "between the samples that were kept", TIME(series, step_ps)},
    {"queue_pairs", METRIC_COUNT, "of the run", INTEGER(series, n_flows)},
    {"queue_pairs_left_out", METRIC_COUNT,
     "without series, so that those of ports have all samples", INTEGER(series, n_left_out)},
};
static METRIC_TABLE(thinned_table, thinned_rows);

static void write_thinned(struct json_writer *w, const void *record)
{
    const struct series *s = ((const struct result *)record)->series;
    if (s && series_thinned(s))
        metric_write(w, &thinned_table, s);
}

// ---- metrics.json ----

static const char *const status_words[] = {"completed", "incomplete", "interrupted"};

static size_t collectives_written(const void *record)
{
    const struct result *r = record;
    return r->collectives_complete ? r->n_collectives : 0;
}

// The list is left out if there are more messages than report.flows_max.
static size_t flows_written(const void *record)
{
    const struct metrics_record *m = record;
    size_t n = m->result.flows_complete ? m->result.n_flows : 0;
    return m->brief && m->result.measured.count == 0 && n > 1 ? 1 : n;
}

static size_t ranks_written(const void *record)
{
    const struct metrics_record *m = record;
    return m->brief && m->result.n_ranks > 1 ? 1 : m->result.n_ranks;
}

static size_t links_written(const void *record)
{
    const struct metrics_record *m = record;
    return m->brief && m->result.n_ports > 1 ? 1 : m->result.n_ports;
}

static void write_null(struct json_writer *w, const void *record)
{
    (void)record;
    json_writer_null(w);
}

static void write_slowest(struct json_writer *w, const void *record)
{
    const struct result *r = record;
    if (r->last)
        metric_write(w, &slowest_table, r->last);
    else
        json_writer_null(w);
}

// Only where the network is hybrid.
static void write_hybrid(struct json_writer *w, const void *record)
{
    const struct result *r = record;
    if (r->hybrid)
        metric_write(w, &hybrid_table, r->hybrid);
}

// Only where messages are from a capture.
static void write_measured(struct json_writer *w, const void *record)
{
    const struct result *r = record;
    if (r->measured.count > 0)
        metric_write(w, &measured_table, &r->measured);
}

// Only where collectives were measured in a real run.
static void write_measured_collectives(struct json_writer *w, const void *record)
{
    const struct result *r = record;
    if (r->measured_collectives.n > 0)
        metric_write(w, &measured_collectives_table, &r->measured_collectives);
}

// Only where a file stands beside.
static void write_against(struct json_writer *w, const void *record)
{
    const struct result *r = record;
    if (r->against.kind != NULL)
        metric_write(w, &against_table, &r->against);
}

// Only where a job says what its ranks need.
static void write_memory(struct json_writer *w, const void *record)
{
    const struct result *r = record;
    if (r->memory.n_classes > 0)
        metric_write(w, &memory_table, &r->memory);
}

static size_t only_training(const void *record)
{
    const struct result *r = record;
    return r->n_trainings == 1;
}

static void write_scenario(struct json_writer *w, const void *record)
{
    const struct metrics_record *m = record;
    json_t *resolved = json_loads(m->scenario, 0, NULL);
    if (resolved)
        json_writer_value(w, resolved);
    else
        json_writer_null(w);
    json_decref(resolved);
}

static const struct metric metrics_rows[] = {
    {"schema", METRIC_WORDS, "version of this file's keys", TEXT(metrics_record, schema)},
    {"name", METRIC_WORDS, "of the scenario", TEXT(result, name)},
    {"seed", METRIC_WORDS, "of the scenario", INTEGER(result, seed)},
    {"status", METRIC_WORDS, "completed, incomplete or interrupted",
     WORD(result, status, status_words)},
    {"reason", METRIC_WORDS, "why the run is incomplete; null = it is not", TEXT(result, reason)},
    {"waiting", METRIC_WORDS, "sentences: who waits for whom, where a run did not complete",
     TEXTS(result, waiting, n_waiting)},
    {"sim_time_ns", METRIC_NS, "simulated time at the end", TIME(result, sim_time_ps)},
    {"flows", METRIC_WORDS, "a record a message; empty above report.flows_max messages",
     LIST(result, flows, n_flows, flow_table), .count = flows_written},
    {"flows_summary", METRIC_WORDS, "over all messages", OBJECT(result, summary, summary_table)},
    {"measured", METRIC_WORDS,
     "messages from a capture, measured there and simulated here (docs/replay.md); over those in "
     "`flows`; only where there are any",
     .type = METRIC_CUSTOM, .table = &measured_table, .write = write_measured},
    {"measured_collectives", METRIC_WORDS,
     "collectives of programs that were measured in a real run, and simulated here "
     "(docs/traces.md): from the begin of the last member to the end; only where there are any",
     .type = METRIC_CUSTOM, .table = &measured_collectives_table,
     .write = write_measured_collectives},
    {"against", METRIC_WORDS,
     "times of a file of measurements beside those here (`run --against`); only where there is one",
     .type = METRIC_CUSTOM, .table = &against_table, .write = write_against},
    {"collectives", METRIC_WORDS, "a record a collective; empty above report.collectives_max",
     LIST(result, collectives, n_collectives, collective_table), .count = collectives_written},
    {"slowest", METRIC_WORDS,
     "what ended last, and where its time went along its critical path; null = nothing has ended",
     .type = METRIC_CUSTOM, .table = &slowest_table, .write = write_slowest},
    {"training", METRIC_WORDS,
     "of the training job; null = there is none, or there are several (then see `jobs`)",
     ONE_OR_LIST(result, trainings, n_trainings, training_table), .count = only_training},
    {"programs", METRIC_WORDS, "a record for each job that is a program",
     LIST(result, programs, n_programs, program_table)},
    {"ranks", METRIC_WORDS, "a record for each rank of training jobs and programs",
     LIST(result, ranks, n_ranks, rank_table), .count = ranks_written},
    {"memory", METRIC_WORDS,
     "memory of a GPU that the jobs need (docs/memory.md); only where it is known of one",
     .type = METRIC_CUSTOM, .table = &memory_table, .write = write_memory},
    {"jobs", METRIC_WORDS, "a record a job", LIST(result, jobs, n_jobs, job_table)},
    {"pfc", METRIC_WORDS, "priority flow control", PART_OF(result, pfc_table)},
    {"credits", METRIC_WORDS, "flow control by credits (`switch.flow_control`)",
     PART_OF(result, credits_table)},
    {"ecn", METRIC_WORDS, "marking", PART_OF(result, ecn_table)},
    {"cnps", METRIC_COUNT,
     "CNPs sent by all receivers; with transport.cnp per_ack the marks echoed on ACKs",
     INTEGER(result, cnps)},
    {"tcp", METRIC_WORDS, "TCP connections; null = there are none",
     ONE_OR_LIST(result, tcp, n_tcp, tcp_table)},
    {"uec", METRIC_WORDS, "Ultra Ethernet connections; null = there are none",
     ONE_OR_LIST(result, uec, n_uec, uec_table)},
    {"admission", METRIC_WORDS, "clear-to-send admission; null = no transport has it",
     ONE_OR_LIST(result, admission, n_admission, admission_table)},
    {"cc_cuts", METRIC_COUNT, "times a policy lowered a rate or a window",
     INTEGER(result, cc_cuts)},
    {"drops", METRIC_WORDS, "packets that were lost", PART_OF(result, drops_table)},
    {"trims", METRIC_WORDS, "packets that lost their payload in switches",
     PART_OF(result, trims_table)},
    {"link_retry", METRIC_WORDS, "link-level retry (`switch.llr`)", PART_OF(result, retry_table)},
    {"recovery", METRIC_WORDS, "of lost packets", PART_OF(result, recovery_table)},
    {"link_changes", METRIC_WORDS, "links that failed or came back, and when routes followed",
     LIST(result, changes, n_changes, change_table)},
    {"queues", METRIC_WORDS, "at switches", PART_OF(result, queues_table)},
    {"links", METRIC_WORDS, "every direction of every link",
     LIST(result, ports, n_ports, link_table), .count = links_written},
    {"nics", METRIC_WORDS, "NICs that are not ideal (`nic`), by dimension and rank",
     LIST(result, nics, n_nics, nic_table)},
    {"aggregators", METRIC_WORDS, "reductions in switches, by aggregator",
     LIST(result, aggregators, n_aggregators, aggregator_table)},
    {"hybrid", METRIC_WORDS, "what was sent in closed form; only of a hybrid network",
     .type = METRIC_CUSTOM, .table = &hybrid_table, .write = write_hybrid},
    {"packet_hops", METRIC_COUNT, "transmissions over links, links of NICs included",
     INTEGER(result, packet_hops)},
    {"trials", METRIC_WORDS,
     "completed or interrupted: whether all trials of `reasons` have ended; null = none was made",
     .type = METRIC_CUSTOM, .write = write_null},
    {"explain", METRIC_WORDS, "sentences made from the counters",
     TEXTS(result, explain, n_explain)},
    {"reasons", METRIC_WORDS,
     "what cost time among the explanations: first what was tried, by what it saved",
     LIST(result, reasons, n_reasons, cost_table)},
    {"series", METRIC_WORDS, "with report.sample: state over time, lists of equal length",
     .type = METRIC_CUSTOM, .table = &series_table, .write = write_series},
    {"thinned", METRIC_WORDS, "only where `series` has less than report.sample wants",
     .type = METRIC_CUSTOM, .table = &thinned_table, .write = write_thinned},
    {"scenario", METRIC_WORDS, "the resolved scenario, every default filled in",
     .type = METRIC_CUSTOM, .write = write_scenario},
};
METRIC_TABLE(metrics_table, metrics_rows);

// ---- run.json ----

static double per_second(uint64_t n, const struct result *r)
{
    return (double)n / (r->cpu_s > 0 ? r->cpu_s : 1e-9);
}

static double event_rate(const void *record)
{
    const struct result *r = record;
    return per_second(r->events, r);
}

static double hop_rate(const void *record)
{
    const struct result *r = record;
    return per_second(r->packet_hops, r);
}

static const struct metric version_rows[] = {
    {"collwire", METRIC_WORDS, "this program", TEXT(run_record, version)},
    {"compiler", METRIC_WORDS, "that built it", TEXT(run_record, compiler)},
    {"jansson", METRIC_WORDS, "library that writes JSON", TEXT(run_record, jansson)},
};
static METRIC_TABLE(version_table, version_rows);

static bool was_triggered(const void *record)
{
    return ((const struct capture_result *)record)->trigger_ps >= 0;
}

static const struct metric capture_rows[] = {
    {"file", METRIC_WORDS, "name of the capture", TEXT(capture_result, file)},
    {"packets", METRIC_COUNT, "packets written", INTEGER(capture_result, packets)},
    {"trigger_ns", METRIC_NS,
     "simulated time of its trigger; null = there is none, or its event did not happen",
     TIME(capture_result, trigger_ps), .known = was_triggered},
};
static METRIC_TABLE(capture_table, capture_rows);

static const struct metric plugin_rows[] = {
    {"file", METRIC_WORDS, "as named", TEXT(plugin_result, file)},
    {"sha256", METRIC_WORDS, "of its bytes", TEXT(plugin_result, sha256)},
};
static METRIC_TABLE(plugin_table, plugin_rows);

static const struct metric file_rows[] = {
    {"name", METRIC_WORDS, "in the output directory", .type = METRIC_CUSTOM},
    {"bytes", METRIC_BYTES, "its size", .type = METRIC_CUSTOM},
    {"sha256", METRIC_WORDS, "of its bytes", .type = METRIC_CUSTOM},
};
static METRIC_TABLE(file_table, file_rows);

static bool has_parts(const void *record)
{
    return ((const struct threads_result *)record)->used > 1;
}

static bool has_windows(const void *record)
{
    return ((const struct threads_result *)record)->windows > 0;
}

static const struct metric threads_rows[] = {
    {"processes", METRIC_COUNT, "processes of the run", INTEGER(threads_result, processes)},
    {"used", METRIC_COUNT, "threads of each process", INTEGER(threads_result, used)},
    {"note", METRIC_WORDS,
     "why there were fewer than --threads, or what the cut costs; null = nothing to say",
     TEXT(threads_result, note)},
    {"tiles", METRIC_COUNT,
     "parts of the network, each processed to the end of a window before the next; 1 = none",
     INTEGER(threads_result, tiles)},
    {"windows", METRIC_COUNT, "windows of time, at whose ends threads meet",
     INTEGER(threads_result, windows), .known = has_windows},
    {"window_ns", METRIC_NS, "length of a window at most: the least time between two parts",
     TIME(threads_result, lookahead_ps), .known = has_windows},
    {"events_per_window", METRIC_COUNT, "events by windows",
     REAL(threads_result, events_per_window), .known = has_windows},
    {"parallel", METRIC_RATIO, "share of the windows that the threads processed together",
     REAL(threads_result, parallel), .known = has_parts},
    {"waiting", METRIC_RATIO, "share of these windows' time in which threads waited for others",
     REAL(threads_result, waiting), .known = has_parts},
    {"imbalance", METRIC_RATIO, "in them, events of the busiest part by those of the mean part",
     REAL(threads_result, imbalance), .known = has_parts},
    {"crossings", METRIC_COUNT,
     "packets, and credit without a packet, that went from one part to another",
     INTEGER(threads_result, crossings), .known = has_parts},
};
static METRIC_TABLE(threads_table, threads_rows);

static const struct metric mark_rows[] = {
    {"name", METRIC_WORDS, "of the scenario", .type = METRIC_CUSTOM},
    {"policy", METRIC_WORDS, "of the scenario", .type = METRIC_CUSTOM},
    {"sha256", METRIC_WORDS, "of the resolved scenario and the files that it names",
     .type = METRIC_CUSTOM},
};
static METRIC_TABLE(mark_table, mark_rows);

// cli/runs/simulate.c adds the scenario, and cli/results/result_set.c adds command, id and files
// when all files have been written.
static const struct metric run_rows[] = {
    {"versions", METRIC_WORDS, "of the program and what it was built with",
     PART_OF(run_record, version_table)},
    {"wall_s", METRIC_SECONDS, "from the first to the last event", REAL(result, wall_s)},
    {"cpu_s", METRIC_SECONDS, "time of CPU from the first to the last event", REAL(result, cpu_s)},
    {"events", METRIC_COUNT, "events run", INTEGER(result, events)},
    {"events_per_s", METRIC_COUNT, "events by cpu_s", .type = METRIC_ROUNDED, .real = event_rate},
    {"packet_hops", METRIC_COUNT, "transmissions over links, links of NICs included",
     INTEGER(result, packet_hops)},
    {"packet_hops_per_s", METRIC_COUNT, "packet_hops by cpu_s", .type = METRIC_ROUNDED,
     .real = hop_rate},
    {"peak_rss_bytes", METRIC_BYTES,
     "largest resident memory of the process, up to the writing of this file, the last one",
     INTEGER(result, peak_rss_bytes)},
    {"memory_limit_bytes", METRIC_BYTES, "memory at which the run would have ended",
     INTEGER(result, memory_limit_bytes)},
    {"threads", METRIC_WORDS, "how the run was shared out among threads",
     OBJECT(result, threads, threads_table)},
    {"captures", METRIC_WORDS, "captures written",
     LIST(result, captures, n_captures, capture_table)},
    {"plugins", METRIC_WORDS, "files of policies that were loaded",
     LIST(result, plugins, n_plugins, plugin_table)},
    {"scenario", METRIC_WORDS, "what the run was of", .type = METRIC_CUSTOM, .table = &mark_table},
    {"folder", METRIC_WORDS, "that file names in the scenario are relative to",
     .type = METRIC_CUSTOM},
    {"command", METRIC_WORDS, "command line that wrote the set", .type = METRIC_CUSTOM},
    {"id", METRIC_WORDS, "of this run: every set of results has another", .type = METRIC_CUSTOM},
    {"files", METRIC_WORDS, "the other files of the set, as a list", .type = METRIC_CUSTOM,
     .table = &file_table},
};
METRIC_TABLE(run_table, run_rows);

// ---- the files ----

const struct metric_file metric_files[] = {
    {"metrics.json", "the results: the same scenario and seed give the same bytes", &metrics_table},
    {"run.json", "what depends on the machine", &run_table},
    {"EndToEnd.csv", "training jobs: a row a layer, times in us (columns of ASTRA-sim 1.0)",
     &end_to_end_table},
    {"detailed.csv",
     "training jobs: a row a layer, means of its phases in us (columns of ASTRA-sim 1.0)",
     &detailed_table},
    {"phases.csv", "training jobs: a row for all phases of one kind of a part of a layer",
     &phases_table},
    {"dimensions.csv", "training jobs: a row a step of time and dimension", &dimensions_table},
};
const size_t n_metric_files = sizeof metric_files / sizeof *metric_files;
