// SPDX-License-Identifier: MIT
// Lines to entries; processes and communicators are noted as they appear.
#include "cli/import/inspector.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/import_pieces.h"
#include "cli/import/inspector_internal.h"
#include "cli/import/words.h"
#include "engine/base/memory.h"

#define TIME_MOST_US ((double)TIME_MOST_NS / 1000)
#define SPAN_MOST_US ((double)SPAN_MOST_NS / 1000)
#define BYTES_MOST (INT64_C(1) << 50)

struct line {
    struct recording *r;
    struct inspector *in;
    const char *path;
    uint64_t offset;
    const json_t *header, *metadata, *perf;
    bool message; // p2p_perf
};

static int line_error(const struct line *l, const char *key, const char *what)
{
    if (recording_is_full(l->r))
        return -1;
    return err_add(l->r->err, l->path, "byte %" PRIu64 ": %s %s", l->offset, key, what);
}

/* ---- processes and communicators ---- */

static uint32_t process_note(const struct line *l, const char *host, int64_t pid)
{
    struct inspector *in = l->in;
    for (size_t p = 0; p < in->n_processes; p++)
        if (in->processes[p].pid == pid && strcmp(in->processes[p].host, host) == 0)
            return (uint32_t)p;
    if (in->n_processes == in->cap_processes)
        in->processes = memory_grow(in->processes, &in->cap_processes, sizeof *in->processes);
    in->processes[in->n_processes] =
        (struct log_process){.host = memory_text(host), .path = memory_text(l->path), .pid = pid};
    return (uint32_t)in->n_processes++;
}

static uint32_t communicator_note(const struct line *l, const char *id, uint32_t n_ranks)
{
    struct inspector *in = l->in;
    const char *name = json_string_value(json_object_get(l->header, "comm_name"));
    json_int_t nodes = json_integer_value(json_object_get(l->header, "nnodes"));
    for (size_t c = 0; c < in->n_communicators; c++)
        if (strcmp(in->communicators[c].id, id) == 0)
            return (uint32_t)c;
    if (in->n_communicators == in->cap_communicators)
        in->communicators =
            memory_grow(in->communicators, &in->cap_communicators, sizeof *in->communicators);
    struct log_communicator *made = &in->communicators[in->n_communicators];
    *made = (struct log_communicator){.id = memory_text(id), .n_ranks = n_ranks};
    made->name = memory_text(name != NULL && strcmp(name, "unknown") != 0 ? name : "");
    made->n_nodes = nodes > 0 && nodes <= (json_int_t)n_ranks ? (uint32_t)nodes : 0;
    return (uint32_t)in->n_communicators++;
}

// The process of a line is the rank of its communicator. Returns 0, or -1 with an error.
static int member_note(const struct line *l, const struct log_entry *entry)
{
    struct log_communicator *c = &l->in->communicators[entry->call.group];
    for (size_t m = 0; m < c->n_members; m++) {
        bool rank = c->members[m].rank == entry->rank;
        bool process = c->members[m].process == entry->process;
        if (rank && process)
            return 0;
        if (rank)
            return line_error(l, "header.rank",
                              "is that of another process in this communicator: logs "
                              "of different runs are mixed");
        if (process)
            return line_error(l, "header.rank",
                              "is the second of its process: processes with "
                              "several GPUs cannot be told apart");
    }
    if (c->n_members == c->cap_members)
        c->members = memory_grow(c->members, &c->cap_members, sizeof *c->members);
    c->members[c->n_members++] = (struct log_member){entry->rank, entry->process};
    return 0;
}

// The communicator, the rank in it and the process of a line. Returns 0, or -1 with an error.
static int origin_read(const struct line *l, struct log_entry *entry)
{
    const char *id = json_string_value(json_object_get(l->header, "id"));
    const json_t *rank = json_object_get(l->header, "rank");
    const json_t *n_ranks = json_object_get(l->header, "n_ranks");
    const char *host = json_string_value(json_object_get(l->metadata, "hostname"));
    json_int_t n = json_is_integer(n_ranks) ? json_integer_value(n_ranks) : 0;
    json_int_t own = json_is_integer(rank) ? json_integer_value(rank) : -1;
    if (id == NULL)
        return line_error(l, "header.id", "is missing");
    if (n < 1 || n > RANKS_MOST)
        return line_error(l, "header.n_ranks", "must be a number of ranks");
    if (own < 0 || own >= n)
        return line_error(l, "header.rank", "must be from 0 to n_ranks - 1");
    entry->rank = (uint32_t)own;
    entry->call.group = communicator_note(l, id, (uint32_t)n);
    if (l->in->communicators[entry->call.group].n_ranks != (uint32_t)n)
        return line_error(l, "header.n_ranks", "is another one than before in this communicator");
    entry->process = process_note(l, host != NULL ? host : "",
                                  json_integer_value(json_object_get(l->metadata, "pid")));
    return member_note(l, entry);
}

/* ---- what ran ---- */

static const json_t *perf_get(const struct line *l, const char *key)
{
    char name[40];
    snprintf(name, sizeof name, "%s_%s", l->message ? "p2p" : "coll", key);
    return json_object_get(l->perf, name);
}

