// SPDX-License-Identifier: MIT
// The metrics of critical paths: where the time of a run, a collective or a message went.
#include "report/critical.h"

#include "report/metric_parts.h"
#include "sim/result/result.h"

#define ROW(constant, key, help, words) {key "_ns", METRIC_NS, help, .type = METRIC_CUSTOM},
static const struct metric cause_rows[] = {PATH_LIST(ROW)};
#undef ROW
METRIC_TABLE(life_table, cause_rows);

void causes_write(struct json_writer *w, const ps_t parts[PATH_CAUSES], ps_t total_ps)
{
    int64_t ns[PATH_CAUSES], rest = ns_of_ps(total_ps);
    unsigned largest = 0;
    for (unsigned cause = 0; cause < PATH_CAUSES; cause++) {
        ns[cause] = ns_of_ps(parts[cause]);
        rest -= ns[cause];
        largest = parts[cause] > parts[largest] ? cause : largest;
    }
    ns[largest] += rest;
    json_writer_object(w);
    for (unsigned cause = 0; cause < PATH_CAUSES; cause++)
        if (ns[cause] != 0) {
            json_writer_key(w, cause_rows[cause].key);
            json_writer_integer(w, ns[cause]);
        }
    json_writer_end(w);
}

static void write_parts(struct json_writer *w, const void *record)
{
    const struct critical_result *c = record;
    causes_write(w, c->parts, c->total_ps);
}

#define WORD_OF(constant, key, help, words) key,
static const char *const cause_words[] = {PATH_LIST(WORD_OF)};
#undef WORD_OF

static const struct metric place_rows[] = {
    {"at", METRIC_WORDS, "output port, flow or rank", TEXT(critical_place, at)},
    {"cause", METRIC_WORDS, "key of `parts` without its unit",
     WORD(critical_place, cause, cause_words)},
    {"ns", METRIC_NS, "time", TIME(critical_place, ps)},
};
static METRIC_TABLE(place_table, place_rows);

#define PLACES_ERROR "the most by which the time of a place may be too small; 0 = all are exact"
static const struct metric critical_rows[] = {
    {"total_ns", METRIC_NS, "sum of the parts", TIME(critical_result, total_ps)},
    {"parts", METRIC_NS, "time by cause; only what is not zero", .type = METRIC_CUSTOM,
     .table = &life_table, .write = write_parts},
    {"places", METRIC_WORDS, "the largest times by place, the largest first",
     LIST(critical_result, places, n_places, place_table)},
    {"elsewhere_ns", METRIC_NS, "time at other places", TIME(critical_result, elsewhere_ps)},
    {"places_error_ns", METRIC_NS, PLACES_ERROR, TIME(critical_result, error_ps)},
};
METRIC_TABLE(critical_table, critical_rows);

static void write_stage(struct json_writer *w, const void *record)
{
    const struct critical_stage *s = record;
    causes_write(w, s->parts, s->total_ps);
}

#define STAGE_ROWS                                                                                 \
    {"total_ns", METRIC_NS, "sum of the parts", TIME(critical_stage, total_ps)},                   \
    {                                                                                              \
        "parts", METRIC_NS, "time by cause; only what is not zero",                                \
            .type = METRIC_CUSTOM, .table = &life_table, .write = write_stage                      \
    }
static const struct metric phase_rows[] = {STAGE_ROWS};
METRIC_TABLE(critical_phase_table, phase_rows);
static const struct metric iteration_rows[] = {
    {"iteration", METRIC_WORDS, "its number, from 1", INTEGER(critical_stage, number)}, STAGE_ROWS};
static METRIC_TABLE(iteration_table, iteration_rows);

static void write_slowest(struct json_writer *w, const void *record)
{
    const struct slowest_result *s = record;
    causes_write(w, s->critical.parts, s->critical.total_ps);
}

static const struct metric layer_rows[] = {
    {"name", METRIC_WORDS, "of the layer", TEXT(critical_layer, name)},
    {"part", METRIC_WORDS, "fwd, ig or wg; of programs compute, or what communication was for",
     TEXT(critical_layer, word)},
    {"compute_ns", METRIC_NS, "computing", TIME(critical_layer, compute_ps)},
    {"comm_ns", METRIC_NS, "communicating while nobody on the path computed",
     TIME(critical_layer, comm_ps)},
};
static METRIC_TABLE(layer_table, layer_rows);

