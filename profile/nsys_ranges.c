// SPDX-License-Identifier: MIT
// Ranges of NCCL's functions and what their payloads say; which kernel each belongs to.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "profile/nsys_internal.h"
#include "profile/words.h"

#define HEADER_BYTES 32
#define SCHEMA_AT 8
#define FIELDS_MOST 16

/* ---- payloads ---- */

struct field {
    int64_t schema;
    char name[32];
    int64_t offset;
};

struct schemas {
    struct field *fields;
    size_t n, cap;
};

static void schemas_read(struct nsys_file *f, struct schemas *s)
{
    sqlite3_stmt *rows =
        nsys_query(f, true,
                   "SELECT DISTINCT schemaId, name, coalesce(\"offset\", 0) FROM "
                   "NVTX_PAYLOAD_SCHEMA_ENTRIES WHERE name IS NOT NULL ORDER BY schemaId, idx");
    while (rows != NULL && nsys_row_next(f, rows)) {
        if (s->n == s->cap)
            s->fields = memory_grow(s->fields, &s->cap, sizeof *s->fields);
        struct field *field = &s->fields[s->n++];
        *field = (struct field){.schema = sqlite3_column_int64(rows, 0),
                                .offset = sqlite3_column_int64(rows, 2)};
        strncpy(field->name, nsys_text(rows, 1), sizeof field->name - 1);
    }
    sqlite3_finalize(rows);
}

static uint64_t little_endian(const uint8_t *bytes, size_t n)
{
    uint64_t value = 0;
    for (size_t i = n; i > 0; i--)
        value = value << 8 | bytes[i - 1];
    return value;
}

// A field of the payload. Returns false if it has none.
static bool field_read(const struct schemas *s, const uint8_t *data, int n, const char *name,
                       size_t bytes, uint64_t *value)
{
    if (data == NULL || n < HEADER_BYTES)
        return false;
    int64_t schema = (int64_t)little_endian(data + SCHEMA_AT, 4);
    for (size_t i = 0; i < s->n; i++) {
        const struct field *field = &s->fields[i];
        if (field->schema != schema || strcmp(field->name, name) != 0)
            continue;
        if (field->offset < 0 || field->offset > n - HEADER_BYTES - (int64_t)bytes)
            return false;
        *value = little_endian(data + HEADER_BYTES + field->offset, bytes);
        return true;
    }
    return false;
}

/* ---- ranges ---- */

static void init_read(struct nsys_file *f, const struct schemas *s, const uint8_t *data, int n,
                      int64_t pid)
{
    uint64_t communicator, n_ranks, rank, device;
    if (!field_read(s, data, n, "NCCL communicator ID", 8, &communicator) ||
        !field_read(s, data, n, "No. of ranks", 4, &n_ranks) ||
        !field_read(s, data, n, "Rank", 4, &rank) ||
        !field_read(s, data, n, "CUDA device", 4, &device) || n_ranks > RANKS_MOST ||
        rank >= n_ranks)
        return;
    if (f->n_inits == f->cap_inits)
        f->inits = memory_grow(f->inits, &f->cap_inits, sizeof *f->inits);
    f->inits[f->n_inits++] =
        (struct nsys_init){pid, (int64_t)device, communicator, (int64_t)n_ranks, (int64_t)rank};
}

