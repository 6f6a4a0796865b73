// SPDX-License-Identifier: MIT
// Collectives before PyTorch 2.4: {"cat": "user_annotation", "name": "nccl:all_reduce", "pid": ..,
// "tid": .., "ts": .., "dur": .., "args": {"Input Dims": [[1048576]], "Input type": ["float"]}}.
//
// The annotation encloses the launch of the kernel on the same thread of the CPU; of several that
// do, the one that began last. Where none does, or it is no operation, the one with the kernel's
// External id. It has the operation and the sizes of the inputs, and neither the group nor what is
// received: the group is taken to be all ranks. Messages have their peer in the name:
// "nccl:send 0->1", "nccl:recv 1<-0".
//
// Source: PyTorch 1.8 to 2.3, torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp (profilingTitle).
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/kineto_internal.h"
#include "cli/import/words.h"
#include "engine/base/memory.h"

#define PREFIX "nccl:"
#define BYTES_MOST (INT64_C(1) << 53)
#define DEPTH_MOST 8 // of lists of tensors in lists

/* ---- sizes ---- */

// Elements of a shape, or of all shapes of a list; a tensor without dimensions has one. Returns
// false if it is neither.
static bool elements_add(const json_t *dims, unsigned depth, uint64_t *sum)
{
    uint64_t n = 1;
    size_t i;
    json_t *item;
    if (!json_is_array(dims) || depth > DEPTH_MOST)
        return false;
    if (json_is_array(json_array_get(dims, 0))) {
        json_array_foreach(dims, i, item) if (!elements_add(item, depth + 1, sum)) return false;
        return true;
    }
    json_array_foreach(dims, i, item)
    {
        json_int_t size = json_is_integer(item) ? json_integer_value(item) : -1;
        if (size < 0 || (size > 0 && n > (uint64_t)(BYTES_MOST / size)))
            return false;
        n *= (uint64_t)size;
    }
    *sum += n;
    return *sum <= (uint64_t)BYTES_MOST;
}

// The bytes of all inputs; why not is a problem of the annotation.
static enum annotation_problem sizes_read(const json_t *args, uint64_t *bytes)
{
    const json_t *dims = json_object_get(args, "Input Dims");
    const json_t *types = json_object_get(args, "Input type");
    size_t i;
    json_t *item;
    *bytes = 0;
    if (!json_is_array(dims) || !json_is_array(types) || json_array_size(dims) == 0)
        return ANNOTATION_NO_SIZES;
    json_array_foreach(dims, i, item)
    {
        const char *type = json_string_value(json_array_get(types, i));
        uint64_t of_type = type != NULL ? cpp_type_bytes(type) : 0, n = 0;
        if (type != NULL && type[0] == '\0')
            continue; // no tensor
        if (of_type == 0)
            return ANNOTATION_TYPE;
        if (!elements_add(item, 0, &n) || n > (uint64_t)BYTES_MOST / of_type)
            return ANNOTATION_DIMS;
        *bytes += n * of_type;
        if (*bytes > (uint64_t)BYTES_MOST)
            return ANNOTATION_DIMS;
    }
    return *bytes > 0 ? ANNOTATION_GOOD : ANNOTATION_NO_SIZES;
}

// The rank behind the arrow of "send 0->1" or "recv 1<-0"; false if there is none.
static bool peer_read(const char *word, uint32_t *peer)
{
    const char *arrow = strstr(word, "->");
    arrow = arrow != NULL ? arrow : strstr(word, "<-");
    if (arrow == NULL || arrow[2] < '0' || arrow[2] > '9')
        return false;
    unsigned long rank = strtoul(arrow + 2, NULL, 10);
    *peer = (uint32_t)rank;
    return rank < RANKS_MOST;
}

bool kineto_is_annotation(const char *name) { return strncmp(name, PREFIX, strlen(PREFIX)) == 0; }

