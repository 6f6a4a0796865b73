// SPDX-License-Identifier: MIT
// A list of facts, each once, of the lines that log_lines.c reads.
#include "cli/library/nccl_log.h"

#include <stdlib.h>
#include <string.h>

#include "cli/library/log_lines.h"
#include "engine/base/memory.h"
#include "engine/base/table.h"
#include "engine/text/text_file.h"

// Make room for one more of `n` elements.
static void *grown(void *list, size_t n, size_t size)
{
    bool full = (n & (n - 1)) == 0; // lengths are powers of two
    return full ? memory_resize(list, n > 0 ? 2 * n : 1, size) : list;
}

/* ---- communicators ---- */

// A thread of the log, and the communicator that it made last.
struct thread {
    int32_t ranks, nodes;
    size_t last; // its last fact, from 1; 0 = none
};

struct reading {
    struct nccl_log *log;
    struct thread *threads;
    size_t n_threads;
    size_t *before;            // of each fact, the one before it by the same thread, as `last`
    struct table thread_of;    // "host:pid:tid [gpu]"
    struct table has_variable; // its name
    struct table has_size;     // ranks and nodes
    struct cost_block block;   // of the table of costs
};

static struct thread *thread_of(struct reading *r, const char *key)
{
    size_t *place = table_at(&r->thread_of, key, strlen(key));
    if (*place == 0) {
        r->threads = grown(r->threads, r->n_threads, sizeof *r->threads);
        r->threads[r->n_threads++] = (struct thread){0};
        *place = r->n_threads;
    }
    return &r->threads[*place - 1];
}

// Whether a communicator of so many ranks has a line with its servers, as 0 or 1.
static size_t *with_servers(struct reading *r, int32_t ranks)
{
    return table_pair(&r->has_size, (uint64_t)ranks, UINT64_MAX);
}

static void add_size(struct reading *r, int32_t ranks, int32_t nodes)
{
    struct nccl_log *log = r->log;
    size_t *place = table_pair(&r->has_size, (uint64_t)ranks, (uint64_t)nodes);
    if (*place > 0)
        return;
    *place = 1;
    if (nodes > 0)
        *with_servers(r, ranks) = 1;
    log->sizes = grown(log->sizes, log->n_sizes, sizeof *log->sizes);
    log->sizes[log->n_sizes].ranks = ranks;
    log->sizes[log->n_sizes++].nodes = nodes;
}

/* ---- facts ---- */

struct adding {
    struct reading *r;
    struct thread *thread;
};

static void add_fact(void *ctx, const struct fact *fact)
{
    struct adding *a = ctx;
    struct nccl_log *log = a->r->log;
    a->r->before = grown(a->r->before, log->n_facts, sizeof *a->r->before);
    a->r->before[log->n_facts] = a->thread->last;
    a->thread->last = log->n_facts + 1;
    log->facts = grown(log->facts, log->n_facts, sizeof *log->facts);
    log->facts[log->n_facts++] = *fact;
}

// Old versions name the ranks behind the facts: these get them then.
static void name_ranks(struct reading *r, struct thread *thread, int32_t ranks, bool complete)
{
    if (thread->ranks == ranks && thread->nodes > 0 && complete)
        return;
    for (size_t i = thread->last; complete && i > 0 && r->log->facts[i - 1].ranks == 0;
         i = r->before[i - 1])
        r->log->facts[i - 1].ranks = ranks;
    add_size(r, ranks, 0);
    // What comes next is of another communicator.
    thread->ranks = complete ? 0 : ranks;
    thread->nodes = 0;
    thread->last = 0;
}

// A size without servers says nothing beside one with them.
static void drop_vague_sizes(struct reading *r)
{
    struct nccl_log *log = r->log;
    size_t kept = 0;
    for (size_t i = 0; i < log->n_sizes; i++)
        if (log->sizes[i].nodes > 0 || *with_servers(r, log->sizes[i].ranks) == 0)
            log->sizes[kept++] = log->sizes[i];
    log->n_sizes = kept;
}

