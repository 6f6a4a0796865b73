// SPDX-License-Identifier: MIT
// The tables of one file.
#include "cli/import/nsys.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/nsys_internal.h"
#include "cli/import/words.h"
#include "engine/base/memory.h"

#define DEVICES_MOST 64 // of a process; CUDA has no more

/* ---- names ---- */

const char *nsys_string(struct nsys_file *f, int64_t id)
{
    size_t *place = key_index_at(&f->string_of, (uint64_t)id, 0);
    if (*place == 0) { // not used: all such ids have the text NULL
        *place = 1;
        return NULL;
    }
    return f->strings[*place - 1];
}

static void string_add(struct nsys_file *f, const char *text)
{
    if (f->n_strings == f->cap_strings)
        f->strings = memory_grow(f->strings, &f->cap_strings, sizeof *f->strings);
    f->strings[f->n_strings++] = name_keep(&f->recording->names, text);
}

static bool is_wait(const char *name) { return strstr(name, "Synchronize") != NULL; }

// Of the names of kernels, ranges and functions those of NCCL and those of waits are used.
static void strings_read(struct nsys_file *f)
{
    static const char *const columns[] = {"id", "value", NULL};
    struct nsys_rows rows = nsys_rows_open(f, "StringIds", columns, NULL, false);
    string_add(f, NULL);
    while (nsys_rows_next(&rows)) {
        int64_t id = nsys_required(&rows, 0);
        const char *text = nsys_text(&rows, 1);
        if (rows.bad || text == NULL || !(is_nccl_kernel(text) || is_wait(text)))
            continue;
        size_t *place = key_index_at(&f->string_of, (uint64_t)id, 0);
        if (*place == 0) {
            string_add(f, text);
            *place = f->n_strings;
        }
    }
}

/* ---- launches and waits of the CPU ---- */

static void runtime_read(struct nsys_file *f)
{
    static const char *const columns[] = {"start",         "end",    "globalTid",
                                          "correlationId", "nameId", NULL};
    struct nsys_rows rows = nsys_rows_open(f, "CUPTI_ACTIVITY_KIND_RUNTIME", columns, NULL, true);
    while (nsys_rows_next(&rows)) {
        int64_t start = nsys_integer(&rows, 0), end = nsys_integer(&rows, 1);
        int64_t pid = nsys_pid(nsys_integer(&rows, 2)), correlation = nsys_integer(&rows, 3);
        const char *name = nsys_string(f, nsys_integer(&rows, 4));
        if (rows.bad || !nsys_is_time(start) || !nsys_is_time(end))
            continue;
        if (name != NULL && is_wait(name)) {
            if (f->n_waits == f->cap_waits)
                f->waits = memory_grow(f->waits, &f->cap_waits, sizeof *f->waits);
            f->waits[f->n_waits++] = (struct host_wait_of){pid, {start, end}};
            continue;
        }
        if (f->n_launches == f->cap_launches)
            f->launches = memory_grow(f->launches, &f->cap_launches, sizeof *f->launches);
        f->launches[f->n_launches++] = (struct nsys_launch){pid, start, correlation};
    }
}

