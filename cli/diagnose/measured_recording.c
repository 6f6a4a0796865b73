// SPDX-License-Identifier: MIT
// Times of sizes in recordings: the collectives of all ranks, each with the time of the rank that
// waited least, and of equal ones the median.
#include <math.h>
#include <stdlib.h>

#include "cli/diagnose/measured_files.h"
#include "cli/import/import.h"
#include "cli/import/recording.h"
#include "engine/base/memory.h"

#define LEAST_SPREAD 0.02 // of equal collectives

struct seen { // a collective of all ranks
    enum coll_op op;
    uint64_t bytes;
    uint32_t number;
    double time_ns;
};

static int by_call(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    if (x->op != y->op)
        return x->op < y->op ? -1 : 1;
    if (x->bytes != y->bytes)
        return x->bytes < y->bytes ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static int by_time(const void *a, const void *b)
{
    const struct seen *x = a, *y = b;
    return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static size_t calls_of(const struct recording *r, struct seen **list)
{
    size_t n = 0, most = 0;
    for (size_t i = 0; i < r->n_ranks; i++)
        most += r->ranks[i].n_calls;
    *list = memory_zeroed(most + 1, sizeof **list);
    for (size_t i = 0; i < r->n_ranks; i++)
        for (size_t c = 0; c < r->ranks[i].n_calls; c++) {
            const struct call *call = &r->ranks[i].calls[c];
            if (call->kind == CALL_COLLECTIVE && call->measured_ns > 0 && call->bytes > 0 &&
                r->groups[call->group].size == r->world)
                (*list)[n++] =
                    (struct seen){call->op, call->bytes, call->number, (double)call->measured_ns};
        }
    qsort(*list, n, sizeof **list, by_call);
    return n;
}

// Keep of each call the time of the rank that waited least: the first in the order.
static size_t without_waits(struct seen *list, size_t n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++)
        if (kept == 0 || list[kept - 1].op != list[i].op || list[kept - 1].bytes != list[i].bytes ||
            list[kept - 1].number != list[i].number)
            list[kept++] = list[i];
    return kept;
}

// The operation that takes most time.
static enum coll_op main_op(const struct seen *list, size_t n)
{
    double of[COLL_OPS] = {0};
    enum coll_op most = list[0].op;
    for (size_t i = 0; i < n; i++) {
        of[list[i].op] += list[i].time_ns;
        most = of[list[i].op] > of[most] ? list[i].op : most;
    }
    return most;
}

// The times of one size: their median, and half of the distance of their quartiles.
static void add_median(struct measured_files *m, struct seen *list, size_t n)
{
    qsort(list, n, sizeof *list, by_time);
    double median = list[n / 2].time_ns,
           spread = (list[3 * n / 4].time_ns - list[n / 4].time_ns) / 2 / median;
    measured_files_add(m,
                       (struct measured_size){list[0].bytes, median, fmax(spread, LEAST_SPREAD)});
}

static int take_calls(struct measured_files *m, const char *path, const struct recording *r,
                      struct err *err)
{
    struct seen *list;
    size_t n = calls_of(r, &list), end;
    n = without_waits(list, n);
    int status = n > 0 ? 0 : err_add(err, path, "has no collective of all ranks with its time");
    m->ranks = r->world;
    enum coll_op op = n > 0 ? main_op(list, n) : COLL_ALL_REDUCE;
    if (status == 0)
        status = measured_files_op(m, path, coll_op_name(op), err);
    for (size_t i = 0; i < n && status == 0; i = end) {
        for (end = i; end < n && list[end].op == list[i].op && list[end].bytes == list[i].bytes;)
            end++;
        if (list[i].op == op)
            add_median(m, list + i, end - i);
    }
    free(list);
    return status;
}

int measured_recording_read(struct measured_files *m, const char *format, const char *const *paths,
                            size_t n, struct err *err)
{
    struct profile_result result;
    struct profile_import from = {.format = format,
                                  .folder = ".",
                                  .files = paths,
                                  .n_files = n,
                                  .program = "",
                                  .replicate = true};
    struct err said = {0};
    int status = profile_read(&from, &result, &said);
    err_drop_warnings(&said);
    err_add_all(err, NULL, &said);
    err_free(&said);
    if (status == 0)
        status = take_calls(m, paths[0], result.recording, err);
    profile_free(&result);
    return status;
}
