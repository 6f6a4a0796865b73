// SPDX-License-Identifier: MIT
// Opens a database as an immutable file: it is a finished export, so SQLite takes no locks and
// opens none of the files beside it that a journal would need.
#include "engine/database/database.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/base/memory.h"
#include "engine/base/regular_file.h"
#include "engine/base/text.h"

#define VALUE_BYTES_MOST (16 << 20) // a text, a blob or a row
#define STEPS 1000                  // instructions between two calls of on_progress()
// A row has at least four bytes of the file and takes some ten instructions to read; a table is
// read by one statement or two. The constant is for the schema.
#define WORK_PER_MB 32000
#define WORK_LEAST 10000

void database_distrust(sqlite3 *db)
{
    static const struct {
        int option, value;
    } options[] = {{SQLITE_DBCONFIG_DEFENSIVE, 1},      {SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                   {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0}, {SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0},
                   {SQLITE_DBCONFIG_DQS_DML, 0},        {SQLITE_DBCONFIG_ENABLE_FTS3_TOKENIZER, 0}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        sqlite3_db_config(db, options[i].option, options[i].value, (int *)NULL);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_limit(db, SQLITE_LIMIT_WORKER_THREADS, 0);
    sqlite3_limit(db, SQLITE_LIMIT_TRIGGER_DEPTH, 1);
}

static int on_progress(void *ctx) { return --((struct database *)ctx)->work < 0; }

// The name of the file as SQLite reads it in a URI; to be freed.
static char *uri_of(const char *path)
{
    struct text text;
    FILE *out = text_open(&text);
    fputs(path[0] == '/' ? "file://" : "file:", out);
    for (; *path != '\0'; path++)
        if (strchr("%?#", *path) != NULL)
            fprintf(out, "%%%02X", (unsigned char)*path);
        else
            fputc(*path, out);
    fputs("?mode=ro&immutable=1", out);
    return text_close(out, &text);
}

// Refuse a database with a journal beside it: the journal has changes that the file lacks, or that
// must be rolled back.
static int journals_check(const char *path, struct err *err)
{
    static const char *const suffixes[] = {"-wal", "-journal"};
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++) {
        struct stat about;
        char *journal = text_format("%s%s", path, suffixes[i]);
        bool has = lstat(journal, &about) == 0 && about.st_size > 0;
        if (has)
            err_add(err, path,
                    "is not finished: %s has changes that are not in it (close the program that "
                    "writes it, or open it once with sqlite3)",
                    journal);
        free(journal);
        if (has)
            return -1;
    }
    return 0;
}

int database_open(struct database *d, const char *path, struct err *err)
{
    const char *why;
    struct stat about;
    int file = regular_file_open(path, &why);
    *d = (struct database){.path = path};
    if (file < 0)
        return err_add(err, path, "cannot be opened: %s", why);
    int64_t size = fstat(file, &about) == 0 ? about.st_size : 0;
    close(file);
    if (journals_check(path, err) != 0)
        return -1;
    char *uri = uri_of(path);
    int code = sqlite3_open_v2(uri, &d->db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, NULL);
    free(uri);
    if (code != SQLITE_OK) {
        database_error(d, err);
        return -1;
    }
    database_distrust(d->db);
    sqlite3_db_config(d->db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, (int *)NULL);
    sqlite3_limit(d->db, SQLITE_LIMIT_LENGTH, VALUE_BYTES_MOST);
    d->work = WORK_LEAST + size * WORK_PER_MB / (1 << 20);
    sqlite3_progress_handler(d->db, STEPS, on_progress, d);
    return 0;
}

void database_close(struct database *d)
{
    sqlite3_close(d->db);
    d->db = NULL;
}

void database_error(const struct database *d, struct err *err)
{
    int code = d->db != NULL ? sqlite3_errcode(d->db) & 0xff : SQLITE_NOMEM;
    if (code == SQLITE_INTERRUPT)
        err_add(err, d->path,
                "is damaged: its tables take more work to read than a file of its size can need");
    else if (code == SQLITE_TOOBIG)
        err_add(err, d->path, "has a value of more than %d MiB", VALUE_BYTES_MOST >> 20);
    else
        err_add(err, d->path, "%s", d->db != NULL ? sqlite3_errmsg(d->db) : "cannot be opened");
}
