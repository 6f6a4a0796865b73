// SPDX-License-Identifier: MIT
// `collwire import kineto`, `inspector`, `nsys` and `observer`: the first byte says which, and from
// 128 on with --replicate. Of nsys the rest is the values of the tables, of the others two files,
// separated by a zero byte.
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/import.h"
#include "cli/import/import_program.h"
#include "tests/fuzz/support.h"

#define FIELDS 8 // of a row: a kernel, its launch and a range of NCCL

static const char *const names[] = {"0.json", "1.json", "0.log", "1.log", "0.sqlite"};

static void import(const char *format, bool replicate)
{
    struct profile_import from = {.format = format,
                                  .folder = fuzz_folder(),
                                  .program = "a.nodes.jsonl",
                                  .replicate = replicate};
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

static void files(const uint8_t *data, size_t n, const char *first, const char *second)
{
    const uint8_t *end = n > 0 ? memchr(data, 0, n) : NULL;
    size_t length = end != NULL ? (size_t)(end - data) : n;
    fuzz_write(first, data, length);
    if (end != NULL)
        fuzz_write(second, end + 1, n - length - 1);
}

static void row(sqlite3 *db, const uint8_t *v, const uint8_t *blob, size_t n_blob)
{
    static const char *const words[] = {"AllReduce", "AllGather",  "Send",     "Recv",
                                        "Broadcast", "GroupStart", "GroupEnd", "CommInitRank"};
    char text[512];
    const char *word = words[v[0] % 8];
    sqlite3_stmt *range;
    snprintf(text, sizeof text,
             "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (%d, %d, %d, %d, %d, %d, %d); INSERT "
             "INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (%d, %d, %d, %d, %d)",
             v[1] * 100, v[1] * 100 + v[2] - 3, v[3] % 2, v[4] % 4, v[5], (v[3] & 3) << 24,
             v[6] % 9, v[7] * 100, v[7] * 100 + 1, (v[3] & 3) << 24, v[5], v[6] % 9);
    sqlite3_exec(db, text, NULL, NULL, NULL);
    snprintf(text, sizeof text, "INSERT INTO NVTX_EVENTS VALUES (%d, %d, 'nccl%s', NULL, ?)",
             v[7] * 100 - v[2] % 5, (v[3] & 3) << 24, word);
    if (sqlite3_prepare_v2(db, text, -1, &range, NULL) != SQLITE_OK)
        abort();
    sqlite3_bind_blob(range, 1, blob, (int)n_blob, SQLITE_TRANSIENT);
    sqlite3_step(range);
    sqlite3_finalize(range);
}

static void tables(const uint8_t *data, size_t n)
{
    sqlite3 *db = NULL;
    if (sqlite3_open(fuzz_path(names[4]), &db) != SQLITE_OK)
        abort();
    sqlite3_exec(db,
                 "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN;"
                 "CREATE TABLE StringIds (id INTEGER, value TEXT);"
                 "INSERT INTO StringIds VALUES (1, 'ncclDevKernel_AllReduce_Sum_f32_RING_LL'),"
                 "(2, 'ncclDevKernel_SendRecv'), (3, 'gemm'), (4, 'cudaStreamSynchronize');"
                 "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start, \"end\", deviceId, streamId, "
                 "correlationId, globalPid, shortName);"
                 "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start, \"end\", globalTid, "
                 "correlationId, nameId);"
                 "CREATE TABLE NVTX_EVENTS (start, globalTid, text, textId, binaryData);"
                 "CREATE TABLE NVTX_PAYLOAD_SCHEMA_ENTRIES (schemaId, idx, name, \"offset\");"
                 "INSERT INTO NVTX_PAYLOAD_SCHEMA_ENTRIES VALUES (1, 0, 'NCCL communicator ID', 0),"
                 "(1, 1, 'Message size [bytes]', 8), (1, 2, 'Peer rank', 16), "
                 "(2, 0, 'NCCL communicator ID', 0), (2, 1, 'No. of ranks', 8), "
                 "(2, 2, 'Rank', 12), (2, 3, 'CUDA device', 16)",
                 NULL, NULL, NULL);
    for (size_t i = 0; i + FIELDS <= n && i < 50 * FIELDS; i += FIELDS) {
        uint8_t blob[52] = {0};
        blob[8] = data[i] % 3; // the schema
        memcpy(blob + 32, data + i, FIELDS);
        memset(blob + 33, 0, 7); // few communicators
        blob[40] = data[i + 1];
        blob[44] = data[i + 2] % 4;
        blob[48] = data[i + 3] % 4;
        row(db, data + i, blob, data[i] % 11 == 10 ? 20 : sizeof blob);
    }
    sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
    sqlite3_close(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        remove(fuzz_path(names[i]));
    if (n == 0)
        return 0;
    bool graphs = data[0] == 'o' || data[0] == 'o' + 128;
    unsigned kind = graphs ? 0 : data[0] % 3;
    if (kind == 0)
        files(data + 1, n - 1, names[0], names[1]);
    else if (kind == 1)
        files(data + 1, n - 1, names[2], names[3]);
    else
        tables(data + 1, n - 1);
    import(graphs      ? "observer"
           : kind == 0 ? "kineto"
           : kind == 1 ? "inspector"
                       : "nsys",
           data[0] >= 128);
    return 0;
}