static int number_read(const struct line *l, const char *key, double most, double *value)
{
    const json_t *json = perf_get(l, key);
    *value = json_number_value(json);
    if (json_is_number(json) && *value >= 0 && *value <= most)
        return 0;
    return line_error(l, key, "is missing or no such number");
}

// The first start and the last end of the kernels, where the log has them.
static int times_read(const struct line *l, struct call *call)
{
    const json_t *times = json_object_get(l->perf, "event_trace_ts"), *kernel;
    double first = TIME_MOST_US, last = 0;
    size_t i;
    call->start_ns = TIME_UNKNOWN;
    json_array_foreach(json_object_get(times, "kernel_events"), i, kernel)
    {
        double start = json_number_value(json_object_get(kernel, "kernel_start_ts"));
        double stop = json_number_value(json_object_get(kernel, "kernel_stop_ts"));
        if (start <= 0 || start > TIME_MOST_US || stop > TIME_MOST_US)
            continue;
        first = start < first ? start : first;
        last = stop > last ? stop : last;
    }
    if (first == TIME_MOST_US)
        return 0;
    if (last < first)
        return line_error(l, "event_trace_ts", "ends before it starts: the clock runs backwards");
    call->start_ns = llround(first * 1000);
    call->end_ns = llround(last * 1000);
    return 0;
}

static bool by_parts(enum coll_op op) // NCCL counts what one rank has of them
{
    return op == COLL_ALL_GATHER || op == COLL_REDUCE_SCATTER || op == COLL_ALL_TO_ALL;
}

// Returns 1; 0 for an operation that is not used; -1 with an error.
static int call_read(const struct line *l, struct log_entry *entry)
{
    struct call *call = &entry->call;
    const char *word = json_string_value(json_object_get(l->perf, l->message ? "p2p" : "coll"));
    double sequence, bytes, takes;
    if (word == NULL)
        return line_error(l, l->message ? "p2p_perf.p2p" : "coll_perf.coll", "is missing");
    if (number_read(l, "sn", 9e15, &sequence) != 0 ||
        number_read(l, "msg_size_bytes", (double)BYTES_MOST, &bytes) != 0 ||
        number_read(l, "exec_time_us", SPAN_MOST_US, &takes) != 0 || times_read(l, call) != 0)
        return -1;
    call->measured_ns = llround(takes * 1000);
    if (!call_word_read(word, call) || (call->kind != CALL_COLLECTIVE) != l->message) {
        recording_unused(l->r, word, call->measured_ns);
        return 0;
    }
    uint32_t n = l->in->communicators[call->group].n_ranks;
    call->bytes = (uint64_t)bytes;
    if (call->kind == CALL_COLLECTIVE && by_parts(call->op))
        call->bytes *= n;
    call->sequence = (int64_t)sequence;
    call->offset = l->offset;
    if (!l->message)
        return 1;
    const json_t *peer = json_object_get(l->perf, "p2p_peer");
    json_int_t other = json_is_integer(peer) ? json_integer_value(peer) : -1;
    if (other < 0 || other >= (json_int_t)n)
        return line_error(l, "p2p_peer", "must be a rank of the communicator");
    call->peer = (uint32_t)other;
    return 1;
}

static void entry_add(const struct line *l, const struct log_entry *entry)
{
    struct inspector *in = l->in;
    if (in->n_entries == in->cap_entries)
        in->entries = memory_grow(in->entries, &in->cap_entries, sizeof *in->entries);
    in->entries[in->n_entries++] = *entry;
}

static void line_read(struct line *l, const json_t *json, int64_t *dumped_us)
{
    struct log_entry entry = {0};
    const json_t *header = json_object_get(json, "header");
    const json_t *metadata = json_object_get(json, "metadata");
    l->header = header != NULL ? header : json; // before version 4 its keys were at the top
    l->metadata = metadata != NULL ? metadata : json;
    l->perf = json_object_get(json, "coll_perf");
    l->message = l->perf == NULL;
    if (l->message)
        l->perf = json_object_get(json, "p2p_perf");
    if (!json_is_object(l->perf)) {
        recording_unused(l->r, "lines without coll_perf or p2p_perf", 0);
        return;
    }
    int64_t dumped = json_integer_value(json_object_get(l->metadata, "dump_timestamp_us"));
    if (dumped < *dumped_us)
        line_error(l, "metadata.dump_timestamp_us",
                   "is earlier than in the line before: the clock runs backwards");
    *dumped_us = dumped;
    if (origin_read(l, &entry) == 0 && call_read(l, &entry) > 0)
        entry_add(l, &entry);
}

void inspector_read(struct recording *r, const char *path)
{
    struct piece piece;
    int64_t dumped_us = INT64_MIN;
    struct pieces *pieces = pieces_open(path, NULL, r->err);
    if (pieces == NULL)
        return;
    if (r->reader == NULL)
        r->reader = memory_zeroed(1, sizeof(struct inspector));
    while (!recording_is_full(r) && pieces_next(pieces, &piece, r->err) > 0) {
        struct line line = {.r = r, .in = r->reader, .path = path, .offset = piece.offset};
        if (piece.text == NULL) {
            line_error(&line, "an object", "has more than 64 MB");
            continue;
        }
        json_t *json = piece_json(pieces, &piece, r->err);
        if (json == NULL)
            break;
        line_read(&line, json, &dumped_us);
        json_decref(json);
    }
    pieces_close(pieces);
}
