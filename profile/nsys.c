// SPDX-License-Identifier: MIT
// The tables of one file.
#include "profile/nsys.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/memory.h"
#include "engine/regular_file.h"
#include "profile/nsys_internal.h"
#include "profile/words.h"

// Process of a globalTid or globalPid ("serialized process and thread identifiers" of the manual).
#define PID_OF(column) "(" column " / 0x1000000 % 0x1000000)"
#define COPIES(table)                                                                              \
    "SELECT start, \"end\", deviceId, streamId, correlationId, " PID_OF("globalPid") " FROM " table

sqlite3_stmt *nsys_query(struct nsys_file *f, bool optional, const char *sql)
{
    sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(f->db, sql, -1, &statement, NULL) == SQLITE_OK)
        return statement;
    const char *why = sqlite3_errmsg(f->db);
    bool missing = strncmp(why, "no such", 7) == 0;
    if (!(optional && missing) && !recording_is_full(f->recording))
        err_add(f->recording->err, f->path, "%s", why);
    return NULL;
}

static bool is_time(int64_t ns) { return ns > -TIME_MOST_NS && ns < TIME_MOST_NS; }

bool nsys_row_next(struct nsys_file *f, sqlite3_stmt *statement)
{
    int got = sqlite3_step(statement);
    if (got != SQLITE_ROW && got != SQLITE_DONE && !recording_is_full(f->recording))
        err_add(f->recording->err, f->path, "%s", sqlite3_errmsg(f->db));
    return got == SQLITE_ROW;
}

/* ---- launches and waits of the CPU ---- */

