// SPDX-License-Identifier: MIT
// {"ph": "X", "cat": "kernel", "name": .., "ts": 12.5, "dur": 3.1, "args": {"stream": 7, ..}}
#define _GNU_SOURCE // memmem
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/kineto_internal.h"
#include "cli/import/words.h"
#include "engine/base/memory.h"

#define TIME_MOST_US ((double)TIME_MOST_NS / 1000)
#define SPAN_MOST_US ((double)SPAN_MOST_NS / 1000)
#define DEVICE_STREAMS 1000000

static int64_t integer_at(const json_t *args, const char *key)
{
    const json_t *value = json_object_get(args, key);
    return json_is_integer(value) ? json_integer_value(value) : 0;
}

// The event's times. Returns false with an error.
static bool times_read(struct kineto_file *f, const json_t *event, uint64_t offset,
                       int64_t *start_ns, int64_t *end_ns)
{
    const json_t *ts = json_object_get(event, "ts"), *dur = json_object_get(event, "dur");
    double start = json_number_value(ts), takes = json_number_value(dur);
    if (!json_is_number(ts) || fabs(start) > TIME_MOST_US) {
        kineto_error(f, offset, "ts: is no time in microseconds");
        return false;
    }
    if (!json_is_number(dur) || fabs(takes) > SPAN_MOST_US) {
        kineto_error(f, offset, "dur: is no time in microseconds");
        return false;
    }
    if (takes < 0) {
        kineto_error(f, offset, "dur: %.3f us: the clock runs backwards", takes);
        return false;
    }
    *start_ns = llround(start * 1000);
    *end_ns = *start_ns + llround(takes * 1000);
    return true;
}

// The operation that an event belongs to; 0 = none. Kernels of older versions have a small letter.
static int64_t external_id(const json_t *args)
{
    int64_t id = integer_at(args, "External id");
    return id != 0 ? id : integer_at(args, "external id");
}

/* ---- what ran on the GPU ---- */

static void undescribed_add(struct kineto_file *f, const char *name, int64_t external,
                            uint64_t offset)
{
    if (f->n_undescribed == f->cap_undescribed)
        f->undescribed = memory_grow(f->undescribed, &f->cap_undescribed, sizeof *f->undescribed);
    f->undescribed[f->n_undescribed++] =
        (struct undescribed_event){.event = (uint32_t)f->rank.n_events - 1,
                                   .external = external,
                                   .launch_ns = TIME_UNKNOWN,
                                   .offset = offset,
                                   .kernel_op = nccl_kernel_op(name)};
}

static void gpu_event_read(struct kineto_file *f, const json_t *event, const char *name, bool copy,
                           uint64_t offset)
{
    const json_t *args = json_object_get(event, "args");
    struct call call;
    int64_t start_ns, end_ns;
    if (!times_read(f, event, offset, &start_ns, &end_ns))
        return;
    int described = copy ? 0 : kineto_call_read(f, args, offset, &call);
    if (described < 0)
        return;
    int64_t stream = integer_at(args, "device") * DEVICE_STREAMS + integer_at(args, "stream");
    int64_t correlation = integer_at(args, "correlation");
    struct gpu_event *made = rank_event(&f->rank);
    *made = (struct gpu_event){.start_ns = start_ns,
                               .end_ns = end_ns,
                               .launch_ns = TIME_UNKNOWN,
                               .correlation = correlation > 0 ? (uint64_t)correlation : 0,
                               .call = copy ? COPY_CALL : NO_CALL,
                               .stream = rank_stream(&f->rank, stream)};
    if (described > 0) {
        made->call = (uint32_t)f->rank.n_calls;
        call.start_ns = start_ns;
        call.end_ns = end_ns;
        call.measured_ns = end_ns - start_ns;
        *rank_call(&f->rank) = call;
    } else if (!copy && is_nccl_kernel(name)) {
        undescribed_add(f, name, external_id(args), offset);
    }
}

/* ---- what the CPU did ---- */

