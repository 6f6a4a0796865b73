// SPDX-License-Identifier: MIT
// Facts of a log beside those of the rules, and what may explain a difference.
#include "cli/library/log_comparison.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/library/nccl_log.h"
#include "cli/library/query.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "workload/read/nccl_settings.h"

/* ---- expectation ---- */

#define LIST_TEXT 256 // bytes; a rank has at most 11

static const char *list_text(const int32_t *values, uint32_t n, char text[LIST_TEXT])
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < n && used < LIST_TEXT; i++)
        used +=
            (size_t)snprintf(text + used, LIST_TEXT - used, "%s%d", i > 0 ? " " : "", values[i]);
    return text;
}

static bool same_list(const int32_t *a, const int32_t *b, uint32_t n)
{
    return memcmp(a, b, n * sizeof *a) == 0;
}

/* ---- channels ---- */

static char *no_channel(const struct answer *a, const char *what, const struct fact *f)
{
    return text_format("the log has a %s of channel %d, and there are %u channels here.", what,
                       f->channel, a->comm.layout.channels.all);
}

static bool has_channel(const struct answer *a, const struct fact *f)
{
    return f->channel >= 0 && f->channel < (int32_t)a->comm.layout.channels.all;
}

static bool has_rank(const struct answer *a, const struct fact *f)
{
    return f->rank >= 0 && f->rank < (int32_t)a->comm.ranks;
}

static char *ring_difference(const struct answer *a, const struct fact *f)
{
    char logged[LIST_TEXT], derived[LIST_TEXT];
    int32_t first[FACT_VALUES] = {0};
    uint32_t n = f->n_values;
    if (!has_channel(a, f))
        return no_channel(a, "ring", f);
    if (n > a->comm.ranks)
        return text_format("the log's ring of channel %d has more than %u ranks.", f->channel,
                           a->comm.ranks);
    uint32_t *ranks = memory_zeroed(a->comm.ranks, sizeof *ranks);
    answer_ring(a, (uint32_t)f->channel, ranks);
    for (uint32_t i = 0; i < n; i++)
        first[i] = (int32_t)ranks[i];
    free(ranks);
    if (same_list(first, f->values, n))
        return NULL;
    return text_format("the ring of channel %d is %s in the log, and %s here.", f->channel,
                       list_text(f->values, n, logged), list_text(first, n, derived));
}

static char *next_difference(const struct answer *a, const struct fact *f)
{
    if (!has_channel(a, f))
        return no_channel(a, "ring", f);
    if (!has_rank(a, f))
        return text_format("the log has a rank %d, and there are %u here.", f->rank, a->comm.ranks);
    struct nccl_ring_links links =
        nccl_layout_ring(&a->comm.layout, (uint32_t)f->channel, (uint32_t)f->rank);
    if (links.previous == f->values[0] && links.next == f->values[1])
        return NULL;
    return text_format("the ring of channel %d at rank %d is %d -> %d -> %d in the log, and %d -> "
                       "%d -> %d here.",
                       f->channel, f->rank, f->values[0], f->rank, f->values[1], links.previous,
                       f->rank, links.next);
}

static char *tree_difference(const struct answer *a, const struct fact *f)
{
    if (!has_channel(a, f))
        return no_channel(a, "tree", f);
    if (!has_rank(a, f))
        return text_format("the log has a rank %d, and there are %u here.", f->rank, a->comm.ranks);
    struct nccl_tree_links t =
        nccl_layout_tree(&a->comm.layout, (uint32_t)f->channel, (uint32_t)f->rank);
    const int32_t *v = f->values;
    if (t.up == v[0] && same_list(t.down, v + 1, 3))
        return NULL;
    return text_format("the tree of channel %d at rank %d is %d/%d/%d->%d->%d in the log, and "
                       "%d/%d/%d->%d->%d here.",
                       f->channel, f->rank, v[1], v[2], v[3], f->rank, v[0], t.down[0], t.down[1],
                       t.down[2], f->rank, t.up);
}

static char *head_difference(const struct answer *a, const struct fact *f)
{
    char logged[LIST_TEXT], derived[LIST_TEXT];
    int32_t first[FACT_VALUES] = {0};
    uint32_t heads = a->comm.layout.channels.nvls > 0 ? nccl_layout_nvls_heads(&a->comm.layout) : 0;
    if (f->channel < 0 || f->channel >= (int32_t)heads)
        return text_format("the log has a head %d of NVLS, and there are %u heads here.",
                           f->channel, heads);
    uint32_t *ranks = memory_zeroed(a->comm.ranks, sizeof *ranks);
    uint32_t n = answer_heads(a, (uint32_t)f->channel, ranks);
    n = n < FACT_VALUES ? n : FACT_VALUES;
    for (uint32_t i = 0; i < n; i++)
        first[i] = (int32_t)ranks[i];
    free(ranks);
    if (n == f->n_values && same_list(first, f->values, n))
        return NULL;
    return text_format("head %d of NVLS is %s in the log, and %s here.", f->channel,
                       list_text(f->values, f->n_values, logged), list_text(first, n, derived));
}

