// SPDX-License-Identifier: MIT
// The tables of one file.
#include "cli/import/nsys.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/nsys_internal.h"
#include "cli/import/words.h"
#include "engine/base/memory.h"

/* ---- nsys match ---- */

// Which kernel executes which calls of NCCL: the first range before its launch that is free.

// What a kernel's name says of the calls that it may run
// ("ncclDevKernel_AllReduce_Sum_f32_RING_LL"): any, messages and what NCCL makes of messages, or
// one kind of call.
enum { CLASS_ANY, CLASS_MESSAGES, CLASS_FIRST };

static unsigned class_of_call(enum call_kind kind, enum coll_op op)
{
    return CLASS_FIRST + (unsigned)kind * (COLL_OPS + 1) + (unsigned)op;
}

static unsigned class_of_kernel(const char *kernel)
{
    const char *name = strchr(kernel, '_');
    struct call of;
    if (name == NULL || strstr(kernel, "Generic") != NULL)
        return CLASS_ANY;
    if (strstr(kernel, "SendRecv") != NULL)
        return CLASS_MESSAGES;
    return call_word_read(name, &of) ? class_of_call(of.kind, of.op) : CLASS_ANY;
}

static bool may_run(unsigned class, const struct call *call)
{
    bool pairs = call->kind != CALL_COLLECTIVE || call->op == COLL_ALL_TO_ALL ||
                 call->op == COLL_GATHER || call->op == COLL_SCATTER;
    return class == CLASS_ANY || (class == CLASS_MESSAGES && pairs) ||
           class == class_of_call(call->kind, call->op);
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

// Assign to a kernel the calls of NCCL that it executes. Returns their number. All ranges before
// `from` of the kernel's class are taken, or are not of the class, and stay so: no range is looked
// at twice for a class.
static size_t kernel_match(struct nsys_file *f, struct nsys_gpu *gpu, struct nsys_process *process,
                           const struct undescribed *kernel)
{
    size_t n = 0;
    uint64_t group = 0;
    unsigned class = class_of_kernel(kernel->name);
    size_t *from = &process->from[class];
    for (; *from < process->end && f->ranges[*from].start_ns <= kernel->launch_ns; ++*from) {
        struct nvtx_range *range = &f->ranges[*from];
        if (range->taken || !may_run(class, &range->call))
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

// Give the kernels of NCCL of a GPU their calls.
static void nsys_kernels_match(struct nsys_file *f, struct nsys_gpu *gpu)
{
    size_t without = 0;
    int64_t first_ns = 0;
    struct nsys_process *process = nsys_process_find(f, gpu->pid);
    for (size_t k = 0; k < gpu->n_kernels; k++)
        gpu->kernels[k].launch_ns = launched(gpu, &gpu->kernels[k]);
    if (gpu->n_kernels > 1)
        qsort(gpu->kernels, gpu->n_kernels, sizeof *gpu->kernels, by_launch);
    for (size_t k = 0; k < gpu->n_kernels; k++) {
        if (kernel_match(f, gpu, process, &gpu->kernels[k]) > 0)
            continue;
        if (without++ == 0)
            first_ns = gpu->rank.events[gpu->kernels[k].event].start_ns;
    }
    if (without > 0)
        nsys_error(f,
                   "process %" PRId64 ", device %" PRId64
                   ": %zu kernels of NCCL, the first at %" PRId64
                   " ns, have no range of NCCL before their launch (nsys profile "
                   "--trace=cuda,nvtx)",
                   gpu->pid, gpu->device, without, first_ns);
}

/* ---- nsys ---- */

#define DEVICES_MOST 64 // of a process; CUDA has no more

/* ---- names ---- */

const char *nsys_string(struct nsys_file *f, int64_t id)
{
    size_t *place = table_pair(&f->string_of, (uint64_t)id, 0);
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
        size_t *place = table_pair(&f->string_of, (uint64_t)id, 0);
        if (*place == 0) {
            string_add(f, text);
            *place = f->n_strings;
        }
    }
}

/* ---- launches and waits of the CPU ---- */

// The GPUs of the host, also those that the run did not use.
static void gpus_read(struct nsys_file *f)
{
    static const char *const columns[] = {"name", NULL};
    struct recording *r = f->recording;
    struct nsys_rows rows = nsys_rows_open(f, "TARGET_INFO_GPU", columns, NULL, true);
    uint32_t n = 0;
    while (nsys_rows_next(&rows)) {
        const char *name = nsys_text(&rows, 0);
        if (name == NULL || name[0] == '\0')
            continue;
        recording_named(r, &r->gpu, name, "GPUs");
        recording_named(r, &r->library, "nccl", "libraries"); // whose ranges are read
        n++;
    }
    if (n <= DEVICES_MOST && n > r->gpus_per_node)
        r->gpus_per_node = n;
}

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
    size_t *place = table_pair(&f->process_of, (uint64_t)pid, 0);
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
    size_t *place = table_pair(&f->gpu_of, (uint64_t)pid, (uint64_t)device);
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
        size_t *place = table_pair(&f->gpu_of, (uint64_t)init->pid, (uint64_t)init->device);
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
    gpus_read(f);
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
    table_free(&f.gpu_of);
    table_free(&f.process_of);
    table_free(&f.string_of);
    free(f.processes);
    free(f.strings);
    free(f.ranges);
    free(f.inits);
    free(f.launches);
    free(f.waits);
}