static int by_correlation(const void *a, const void *b)
{
    const struct nsys_launch *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

static int64_t launch_of(const struct nsys_file *f, int64_t pid, int64_t correlation)
{
    struct nsys_launch key = {.pid = pid, .correlation = correlation};
    const struct nsys_launch *found =
        f->n_launches > 0 ? bsearch(&key, f->launches, f->n_launches, sizeof key, by_correlation)
                          : NULL;
    return found != NULL ? found->start_ns : TIME_UNKNOWN;
}

/* ---- what ran on the GPUs ---- */

struct nsys_process *nsys_process_find(struct nsys_file *f, int64_t pid)
{
    size_t *place = key_index_at(&f->process_of, (uint64_t)pid, 0);
    if (*place == 0) {
        if (f->n_processes == f->cap_processes)
            f->processes = memory_grow(f->processes, &f->cap_processes, sizeof *f->processes);
        f->processes[f->n_processes++] = (struct nsys_process){.pid = pid};
        *place = f->n_processes;
    }
    return &f->processes[*place - 1];
}

// The number of a process's GPUs is bounded, since each of them keeps what its process waits for.
static struct nsys_gpu *gpu_of(struct nsys_file *f, int64_t pid, int64_t device)
{
    struct nsys *n = f->nsys;
    size_t *place = key_index_at(&f->gpu_of, (uint64_t)pid, (uint64_t)device);
    if (*place > 0)
        return &n->gpus[*place - 1];
    *place = n->n_gpus + 1;
    if (n->n_gpus == n->cap_gpus)
        n->gpus = memory_grow(n->gpus, &n->cap_gpus, sizeof *n->gpus);
    struct nsys_gpu *made = &n->gpus[n->n_gpus++];
    *made = (struct nsys_gpu){.path = memory_text(f->path), .pid = pid, .device = device};
    made->rank.begin_ns = TIME_UNKNOWN;
    if (nsys_process_find(f, pid)->n_gpus++ == DEVICES_MOST)
        nsys_error(f, "process %" PRId64 " has more than %d devices", pid, DEVICES_MOST);
    return made;
}

static void kernel_note(struct nsys_file *f, struct nsys_gpu *gpu, const char *name)
{
    if (gpu->n_kernels == gpu->cap_kernels)
        gpu->kernels = memory_grow(gpu->kernels, &gpu->cap_kernels, sizeof *gpu->kernels);
    gpu->kernels[gpu->n_kernels++] = (struct undescribed){
        .event = (uint32_t)gpu->rank.n_events - 1, .name = name_keep(&f->recording->names, name)};
}

// Returns false with an error if an operation cannot have such times.
static bool times_check(struct nsys_file *f, int64_t start, int64_t end)
{
    bool good = false;
    if (!nsys_is_time(start) || !nsys_is_time(end))
        nsys_error(f, "%" PRId64 " ns is no time of an operation", start);
    else if (end < start)
        nsys_error(f,
                   "an operation ends %" PRId64 " ns before its start at %" PRId64
                   " ns: the clock runs backwards",
                   start - end, start);
    else if (end - start > SPAN_MOST_NS)
        nsys_error(f, "an operation at %" PRId64 " ns takes %" PRId64 " ns, more than 100000 s",
                   start, end - start);
    else
        good = true;
    return good;
}

// Kernels, in the order of their starts, or copies of memory, which have no name.
static void activities_read(struct nsys_file *f, const char *table, bool copies)
{
    static const char *const columns[] = {"start",     "end",           "deviceId",  "streamId",
                                          "globalPid", "correlationId", "shortName", NULL};
    static const char *const columns_of_copies[] = {
        "start", "end", "deviceId", "streamId", "globalPid", "correlationId", NULL};
    static const char *const order[] = {"start", "correlationId", NULL};
    struct nsys_rows rows = nsys_rows_open(f, table, copies ? columns_of_copies : columns,
                                           copies ? NULL : order, copies);
    while (nsys_rows_next(&rows)) {
        int64_t start = nsys_required(&rows, 0), end = nsys_required(&rows, 1);
        int64_t device = nsys_integer(&rows, 2), stream = nsys_integer(&rows, 3);
        int64_t pid = nsys_pid(nsys_integer(&rows, 4)), correlation = nsys_integer(&rows, 5);
        const char *name = copies ? NULL : nsys_string(f, nsys_integer(&rows, 6));
        if (rows.bad || !times_check(f, start, end))
            continue;
        struct nsys_gpu *gpu = gpu_of(f, pid, device);
        *rank_event(&gpu->rank) =
            (struct gpu_event){.start_ns = start,
                               .end_ns = end,
                               .launch_ns = launch_of(f, pid, correlation),
                               .correlation = correlation > 0 ? (uint64_t)correlation : 0,
                               .call = copies ? COPY_CALL : NO_CALL,
                               .stream = rank_stream(&gpu->rank, stream)};
        if (name != NULL && is_nccl_kernel(name))
            kernel_note(f, gpu, name);
    }
}

/* ---- the file ---- */

static int by_process(const void *a, const void *b)
{
    const struct host_wait_of *x = a, *y = b;
    if (x->pid != y->pid)
        return x->pid < y->pid ? -1 : 1;
    if (x->wait.start_ns != y->wait.start_ns)
        return x->wait.start_ns < y->wait.start_ns ? -1 : 1;
    return (x->wait.end_ns > y->wait.end_ns) - (x->wait.end_ns < y->wait.end_ns);
}

// The first wait of a process in the sorted list.
static size_t first_wait(const struct nsys_file *f, int64_t pid)
{
    size_t low = 0, high = f->n_waits;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (f->waits[middle].pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void waits_give(struct nsys_file *f)
{
    if (f->n_waits > 1)
        qsort(f->waits, f->n_waits, sizeof *f->waits, by_process);
    for (size_t g = f->first_gpu; g < f->nsys->n_gpus; g++) {
        struct nsys_gpu *gpu = &f->nsys->gpus[g];
        for (size_t w = first_wait(f, gpu->pid); w < f->n_waits && f->waits[w].pid == gpu->pid; w++)
            *rank_host_wait(&gpu->rank) = f->waits[w].wait;
    }
}

// The ranks that GPUs have in communicators, where that was recorded.
static void inits_give(struct nsys_file *f)
{
    for (size_t i = 0; i < f->n_inits; i++) {
        const struct nsys_init *init = &f->inits[i];
        size_t *place = key_index_at(&f->gpu_of, (uint64_t)init->pid, (uint64_t)init->device);
        if (*place == 0) { // ran nothing
            *place = SIZE_MAX;
            continue;
        }
        if (*place == SIZE_MAX)
            continue;
        uint32_t c = nsys_communicator_find(f->nsys, init->communicator);
        f->nsys->communicators[c].n_ranks = init->n_ranks;
        nsys_member_find(f->nsys, c, (uint32_t)(*place - 1))->rank = init->rank;
    }
}

static void tables_read(struct nsys_file *f)
{
    if (!nsys_tables_check(f))
        return;
    strings_read(f);
    runtime_read(f);
    if (f->n_launches > 1)
        qsort(f->launches, f->n_launches, sizeof *f->launches, by_correlation);
    activities_read(f, "CUPTI_ACTIVITY_KIND_KERNEL", false);
    activities_read(f, "CUPTI_ACTIVITY_KIND_MEMCPY", true);
    activities_read(f, "CUPTI_ACTIVITY_KIND_MEMSET", true);
    nsys_ranges_read(f);
    if (recording_is_full(f->recording))
        return;
    waits_give(f);
    inits_give(f);
    for (size_t g = f->first_gpu; g < f->nsys->n_gpus; g++)
        nsys_kernels_match(f, &f->nsys->gpus[g]);
}

void nsys_read(struct recording *r, const char *path)
{
    if (r->reader == NULL)
        r->reader = memory_zeroed(1, sizeof(struct nsys));
    struct nsys_file f = {.recording = r, .nsys = r->reader, .path = path};
    f.first_gpu = f.nsys->n_gpus;
    if (database_open(&f.database, path, r->err) == 0)
        tables_read(&f);
    database_close(&f.database);
    key_index_free(&f.gpu_of);
    key_index_free(&f.process_of);
    key_index_free(&f.string_of);
    free(f.processes);
    free(f.strings);
    free(f.ranges);
    free(f.inits);
    free(f.launches);
    free(f.waits);
}
