// SPDX-License-Identifier: MIT
// Opens, checks, fills and reads the database of a sweep.
#include "report/study/store.h"

#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/memory.h"
#include "engine/base/regular_file.h"
#include "engine/base/text.h"
#include "engine/database/database.h"

enum {
    APPLICATION = 0x63777377, // application_id of our databases
    FORMAT = 3,               // user_version: of the tables
    BUSY_MS = 5000            // wait for another program that has locked the database
};

struct store {
    sqlite3 *db;
    char *path, *name, *scenario;
    json_t *paths; // list of the varied paths
};

static int fail(const struct store *s, struct err *err, const char *doing)
{
    // SQLite adds details to a code in the bits above the lowest eight.
    int code = sqlite3_errcode(s->db) & 0xff;
    if (code == SQLITE_CORRUPT || code == SQLITE_NOTADB)
        return err_add(err, s->path, "is damaged (%s): move it away, or restore it from a copy",
                       sqlite3_errmsg(s->db));
    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return err_add(err, s->path, "is locked by another program");
    if (code == SQLITE_FULL)
        return err_add(err, s->path, "cannot be written: the disk is full");
    return err_add(err, s->path, "%s: %s", doing, sqlite3_errmsg(s->db));
}

static int execute(const struct store *s, const char *sql, const char *doing, struct err *err)
{
    return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : fail(s, err, doing);
}

// The integer of a statement with one row, or `otherwise`.
static int64_t number_of(const struct store *s, const char *sql, int64_t otherwise)
{
    sqlite3_stmt *statement = NULL;
    int64_t number = otherwise;
    if (sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL) == SQLITE_OK &&
        sqlite3_step(statement) == SQLITE_ROW)
        number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return number;
}

// The text of a statement with one row, to be freed; NULL = there is none.
static char *text_of(const struct store *s, const char *sql, const char *bound)
{
    sqlite3_stmt *statement = NULL;
    char *text = NULL;
    if (sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL) == SQLITE_OK) {
        if (bound)
            sqlite3_bind_text(statement, 1, bound, -1, SQLITE_STATIC);
        if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0))
            text = memory_text((const char *)sqlite3_column_text(statement, 0));
    }
    sqlite3_finalize(statement);
    return text;
}

/* ---- opening ---- */

// The names of the columns of metrics, each after `before`.
static char *columns_text(const char *before, const char *after)
{
    struct text text;
    FILE *out = text_open(&text);
    for (size_t c = 0; c < ROW_COLUMNS; c++)
        fprintf(out, ", %s%s%s", before, row_columns[c].key, after);
    return text_close(out, &text);
}

static int tables_make(const struct store *s, const char *version, struct err *err)
{
    char *columns = columns_text("", " REAL");
    char *sql = sqlite3_mprintf(
        "BEGIN IMMEDIATE; PRAGMA application_id = %d; PRAGMA user_version = %d;CREATE TABLE "
        "meta (key TEXT PRIMARY KEY, value TEXT) WITHOUT ROWID;CREATE TABLE points (hash TEXT "
        "PRIMARY KEY, position INTEGER, varied TEXT, status TEXT, failure TEXT, jobs TEXT, "
        "reasons TEXT, wall_s REAL, packet_hops REAL%s, metrics_bytes INTEGER, metrics BLOB);"
        "INSERT INTO meta VALUES ('version', %Q), ('name', ''), ('scenario', ''), "
        "('paths', '[]'); COMMIT;",
        APPLICATION, FORMAT, columns, version);
    int status = execute(s, sql, "cannot be written", err);
    sqlite3_free(sql);
    free(columns);
    return status;
}

static int check_version(const struct store *s, const char *version, struct err *err)
{
    char *made_by = text_of(s, "SELECT value FROM meta WHERE key = 'version'", NULL);
    int status = 0;
    if (number_of(s, "PRAGMA application_id", 0) != APPLICATION)
        status = err_add(err, s->path, "is not a store of collwire; choose another --out");
    else if (made_by && strcmp(made_by, version) == 0 &&
             number_of(s, "PRAGMA user_version", 0) != FORMAT)
        status = err_add(err, s->path,
                         "is of another build of collwire %s, whose tables differ; choose another "
                         "--out",
                         version);
    else if (!made_by || strcmp(made_by, version) != 0)
        status = err_add(err, s->path,
                         "is of collwire %s, and this is %s, whose results may differ; choose "
                         "another --out",
                         made_by ? made_by : "?", version);
    free(made_by);
    return status;
}