static void runtime_read(struct nsys_file *f)
{
    sqlite3_stmt *rows = nsys_query(
        f, true,
        "SELECT r.start, r.\"end\", " PID_OF(
            "r.globalTid") ", r.correlationId, s.value FROM "
                           "CUPTI_ACTIVITY_KIND_RUNTIME r LEFT JOIN StringIds s ON s.id = "
                           "r.nameId");
    while (rows != NULL && nsys_row_next(f, rows)) {
        const char *name = nsys_text(rows, 4);
        int64_t start = sqlite3_column_int64(rows, 0), end = sqlite3_column_int64(rows, 1);
        int64_t pid = sqlite3_column_int64(rows, 2);
        if (!is_time(start) || !is_time(end))
            continue;
        if (strstr(name, "Synchronize") != NULL) {
            if (f->n_waits == f->cap_waits)
                f->waits = memory_grow(f->waits, &f->cap_waits, sizeof *f->waits);
            f->waits[f->n_waits++] = (struct host_wait_of){pid, {start, end}};
            continue;
        }
        if (f->n_launches == f->cap_launches)
            f->launches = memory_grow(f->launches, &f->cap_launches, sizeof *f->launches);
        f->launches[f->n_launches++] =
            (struct nsys_launch){pid, start, sqlite3_column_int64(rows, 3)};
    }
    sqlite3_finalize(rows);
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

#define GPUS_MOST 1024 // devices times processes of a file, which is of one server

// Returns NULL if there are too many.
static struct nsys_gpu *gpu_of(struct nsys_file *f, int64_t pid, int64_t device)
{
    struct nsys *n = f->nsys;
    for (size_t g = f->first_gpu; g < n->n_gpus; g++)
        if (n->gpus[g].pid == pid && n->gpus[g].device == device)
            return &n->gpus[g];
    if (n->n_gpus - f->first_gpu == GPUS_MOST)
        return NULL;
    if (n->n_gpus == n->cap_gpus)
        n->gpus = memory_grow(n->gpus, &n->cap_gpus, sizeof *n->gpus);
    struct nsys_gpu *made = &n->gpus[n->n_gpus++];
    *made = (struct nsys_gpu){.path = memory_text(f->path), .pid = pid, .device = device};
    made->rank.begin_ns = TIME_UNKNOWN;
    return made;
}

static void kernel_note(struct nsys_file *f, struct nsys_gpu *gpu, const char *name)
{
    if (gpu->n_kernels == gpu->cap_kernels)
        gpu->kernels = memory_grow(gpu->kernels, &gpu->cap_kernels, sizeof *gpu->kernels);
    gpu->kernels[gpu->n_kernels++] = (struct undescribed){
        .event = (uint32_t)gpu->rank.n_events - 1, .name = name_keep(&f->recording->names, name)};
}

// Rows of start, end, device, stream, correlation, process, and the name of kernels.
static void activities_read(struct nsys_file *f, sqlite3_stmt *rows, bool copies)
{
    while (rows != NULL && nsys_row_next(f, rows)) {
        int64_t start = sqlite3_column_int64(rows, 0), end = sqlite3_column_int64(rows, 1);
        int64_t correlation = sqlite3_column_int64(rows, 4), pid = sqlite3_column_int64(rows, 5);
        struct nsys_gpu *gpu = gpu_of(f, pid, sqlite3_column_int64(rows, 2));
        if (gpu == NULL) {
            if (!recording_is_full(f->recording))
                err_add(f->recording->err, f->path, "has operations of more than %d GPUs",
                        GPUS_MOST);
            break;
        }
        if (!is_time(start) || !is_time(end)) {
            if (!recording_is_full(f->recording))
                err_add(f->recording->err, f->path, "%" PRId64 " ns is no time of an operation",
                        start);
            continue;
        }
        if (end < start) {
            if (!recording_is_full(f->recording))
                err_add(f->recording->err, f->path,
                        "an operation ends %" PRId64 " ns before its start at %" PRId64
                        " ns: the clock runs backwards",
                        start - end, start);
            continue;
        }
        if (end - start > SPAN_MOST_NS) {
            if (!recording_is_full(f->recording))
                err_add(f->recording->err, f->path,
                        "an operation at %" PRId64 " ns takes %" PRId64 " ns, more than 100000 s",
                        start, end - start);
            continue;
        }
        struct gpu_event *event = rank_event(&gpu->rank);
        *event =
            (struct gpu_event){.start_ns = start,
                               .end_ns = end,
                               .launch_ns = launch_of(f, pid, correlation),
                               .correlation = correlation > 0 ? (uint64_t)correlation : 0,
                               .call = copies ? COPY_CALL : NO_CALL,
                               .stream = rank_stream(&gpu->rank, sqlite3_column_int64(rows, 3))};
        const char *name = copies ? "" : nsys_text(rows, 6);
        if (is_nccl_kernel(name))
            kernel_note(f, gpu, name);
    }
    sqlite3_finalize(rows);
}

static void activities(struct nsys_file *f)
{
    static const char *const copies[] = {COPIES("CUPTI_ACTIVITY_KIND_MEMCPY"),
                                         COPIES("CUPTI_ACTIVITY_KIND_MEMSET")};
    activities_read(
        f,
        nsys_query(
            f, false,
            "SELECT k.start, k.\"end\", k.deviceId, k.streamId, "
            "k.correlationId, " PID_OF(
                "k.globalPid") ", s.value FROM "
                               "CUPTI_ACTIVITY_KIND_KERNEL k LEFT JOIN StringIds s ON s.id = "
                               "k.shortName ORDER BY k.start, k.correlationId"),
        false);
    for (size_t i = 0; i < 2; i++)
        activities_read(f, nsys_query(f, true, copies[i]), true);
}

/* ---- the file ---- */

static void waits_give(struct nsys_file *f)
{
    for (size_t g = f->first_gpu; g < f->nsys->n_gpus; g++)
        for (size_t w = 0; w < f->n_waits; w++)
            if (f->waits[w].pid == f->nsys->gpus[g].pid)
                *rank_host_wait(&f->nsys->gpus[g].rank) = f->waits[w].wait;
}

// The ranks that GPUs have in communicators, where that was recorded.
static void inits_give(struct nsys_file *f)
{
    for (size_t i = 0; i < f->n_inits; i++) {
        const struct nsys_init *init = &f->inits[i];
        for (size_t g = f->first_gpu; g < f->nsys->n_gpus; g++) {
            const struct nsys_gpu *gpu = &f->nsys->gpus[g];
            if (gpu->pid != init->pid || gpu->device != init->device)
                continue;
            uint32_t c = nsys_communicator_find(f->nsys, init->communicator);
            f->nsys->communicators[c].n_ranks = init->n_ranks;
            nsys_member_find(f->nsys, c, (uint32_t)g)->rank = init->rank;
        }
    }
}

// A view, a virtual table or a generated column in place of a plain table may compute without end.
// Returns false with an error.
static bool tables_check(struct nsys_file *f)
{
    bool good = true;
    sqlite3_stmt *rows = nsys_query(
        f, false,
        "SELECT m.name FROM sqlite_master m WHERE lower(m.name) IN ('stringids', 'nvtx_events', "
        "'nvtx_payload_schema_entries', 'cupti_activity_kind_runtime', "
        "'cupti_activity_kind_kernel', 'cupti_activity_kind_memcpy', "
        "'cupti_activity_kind_memset') AND (m.type <> 'table' OR m.sql LIKE 'create virtual%' OR "
        "EXISTS (SELECT 1 FROM pragma_table_xinfo(m.name) x WHERE x.hidden <> 0)) ORDER BY 1");
    if (rows == NULL)
        return false;
    while (nsys_row_next(f, rows)) {
        good = false;
        if (!recording_is_full(f->recording))
            err_add(f->recording->err, f->path, "%s is no plain table", nsys_text(rows, 0));
    }
    sqlite3_finalize(rows);
    return good;
}

static void tables_read(struct nsys_file *f)
{
    if (!tables_check(f))
        return;
    runtime_read(f);
    if (f->n_launches > 1)
        qsort(f->launches, f->n_launches, sizeof *f->launches, by_correlation);
    activities(f);
    waits_give(f);
    nsys_ranges_read(f);
    inits_give(f);
    for (size_t g = f->first_gpu; g < f->nsys->n_gpus; g++)
        nsys_kernels_match(f, &f->nsys->gpus[g]);
}

// What an export never has: values of hundreds of megabytes, other files, functions in its schema.
static void be_careful(sqlite3 *db)
{
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, 1 << 26);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_exec(db, "PRAGMA cell_size_check = ON", NULL, NULL, NULL);
}

// Open the file, if it is one. Returns false with an error.
static bool file_open(struct nsys_file *f)
{
    const char *why;
    int fd = regular_file_open(f->path, &why);
    if (fd < 0) {
        err_add(f->recording->err, f->path, "cannot be opened: %s", why);
        return false;
    }
    close(fd); // SQLite opens files by name
    if (sqlite3_open_v2(f->path, &f->db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK) {
        be_careful(f->db);
        return true;
    }
    err_add(f->recording->err, f->path, "%s",
            f->db != NULL ? sqlite3_errmsg(f->db) : "cannot be opened");
    return false;
}

void nsys_read(struct recording *r, const char *path)
{
    if (r->reader == NULL)
        r->reader = memory_zeroed(1, sizeof(struct nsys));
    struct nsys_file f = {.recording = r, .nsys = r->reader, .path = path};
    f.first_gpu = f.nsys->n_gpus;
    if (file_open(&f))
        tables_read(&f);
    sqlite3_close(f.db);
    free(f.ranges);
    free(f.inits);
    free(f.launches);
    free(f.waits);
}
