// SPDX-License-Identifier: MIT
// Exports of Nsight Systems: the first byte says whether the rest are the bytes of a database, or
// changes of a whole one: values of any type in any column, rows once more, and other columns.
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/import.h"
#include "cli/import/import_program.h"
#include "tests/fuzz/support.h"

#define CHANGE 11 // bytes: table, column, row and kind, then a number

static const char file[] = "rank0.sqlite";

static const struct {
    const char *name, *columns;
} tables[] = {
    {"StringIds", "id value"},
    {"CUPTI_ACTIVITY_KIND_KERNEL", "start end deviceId streamId correlationId globalPid shortName"},
    {"CUPTI_ACTIVITY_KIND_RUNTIME", "start end globalTid correlationId nameId"},
    {"CUPTI_ACTIVITY_KIND_MEMCPY", "start end deviceId streamId correlationId globalPid"},
    {"NVTX_EVENTS", "start globalTid text textId binaryData"},
    {"NVTX_PAYLOAD_SCHEMA_ENTRIES", "schemaId idx name offset"}};

#define GROUP "x'0000000000000000010000000000000000000000000000000000000000000000"
static const char whole[] =
    "PRAGMA page_size = 512; PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;"
    "CREATE TABLE StringIds (id, value);"
    "INSERT INTO StringIds VALUES (1, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL'),"
    "(2, 'ncclDevKernel_SendRecv'), (3, 'gemm'), (4, 'cudaStreamSynchronize'),"
    "(5, 'ncclAllReduce'), (6, 'ncclGroupStart'), (7, 'ncclGroupEnd');"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, \"end\", deviceId, streamId, correlationId, "
    "globalPid, shortName);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1000, 2000, 0, 7, 1, 16777216, 1),"
    "(2500, 2600, 0, 7, 2, 16777216, 3), (3000, 4000, 0, 8, 3, 16777216, 1),"
    "(5000, 6000, 0, 8, 4, 16777216, 1);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, \"end\", globalTid, correlationId, nameId);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (900, 950, 16777217, 1, 3),"
    "(2400, 2450, 16777217, 2, 3), (2900, 2950, 16777217, 3, 3), (4900, 4950, 16777217, 4, 3),"
    "(6000, 6100, 16777217, 0, 4);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start, \"end\", deviceId, streamId, correlationId, "
    "globalPid); INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (4100, 4200, 0, 9, 9, 16777216);"
    "CREATE TABLE NVTX_EVENTS (start, globalTid, text, textId, binaryData);"
    "INSERT INTO NVTX_EVENTS VALUES (880, 16777217, NULL, 5, " GROUP
    "05000000000000000001000000000000'),"
    "(2880, 16777217, 'ncclAllReduce', NULL, " GROUP "05000000000000000001000000000000'),"
    "(4800, 16777217, NULL, 6, NULL),"
    "(4880, 16777217, NULL, 5, " GROUP "05000000000000000001000000000000'),"
    "(4890, 16777217, NULL, 7, NULL);"
    "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (schemaId, idx, name, \"offset\");"
    "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (1, 0, 'NCCL communicator ID', 0),"
    "(1, 1, 'Message size [bytes]', 8), (1, 2, 'Peer rank', 12), (1, 3, 'Rank', 8); COMMIT";

// The n-th word of a list, as an identifier.
static void word(const char *list, unsigned n, char out[64])
{
    unsigned words = 1;
    for (const char *at = list; *at != '\0'; at++)
        words += *at == ' ';
    for (n %= words; n > 0; list++)
        n -= *list == ' ';
    snprintf(out, 64, "\"%.*s\"", (int)strcspn(list, " "), list);
}

static void value(const uint8_t *v, unsigned kind, char out[128])
{
    static const int64_t edges[] = {INT64_MAX, INT64_MIN, INT64_MAX - 8, -1, 0, 4294967296, 1};
    uint64_t number;
    memcpy(&number, v, sizeof number);
    switch (kind % 6) {
    case 0:
        snprintf(out, 128, "%lld", (long long)(int64_t)(number & 0xffff));
        break;
    case 1:
        snprintf(out, 128, "%lld", (long long)edges[number % 7]);
        break;
    case 2:
        snprintf(out, 128, "x'%016llx'", (unsigned long long)number);
        break;
    case 3:
        snprintf(out, 128, "'nccl%s%llu'", number % 2 ? "Send" : "Reduce",
                 (unsigned long long)number);
        break;
    case 4:
        snprintf(out, 128, number % 2 ? "NULL" : "1e300");
        break;
    default: // an odd number of the type that the column has
        snprintf(out, 128, "%lld", (long long)(int64_t)number);
    }
}

static void change(sqlite3 *db, const uint8_t *v)
{
    char column[64], number[128], sql[512];
    unsigned t = v[0] % 6, row = v[2] % 8 + 1, kind = v[2] / 8;
    word(tables[t].columns, v[1] % 16, column);
    value(v + 3, kind, number);
    if (v[1] / 16 == 15) // a column that other tables have
        snprintf(sql, sizeof sql, "ALTER TABLE %s ADD COLUMN %s DEFAULT %s", tables[t].name,
                 v[1] % 2 ? "name" : "\"start\"", number);
    else if (v[1] / 16 == 14)
        snprintf(sql, sizeof sql, "INSERT INTO %s SELECT * FROM %s WHERE rowid <= %u",
                 tables[t].name, tables[t].name, row);
    else if (v[1] / 16 == 13)
        snprintf(sql, sizeof sql, "ALTER TABLE %s DROP COLUMN %s", tables[t].name, column);
    else
        snprintf(sql, sizeof sql, "UPDATE %s SET %s = %s WHERE rowid = %u", tables[t].name, column,
                 number, row);
    sqlite3_exec(db, sql, NULL, NULL, NULL);
}

static void change_all(const uint8_t *data, size_t n)
{
    static unsigned char *image;
    static sqlite3_int64 size;
    sqlite3 *db = NULL;
    if (image == NULL) {
        if (sqlite3_open(":memory:", &db) != SQLITE_OK ||
            sqlite3_exec(db, whole, NULL, NULL, NULL) != SQLITE_OK)
            abort();
        image = sqlite3_serialize(db, "main", &size, 0);
        sqlite3_close(db);
    }
    fuzz_write(file, image, (size_t)size);
    if (sqlite3_open(fuzz_path(file), &db) != SQLITE_OK)
        abort();
    sqlite3_exec(db, "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN", NULL, NULL,
                 NULL);
    for (size_t i = 0; i + CHANGE <= n && i < 30 * CHANGE; i += CHANGE)
        change(db, data + i);
    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(db);
}

static void import(void)
{
    struct profile_import from = {
        .format = "nsys", .folder = fuzz_folder(), .program = "a.nodes.jsonl"};
    struct profile_result result;
    struct err err = {0};
    if (profile_read(&from, &result, &err) == 0) {
        FILE *null = fopen("/dev/null", "w");
        recording_write(null, result.recording);
        fclose(null);
        if (result.scenario == NULL || result.summary == NULL)
            abort();
    } else if (err.n_errors == 0) {
        abort();
    }
    profile_free(&result);
    err_free(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    if (n == 0)
        return 0;
    if (data[0] % 2 == 0)
        fuzz_write(file, data + 1, n - 1);
    else
        change_all(data + 1, n - 1);
    import();
    return 0;
}