// The thread of the event, as a number; 0 where it has none.
static uint64_t thread_of(const json_t *event)
{
    return (uint64_t)integer_at(event, "pid") << 32 ^ (uint64_t)integer_at(event, "tid");
}

static void runtime_read(struct kineto_file *f, const json_t *event, const char *name,
                         uint64_t offset)
{
    const json_t *args = json_object_get(event, "args");
    int64_t start_ns, end_ns, correlation = integer_at(args, "correlation");
    bool waits = strstr(name, "Synchronize") != NULL;
    if ((!waits && correlation <= 0) || !times_read(f, event, offset, &start_ns, &end_ns))
        return;
    if (waits) {
        *rank_host_wait(&f->rank) = (struct host_wait){start_ns, end_ns};
        return;
    }
    if (f->n_launches == f->cap_launches)
        f->launches = memory_grow(f->launches, &f->cap_launches, sizeof *f->launches);
    f->launches[f->n_launches++] =
        (struct launch){(uint64_t)correlation, thread_of(event), start_ns};
}

static void sync_read(struct kineto_file *f, const json_t *event, const char *name)
{
    const json_t *args = json_object_get(event, "args");
    int64_t record = integer_at(args, "wait_on_cuda_event_record_corr_id");
    int64_t correlation = integer_at(args, "correlation");
    int64_t device = integer_at(args, "device") * DEVICE_STREAMS;
    if (strcmp(name, "Stream Wait Event") == 0 && record > 0 && correlation > 0)
        *rank_stream_wait(&f->rank) =
            (struct stream_wait){.stream = device + integer_at(args, "stream"),
                                 .on = device + integer_at(args, "wait_on_stream"),
                                 .correlation = (uint64_t)correlation,
                                 .on_correlation = (uint64_t)record};
}

static void annotation_read(struct kineto_file *f, const json_t *event, const char *name,
                            uint64_t offset)
{
    static const char begin[] = "ProfilerStep#";
    int64_t start_ns, end_ns;
    bool calls = kineto_is_annotation(name);
    if ((!calls && strncmp(name, begin, sizeof begin - 1) != 0) ||
        !times_read(f, event, offset, &start_ns, &end_ns))
        return;
    if (calls) {
        struct kineto_span span = {start_ns, end_ns, thread_of(event), offset};
        kineto_annotation_note(f, name, json_object_get(event, "args"), &span);
        return;
    }
    *rank_step(&f->rank) =
        (struct step_mark){strtoll(name + sizeof begin - 1, NULL, 10), start_ns, end_ns};
}

// The program waits for a collective, by its group and number.
static void wait_read(struct kineto_file *f, const json_t *event, const json_t *args,
                      uint64_t offset)
{
    const char *group = json_string_value(json_object_get(args, "Process Group Name"));
    const json_t *sequence = json_object_get(args, "Seq");
    int64_t start_ns, end_ns;
    if (group == NULL || group[0] == '\0' || !json_is_integer(sequence) ||
        !times_read(f, event, offset, &start_ns, &end_ns))
        return;
    *rank_call_wait(&f->rank) =
        (struct call_wait){.at_ns = start_ns,
                           .sequence = json_integer_value(sequence),
                           .group = (uint32_t)(kineto_group_note(f, group, NULL) - f->groups)};
}

static void description_read(struct kineto_file *f, const json_t *event, const char *name,
                             uint64_t offset)
{
    const json_t *args = json_object_get(event, "args"), *from = args;
    struct call call = {0};
    if (strcmp(name, "record_param_comms") != 0)
        return;
    if (json_object_get(args, "Collective name") == NULL && f->recording->reader != NULL)
        from =
            kineto_graph_call(f, integer_at(event, "pid"), integer_at(args, "Record function id"));
    const char *word = json_string_value(json_object_get(from, "Collective name"));
    if (word != NULL && strcmp(word, "wait") == 0)
        wait_read(f, event, from, offset);
    if (word == NULL || !call_word_read(word, &call) ||
        kineto_call_read(f, from, offset, &call) <= 0)
        return;
    if (f->n_described == f->cap_described)
        f->described = memory_grow(f->described, &f->cap_described, sizeof *f->described);
    f->described[f->n_described++] = (struct described_call){integer_at(args, "External id"), call};
}