void kineto_annotation_note(struct kineto_file *f, const char *name, const json_t *args,
                            const struct kineto_span *span)
{
    const char *word = name + strlen(PREFIX);
    const json_t *external = json_object_get(args, "External id");
    if (f->n_annotations == f->cap_annotations)
        f->annotations = memory_grow(f->annotations, &f->cap_annotations, sizeof *f->annotations);
    struct annotation *a = &f->annotations[f->n_annotations++];
    *a = (struct annotation){.span = *span,
                             .external =
                                 json_is_integer(external) ? json_integer_value(external) : 0,
                             .call = {.sequence = SEQUENCE_UNKNOWN}};
    snprintf(a->word, sizeof a->word, "%s", word);
    if (!call_word_read(word, &a->call))
        a->problem = ANNOTATION_WORD;
    else if (a->call.kind != CALL_COLLECTIVE && !peer_read(word, &a->call.peer))
        a->problem = ANNOTATION_PEER;
    else
        a->problem = sizes_read(args, &a->call.bytes);
    if (a->problem == ANNOTATION_NO_SIZES && a->call.kind == CALL_COLLECTIVE &&
        a->call.op == COLL_BARRIER)
        a->problem = ANNOTATION_GOOD;
}

/* ---- which annotation a kernel belongs to ---- */

static int by_begin(const void *a, const void *b)
{
    const struct annotation *x = a, *y = b;
    if (x->span.thread != y->span.thread)
        return x->span.thread < y->span.thread ? -1 : 1;
    if (x->span.start_ns != y->span.start_ns)
        return x->span.start_ns < y->span.start_ns ? -1 : 1;
    if (x->span.end_ns != y->span.end_ns) // the outer one first
        return x->span.end_ns > y->span.end_ns ? -1 : 1;
    return (x->span.offset > y->span.offset) - (x->span.offset < y->span.offset);
}

static int by_launch(const void *a, const void *b)
{
    const struct undescribed_event *x = a, *y = b;
    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->launch_ns != y->launch_ns)
        return x->launch_ns < y->launch_ns ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

// One pass over kernels and annotations by thread and time. On the stack are the annotations that
// have begun; those that have ended before a launch are of no use to later ones.
static void enclosing_find(struct kineto_file *f)
{
    size_t *stack = memory_zeroed(f->n_annotations + 1, sizeof *stack), depth = 0, next = 0;
    for (size_t i = 0; i < f->n_undescribed; i++) {
        struct undescribed_event *u = &f->undescribed[i];
        if (u->launch_ns == TIME_UNKNOWN)
            continue;
        for (; next < f->n_annotations; next++) {
            const struct kineto_span *span = &f->annotations[next].span;
            if (span->thread > u->thread ||
                (span->thread == u->thread && span->start_ns > u->launch_ns))
                break;
            stack[depth++] = next;
        }
        while (depth > 0 && (f->annotations[stack[depth - 1]].span.thread != u->thread ||
                             f->annotations[stack[depth - 1]].span.end_ns < u->launch_ns))
            depth--;
        if (depth > 0)
            u->annotation = &f->annotations[stack[depth - 1]];
    }
    free(stack);
}

static int by_external(const void *a, const void *b)
{
    const struct annotation *x = *(struct annotation *const *)a;
    const struct annotation *y = *(struct annotation *const *)b;
    if (x->external != y->external)
        return x->external < y->external ? -1 : 1;
    return by_begin(x, y);
}

static void external_find(struct kineto_file *f)
{
    struct annotation **sorted = memory_zeroed(f->n_annotations + 1, sizeof *sorted);
    for (size_t i = 0; i < f->n_annotations; i++)
        sorted[i] = &f->annotations[i];
    qsort(sorted, f->n_annotations, sizeof *sorted, by_external);
    for (size_t i = 0; i < f->n_undescribed; i++) {
        struct undescribed_event *u = &f->undescribed[i];
        size_t low = 0, high = f->n_annotations;
        while (low < high) {
            size_t middle = low + (high - low) / 2;
            if (sorted[middle]->external < u->external)
                low = middle + 1;
            else
                high = middle;
        }
        bool open = u->annotation == NULL || u->annotation->problem == ANNOTATION_WORD;
        if (open && u->external > 0 && low < f->n_annotations &&
            sorted[low]->external == u->external)
            u->annotation = sorted[low];
    }
    free(sorted);
}