static void add_variable(struct reading *r, const char *name, const char *value)
{
    struct nccl_log *log = r->log;
    size_t *place = table_at(&r->has_variable, name, strlen(name));
    if (*place > 0)
        return;
    *place = 1;
    log->variables = grown(log->variables, log->n_variables, sizeof *log->variables);
    log->variables[log->n_variables++] =
        (struct log_variable){memory_text(name), memory_text(value)};
}

static void read_line(struct reading *r, char *line)
{
    struct nccl_log *log = r->log;
    struct fact base = {0};
    char key[LOG_WORD], name[LOG_WORD], value[LOG_WORD];
    const char *message = log_message(line, key);
    int32_t ranks, nodes;
    bool complete;
    struct thread *thread = thread_of(r, key);
    if (log_communicator(message, &ranks, &nodes)) {
        thread->ranks = ranks;
        thread->nodes = nodes;
        add_size(r, ranks, nodes);
    } else if (log_init(message, &ranks, &complete)) {
        name_ranks(r, thread, ranks, complete);
    } else if (log_version(message, value)) {
        if (log->version == NULL)
            log->version = memory_text(value);
    } else if (log_variable(message, name, value)) {
        add_variable(r, name, value);
    } else if (log_tuner(message)) {
        log->tuner = true;
    } else {
        base.ranks = thread->ranks;
        base.nodes = thread->nodes;
        log_facts(message, &base, &r->block, add_fact, &(struct adding){r, thread});
    }
}

#define ORDER(a, b) ((a) < (b) ? -1 : (a) > (b))

static int fact_order(const void *left, const void *right)
{
    const struct fact *a = left, *b = right;
    int order[] = {ORDER(a->kind, b->kind),         ORDER(a->channel, b->channel),
                   ORDER(a->rank, b->rank),         ORDER(a->function, b->function),
                   ORDER(a->bytes, b->bytes),       ORDER(a->algorithm, b->algorithm),
                   ORDER(a->protocol, b->protocol), ORDER(a->n_values, b->n_values),
                   ORDER(a->latency, b->latency),   ORDER(a->bw, b->bw),
                   ORDER(a->ranks, b->ranks),       ORDER(a->nodes, b->nodes)};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (order[i] != 0)
            return order[i];
    for (uint32_t i = 0; i < a->n_values; i++)
        if (a->values[i] != b->values[i])
            return ORDER(a->values[i], b->values[i]);
    return 0;
}

static void keep_each_once(struct nccl_log *log)
{
    size_t kept = 0;
    if (log->n_facts > 0)
        qsort(log->facts, log->n_facts, sizeof *log->facts, fact_order);
    for (size_t i = 0; i < log->n_facts; i++)
        if (kept == 0 || fact_order(&log->facts[kept - 1], &log->facts[i]) != 0)
            log->facts[kept++] = log->facts[i];
    log->n_facts = kept;
}

/* ---- the file ---- */

int nccl_log_read(struct nccl_log *log, const char *path, struct err *err)
{
    struct reading r = {.log = log};
    *log = (struct nccl_log){.name = path};
    char *text = text_file_load(".", path, "--against", err), *line;
    if (text == NULL)
        return -1;
    struct text_file file = {.name = path, .path = "--against", .rest = text, .err = err};
    while ((line = text_file_next(&file)) != NULL)
        read_line(&r, line);
    free(text);
    free(r.threads);
    free(r.before);
    drop_vague_sizes(&r);
    table_free(&r.thread_of);
    table_free(&r.has_variable);
    table_free(&r.has_size);
    keep_each_once(log);
    if (log->n_facts > 0 || log->n_sizes > 0)
        return 0;
    nccl_log_free(log);
    return err_add(err, "--against",
                   "%s has no line of NCCL's log that could be compared; it is written with "
                   "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH,ENV,TUNING",
                   path);
}

void nccl_log_free(struct nccl_log *log)
{
    for (size_t i = 0; i < log->n_variables; i++) {
        free(log->variables[i].name);
        free(log->variables[i].value);
    }
    free(log->variables);
    free(log->version);
    free(log->facts);
    free(log->sizes);
}
