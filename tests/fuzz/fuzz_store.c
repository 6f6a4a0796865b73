// SPDX-License-Identifier: MIT
// Stores of sweeps: the first byte says whether the rest are the bytes of a database, or values of
// any type in any column of a whole one.
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/study/store.h"
#include "tests/fuzz/support.h"

#define CHANGE 10 // bytes: column, kind, then a number
#define VERSION "1"

static void visit(void *ctx, const struct store_point *p)
{
    size_t *length = ctx;
    const char *texts[] = {p->values, p->status, p->failure ? p->failure : "",
                           p->jobs ? p->jobs : "", p->reasons ? p->reasons : ""};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        *length += strlen(texts[i]);
    if (p->metrics != NULL)
        free(metrics_unpack(p->metrics, p->metrics_size, p->metrics_bytes));
}

static void change(sqlite3 *db, const uint8_t *v)
{
    static const char *const columns[] = {"hash",    "position",    "varied",       "status",
                                          "failure", "jobs",        "reasons",      "wall_s",
                                          "metrics", "packet_hops", "metrics_bytes"};
    static const char *const keys[] = {"version", "name", "scenario", "paths"};
    char number[64], sql[256];
    uint64_t bits;
    memcpy(&bits, v + 2, sizeof bits);
    const char *formats[] = {"%lld", "x'%016llx'", "'{\"a\": %lld}'", "'[%lld]'", "NULL", "%lld.5"};
    snprintf(number, sizeof number, formats[v[1] % 6], (long long)bits);
    if (v[0] % 4 == 0)
        snprintf(sql, sizeof sql, "UPDATE meta SET value = %s WHERE key = '%s'", number,
                 keys[v[0] / 4 % 4]);
    else
        snprintf(sql, sizeof sql, "UPDATE points SET \"%s\" = %s", columns[v[0] / 4 % 11], number);
    sqlite3_exec(db, sql, NULL, NULL, NULL);
}

// The bytes of a store with one point, made once.
static unsigned char *image_of(sqlite3_int64 *size)
{
    struct err err = {0};
    const char *paths[] = {"a"};
    size_t packed_size;
    void *packed = metrics_pack("{\"status\": \"completed\"}", &packed_size);
    remove(fuzz_path(STORE_FILE)); // of an input before
    struct store *s = store_open(fuzz_folder(), STORE_CREATE, VERSION, &err);
    struct store_point p = {.hash = "00",
                            .values = "{\"a\": \"1\"}",
                            .status = "completed",
                            .metrics = packed,
                            .metrics_size = packed_size,
                            .metrics_bytes = 23};
    if (s == NULL || store_describe(s, "n", "{}", paths, 1, &err) != 0 || store_add(s, &p, &err))
        abort();
    store_close(s);
    free(packed);
    sqlite3 *db = NULL;
    if (sqlite3_open(fuzz_path(STORE_FILE), &db) != SQLITE_OK ||
        sqlite3_exec(db, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) != SQLITE_OK)
        abort();
    unsigned char *image = sqlite3_serialize(db, "main", size, 0);
    sqlite3_close(db);
    remove(fuzz_path(STORE_FILE));
    return image;
}

static void whole(const uint8_t *data, size_t n)
{
    static unsigned char *image;
    static sqlite3_int64 size;
    sqlite3 *db = NULL;
    if (image == NULL)
        image = image_of(&size);
    fuzz_write(STORE_FILE, image, (size_t)size);
    if (sqlite3_open(fuzz_path(STORE_FILE), &db) != SQLITE_OK)
        abort();
    sqlite3_exec(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN", NULL, NULL,
                 NULL);
    for (size_t i = 0; i + CHANGE <= n && i < 20 * CHANGE; i += CHANGE)
        change(db, data + i);
    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct err err = {0};
    size_t length = 0;
    if (n == 0)
        return 0;
    if (data[0] % 2 == 0)
        fuzz_write(STORE_FILE, data + 1, n - 1);
    else
        whole(data + 1, n - 1);
    struct store *s = store_open(fuzz_folder(), STORE_READ, VERSION, &err);
    if (s != NULL) {
        length += strlen(store_name(s)) + strlen(store_scenario(s));
        for (size_t i = 0; i < store_paths(s); i++)
            length += strlen(store_path(s, i));
        store_each(s, visit, &length, &err);
        free(store_metrics(s, "00"));
    } else if (err.n_errors == 0) {
        abort();
    }
    store_close(s);
    err_free(&err);
    return 0;
}