static char *channels_difference(const struct answer *a, const struct fact *f)
{
    static const char *const names[] = {[LOG_CHANNELS_COLL] = "channels of rings and trees",
                                        [LOG_CHANNELS_NVLS] = "channels of NVLS",
                                        [LOG_CHANNELS_P2P] = "channels of sends and receives",
                                        [LOG_CHANNELS_PEER] = "channels of a pair of ranks"};
    const struct nccl_channels *c = &a->comm.layout.channels;
    uint32_t here[] = {[LOG_CHANNELS_COLL] = c->all,
                       [LOG_CHANNELS_NVLS] = c->nvls,
                       [LOG_CHANNELS_P2P] = c->p2p,
                       [LOG_CHANNELS_PEER] = c->p2p_per_peer};
    if ((int32_t)here[f->channel] == f->values[0])
        return NULL;
    return text_format("the log has %d %s, and here are %u.", f->values[0], names[f->channel],
                       here[f->channel]);
}

/* ---- costs and choices ---- */

#define PRINTED 0.0501    // NCCL prints the table with one decimal
#define COST_PART 2e-5    // of a cost, which NCCL keeps as a float
#define COST_LEAST 0.0005 // us

static char *cost_difference(const struct answer *a, const struct fact *f)
{
    enum nccl_function function = (enum nccl_function)f->function;
    enum nccl_algorithm algorithm = (enum nccl_algorithm)f->algorithm;
    enum nccl_protocol protocol = (enum nccl_protocol)f->protocol;
    struct nccl_cost cost = a->comm.model.costs[function][algorithm][protocol];
    double bw = answer_possible(a, function, algorithm, protocol) ? cost.bw : 0;
    bool same = fabs(bw - f->bw) <= PRINTED;
    if (same && (bw <= 0 || fabs(cost.latency_us - f->latency) <= PRINTED))
        return NULL;
    return text_format("%s by %s with %s costs %.1f us and has %.1f GB/s in the log's table, and "
                       "%.1f us and %.1f GB/s here.",
                       nccl_function_name(function), nccl_algorithm_name(algorithm),
                       nccl_protocol_name(protocol), f->latency, f->bw, cost.latency_us, bw);
}

// NCCL prints 0 for what it does not use.
static char *threads_difference(const struct answer *a, const struct fact *f)
{
    uint32_t here = a->comm.model.threads[f->algorithm][f->protocol];
    if (f->latency <= 0 || (double)here == f->latency)
        return NULL;
    return text_format("%s with %s has %.0f threads at most in the log, and %u here.",
                       nccl_algorithm_name((enum nccl_algorithm)f->algorithm),
                       nccl_protocol_name((enum nccl_protocol)f->protocol), f->latency, here);
}

#define BYTES_MAX UINT64_C(1000000000000000) // of an operation

// The function of a choice, and its bytes as this program counts them, 0 where they are out of
// range: NCCL names a function with the bytes of one rank, and gives a cost for those of all.
static enum nccl_function choice_function(const struct answer *a, const struct fact *f,
                                          uint64_t *bytes)
{
    enum nccl_function function =
        f->function == FACT_ANY_FUNCTION ? a->function : (enum nccl_function)f->function;
    bool divided = function == NCCL_ALL_GATHER || function == NCCL_REDUCE_SCATTER;
    *bytes = f->bytes < BYTES_MAX ? f->bytes : 0;
    if (f->function != FACT_ANY_FUNCTION && divided)
        *bytes *= a->comm.ranks;
    if (*bytes > BYTES_MAX || (divided && *bytes < a->comm.ranks))
        *bytes = 0;
    return function;
}

static char *choice_difference(const struct answer *a, const struct fact *f)
{
    uint64_t bytes;
    enum nccl_function function = choice_function(a, f, &bytes);
    const char *name = nccl_function_name(function),
               *algorithm = nccl_algorithm_name((enum nccl_algorithm)f->algorithm),
               *protocol = nccl_protocol_name((enum nccl_protocol)f->protocol);
    unsigned long long size = f->bytes;
    struct nccl_operation o;
    if (bytes == 0)
        return text_format("the log has %s of %llu bytes, which is out of range here.", name, size);
    if (!nccl_operation_init(&o, &a->comm, function, bytes, 0))
        return text_format("the log has a choice for %s, for which nothing is possible here.",
                           name);
    if ((int32_t)o.choice.algorithm != f->algorithm || (int32_t)o.choice.protocol != f->protocol)
        return text_format("%s of %llu bytes is done by %s with %s in the log, and by %s with %s "
                           "here.",
                           name, size, algorithm, protocol, nccl_algorithm_name(o.choice.algorithm),
                           nccl_protocol_name(o.choice.protocol));
    if (f->latency >= 0 &&
        fabs(f->latency - o.choice.cost_us) > COST_LEAST + COST_PART * f->latency)
        return text_format("%s of %llu bytes by %s with %s costs %.6f us in the log, and %.6f us "
                           "here.",
                           name, size, algorithm, protocol, f->latency, o.choice.cost_us);
    if (f->values[0] > 0 && f->values[0] != (int32_t)o.choice.split.channels)
        return text_format("%s of %llu bytes by %s with %s uses %d channels in the log, and %u "
                           "here.",
                           name, size, algorithm, protocol, f->values[0], o.choice.split.channels);
    return NULL;
}

