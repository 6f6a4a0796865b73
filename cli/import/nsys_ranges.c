// SPDX-License-Identifier: MIT
// Ranges of NCCL's functions, what their payloads say, and the groups of calls that they make.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/nsys_internal.h"
#include "cli/import/words.h"
#include "engine/base/memory.h"

// A group's size multiplies the bytes of a call, and no message of any GPU is as large.
#define CALL_BYTES_MOST (UINT64_C(1) << 46)
#define HEADER_BYTES 32
#define SCHEMA_AT 8

/* ---- payloads ---- */

enum field { COMMUNICATOR, MESSAGE_BYTES, PEER, ROOT, N_RANKS, RANK, DEVICE, FIELDS };
static const struct {
    const char *name; // in NVTX_PAYLOAD_SCHEMA_ENTRIES
    unsigned bytes;
} fields[FIELDS] = {[COMMUNICATOR] = {"NCCL communicator ID", 8},
                    [MESSAGE_BYTES] = {"Message size [bytes]", 8},
                    [PEER] = {"Peer rank", 4},
                    [ROOT] = {"Root", 4},
                    [N_RANKS] = {"No. of ranks", 4},
                    [RANK] = {"Rank", 4},
                    [DEVICE] = {"CUDA device", 4}};

struct schemas {
    int64_t *offsets; // of fields in payloads
    size_t n, cap;
    struct table offset_of; // schema and field
};

static void schemas_read(struct nsys_file *f, struct schemas *s)
{
    static const char *const columns[] = {"schemaId", "name", "offset", NULL};
    static const char *const order[] = {"schemaId", "idx", NULL};
    struct nsys_rows rows = nsys_rows_open(f, "NVTX_PAYLOAD_SCHEMA_ENTRIES", columns, order, true);
    while (nsys_rows_next(&rows)) {
        int64_t schema = nsys_integer(&rows, 0), offset = nsys_integer(&rows, 2);
        const char *name = nsys_text(&rows, 1);
        uint64_t field = 0;
        while (name != NULL && field < FIELDS && strcmp(name, fields[field].name) != 0)
            field++;
        if (rows.bad || name == NULL || field == FIELDS)
            continue;
        size_t *place = table_pair(&s->offset_of, (uint64_t)schema, field);
        if (*place > 0)
            continue; // an entry of another domain, or the same once more
        if (s->n == s->cap)
            s->offsets = memory_grow(s->offsets, &s->cap, sizeof *s->offsets);
        s->offsets[s->n++] = offset;
        *place = s->n;
    }
}

static uint64_t little_endian(const uint8_t *bytes, size_t n)
{
    uint64_t value = 0;
    for (size_t i = n; i > 0; i--)
        value = value << 8 | bytes[i - 1];
    return value;
}

// A field of the payload of `n` bytes. Returns false if it has none.
static bool field_read(struct schemas *s, const uint8_t *data, int n, enum field field,
                       uint64_t *value)
{
    const unsigned bytes = fields[field].bytes;
    if (data == NULL || n < HEADER_BYTES)
        return false;
    size_t *place = table_pair(&s->offset_of, little_endian(data + SCHEMA_AT, 4), field);
    if (*place == 0)
        *place = SIZE_MAX; // the schema has no such field
    if (*place == SIZE_MAX)
        return false;
    int64_t offset = s->offsets[*place - 1];
    if (offset < 0 || offset > (int64_t)n - HEADER_BYTES - (int64_t)bytes)
        return false;
    *value = little_endian(data + HEADER_BYTES + offset, bytes);
    return true;
}

/* ---- ranges ---- */

static void init_read(struct nsys_file *f, struct schemas *s, const uint8_t *data, int n,
                      int64_t pid)
{
    uint64_t communicator, n_ranks, rank, device;
    if (!field_read(s, data, n, COMMUNICATOR, &communicator) ||
        !field_read(s, data, n, N_RANKS, &n_ranks) || !field_read(s, data, n, RANK, &rank) ||
        !field_read(s, data, n, DEVICE, &device) || n_ranks > RANKS_MOST || rank >= n_ranks)
        return;
    if (f->n_inits == f->cap_inits)
        f->inits = memory_grow(f->inits, &f->cap_inits, sizeof *f->inits);
    f->inits[f->n_inits++] =
        (struct nsys_init){pid, (int64_t)device, communicator, (int64_t)n_ranks, (int64_t)rank};
}

