// SPDX-License-Identifier: MIT
// collwire synth: a new set of programs, or a new list of flows, with the statistics of a set.
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/replay/replay.h"
#include "cli/results/output.h"
#include "cli/synth/synth_cli.h"
#include "cli/synth/synth_traffic.h"
#include "cli/terminal/terminal.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "workload/read/flow_file.h"

/* ---- traffic command ---- */

// Lists of flows, from CSV files and from captures.

#define RANKS_MOST 262144
#define GAP_NS 1000000 // pauses of a connection that divide its transfers (collwire replay)

struct flow_table {
    struct raw_flow *flows;
    size_t n;
};

/* ---- reading ---- */

static void read_capture(struct flow_table *t, const char *path, struct err *err)
{
    struct replay r = {0};
    if (replay_read(&r, path, GAP_NS, NULL, err) == 0) {
        replay_rank(&r, NULL);
        t->n = r.flows.n_rows;
        t->flows = memory_zeroed(t->n + 1, sizeof *t->flows);
        for (size_t i = 0; i < t->n; i++)
            t->flows[i] = (struct raw_flow){.src = r.flows.rows[i].src,
                                            .dst = r.flows.rows[i].dst,
                                            .bytes = r.flows.rows[i].bytes,
                                            .start_ps = r.flows.rows[i].start_ns * PS_PER_NS};
        if (r.failure != NULL)
            err_add(err, path, "cannot be read to its end: %s", r.failure);
    }
    replay_free(&r);
    if (t->n == 0 && err->n_errors == 0)
        err_add(err, path, "has no message of RoCEv2 or TCP that can be a flow");
}

static void read_flows(struct flow_table *t, const char *path, struct err *err)
{
    size_t n = strlen(path);
    if (n > 4 && strcmp(path + n - 4, ".csv") == 0)
        t->flows = flow_file_read(&(struct flow_file){".", path, path, 0}, &t->n, err);
    else
        read_capture(t, path, err);
    for (size_t i = 0; i < t->n && err->n_errors == 0; i++)
        if (t->flows[i].src >= RANKS_MOST || t->flows[i].dst >= RANKS_MOST)
            err_add(err, path, "flow %zu is of a rank above %d", i + 1, RANKS_MOST - 1);
}

/* ---- drawing ---- */

static uint32_t ranks_of(const struct flow_table *t)
{
    uint32_t most = 0;
    for (size_t i = 0; i < t->n; i++) {
        most = t->flows[i].src > most ? t->flows[i].src : most;
        most = t->flows[i].dst > most ? t->flows[i].dst : most;
    }
    return most + 1;
}

// Lists for `replicas` times the ranks, each with draws of its own, all beginning together.
static struct flow_table draw(struct flow_table *from, size_t n, uint32_t replicas, uint32_t ranks,
                              uint64_t seed)
{
    struct flow_table made = {memory_zeroed(n, sizeof *made.flows), n};
    size_t first = 0;
    for (uint32_t j = 0; j < replicas; j++) {
        size_t each = n / replicas + (j < n % replicas);
        struct raw_flow *part = &made.flows[first];
        first += each;
        traffic_draw(from->flows, from->n, part, each, seed, j);
        for (size_t i = 0; i < each; i++) {
            part[i].src += j * ranks;
            part[i].dst += j * ranks;
        }
    }
    traffic_sort(made.flows, made.n);
    return made;
}

static void put_flows(FILE *out, const void *ctx)
{
    const struct flow_table *t = ctx;
    fputs("src,dst,bytes,start_ns\n", out);
    for (size_t i = 0; i < t->n; i++)
        fprintf(out, "%u,%u,%llu,%lld\n", t->flows[i].src, t->flows[i].dst,
                (unsigned long long)t->flows[i].bytes,
                (long long)(t->flows[i].start_ps / PS_PER_NS));
}

static void print_statistics(const struct options *o, const struct flow_table *from,
                             const struct flow_table *made)
{
    struct traffic_statistics a = traffic_measure(from->flows, from->n),
                              b = traffic_measure(made->flows, made->n);
    const struct synth_measure rows[] = {
        {"flows", a.flows, b.flows},
        {"ranks", a.ranks, b.ranks},
        {"from first to last start, s", a.span_s, b.span_s},
        {"flows in a second", a.flows_per_s, b.flows_per_s},
        {"bytes in a second", a.bytes_per_s, b.bytes_per_s},
        {"gaps, deviation over mean", a.gap_spread, b.gap_spread},
        {"flows in 100 gaps, variance over mean", a.burst, b.burst},
        {"size, mean", a.size_mean, b.size_mean},
        {"size, median", a.size_50, b.size_50},
        {"size, 90 %", a.size_90, b.size_90},
        {"size, 99 %", a.size_99, b.size_99},
        {"largest sender's share", a.top_source, b.top_source},
        {"largest receiver's share", a.top_destination, b.top_destination},
    };
    synth_print(o, rows, sizeof rows / sizeof *rows, "statistic");
}

static void check_options(const struct options *o, struct err *err)
{
    static const char why[] = "is for sets of programs, not for lists of flows";
    if (o->scale != NULL)
        err_add(err, "--scale", why);
    if (o->repeat > 0)
        err_add(err, "--repeat", "is for sets of programs; lists of flows take --flows");
    if (o->grow != NULL)
        err_add(err, "--grow", why);
    if (o->network != NULL)
        err_add(err, "--network", why);
}

