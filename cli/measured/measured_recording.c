// SPDX-License-Identifier: MIT
#include "cli/measured/measured_recording.h"

#include <stdlib.h>
#include <string.h>

#include "cli/import/import.h"
#include "cli/import/recording.h"
#include "collective/algorithm/collective.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

/* ---- which files ---- */

// The only kind of recordings among the files; NULL = there is none, or an error.
static const struct file_kind *kind_find(const struct found *found, struct err *err)
{
    const struct file_kind *kind = NULL;
    for (size_t i = 0; i < found->n; i++) {
        const struct file_kind *own = found->files[i].kind;
        if (own == NULL || own->use != KIND_RECORDING || own == kind)
            continue;
        if (kind != NULL) {
            err_add(err, found->files[i].path, "is %s, and another file is %s: give one recording",
                    own->what, kind->what);
            return NULL;
        }
        kind = own;
    }
    return kind;
}

/* ---- collectives ---- */

struct rows {
    struct measured_table *table;
    size_t cap;
};

static void row_add(struct rows *rows, const struct measured_row *new)
{
    struct measured_table *t = rows->table;
    struct measured_row *row = NULL;
    for (size_t i = 0; i < t->n && row == NULL; i++)
        if (t->rows[i].bytes == new->bytes &&
            t->rows[i].ranks == new->ranks &&strcmp(t->rows[i].op, new->op) == 0)
            row = &t->rows[i];
    if (row == NULL) {
        if (t->n == rows->cap)
            t->rows = memory_grow(t->rows, &rows->cap, sizeof *t->rows);
        row = &t->rows[t->n++];
        *row = (struct measured_row){.bytes = new->bytes, .op = new->op, .ranks = new->ranks};
    }
    row->time_us += (new->time_us - row->time_us) / (double)++row->count; // the mean
}

// The shortest time of any member for each collective of the groups; 0 = not measured.
static struct measured_row *collectives_of(const struct recording *r, uint32_t g)
{
    const struct recorded_group *group = &r->groups[g];
    struct measured_row *list = memory_zeroed((size_t)group->n_collectives + 1, sizeof *list);
    for (uint32_t m = 0; m < group->size; m++) {
        const struct rank_recording *rank = &r->ranks[group->ranks[m]];
        for (size_t c = 0; c < rank->n_calls; c++) {
            const struct call *call = &rank->calls[c];
            double us = (double)call->measured_ns / 1e3;
            if (call->kind != CALL_COLLECTIVE || call->group != g || us <= 0 ||
                call->number >= group->n_collectives)
                continue;
            struct measured_row *row = &list[call->number];
            if (row->op == NULL || us < row->time_us)
                *row = (struct measured_row){.bytes = group->bytes[call->number],
                                             .time_us = us,
                                             .op = coll_op_name(call->op),
                                             .ranks = group->size};
        }
    }
    return list;
}

static void rows_make(struct measured_table *t, const struct recording *r)
{
    struct rows rows = {.table = t};
    for (uint32_t g = 0; g < r->n_groups; g++) {
        struct measured_row *list = collectives_of(r, g);
        for (uint32_t c = 0; c < r->groups[g].n_collectives; c++)
            if (list[c].op != NULL && list[c].bytes > 0)
                row_add(&rows, &list[c]);
        free(list);
    }
}

/* ---- ranks ---- */

static void ranks_make(struct measured_table *t, const struct recording *r)
{
    t->of_ranks = memory_zeroed(r->n_ranks + 1, sizeof *t->of_ranks);
    for (size_t i = 0; i < r->n_ranks && !r->no_starts; i++) {
        const struct rank_recording *rank = &r->ranks[i];
        int64_t compute_ns = 0;
        if (rank->path == NULL || rank->copied || rank->begin_ns == TIME_UNKNOWN)
            continue;
        for (size_t n = 0; n < rank->n_nodes; n++)
            if (rank->nodes[n].kind == TRACE_COMPUTE &&
                rank->nodes[n].stream == TRACE_STREAM_COMPUTE)
                compute_ns = time_sum(compute_ns, rank->nodes[n].takes_ns);
        t->of_ranks[t->n_ranks++] =
            (struct measured_rank){.rank = (uint32_t)i,
                                   .time_us = (double)(rank->end_ns - rank->begin_ns) / 1e3,
                                   .compute_us = (double)compute_ns / 1e3};
        t->steps = rank->n_steps > t->steps ? rank->n_steps : t->steps;
    }
}

/* ---- all ---- */

int measured_recording_read(struct measured_table *t, const char *path, const struct found *found,
                            bool *is, struct err *err)
{
    const char **files = memory_zeroed(found->n + 1, sizeof *files);
    size_t n = 0, errors = err->n_errors;
    const struct file_kind *kind = kind_find(found, err);
    *t = (struct measured_table){0};
    *is = kind != NULL || err->n_errors > errors;
    // A graph of an observer tells what kernels wait for, which changes no measured time.
    for (size_t i = 0; i < found->n && kind != NULL; i++)
        if (found->files[i].kind == kind)
            files[n++] = found->files[i].path;
    struct profile_import from = {.format = kind != NULL ? kind->name : NULL,
                                  .folder = path,
                                  .files = files,
                                  .n_files = n,
                                  .program = "",
                                  .replicate = true};
    struct profile_result read = {0};
    if (kind != NULL && profile_read(&from, &read, err) == 0) {
        t->recording = true;
        t->kind = kind->name;
        t->world = read.recording->world;
        rows_make(t, read.recording);
        ranks_make(t, read.recording);
        if (t->n == 0)
            err_add(err, path, "no collective of the recording has a time");
    }
    if (read.recording != NULL)
        profile_free(&read);
    free(files);
    return err->n_errors == errors ? 0 : -1;
}