// What the payload says of a call. Returns false if it is none, or with an error.
static bool call_read(struct nsys_file *f, struct schemas *s, const char *name, const uint8_t *data,
                      int n, struct nvtx_range *range)
{
    uint64_t value;
    if (!call_word_read(name, &range->call))
        return false; // ncclCommDestroy, ..
    if (!field_read(s, data, n, COMMUNICATOR, &range->communicator) ||
        !field_read(s, data, n, MESSAGE_BYTES, &range->call.bytes)) {
        nsys_error(f,
                   "nccl%.60s at %" PRId64 " ns has no payload with its communicator and size "
                   "(NCCL 2.26 and later; nsys export --include-blobs=true)",
                   name, range->start_ns);
        return false;
    }
    if (range->call.bytes > CALL_BYTES_MOST) {
        nsys_error(f, "nccl%.60s at %" PRId64 " ns has a message of %" PRIu64 " bytes", name,
                   range->start_ns, range->call.bytes);
        return false;
    }
    if (field_read(s, data, n, PEER, &value))
        range->call.peer = (uint32_t)value;
    if (field_read(s, data, n, ROOT, &value))
        range->call.root = (uint32_t)value;
    return true;
}

static void range_read(struct nsys_file *f, struct schemas *s, struct nsys_rows *rows)
{
    int n;
    int64_t start = nsys_integer(rows, 0), tid = nsys_integer(rows, 1);
    const char *text = nsys_text(rows, 2), *other = nsys_string(f, nsys_integer(rows, 3));
    const uint8_t *data = nsys_bytes(rows, 4, &n);
    const char *name = text != NULL ? text : other;
    struct nvtx_range range = {.start_ns = start,
                               .pid = nsys_pid(tid),
                               .tid = tid,
                               .row = rows->row,
                               .call.sequence = SEQUENCE_UNKNOWN};
    if (rows->bad || name == NULL || strncmp(name, "nccl", 4) != 0 || !nsys_is_time(start))
        return;
    name += strlen("nccl");
    if (strcmp(name, "GroupStart") == 0)
        range.kind = RANGE_GROUP_START;
    else if (strcmp(name, "GroupEnd") == 0)
        range.kind = RANGE_GROUP_END;
    else if (strncmp(name, "CommInit", 8) == 0 || strncmp(name, "CommSplit", 9) == 0) {
        init_read(f, s, data, n, range.pid);
        return;
    } else if (!call_read(f, s, name, data, n, &range))
        return;
    if (f->n_ranges == f->cap_ranges)
        f->ranges = memory_grow(f->ranges, &f->cap_ranges, sizeof *f->ranges);
    f->ranges[f->n_ranges++] = range;
}

static int by_place(const void *a, const void *b)
{
    const struct nvtx_range *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->start_ns != y->start_ns)
        return x->start_ns < y->start_ns ? -1 : 1;
    return (x->row > y->row) - (x->row < y->row);
}

// Groups of calls: a thread's ranges between the outermost ncclGroupStart and ncclGroupEnd.
struct thread_group {
    unsigned depth;
    uint64_t number;
};

static void groups_number(struct nsys_file *f)
{
    struct thread_group *threads = NULL;
    struct table thread_of = {0};
    size_t n = 0, cap = 0;
    uint64_t groups = 0;
    for (size_t i = 0; i < f->n_ranges; i++) {
        struct nvtx_range *range = &f->ranges[i];
        size_t *place = table_pair(&thread_of, (uint64_t)range->tid, 0);
        if (*place == 0) {
            if (n == cap)
                threads = memory_grow(threads, &cap, sizeof *threads);
            threads[n++] = (struct thread_group){0};
            *place = n;
        }
        struct thread_group *thread = &threads[*place - 1];
        if (range->kind == RANGE_GROUP_START && thread->depth++ == 0)
            thread->number = ++groups;
        else if (range->kind == RANGE_GROUP_END && thread->depth > 0)
            thread->depth--;
        else if (range->kind == RANGE_CALL)
            range->group = thread->depth > 0 ? thread->number : 0;
    }
    table_free(&thread_of);
    free(threads);
}

// Keep the calls; each process notes where its own begin and end.
static void processes_divide(struct nsys_file *f)
{
    size_t n = 0;
    struct nsys_process *process = NULL;
    for (size_t i = 0; i < f->n_ranges; i++) {
        if (f->ranges[i].kind != RANGE_CALL)
            continue;
        if (process == NULL || process->pid != f->ranges[i].pid) {
            process = nsys_process_find(f, f->ranges[i].pid);
            for (size_t c = 0; c < KERNEL_CLASSES; c++)
                process->from[c] = n;
        }
        f->ranges[n++] = f->ranges[i];
        process->end = n;
    }
    f->n_ranges = n;
}

void nsys_ranges_read(struct nsys_file *f)
{
    static const char *const columns[] = {"start",  "globalTid",  "text",
                                          "textId", "binaryData", NULL};
    struct schemas schemas = {0};
    schemas_read(f, &schemas);
    struct nsys_rows rows = nsys_rows_open(f, "NVTX_EVENTS", columns, NULL, true);
    while (nsys_rows_next(&rows))
        range_read(f, &schemas, &rows);
    table_free(&schemas.offset_of);
    free(schemas.offsets);
    if (f->n_ranges > 1)
        qsort(f->ranges, f->n_ranges, sizeof *f->ranges, by_place);
    groups_number(f);
    processes_divide(f);
}
