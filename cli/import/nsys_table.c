// SPDX-License-Identifier: MIT
// Reads tables of a database that may be damaged or hostile: it checks that each is a table (not a
// view), that it has the columns, and the type and range of every value.
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/nsys_internal.h"
#include "engine/base/text.h"

void nsys_error(struct nsys_file *f, const char *format, ...)
{
    char text[512];
    va_list arguments;
    if (recording_is_full(f->recording))
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    err_add(f->recording->err, f->path, "%s", text);
}

static void database_failed(struct nsys_file *f)
{
    if (!recording_is_full(f->recording))
        database_error(&f->database, f->recording->err);
}

/* ---- the schema ---- */

#define USED                                                                                       \
    "('stringids', 'nvtx_events', 'nvtx_payload_schema_entries', 'cupti_activity_kind_runtime', "  \
    "'cupti_activity_kind_kernel', 'cupti_activity_kind_memcpy', 'cupti_activity_kind_memset', "   \
    "'target_info_gpu')"

// Add an error for each row of a statement, of a table and a column of it or NULL. Returns true if
// there is none.
static bool none_of(struct nsys_file *f, const char *sql, const char *what)
{
    sqlite3_stmt *statement = NULL;
    int code = sqlite3_prepare_v2(f->database.db, sql, -1, &statement, NULL);
    size_t n = 0;
    while (code == SQLITE_OK && (code = sqlite3_step(statement)) == SQLITE_ROW) {
        const char *table = (const char *)sqlite3_column_text(statement, 0),
                   *column = (const char *)sqlite3_column_text(statement, 1);
        nsys_error(f, "%.60s%s%.60s %s", table ? table : "?", column ? "." : "",
                   column ? column : "", what);
        n++;
        code = SQLITE_OK;
    }
    if (code != SQLITE_DONE)
        database_failed(f);
    sqlite3_finalize(statement);
    return code == SQLITE_DONE && n == 0;
}

// A view may compute rows without end, so may the module of a virtual table (which has no page of
// its own), and a generated column computes its values.
bool nsys_tables_check(struct nsys_file *f)
{
    return none_of(f,
                   "SELECT name, NULL FROM sqlite_master WHERE lower(name) IN " USED
                   " AND (type <> 'table' OR rootpage = 0) ORDER BY name",
                   "is no table") &&
           none_of(f,
                   "SELECT m.name, c.name FROM sqlite_master m, pragma_table_xinfo(m.name) c WHERE "
                   "m.type = 'table' AND lower(m.name) IN " USED
                   " AND c.hidden > 1 ORDER BY m.name, c.cid",
                   "is computed, not recorded");
}

/* ---- rows ---- */

// Names are qualified: an unquoted one could name something else that the statement knows, and a
// quoted one that the table does not have would be taken for a text.
static char *statement_text(const char *table, const char *const *columns, const char *const *order)
{
    struct text text;
    FILE *out = text_open(&text);
    for (size_t i = 0; columns[i] != NULL; i++)
        fprintf(out, "%s t.\"%s\"", i == 0 ? "SELECT" : ",", columns[i]);
    fprintf(out, " FROM \"%s\" t", table);
    for (size_t i = 0; order != NULL && order[i] != NULL; i++)
        fprintf(out, "%s t.\"%s\"", i == 0 ? " ORDER BY" : ",", order[i]);
    return text_close(out, &text);
}

struct nsys_rows nsys_rows_open(struct nsys_file *f, const char *table, const char *const *columns,
                                const char *const *order, bool optional)
{
    struct nsys_rows rows = {.file = f, .table = table, .columns = columns, .order = order};
    char *sql = statement_text(table, columns, order);
    if (sqlite3_prepare_v2(f->database.db, sql, -1, &rows.statement, NULL) != SQLITE_OK) {
        bool missing = strncmp(sqlite3_errmsg(f->database.db), "no such", 7) == 0;
        if (!(optional && missing))
            database_failed(f);
    }
    free(sql);
    return rows;
}

bool nsys_rows_next(struct nsys_rows *rows)
{
    if (rows->statement == NULL)
        return false;
    int code = sqlite3_step(rows->statement);
    rows->row++;
    rows->bad = false;
    if (code == SQLITE_ROW && !recording_is_full(rows->file->recording))
        return true;
    if (code != SQLITE_DONE && code != SQLITE_ROW)
        database_failed(rows->file);
    sqlite3_finalize(rows->statement);
    rows->statement = NULL;
    return false;
}

static void type_error(struct nsys_rows *rows, int column, const char *wanted)
{
    static const char *const names[] = {[SQLITE_INTEGER] = "an integer",
                                        [SQLITE_FLOAT] = "a broken number",
                                        [SQLITE_TEXT] = "a text",
                                        [SQLITE_BLOB] = "a blob",
                                        [SQLITE_NULL] = "missing"};
    nsys_error(rows->file, "%s.%s is %s, not %s, in row %" PRIu64 "%s%s", rows->table,
               rows->columns[column], names[sqlite3_column_type(rows->statement, column)], wanted,
               rows->row, rows->order != NULL ? " by " : "",
               rows->order != NULL ? rows->order[0] : "");
    rows->bad = true;
}

int64_t nsys_required(struct nsys_rows *rows, int column)
{
    if (sqlite3_column_type(rows->statement, column) == SQLITE_INTEGER)
        return sqlite3_column_int64(rows->statement, column);
    type_error(rows, column, "an integer");
    return 0;
}

int64_t nsys_integer(struct nsys_rows *rows, int column)
{
    bool none = sqlite3_column_type(rows->statement, column) == SQLITE_NULL;
    return none ? 0 : nsys_required(rows, column);
}

const char *nsys_text(struct nsys_rows *rows, int column)
{
    int type = sqlite3_column_type(rows->statement, column);
    const char *text = NULL;
    if (type != SQLITE_NULL && type != SQLITE_TEXT)
        type_error(rows, column, "a text");
    else if (type == SQLITE_TEXT &&
             (text = (const char *)sqlite3_column_text(rows->statement, column)) == NULL)
        type_error(rows, column, "one that can be read"); // memory is short
    return text;
}

const uint8_t *nsys_bytes(struct nsys_rows *rows, int column, int *n)
{
    int type = sqlite3_column_type(rows->statement, column);
    *n = 0;
    if (type != SQLITE_NULL && type != SQLITE_BLOB && type != SQLITE_TEXT)
        type_error(rows, column, "a blob");
    if (type != SQLITE_BLOB && type != SQLITE_TEXT)
        return NULL;
    const uint8_t *bytes = sqlite3_column_blob(rows->statement, column);
    *n = bytes != NULL ? sqlite3_column_bytes(rows->statement, column) : 0;
    return bytes;
}