static int check_whole(const struct store *s, struct err *err)
{
    char *found = text_of(s, "PRAGMA quick_check(1)", NULL);
    int status = 0;
    if (!found)
        status = fail(s, err, "cannot be read");
    else if (strcmp(found, "ok") != 0)
        status = err_add(err, s->path, "is damaged (%s): move it away, or restore it from a copy",
                         found);
    free(found);
    return status;
}

// SQLite follows links, and maps its shared memory into whatever file has that name. So the store
// and the files beside it must be regular files without other names, or not be there.
static int check_links(const struct store *s, struct err *err)
{
    static const char *const suffixes[] = {"", "-wal", "-shm", "-journal"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        struct stat about;
        char *path = text_format("%s%s", s->path, suffixes[i]);
        int status = 0;
        if (lstat(path, &about) == 0 && !(S_ISREG(about.st_mode) && about.st_nlink == 1))
            status = err_add(err, path,
                             "is a link or no regular file: remove it, or use another folder");
        free(path);
        if (status != 0)
            return status;
    }
    return 0;
}

static int open_in(struct store *s, enum store_mode mode, const char *version, struct err *err)
{
    bool there = access(s->path, F_OK) == 0;
    int flags =
        mode == STORE_CREATE ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READWRITE;
    if (mode != STORE_CREATE && !there)
        return mode == STORE_LOOK ? -1 : err_add(err, s->path, "there is no store");
    if (mode == STORE_CREATE && check_links(s, err) != 0)
        return -1;
    const char *why;
    // Opening a FIFO would wait for a writer, and a device may never end.
    int file = there ? regular_file_open(s->path, &why) : -1;
    if (there && file < 0)
        return err_add(err, s->path, "cannot be opened: %s", why);
    if (file >= 0)
        close(file);
    if (sqlite3_open_v2(s->path, &s->db, flags, NULL) != SQLITE_OK)
        return fail(s, err, "cannot be opened");
    sqlite3_busy_timeout(s->db, BUSY_MS);
    database_distrust(s->db);
    // If the program was killed before it made the tables, the file is empty.
    bool empty = number_of(s, "SELECT count(*) FROM sqlite_schema", -1) == 0;
    if (sqlite3_errcode(s->db) != SQLITE_OK && sqlite3_errcode(s->db) != SQLITE_ROW &&
        sqlite3_errcode(s->db) != SQLITE_DONE)
        return fail(s, err, "cannot be read");
    // With WAL a store can be read while a sweep writes to it.
    if (mode == STORE_CREATE && execute(s, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL",
                                        "cannot be written", err) != 0)
        return -1;
    if (empty && mode == STORE_LOOK)
        return -1;
    if (empty && mode == STORE_CREATE)
        return tables_make(s, version, err);
    if (check_version(s, version, err) != 0)
        return -1;
    return check_whole(s, err);
}

static bool are_texts(const json_t *list)
{
    size_t i;
    const json_t *item;
    json_array_foreach(list, i, item) if (!json_is_string(item)) return false;
    return json_is_array(list);
}

struct store *store_open(const char *dir, enum store_mode mode, const char *version,
                         struct err *err)
{
    struct store *s = memory_zeroed(1, sizeof *s);
    s->path = text_format("%s/" STORE_FILE, dir);
    if (open_in(s, mode, version, err) != 0) {
        store_close(s);
        return NULL;
    }
    char *paths = text_of(s, "SELECT value FROM meta WHERE key = 'paths'", NULL);
    s->name = text_of(s, "SELECT value FROM meta WHERE key = 'name'", NULL);
    s->scenario = text_of(s, "SELECT value FROM meta WHERE key = 'scenario'", NULL);
    s->paths = paths ? json_loads(paths, 0, NULL) : NULL;
    // Another program may have changed the file.
    if (!are_texts(s->paths)) {
        json_decref(s->paths);
        s->paths = json_array();
    }
    free(paths);
    return s;
}

void store_close(struct store *s)
{
    if (!s)
        return;
    sqlite3_close(s->db);
    json_decref(s->paths);
    free(s->name);
    free(s->scenario);
    free(s->path);
    free(s);
}

/* ---- the description ---- */

const char *store_name(const struct store *s) { return s->name ? s->name : ""; }

const char *store_scenario(const struct store *s) { return s->scenario ? s->scenario : ""; }

size_t store_paths(const struct store *s) { return json_array_size(s->paths); }

const char *store_path(const struct store *s, size_t p)
{
    return json_string_value(json_array_get(s->paths, p));
}

static bool has_path(const struct store *s, const char *path)
{
    for (size_t p = 0; p < store_paths(s); p++)
        if (strcmp(store_path(s, p), path) == 0)
            return true;
    return false;
}