static void range_read(struct nsys_file *f, const struct schemas *s, sqlite3_stmt *row,
                       uint64_t group)
{
    const char *name = nsys_text(row, 2) + strlen("nccl"); // nsys_ranges_read() has looked at it
    const uint8_t *data = sqlite3_column_blob(row, 3);
    int n = sqlite3_column_bytes(row, 3);
    int64_t pid = sqlite3_column_int64(row, 1) / 0x1000000 % 0x1000000;
    struct nvtx_range range = {.start_ns = sqlite3_column_int64(row, 0),
                               .pid = pid,
                               .tid = sqlite3_column_int64(row, 1),
                               .group = group,
                               .call.sequence = SEQUENCE_UNKNOWN};
    uint64_t value;
    if (range.start_ns < -TIME_MOST_NS || range.start_ns > TIME_MOST_NS)
        return;
    if (strncmp(name, "CommInit", 8) == 0 || strncmp(name, "CommSplit", 9) == 0) {
        init_read(f, s, data, n, pid);
        return;
    }
    if (!call_word_read(name, &range.call))
        return; // ncclGroupStart, ncclCommDestroy, ..
    if (!field_read(s, data, n, "NCCL communicator ID", 8, &range.communicator) ||
        !field_read(s, data, n, "Message size [bytes]", 8, &range.call.bytes)) {
        if (!recording_is_full(f->recording))
            err_add(f->recording->err, f->path,
                    "nccl%s at %" PRId64 " ns has no payload with its communicator and size "
                    "(NCCL 2.26 and later; nsys export --include-blobs=true)",
                    name, range.start_ns);
        return;
    }
    if (field_read(s, data, n, "Peer rank", 4, &value))
        range.call.peer = (uint32_t)value;
    if (field_read(s, data, n, "Root", 4, &value))
        range.call.root = (uint32_t)value;
    if (f->n_ranges == f->cap_ranges)
        f->ranges = memory_grow(f->ranges, &f->cap_ranges, sizeof *f->ranges);
    f->ranges[f->n_ranges++] = range;
}

// Groups of calls: a thread's ranges between the outermost ncclGroupStart and ncclGroupEnd.
struct thread_group {
    int64_t tid;
    int depth;
    uint64_t number;
};

#define THREADS_MOST 4096 // of a file, which is of one server

// Returns NULL if there are too many.
static struct thread_group *thread_of(struct thread_group **list, size_t *n, size_t *cap,
                                      int64_t tid)
{
    for (size_t i = 0; i < *n; i++)
        if ((*list)[i].tid == tid)
            return &(*list)[i];
    if (*n == THREADS_MOST)
        return NULL;
    if (*n == *cap)
        *list = memory_grow(*list, cap, sizeof **list);
    (*list)[*n] = (struct thread_group){.tid = tid};
    return &(*list)[(*n)++];
}

void nsys_ranges_read(struct nsys_file *f)
{
    struct schemas schemas = {0};
    struct thread_group *threads = NULL;
    size_t n_threads = 0, cap_threads = 0;
    uint64_t groups = 0;
    schemas_read(f, &schemas);
    sqlite3_stmt *rows =
        nsys_query(f, true,
                   "SELECT e.start, e.globalTid, coalesce(e.text, s.value), e.binaryData FROM "
                   "NVTX_EVENTS e LEFT JOIN StringIds s ON s.id = e.textId WHERE coalesce(e.text, "
                   "s.value) GLOB 'nccl*' ORDER BY e.start");
    while (rows != NULL && nsys_row_next(f, rows)) {
        const char *name = nsys_text(rows, 2);
        if (strncmp(name, "nccl", 4) != 0)
            continue; // a value that is no text
        struct thread_group *thread =
            thread_of(&threads, &n_threads, &cap_threads, sqlite3_column_int64(rows, 1));
        if (thread == NULL) {
            if (!recording_is_full(f->recording))
                err_add(f->recording->err, f->path, "more than %d threads call NCCL", THREADS_MOST);
            break;
        }
        if (strcmp(name, "ncclGroupStart") == 0 && thread->depth++ == 0)
            thread->number = ++groups;
        else if (strcmp(name, "ncclGroupEnd") == 0 && thread->depth > 0)
            thread->depth--;
        else
            range_read(f, &schemas, rows, thread->depth > 0 ? thread->number : 0);
    }
    sqlite3_finalize(rows);
    free(threads);
    free(schemas.fields);
}

/* ---- kernels ---- */