// Returns NULL where the fact is equal; else a sentence that names the difference, to be freed.
static char *fact_difference(const struct answer *a, const struct fact *fact)
{
    static char *(*const differences[FACT_KINDS])(const struct answer *, const struct fact *) = {
        [FACT_RING] = ring_difference,         [FACT_NEXT] = next_difference,
        [FACT_TREE] = tree_difference,         [FACT_HEAD] = head_difference,
        [FACT_CHANNELS] = channels_difference, [FACT_COST] = cost_difference,
        [FACT_THREADS] = threads_difference,   [FACT_CHOICE] = choice_difference,
    };
    return differences[fact->kind](a, fact);
}

/* ---- log comparison ---- */

const char *fact_kind_name(enum fact_kind kind)
{
    static const char *const names[FACT_KINDS] = {
        [FACT_RING] = "rings",
        [FACT_NEXT] = "ring links",
        [FACT_TREE] = "trees",
        [FACT_HEAD] = "NVLS heads",
        [FACT_CHANNELS] = "channel counts",
        [FACT_COST] = "costs",
        [FACT_THREADS] = "thread counts",
        [FACT_CHOICE] = "choices",
    };
    return names[kind];
}

static void add(struct log_sentences *s, char *sentence)
{
    s->list = memory_resize(s->list, s->n + 1, sizeof *s->list);
    s->list[s->n++] = sentence;
}

/* ---- which communicator ---- */

static bool is_ours(const struct answer *a, int32_t ranks, int32_t nodes)
{
    return ranks == (int32_t)a->comm.ranks && (nodes == 0 || nodes == (int32_t)a->query->nodes);
}

// Note communicators of other sizes where the log has none of this one.
static bool has_ours(struct log_comparison *c, const struct answer *a)
{
    const struct nccl_log *log = c->log;
    for (size_t i = 0; i < log->n_sizes; i++)
        if (is_ours(a, log->sizes[i].ranks, log->sizes[i].nodes))
            return true;
    for (size_t i = 0; i < log->n_sizes; i++) {
        char servers[40] = "";
        if (log->sizes[i].nodes > 0)
            snprintf(servers, sizeof servers, " on %d servers", log->sizes[i].nodes);
        add(&c->scope, text_format("the log is of %d ranks%s, and %u ranks on %llu are described "
                                   "here, so nothing else was compared.",
                                   log->sizes[i].ranks, servers, a->comm.ranks,
                                   (unsigned long long)a->query->nodes));
    }
    return log->n_sizes == 0;
}

/* ---- facts ---- */

static bool is_compared(const struct log_comparison *c, const struct answer *a,
                        const struct fact *f)
{
    if (f->kind == FACT_CHOICE) // its thread may be another one than that of the communicator
        return c->log->n_sizes <= 1 && (f->function != FACT_ANY_FUNCTION || a->has_function);
    return f->ranks == 0 || is_ours(a, f->ranks, f->nodes);
}

static void compare_fact(struct log_comparison *c, const struct answer *a, const struct fact *f)
{
    char *difference = fact_difference(a, f);
    c->counts[f->kind].compared++;
    if (difference == NULL)
        c->counts[f->kind].equal++;
    else
        add(&c->differences[f->kind], difference);
}

/* ---- what may explain differences ---- */

static void explain_version(struct log_comparison *c, const struct answer *a)
{
    const char *ours = nccl_version_name(a->comm.settings.version), *logged = c->log->version;
    if (logged == NULL || strcmp(logged, ours) == 0)
        return;
    for (int v = 0; v < NCCL_VERSIONS; v++)
        if (strcmp(logged, nccl_version_name((enum nccl_version)v)) == 0) {
            add(&c->reasons, text_format("the log is of NCCL %s, and the rules of %s were used; "
                                         "compare with --nccl %s.",
                                         logged, ours, logged));
            return;
        }
    add(&c->reasons, text_format("the log is of NCCL %s, whose rules are not known here, and "
                                 "those of %s were used.",
                                 logged, ours));
}