// The statement that makes the view anew.
static char *view_sql(const struct store *s)
{
    char *columns = columns_text("", ""),
         *sql = sqlite3_mprintf("DROP VIEW IF EXISTS runs; CREATE VIEW runs AS SELECT ");
    for (size_t p = 0; p < store_paths(s); p++) {
        char *more =
            sqlite3_mprintf("%z(SELECT value FROM json_each(varied) WHERE key = %Q) AS \"%w\", ",
                            sql, store_path(s, p), store_path(s, p));
        sql = more;
    }
    char *all = sqlite3_mprintf(
        "%zstatus, failure%s, reasons, hash FROM points WHERE position < %lld ORDER BY position;",
        sql, columns, (long long)STORE_RETIRED);
    free(columns);
    return all;
}

int store_describe(struct store *s, const char *name, const char *scenario,
                   const char *const *paths, size_t n, struct err *err)
{
    // Earlier sweeps may have varied other paths. Their points stay in the store, so the paths do
    // too.
    for (size_t p = 0; p < n; p++)
        if (!has_path(s, paths[p]))
            json_array_append_new(s->paths, json_string(paths[p]));
    char *list = json_dumps(s->paths, JSON_COMPACT), *view = view_sql(s);
    char *sql = sqlite3_mprintf("BEGIN IMMEDIATE; UPDATE meta SET value = %Q WHERE key = "
                                "'name';UPDATE meta SET value = %Q WHERE key = "
                                "'scenario';UPDATE meta SET value = %Q WHERE key = 'paths'; %s "
                                "COMMIT;",
                                name, scenario, list, view);
    int status = execute(s, sql, "cannot be written", err);
    if (status != 0)
        sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
    free(s->name);
    free(s->scenario);
    s->name = memory_text(name);
    s->scenario = memory_text(scenario);
    sqlite3_free(sql);
    sqlite3_free(view);
    free(list);
    return status;
}

/* ---- points ---- */

bool store_finished(struct store *s, const char *hash)
{
    char *status = text_of(s, "SELECT status FROM points WHERE hash = ?", hash);
    // A point that failed is run again.
    bool finished = status && strcmp(status, "failed") != 0;
    free(status);
    return finished;
}

// Run a statement without rows to its end.
static int finish(struct store *s, sqlite3_stmt *statement, struct err *err)
{
    int code = sqlite3_step(statement);
    int status = code == SQLITE_DONE ? 0 : fail(s, err, "cannot be written");
    sqlite3_finalize(statement);
    return status;
}

int store_add(struct store *s, const struct store_point *p, struct err *err)
{
    sqlite3_stmt *statement;
    struct text text;
    FILE *out = text_open(&text);
    fputs("INSERT OR REPLACE INTO points VALUES (?", out);
    // Besides the hash: eight columns of the point, the metrics, and two of metrics.json.
    for (size_t i = 0; i < 8 + ROW_COLUMNS + 2; i++)
        fputs(", ?", out);
    fputc(')', out);
    char *sql = text_close(out, &text);
    int code = sqlite3_prepare_v2(s->db, sql, -1, &statement, NULL), at = 1;
    free(sql);
    if (code != SQLITE_OK)
        return fail(s, err, "cannot be written");
    sqlite3_bind_text(statement, at++, p->hash, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, at++, (sqlite3_int64)p->position);
    sqlite3_bind_text(statement, at++, p->values, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, at++, p->status, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, at++, p->failure, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, at++, p->jobs, -1, SQLITE_STATIC);
    sqlite3_bind_text(statement, at++, p->reasons, -1, SQLITE_STATIC);
    sqlite3_bind_double(statement, at++, p->wall_s);
    sqlite3_bind_double(statement, at++, p->packet_hops);
    for (size_t c = 0; c < ROW_COLUMNS; c++, at++)
        // A parameter that is not bound is NULL, which stands for an unknown value.
        if (!isnan(p->columns[c]))
            sqlite3_bind_double(statement, at, p->columns[c]);
    sqlite3_bind_int64(statement, at++, (sqlite3_int64)p->metrics_bytes);
    if (p->metrics)
        sqlite3_bind_blob64(statement, at, p->metrics, p->metrics_size, SQLITE_STATIC);
    return finish(s, statement, err);
}