/* ---- all ---- */

// An operation of the program; versions of PyTorch before 1.12 write it with a capital.
static bool is_operation(const char *category)
{
    return strcmp(category, "cpu_op") == 0 || strcmp(category, "Operator") == 0 ||
           strcmp(category, "operator") == 0;
}

static bool is_quiet(const char *category) // nothing of it is needed
{
    static const char *const words[] = {"ac2g",
                                        "fwdbwd",
                                        "async_cpu_to_gpu",
                                        "async_gpu",
                                        "python_function",
                                        "gpu_user_annotation",
                                        "Trace",
                                        "overhead",
                                        "cuda_profiler_range",
                                        "cpu_instant_event",
                                        "cuda_event",
                                        "user_defined"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(category, words[i]) == 0)
            return true;
    return false;
}

// The value of the first key "cat" of the event's text; 0 bytes = not found.
static size_t category_find(const struct piece *piece, const char **value)
{
    const char *end = piece->text + piece->n, *at = piece->text;
    while ((at = memmem(at, (size_t)(end - at), "\"cat\"", 5)) != NULL) {
        at += 5;
        while (at < end && (*at == ' ' || *at == ':'))
            at++;
        if (at < end && *at == '"' && at[-1] != '"') { // not the value of another key
            const char *close = memchr(at + 1, '"', (size_t)(end - at - 1));
            *value = at + 1;
            return close != NULL ? (size_t)(close - at - 1) : 0;
        }
    }
    return 0;
}

bool kineto_event_needed(const struct piece *piece)
{
    char category[32];
    const char *value;
    size_t n = category_find(piece, &value);
    if (n == 0 || n >= sizeof category)
        return true;
    memcpy(category, value, n);
    category[n] = '\0';
    if (is_operation(category))
        return memmem(piece->text, piece->n, "record_param_comms", 18) != NULL ||
               memmem(piece->text, piece->n, "\"nccl:", 6) != NULL;
    return !is_quiet(category);
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0 || strcmp(word, c) == 0;
}

static int64_t unused_ns(const json_t *event)
{
    double takes = json_number_value(json_object_get(event, "dur"));
    return takes > 0 && takes < SPAN_MOST_US ? llround(takes * 1000) : 0;
}

void kineto_event_read(struct kineto_file *f, const json_t *event, uint64_t offset)
{
    const char *phase = json_string_value(json_object_get(event, "ph"));
    const char *category = json_string_value(json_object_get(event, "cat"));
    const char *name = json_string_value(json_object_get(event, "name"));
    if (!json_is_object(event)) {
        kineto_error(f, offset, "an event must be an object");
        return;
    }
    if (phase == NULL || strcmp(phase, "X") != 0 || category == NULL)
        return; // names of processes, arrows, instants
    name = name != NULL ? name : "";
    if (strcmp(category, "kernel") == 0 || strcmp(category, "Kernel") == 0)
        gpu_event_read(f, event, name, false, offset);
    else if (is_one_of(category, "gpu_memcpy", "gpu_memset", "Memcpy") ||
             strcmp(category, "Memset") == 0)
        gpu_event_read(f, event, name, true, offset);
    else if (is_one_of(category, "cuda_runtime", "cuda_driver", "hip_runtime") ||
             strcmp(category, "Runtime") == 0)
        runtime_read(f, event, name, offset);
    else if (strcmp(category, "cuda_sync") == 0)
        sync_read(f, event, name);
    else if (strcmp(category, "user_annotation") == 0 ||
             (is_operation(category) && kineto_is_annotation(name)))
        annotation_read(f, event, name, offset);
    else if (is_operation(category))
        description_read(f, event, name, offset);
    else if (!is_quiet(category))
        recording_unused(f->recording, category, unused_ns(event));
}
