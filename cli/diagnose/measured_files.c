// SPDX-License-Identifier: MIT
// What a file is says its content. Tables and recordings (cli/measured/) have times of sizes; a log
// of NCCL has no times, but the settings that it was given.
#include "cli/diagnose/measured_files.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/import/content.h"
#include "cli/import/kinds.h"
#include "cli/library/nccl_log.h"
#include "cli/measured/beside.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "workload/read/nccl_settings.h"

#define USUAL_SPREAD 0.03  // of a measurement that nobody has repeated
#define BYTES_OF_RUN 256e6 // of all ranks together, that a run may have
#define BYTES_OF_LARGE 4e9 // that a few runs may have
#define SMALL_BYTES 262144 // below, what starts a collective counts, which textbook jobs lack
#define SIZES_TAKEN 3
#define BELOW 4   // times, that a size between is below the largest
#define KNEE 0.2  // as a logarithm: a change of the bandwidth from one size to the next
#define STALLED 3 // times the time of the next larger size
#define APART 8   // times, from one size that is taken to the next

/* ---- lists ---- */

static void add_size(struct measured_files *m, struct size_time one)
{
    m->sizes = memory_resize(m->sizes, m->n_sizes + 1, sizeof *m->sizes);
    m->sizes[m->n_sizes++] = one;
}

static void note(struct measured_files *m, char *line)
{
    char *all = text_format("%s  %s\n", m->notes ? m->notes : "", line);
    free(m->notes);
    free(line);
    m->notes = all;
}

static int take_op(struct measured_files *m, const char *path, const char *op, struct err *err)
{
    if (op && m->op && strcmp(op, m->op) != 0)
        return err_add(err, path, "is of %s, and another file of %s: give files of one operation",
                       op, m->op);
    m->op = op ? op : m->op;
    return 0;
}

/* ---- kinds of files ---- */

static int read_values(struct measured_files *m, const char *path, const char *place,
                       struct err *err)
{
    struct observed more;
    (void)place; // its lines have theirs
    int status = observed_read(&more, path, err);
    for (size_t i = 0; i < more.n; i++)
        if (!more.list[i].stated && more.list[i].relative < USUAL_SPREAD)
            more.list[i].relative = USUAL_SPREAD;
    if (status == 0) {
        m->values.list =
            memory_resize(m->values.list, m->values.n + more.n, sizeof *m->values.list);
        memcpy(m->values.list + m->values.n, more.list, more.n * sizeof *more.list);
        m->values.n += more.n;
        free(more.list);
        if (more.unknown)
            note(m, text_format("not known, and not used: %s", more.unknown));
        free(more.unknown);
    } else {
        observed_free(&more);
    }
    return status;
}

// The operation that takes most time among the collectives of all ranks.
static const char *main_op(const struct measured_table *t)
{
    const char *most = t->op;
    double longest = 0;
    for (size_t i = 0; i < t->n && t->recording; i++) {
        double all = 0;
        for (size_t k = 0; k < t->n; k++)
            if (strcmp(t->rows[k].op, t->rows[i].op) == 0 && t->rows[k].ranks == t->world)
                all += t->rows[k].time_us * (double)t->rows[k].count;
        if (all > longest) {
            longest = all;
            most = t->rows[i].op;
        }
    }
    return most;
}

// A table, or a recording: a file of it, or its folder.
static int read_table(struct measured_files *m, const char *path, const char *place,
                      struct err *err)
{
    struct measured_table table;
    if (beside_table(&table, path, err) != 0)
        return -1;
    if (table.what != AGAINST_COLLECTIVES) {
        int taken = measured_messages_take(m, &table, path, place, err);
        measured_table_free(&table);
        return taken;
    }
    const char *op = main_op(&table);
    int status = take_op(m, path, op, err);
    for (size_t i = 0; i < table.n && status == 0; i++) {
        const struct measured_row *row = &table.rows[i];
        if (table.recording && (strcmp(row->op, op) != 0 || row->ranks != table.world))
            continue;
        add_size(m, (struct size_time){row->bytes, row->time_us * 1e3, USUAL_SPREAD});
    }
    m->ranks = table.recording ? table.world : table.ranks > 0 ? table.ranks : m->ranks;
    m->per_rank |= table.per_rank;
    m->signs = table.signs;
    measured_table_free(&table);
    return status;
}

static int read_log(struct measured_files *m, const char *path, const char *place, struct err *err)
{
    (void)place;
    struct nccl_log log;
    int status = nccl_log_read(&log, path, err);
    for (size_t i = 0; status == 0 && i < log.n_variables; i++) {
        if (!nccl_env_known(log.variables[i].name))
            continue;
        char *all =
            text_format("%s%s%s=%s", m->environment ? m->environment : "",
                        m->environment ? " " : "", log.variables[i].name, log.variables[i].value);
        free(m->environment);
        m->environment = all;
    }
    nccl_log_free(&log);
    return status;
}

