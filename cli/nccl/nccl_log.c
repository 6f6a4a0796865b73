// SPDX-License-Identifier: MIT
// A list of facts, each once, of the lines that log_lines.c reads.
#include "cli/nccl/nccl_log.h"

#include <stdlib.h>
#include <string.h>

#include "cli/nccl/log_lines.h"
#include "config/text/text_file.h"
#include "engine/memory.h"
#include "engine/rng.h"

// Make room for one more of `n` elements.
static void *grown(void *list, size_t n, size_t size)
{
    bool full = (n & (n - 1)) == 0; // lengths are powers of two
    return full ? memory_resize(list, n > 0 ? 2 * n : 1, size) : list;
}

/* ---- communicators ---- */

// A thread of the log, by its "host:pid:tid [gpu]", and the communicator that it made last.
struct thread {
    char *key; // owned
    int32_t ranks, nodes;
};

struct reading {
    struct nccl_log *log;
    struct thread *threads;
    size_t n_threads;
    uint32_t *slots; // [slot of a key's hash] 1 + the thread; 0 = free. At most half are taken
    size_t n_slots;  // a power of two
    struct cost_block block; // of the table of costs
};

// Returns the slot of a key's thread, or the free one where it is to be.
static uint32_t *slot_of(struct reading *r, const char *key)
{
    uint64_t hash = 0;
    for (const char *c = key; *c != '\0'; c++)
        hash = hash_mix(hash ^ (unsigned char)*c);
    size_t at = hash & (r->n_slots - 1);
    while (r->slots[at] != 0 && strcmp(r->threads[r->slots[at] - 1].key, key) != 0)
        at = (at + 1) & (r->n_slots - 1);
    return &r->slots[at];
}

static void slots_grow(struct reading *r)
{
    free(r->slots);
    r->n_slots = r->n_slots > 0 ? 2 * r->n_slots : 64;
    r->slots = memory_zeroed(r->n_slots, sizeof *r->slots);
    for (size_t i = 0; i < r->n_threads; i++)
        *slot_of(r, r->threads[i].key) = (uint32_t)i + 1;
}

// A log of thousands of GPUs has tens of thousands of threads, interleaved.
static struct thread *thread_of(struct reading *r, const char *key)
{
    if (2 * r->n_threads >= r->n_slots)
        slots_grow(r);
    uint32_t *slot = slot_of(r, key);
    if (*slot == 0) {
        r->threads = grown(r->threads, r->n_threads, sizeof *r->threads);
        r->threads[r->n_threads++] = (struct thread){.key = memory_text(key)};
        *slot = (uint32_t)r->n_threads;
    }
    return &r->threads[*slot - 1];
}

static void add_size(struct nccl_log *log, int32_t ranks, int32_t nodes)
{
    for (size_t i = 0; i < log->n_sizes; i++)
        if (log->sizes[i].ranks == ranks && log->sizes[i].nodes == nodes)
            return;
    log->sizes = grown(log->sizes, log->n_sizes, sizeof *log->sizes);
    log->sizes[log->n_sizes].ranks = ranks;
    log->sizes[log->n_sizes++].nodes = nodes;
}

/* ---- facts ---- */

static void add_fact(void *ctx, const struct fact *fact)
{
    struct nccl_log *log = ctx;
    log->facts = grown(log->facts, log->n_facts, sizeof *log->facts);
    log->facts[log->n_facts++] = *fact;
}

static void add_variable(struct nccl_log *log, const char *name, const char *value)
{
    for (size_t i = 0; i < log->n_variables; i++)
        if (strcmp(log->variables[i].name, name) == 0)
            return;
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
    struct thread *thread = thread_of(r, key);
    if (log_communicator(message, &ranks, &nodes)) {
        thread->ranks = ranks;
        thread->nodes = nodes;
        add_size(log, ranks, nodes);
    } else if (log_version(message, value)) {
        if (log->version == NULL)
            log->version = memory_text(value);
    } else if (log_variable(message, name, value)) {
        add_variable(log, name, value);
    } else if (log_tuner(message)) {
        log->tuner = true;
    } else {
        base.ranks = thread->ranks;
        base.nodes = thread->nodes;
        log_facts(message, &base, &r->block, add_fact, log);
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
    for (size_t i = 0; i < r.n_threads; i++)
        free(r.threads[i].key);
    free(r.threads);
    free(r.slots);
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
