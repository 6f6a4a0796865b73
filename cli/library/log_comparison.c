// SPDX-License-Identifier: MIT
// Facts of a log beside those of the rules, and what may explain a difference.
#include "cli/library/log_comparison.h"

#include <stdlib.h>
#include <string.h>

#include "cli/library/expectation.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

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
    return ranks == (int32_t)a->comm.ranks && nodes == (int32_t)a->query->nodes;
}

// Note communicators of other sizes where the log has none of this one.
static bool has_ours(struct log_comparison *c, const struct answer *a)
{
    const struct nccl_log *log = c->log;
    for (size_t i = 0; i < log->n_sizes; i++)
        if (is_ours(a, log->sizes[i].ranks, log->sizes[i].nodes))
            return true;
    for (size_t i = 0; i < log->n_sizes; i++)
        add(&c->scope, text_format("the log is of %d ranks on %d servers, and %u ranks on %llu are "
                                   "described here, so nothing else was compared.",
                                   log->sizes[i].ranks, log->sizes[i].nodes, a->comm.ranks,
                                   (unsigned long long)a->query->nodes));
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

static bool settings_equal(const struct library_params *a, const struct library_params *b)
{
    char one[PARAM_TEXT_MAX], other[PARAM_TEXT_MAX];
    struct library_rows rows = library_rows(a->rccl);
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
    struct library_params with = a->query->settings;
    struct err err = {0};
    char *text = text_format("%s=%s", variable->name, variable->value);
    int status = library_env_apply(&with, text, "", &err);
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
            if (library_env_known(log->variables[i].name))
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