/* ---- all files ---- */

// Whether the first line names the columns of values.
static bool has_values(const struct content *c)
{
    char line[256];
    return content_line(c, 0, line, sizeof line) &&
           (strstr(line, "quantity") || strstr(line, "counter"));
}

static const char *format_of(const struct content *c)
{
    const struct file_kind *kind = kind_of(c);
    if (has_values(c))
        return "values";
    if (kind && (strcmp(kind->name, "nccl-log") == 0 || strcmp(kind->name, "capture") == 0))
        return kind->name;
    bool lines = c->text && !c->json && (content_has(c, "quantity") || content_has(c, "counter,"));
    return lines ? "values" : "table";
}

int measured_files_read(struct measured_files *m, const char *const *paths, size_t n,
                        struct err *err)
{
    static const struct {
        const char *format;
        int (*read)(struct measured_files *m, const char *path, const char *place, struct err *err);
    } readers[] = {{"values", read_values},
                   {"table", read_table},
                   {"nccl-log", read_log},
                   {"capture", measured_capture_read}};
    int status = 0;
    *m = (struct measured_files){0};
    for (size_t i = 0; i < n; i++) {
        struct stat there;
        struct content content = {0};
        const char *place;
        char *path = measured_file_of(paths[i], &place);
        bool folder = stat(path, &there) == 0 && S_ISDIR(there.st_mode);
        if (!folder && content_read(&content, path, err) != 0) {
            status = -1;
            free(path);
            continue;
        }
        const char *format = folder ? "table" : format_of(&content);
        content_free(&content);
        for (size_t k = 0; k < sizeof readers / sizeof *readers; k++)
            if (strcmp(readers[k].format, format) == 0)
                status |= readers[k].read(m, path, place, err);
        free(path);
    }
    if (status == 0 && m->values.n + m->n_sizes == 0)
        status = err_add(err, paths[0], "has no measured value or time");
    return status;
}

void measured_files_free(struct measured_files *m)
{
    observed_free(&m->values);
    free(m->sizes);
    free(m->environment);
    free(m->stall);
    free(m->notes);
    *m = (struct measured_files){0};
}

/* ---- what is used of them ---- */

const char *measured_algorithm(const char *op)
{
    return strcmp(op, "all_to_all") == 0 ? "direct" : "ring";
}

json_t *measured_files_job(const struct measured_files *m, uint32_t ranks, bool on_machine)
{
    const char *op = m->op ? m->op : measured_op_of(&m->signs, ranks);
    if (m->n_sizes == 0)
        return NULL;
    op = op ? op : "all_reduce";
    json_t *job = json_pack("{s:s, s:s, s:s}", "kind", "collective", "op", op, "bytes", "1MB");
    if (!on_machine)
        json_object_set_new(job, "algorithm", json_string(measured_algorithm(op)));
    return job;
}

static int by_bytes(const void *a, const void *b)
{
    const struct size_time *x = a, *y = b;
    return (x->bytes > y->bytes) - (x->bytes < y->bytes);
}

static void want_size(struct observed *list, const struct size_time *s, bool own)
{
    struct observed_value *v = observed_append(list, "time", "", "us", 1e3);
    v->job = own ? text_format(".bytes=%lluB", (unsigned long long)s->bytes) : NULL;
    v->value = s->time_ns;
    v->relative = s->relative;
}

// The indices of the sizes that are simulated: from the largest that packets can be simulated of
// in short time, or where all are larger, from the smallest; each APART from the one before.
static size_t choose(struct measured_files *m, uint32_t ranks, bool small_too,
                     size_t chosen[SIZES_TAKEN])
{
    size_t n = 0, first = m->n_sizes, last = m->n_sizes;
    for (size_t i = 0; i < m->n_sizes && first == m->n_sizes; i++)
        if (small_too || m->sizes[i].bytes >= SMALL_BYTES)
            first = i;
    m->large = first < m->n_sizes && (double)m->sizes[first].bytes * ranks > BYTES_OF_RUN;
    for (size_t i = first; i < m->n_sizes && n < SIZES_TAKEN && m->large; i++)
        if (n == 0 || m->sizes[i].bytes / APART >= m->sizes[chosen[n - 1]].bytes)
            chosen[n++] = i;
    while (last > first && !m->large && (double)m->sizes[last - 1].bytes * ranks > BYTES_OF_RUN)
        last--;
    // Far apart, where there are many.
    for (uint64_t apart = APART; apart > 0 && n < SIZES_TAKEN && !m->large; apart /= 2) {
        n = 0;
        for (size_t i = last; i-- > first && n < SIZES_TAKEN;)
            if (n == 0 || (m->sizes[i].bytes <= m->sizes[chosen[n - 1]].bytes / apart &&
                           m->sizes[i].bytes < m->sizes[chosen[n - 1]].bytes))
                chosen[n++] = i;
    }
    return n;
}