static bool settings_equal(const struct nccl_params *a, const struct nccl_params *b)
{
    char one[PARAM_TEXT_MAX], other[PARAM_TEXT_MAX];
    struct nccl_rows rows = nccl_rows(a->rccl);
    struct param_walk walk = params_walk(rows.rows, rows.n);
    for (const struct param *row; (row = params_next(&walk)) != NULL;)
        if (row->type != PARAM_TEXT &&
            strcmp(param_text(row, a, one), param_text(row, b, other)) != 0)
            return false;
    return true;
}

// A variable of the log that changes a setting, or has a value that is unknown here.
static void explain_variable(struct log_comparison *c, const struct answer *a,
                             const struct log_variable *variable)
{
    struct nccl_params with = a->query->settings;
    struct err err = {0};
    char *text = text_format("%s=%s", variable->name, variable->value);
    int status = nccl_env_apply(&with, text, "", &err);
    if (status != 0)
        add(&c->reasons, text_format("the log shows %s set by the environment, a value that is not "
                                     "known here.",
                                     text));
    else if (!settings_equal(&with, &a->query->settings))
        add(&c->reasons, text_format("the log shows %s set by the environment; compare with --env "
                                     "\"%s\".",
                                     text, text));
    err_free(&err);
    free(text);
}

static void explain_channels(struct log_comparison *c, const struct answer *a)
{
    uint32_t ours = a->comm.layout.channels.all;
    for (size_t i = 0; i < c->log->n_facts; i++) {
        const struct fact *f = &c->log->facts[i];
        if (f->kind != FACT_CHANNELS || f->channel != LOG_CHANNELS_COLL || !is_compared(c, a, f) ||
            f->values[0] == (int32_t)ours)
            continue;
        bool fewer = f->values[0] < (int32_t)ours;
        add(&c->reasons,
            text_format("the log has %s channels: NICs, NVLinks or PCIe of those servers may be "
                        "%s than those of %s, or %s was set.",
                        fewer ? "fewer" : "more", fewer ? "fewer or slower" : "more or faster",
                        a->query->machine->name,
                        fewer ? "NCCL_MAX_NCHANNELS" : "NCCL_MIN_NCHANNELS"));
        return;
    }
}

static void explain_choices(struct log_comparison *c)
{
    if (c->log->tuner && c->counts[FACT_CHOICE].compared > c->counts[FACT_CHOICE].equal)
        add(&c->reasons, text_format("the log shows a tuner plugin, which changes choices."));
}

static void note_skipped(struct log_comparison *c, const struct answer *a)
{
    size_t others = 0, choices = 0;
    for (size_t i = 0; i < c->log->n_facts; i++) {
        const struct fact *f = &c->log->facts[i];
        if (!is_compared(c, a, f))
            ++*(f->kind == FACT_CHOICE ? &choices : &others);
    }
    if (others > 0)
        add(&c->reasons, text_format("%zu lines are of communicators of other sizes, and were not "
                                     "compared.",
                                     others));
    if (choices > 0)
        add(&c->reasons, text_format("%zu choices were not compared, because the log does not say "
                                     "of which communicator and function they are.",
                                     choices));
}

/* ---- all of it ---- */

static size_t compared_in_all(const struct log_comparison *c)
{
    size_t n = 0;
    for (int k = 0; k < FACT_KINDS; k++)
        n += c->counts[k].compared;
    return n;
}

void log_comparison_init(struct log_comparison *c, const struct answer *a,
                         const struct nccl_log *log)
{
    *c = (struct log_comparison){.log = log};
    if (!has_ours(c, a))
        return;
    for (size_t i = 0; i < log->n_facts; i++)
        if (is_compared(c, a, &log->facts[i]))
            compare_fact(c, a, &log->facts[i]);
    if (compared_in_all(c) == 0)
        add(&c->scope, text_format("the log has nothing that could be compared."));
    if (!log_comparison_is_equal(c)) {
        explain_version(c, a);
        for (size_t i = 0; i < log->n_variables; i++)
            if (nccl_env_known(log->variables[i].name))
                explain_variable(c, a, &log->variables[i]);
        explain_channels(c, a);
        explain_choices(c);
    }
    note_skipped(c, a);
}

static void sentences_free(struct log_sentences *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(s->list[i]);
    free(s->list);
}

void log_comparison_free(struct log_comparison *c)
{
    for (int k = 0; k < FACT_KINDS; k++)
        sentences_free(&c->differences[k]);
    sentences_free(&c->scope);
    sentences_free(&c->reasons);
}

bool log_comparison_is_equal(const struct log_comparison *c)
{
    for (int k = 0; k < FACT_KINDS; k++)
        if (c->counts[k].equal < c->counts[k].compared)
            return false;
    return c->scope.n == 0;
}