int store_move(struct store *s, const char *hash, uint64_t position, const char *values,
               struct err *err)
{
    sqlite3_stmt *statement;
    // Only rows that change are written.
    if (sqlite3_prepare_v2(s->db,
                           "UPDATE points SET position = ?2, varied = ?3 WHERE hash = ?1 AND "
                           "(position <> ?2 OR varied <> ?3)",
                           -1, &statement, NULL) != SQLITE_OK)
        return fail(s, err, "cannot be written");
    sqlite3_bind_text(statement, 1, hash, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 2, (sqlite3_int64)position);
    sqlite3_bind_text(statement, 3, values, -1, SQLITE_STATIC);
    return finish(s, statement, err);
}

// The first column of a row that has another type than store_add() gives it; NULL = none has.
static const char *point_check(sqlite3_stmt *row)
{
    static const struct {
        const char *name;
        int type;
        bool needed;
    } columns[] = {{"hash", SQLITE_TEXT, true},     {"position", SQLITE_INTEGER, true},
                   {"varied", SQLITE_TEXT, true},   {"status", SQLITE_TEXT, true},
                   {"failure", SQLITE_TEXT, false}, {"jobs", SQLITE_TEXT, false},
                   {"reasons", SQLITE_TEXT, false}};
    enum { CHECKED = sizeof columns / sizeof *columns, LAST = CHECKED + 2 + ROW_COLUMNS };
    if (sqlite3_column_count(row) != LAST + 2)
        return "has other columns";
    for (int c = 0; c < (int)CHECKED; c++) {
        int type = sqlite3_column_type(row, c);
        if (type != columns[c].type && (columns[c].needed || type != SQLITE_NULL))
            return columns[c].name;
    }
    if (sqlite3_column_type(row, LAST) != SQLITE_INTEGER || sqlite3_column_int64(row, LAST) < 0)
        return "metrics_bytes";
    int type = sqlite3_column_type(row, LAST + 1);
    return type == SQLITE_NULL || type == SQLITE_BLOB ? NULL : "metrics";
}

static struct store_point point_of(sqlite3_stmt *row)
{
    struct store_point p = {.position = (uint64_t)sqlite3_column_int64(row, 1),
                            .values = (const char *)sqlite3_column_text(row, 2),
                            .status = (const char *)sqlite3_column_text(row, 3),
                            .failure = (const char *)sqlite3_column_text(row, 4),
                            .jobs = (const char *)sqlite3_column_text(row, 5),
                            .reasons = (const char *)sqlite3_column_text(row, 6),
                            .wall_s = sqlite3_column_double(row, 7),
                            .packet_hops = sqlite3_column_double(row, 8)};
    int at = 9;
    snprintf(p.hash, sizeof p.hash, "%s", (const char *)sqlite3_column_text(row, 0));
    for (size_t c = 0; c < ROW_COLUMNS; c++, at++)
        p.columns[c] = sqlite3_column_type(row, at) == SQLITE_NULL ? (double)NAN
                                                                   : sqlite3_column_double(row, at);
    p.metrics_bytes = (size_t)sqlite3_column_int64(row, at++);
    p.metrics = sqlite3_column_blob(row, at);
    p.metrics_size = (size_t)sqlite3_column_bytes(row, at);
    return p;
}

int store_each(struct store *s, void (*each)(void *ctx, const struct store_point *point), void *ctx,
               struct err *err)
{
    sqlite3_stmt *statement;
    int code;
    if (sqlite3_prepare_v2(s->db, "SELECT * FROM points ORDER BY position, hash", -1, &statement,
                           NULL) != SQLITE_OK)
        return fail(s, err, "cannot be read");
    const char *wrong = NULL;
    while ((code = sqlite3_step(statement)) == SQLITE_ROW &&
           (wrong = point_check(statement)) == NULL) {
        struct store_point point = point_of(statement);
        each(ctx, &point);
    }
    int status = 0;
    if (wrong != NULL)
        status = err_add(err, s->path,
                         "is damaged (points: %s): move it away, or restore it from a copy", wrong);
    else if (code != SQLITE_DONE)
        status = fail(s, err, "cannot be read");
    sqlite3_finalize(statement);
    return status;
}

char *store_metrics(struct store *s, const char *hash)
{
    sqlite3_stmt *statement = NULL;
    char *text = NULL;
    if (sqlite3_prepare_v2(s->db, "SELECT metrics, metrics_bytes FROM points WHERE hash = ?", -1,
                           &statement, NULL) == SQLITE_OK) {
        sqlite3_bind_text(statement, 1, hash, -1, SQLITE_STATIC);
        if (sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_blob(statement, 0))
            text = metrics_unpack(sqlite3_column_blob(statement, 0),
                                  (size_t)sqlite3_column_bytes(statement, 0),
                                  (size_t)sqlite3_column_int64(statement, 1));
    }
    sqlite3_finalize(statement);
    return text;
}