// The seed of --seed, which is a setting of scenarios for other commands.
static uint64_t seed_of(const struct options *o, struct err *err)
{
    uint64_t seed = 1;
    for (size_t i = 0; i < o->n_sets; i++)
        if (strcmp(o->sets[i].path, "seed") != 0)
            err_add(err, "--set", "is for scenarios, not for lists of flows");
        else if (parse_count(o->sets[i].value, &seed) != 0)
            err_add(err, "--seed", "%s is not a count", o->sets[i].value);
    return seed;
}

static int synth_traffic(const struct options *o, const char *path, struct err *err)
{
    struct flow_table from = {0}, made = {0};
    int code = EXIT_BAD_USE;
    check_options(o, err);
    uint64_t seed = seed_of(o, err);
    if (err->n_errors == 0)
        read_flows(&from, path, err);
    uint32_t ranks = err->n_errors == 0 ? ranks_of(&from) : 1,
             wanted = o->ranks > 0 ? (uint32_t)o->ranks : ranks;
    if (wanted % ranks != 0)
        err_add(err, "--ranks", "must be a multiple of the %u ranks of the flows", ranks);
    if (err->n_errors == 0) {
        size_t n = o->flows > 0 ? (size_t)o->flows : from.n * (wanted / ranks);
        made = draw(&from, n, wanted / ranks, ranks, seed);
        code = output_write(o->file, put_flows, &made);
    }
    if (code == EXIT_DONE) {
        print_statistics(o, &from, &made);
        if (o->format != FORMAT_JSON && !o->quiet)
            path_print(stdout, "flows: %s\n", o->file);
    }
    free(from.flows);
    free(made.flows);
    return code;
}

/* ---- synth command ---- */

static bool ends(const char *path, const char *with)
{
    size_t n = strlen(path), m = strlen(with);
    return n >= m && strcmp(path + n - m, with) == 0;
}

static bool is_traffic(const char *path)
{
    return ends(path, ".csv") || ends(path, ".pcap") || ends(path, ".pcapng") ||
           ends(path, ".pcap.gz") || ends(path, ".pcapng.gz");
}

static json_t *number(double value) { return isnan(value) ? json_null() : json_real(value); }

static void print_json(const struct synth_measure *measures, size_t n)
{
    json_t *rows = json_array(), *root = json_pack("{s:o}", "measures", rows);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(rows, json_pack("{s:s, s:o, s:o}", "measure", measures[i].name,
                                              "source", number(measures[i].source), "synthetic",
                                              number(measures[i].made)));
    json_dumpf(root, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    fputc('\n', stdout);
    json_decref(root);
}

static void print_value(double value)
{
    if (isnan(value))
        printf("  %16s", "");
    else if (value >= 1e15 || (fabs(value) < 1e-3 && value != 0))
        printf("  %16.4g", value);
    else if (value == floor(value))
        printf("  %16.0f", value);
    else
        printf("  %16.3f", value);
}

void synth_print(const struct options *o, const struct synth_measure *measures, size_t n,
                 const char *of)
{
    if (o->format == FORMAT_JSON) {
        print_json(measures, n);
        return;
    }
    if (o->quiet)
        return;
    printf("%-40s  %16s  %16s  %8s\n", of, "source", "synthetic", "change");
    for (size_t i = 0; i < n; i++) {
        const struct synth_measure *m = &measures[i];
        printf("%-40s", m->name);
        print_value(m->source);
        print_value(m->made);
        if (m->source > 0 && !isnan(m->made))
            printf("  %+6.1f %%", 100 * (m->made / m->source - 1));
        fputc('\n', stdout);
    }
}

static int command_synth(const struct options *o)
{
    struct err err = {0};
    int code = EXIT_BAD_USE;
    const char *path = scenario_argument(o);
    if (path == NULL)
        return EXIT_BAD_USE;
    if (o->file == NULL)
        err_add(&err, "-o", "is required: the file to write");
    else
        code = is_traffic(path) ? synth_traffic(o, path, &err) : synth_program(o, path, &err);
    errors_print(&err);
    return code;
}

/* ---- its row ---- */

static const char synth_text[] =
    "Makes a new set of programs with the statistics of a set: the order of operations, their "
    "dependencies, sizes and groups are kept; times are drawn from a model of them (the base of a "
    "computation, the speed of a rank, and what is left); names become hashes. FILE is a scenario "
    "whose job is a program of nodes (of kind program, chakra, llm, cnn, goal); -o NAME.json "
    "writes the scenario, and NAME.jsonl with the nodes. --seed draws another set.\n\n"
    "FILE may be a list of flows (CSV as collwire replay writes it) or a capture: the new list "
    "keeps distributions of arrivals, sizes and pairs, and what belongs together in bursts.\n\n"
    "stdout has the statistics of both side by side.\n\n"
    "  collwire synth traces.json -o like.json --seed 7\n"
    "  collwire synth traces.json -o large.json --ranks 1024 --scale hidden=2\n"
    "  collwire synth flows.csv -o more.csv --flows 100000";

const struct command synth_command = {
    .name = "synth",
    .help = "a new set of traces or flows with the statistics of others",
    .args = "FILE",
    .text = synth_text,
    .run = command_synth,
    .completes = COMPLETE_FILES,
};