void kineto_annotations_find(struct kineto_file *f)
{
    if (f->n_annotations == 0 || f->n_undescribed == 0)
        return;
    qsort(f->annotations, f->n_annotations, sizeof *f->annotations, by_begin);
    qsort(f->undescribed, f->n_undescribed, sizeof *f->undescribed, by_launch);
    enclosing_find(f);
    external_find(f);
    for (size_t i = 0; i < f->n_undescribed; i++)
        if (f->undescribed[i].annotation != NULL)
            f->undescribed[i].annotation->n_kernels++;
}

/* ---- the call of a kernel ---- */

static int problem_error(struct kineto_file *f, const struct annotation *a)
{
    static const char *const sentences[] = {
        [ANNOTATION_WORD] = "is no operation that can be simulated",
        [ANNOTATION_PEER] = "does not name the other rank of the message",
        [ANNOTATION_NO_SIZES] = "has no \"Input Dims\" and types: record_shapes=True adds them",
        [ANNOTATION_TYPE] = "has an \"Input type\" that is not known",
        [ANNOTATION_DIMS] = "has \"Input Dims\" that are no sizes of tensors",
    };
    kineto_error(f, a->span.offset, "annotation " PREFIX "%s %s", a->word, sentences[a->problem]);
    return -1;
}

// The world's group in this file; UINT32_MAX with an error.
static uint32_t world_group(struct kineto_file *f)
{
    static const char name[] = "world";
    for (size_t g = 0; g < f->n_groups; g++)
        if (f->groups[g].world)
            return (uint32_t)g;
    if (f->world < 1) {
        kineto_error(f, 0,
                     "no world_size in distributedInfo, and no group in the kernels of NCCL: "
                     "--ranks N says of how many ranks the job is");
        return UINT32_MAX;
    }
    if (f->n_groups == f->cap_groups)
        f->groups = memory_grow(f->groups, &f->cap_groups, sizeof *f->groups);
    f->groups[f->n_groups] =
        (struct kineto_group){.name = memory_text(name), .size = (uint32_t)f->world, .world = true};
    return (uint32_t)f->n_groups++;
}

// The kernel's name has the operation too, unless it is that of messages.
static bool kernel_agrees(const struct undescribed_event *u, const struct call *call)
{
    return u->kernel_op == COLL_OPS || call->kind != CALL_COLLECTIVE || u->kernel_op == call->op ||
           call->op == COLL_BARRIER;
}

int kineto_annotation_call(struct kineto_file *f, const struct undescribed_event *u,
                           struct call *call)
{
    const struct annotation *a = u->annotation;
    if (a->problem != ANNOTATION_GOOD)
        return problem_error(f, a);
    *call = a->call;
    if (!kernel_agrees(u, call)) {
        kineto_error(f, u->offset,
                     "the kernel is %s, and its annotation " PREFIX "%s: which of them is the "
                     "collective is not known",
                     coll_op_name(u->kernel_op), a->word);
        return -1;
    }
    f->recording->older_than_2_4 = true;
    call->group = world_group(f);
    if (call->group == UINT32_MAX)
        return -1;
    recording_assume(f->recording,
                     "the group of a call is all %" PRId64 " ranks of the job: traces before "
                     "PyTorch 2.4 do not name it",
                     f->world);
    if (call->kind == CALL_COLLECTIVE &&
        (call->op == COLL_ALL_GATHER || call->op == COLL_GATHER)) // the input is one rank's part
        call->bytes *= (uint64_t)f->world;
    call->sent_only = call->kind == CALL_COLLECTIVE && call->op == COLL_ALL_TO_ALL;
    if (call->sent_only)
        recording_assume(f->recording, "a rank sends equal parts of the input of an all_to_all: "
                                       "its annotation has neither the parts nor the output");
    if (a->n_kernels > 1) {
        recording_assume(f->recording, "kernels that one annotation launches carry equal parts of "
                                       "its bytes");
        call->bytes = (call->bytes + a->n_kernels - 1) / a->n_kernels;
    }
    return 1;
}