static const char *const kind_words[] = {"flow", "collective", "training", "program", "job"};
static const struct metric slowest_rows[] = {
    {"kind", METRIC_WORDS, "flow, collective, training, program or job",
     WORD(slowest_result, kind, kind_words)},
    {"name", METRIC_WORDS, "the flow's ranks, the operation, or the job",
     TEXT(slowest_result, name)},
    {"job", METRIC_WORDS, "index of its job in `workload`", INTEGER(slowest_result, job)},
    {"rank", METRIC_WORDS, "rank that ended last; of a flow the receiver",
     INTEGER(slowest_result, rank)},
    {"begin_ns", METRIC_NS, "begin of the path", TIME(slowest_result, begin_ps)},
    {"end_ns", METRIC_NS, "its end", TIME(slowest_result, end_ps)},
    {"total_ns", METRIC_NS, "end - begin", TIME(slowest_result, critical.total_ps)},
    {"parts", METRIC_NS, "time by cause; only what is not zero", .type = METRIC_CUSTOM,
     .table = &life_table, .write = write_slowest},
    {"places", METRIC_WORDS, "the largest times by place, the largest first",
     LIST(slowest_result, critical.places, critical.n_places, place_table)},
    {"elsewhere_ns", METRIC_NS, "time at other places",
     TIME(slowest_result, critical.elsewhere_ps)},
    {"places_error_ns", METRIC_NS, PLACES_ERROR, TIME(slowest_result, critical.error_ps)},
    {"layers", METRIC_WORDS,
     "of training and programs: parts of layers on the path, the largest first",
     LIST(slowest_result, layers, n_layers, layer_table)},
    {"iterations", METRIC_WORDS, "of training and programs that have them: parts of the path",
     LIST(slowest_result, iterations, n_iterations, iteration_table)},
};
METRIC_TABLE(slowest_table, slowest_rows);

#define REASON_WORD(constant, word) word,
static const char *const reason_words[] = {REASON_LIST(REASON_WORD)};
#undef REASON_WORD
#define REASON_LISTED(constant, word) " " word
#define REASON_WORDS "one of" REASON_LIST(REASON_LISTED)

static void write_set(struct json_writer *w, const void *record)
{
    const struct reason_result *reason = record;
    if (reason->n_set == 0) {
        json_writer_null(w);
        return;
    }
    json_writer_list(w);
    for (size_t i = 0; i < reason->n_set; i++)
        json_writer_text(w, reason->set[i]);
    json_writer_end(w);
}

// A run has no trials. `collwire run --try` replaces these when its trials have ended
// (cli/trials/told.c).
static void write_tried(struct json_writer *w, const void *record)
{
    (void)record;
    json_writer_value(w, json_false());
}

static void write_null(struct json_writer *w, const void *record)
{
    (void)record;
    json_writer_null(w);
}

static const struct metric cost_rows[] = {
    {"kind", METRIC_WORDS, REASON_WORDS, WORD(reason_result, kind, reason_words)},
    {"job", METRIC_WORDS, "index of the job whose time it is about", INTEGER(reason_result, job)},
    {"at", METRIC_WORDS, "the place: port, flow, rank or job; null = none",
     TEXT(reason_result, at)},
    {"saving_ns", METRIC_NS,
     "about what the change may save, by which trials are ordered; null = not known",
     TIME(reason_result, saving_ps)},
    {"seen", METRIC_WORDS, "what was seen", TEXT(reason_result, seen)},
    {"change", METRIC_WORDS, "what the settings of `set` do; null = there are none",
     TEXT(reason_result, change)},
    {"set", METRIC_WORDS, "settings (`--set`) that remove the cause; null = no setting does",
     .type = METRIC_CUSTOM, .write = write_set},
    {"tried", METRIC_WORDS, "true: the scenario was run again with these settings",
     .type = METRIC_CUSTOM, .write = write_tried},
    {"saved_ns", METRIC_NS,
     "how much shorter the job was then, negative = longer; null = not tried, or no result",
     .type = METRIC_CUSTOM, .write = write_null},
    {"sentence", METRIC_WORDS, "the explanation", TEXT(reason_result, sentence)},
};
METRIC_TABLE(cost_table, cost_rows);
