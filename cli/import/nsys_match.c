// SPDX-License-Identifier: MIT
// Which kernel executes which calls of NCCL: the first range before its launch that is free.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/nsys_internal.h"
#include "cli/import/words.h"

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

void nsys_kernels_match(struct nsys_file *f, struct nsys_gpu *gpu)
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