// True if a kernel of this name may run the call: "ncclDevKernel_AllReduce_Sum_f32_RING_LL".
static bool may_run(const char *kernel, const struct call *call)
{
    const char *name = strchr(kernel, '_');
    struct call of;
    if (name == NULL || strstr(kernel, "Generic") != NULL)
        return true;
    bool known = call_word_read(name, &of);
    bool pairs = call->kind != CALL_COLLECTIVE || call->op == COLL_ALL_TO_ALL ||
                 call->op == COLL_GATHER || call->op == COLL_SCATTER;
    if (strstr(kernel, "SendRecv") != NULL)
        return pairs; // NCCL makes these of messages
    return !known || (call->kind == of.kind && call->op == of.op);
}

static void call_add(struct nsys_file *f, struct nsys_gpu *gpu, uint32_t kernel,
                     struct nvtx_range *range, bool first)
{
    struct gpu_event event = gpu->rank.events[kernel];
    event.call = (uint32_t)gpu->rank.n_calls;
    if (first)
        gpu->rank.events[kernel] = event;
    else
        *rank_event(&gpu->rank) = event;
    struct call *call = rank_call(&gpu->rank);
    *call = range->call;
    call->start_ns = event.start_ns;
    call->end_ns = event.end_ns;
    call->measured_ns = event.end_ns - event.start_ns;
    call->group = nsys_communicator_find(f->nsys, range->communicator);
    nsys_member_find(f->nsys, call->group, (uint32_t)(gpu - f->nsys->gpus));
    range->taken = true;
}

static int64_t launched(const struct nsys_gpu *gpu, const struct undescribed *kernel)
{
    const struct gpu_event *event = &gpu->rank.events[kernel->event];
    return event->launch_ns != TIME_UNKNOWN ? event->launch_ns : event->start_ns;
}

// Assign to a kernel the calls of NCCL that it executes. Returns their number.
static size_t kernel_match(struct nsys_file *f, struct nsys_gpu *gpu,
                           const struct undescribed *kernel, size_t *from)
{
    size_t n = 0;
    uint64_t group = 0;
    while (*from < f->n_ranges && (f->ranges[*from].taken || f->ranges[*from].pid != gpu->pid))
        ++*from;
    for (size_t i = *from; i < f->n_ranges && f->ranges[i].start_ns <= kernel->launch_ns; i++) {
        struct nvtx_range *range = &f->ranges[i];
        if (range->taken || range->pid != gpu->pid || !may_run(kernel->name, &range->call))
            continue;
        if (n > 0 && (group == 0 || range->group != group))
            break;
        group = range->group;
        call_add(f, gpu, kernel->event, range, n++ == 0);
    }
    for (size_t c = gpu->rank.n_calls - n; n > 1 && c < gpu->rank.n_calls; c++)
        gpu->rank.calls[c].measured_ns = 0; // the time is that of all together
    return n;
}

static int by_launch(const void *a, const void *b)
{
    const struct undescribed *x = a, *y = b;
    if (x->launch_ns != y->launch_ns)
        return x->launch_ns < y->launch_ns ? -1 : 1;
    return (x->event > y->event) - (x->event < y->event);
}

void nsys_kernels_match(struct nsys_file *f, struct nsys_gpu *gpu)
{
    size_t from = 0, without = 0;
    int64_t first_ns = 0;
    for (size_t k = 0; k < gpu->n_kernels; k++)
        gpu->kernels[k].launch_ns = launched(gpu, &gpu->kernels[k]);
    if (gpu->n_kernels > 1)
        qsort(gpu->kernels, gpu->n_kernels, sizeof *gpu->kernels, by_launch);
    for (size_t k = 0; k < gpu->n_kernels; k++) {
        if (kernel_match(f, gpu, &gpu->kernels[k], &from) > 0)
            continue;
        if (without++ == 0)
            first_ns = gpu->rank.events[gpu->kernels[k].event].start_ns;
    }
    if (without > 0 && !recording_is_full(f->recording))
        err_add(f->recording->err, f->path,
                "process %" PRId64 ", device %" PRId64
                ": %zu kernels of NCCL, the first at %" PRId64
                " ns, have no range of NCCL before their launch (nsys profile --trace=cuda,nvtx)",
                gpu->pid, gpu->device, without, first_ns);
}