// Note a size that took much longer than the next larger one: no rate does that, but something that
// happened once, such as a retransmission timeout.
static void note_stall(struct measured_files *m)
{
    for (size_t i = 1; i < m->n_sizes && !m->stall; i++) {
        const struct size_time *a = &m->sizes[i - 1], *b = &m->sizes[i];
        if (a->time_ns > STALLED * b->time_ns)
            m->stall = text_format(
                "%.4g MB took %.4g us, and %.4g MB only %.4g us: something stalled once, "
                "as for a timeout; repeat this size, and read the counters of timeouts "
                "and retransmissions before and after it",
                (double)a->bytes / 1e6, a->time_ns / 1e3, (double)b->bytes / 1e6, b->time_ns / 1e3);
    }
}

// Add times of sizes above `bytes`, with which only a few causes are simulated: the largest size
// that such runs may have, and before it one of at most a quarter of that. Returns the bytes of the
// largest size that is simulated.
static uint64_t take_larger(struct measured_files *m, struct observed *list, uint64_t bytes,
                            uint32_t ranks)
{
    size_t last = m->n_sizes, between;
    while (last > 0 && (double)m->sizes[last - 1].bytes * ranks > BYTES_OF_LARGE)
        last--;
    if (last == 0 || m->sizes[last - 1].bytes <= bytes)
        return bytes;
    for (between = last - 1; between > 0; between--) // the largest one that is far below
        if (m->sizes[between - 1].bytes <= m->sizes[last - 1].bytes / BELOW)
            break;
    const size_t taken[] = {between, last};
    for (size_t k = 0; k < 2; k++) {
        if (taken[k] == 0 || m->sizes[taken[k] - 1].bytes <= bytes)
            continue;
        want_size(list, &m->sizes[taken[k] - 1], true);
        list->list[list->n - 1].later = STAGE_LARGE;
        m->n_later++;
    }
    return m->sizes[last - 1].bytes;
}

int measured_files_take(struct measured_files *m, struct observed *list, const char *op,
                        uint32_t ranks, bool small_too, uint64_t *bytes, struct err *err)
{
    size_t chosen[SIZES_TAKEN];
    bool job_too = m->values.n > 0; // values of the job as it is, so no size takes its place
    if (m->ranks > 0 && m->ranks != ranks)
        return err_add(err, "MEASURED", "is of %u ranks, and the network has %u", m->ranks, ranks);
    if (m->n_sizes > 0 && !m->op && op && strcmp(op, "all_reduce") != 0)
        note(m, text_format("the times are taken as of %s", op));
    measured_factor_check(&m->signs, "MEASURED", op ? op : "all_reduce", ranks, err);
    *list = m->values;
    m->values = (struct observed){0};
    char *pair = measured_pairs_fill(list, ranks);
    if (pair)
        note(m, text_format("tests between two hosts are taken as of %s; FILE@rank3->rank9 names "
                            "others",
                            pair));
    free(pair);
    *bytes = 0;
    for (size_t i = 0; i < m->n_sizes && m->per_rank; i++)
        if (__builtin_mul_overflow(m->sizes[i].bytes, ranks, &m->sizes[i].bytes))
            return err_add(err, "MEASURED", "has a size that is out of range for %u ranks", ranks);
    if (m->n_sizes > 0)
        qsort(m->sizes, m->n_sizes, sizeof *m->sizes, by_bytes);
    note_stall(m);
    size_t n = choose(m, ranks, small_too, chosen);
    for (size_t k = 0; k < n; k++)
        want_size(list, &m->sizes[chosen[k]], job_too || k > 0);
    if (n > 0 && !job_too)
        *bytes = m->sizes[chosen[0]].bytes;
    uint64_t largest = n == 0 ? 0 : m->sizes[chosen[0]].bytes;
    if (n > 0)
        largest = take_larger(m, list, largest, ranks);
    if (n > 0 && n + m->n_later < m->n_sizes)
        note(m, text_format("%zu of %zu sizes were simulated, %s %.4g MB", n + m->n_later,
                            m->n_sizes, m->large ? "from" : "up to", (double)largest / 1e6));
    if (m->n_sizes > 0 && n == 0)
        return err_add(err, "MEASURED", "of %zu sizes none is %d KiB or more", m->n_sizes,
                       SMALL_BYTES / 1024);
    return 0;
}
