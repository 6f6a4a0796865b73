// SPDX-License-Identifier: MIT
// The store of a sweep: an SQLite database (WAL) with a row for each point that has ended.
//
// Table `points`: hash (report/study/point_hash.h), position in the grid, varied (a JSON object:
// varied path -> value as text), status, failure, jobs (a JSON list of the rows of jobs where there
// are several), reasons (a JSON object: what cost the most time, and the first sentences), wall_s,
// packet_hops, a column for each of row_columns (report/rows.h), metrics (metrics.json, compressed
// by zlib) and metrics_bytes (its length before). Table `meta`: version of the program, name of the
// scenario, scenario (resolved; several as a list), paths (a JSON list of the varied paths). View
// `runs`: a row a point with a column for each varied path, then status, the metrics and reasons.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "engine/base/err.h"
#include "report/rows.h"
#include "report/study/point_hash.h"

#define STORE_FILE "results.sqlite"

struct store;

struct store_point {
    char hash[POINT_HASH];
    uint64_t position;
    const char *values;         // JSON object of texts
    const char *status;         // "completed", "incomplete" or "failed"
    const char *failure;        // NULL = none
    const char *jobs, *reasons; // JSON; NULL = none
    double wall_s, packet_hops;
    double columns[ROW_COLUMNS]; // NAN = none
    const void *metrics;         // compressed; NULL = none
    size_t metrics_size, metrics_bytes;
};

enum store_mode { STORE_CREATE, STORE_READ, STORE_LOOK };

// Open the store in folder `dir`. STORE_CREATE makes it if it is missing; STORE_READ does not
// write; STORE_LOOK is the same, but a store that is missing, or has no tables yet, is no error.
// Returns NULL with an error: of another version, locked, damaged, not a store, or not writable.
struct store *store_open(const char *dir, enum store_mode mode, const char *version,
                         struct err *err);
// Close; the store is then one file again.
void store_close(struct store *s);

// Remember the scenario's name, the resolved scenario and the varied paths, in their order; paths
// of earlier sweeps are kept.
int store_describe(struct store *s, const char *name, const char *scenario,
                   const char *const *paths, size_t n, struct err *err);
const char *store_name(const struct store *s);
const char *store_scenario(const struct store *s);
size_t store_paths(const struct store *s);
const char *store_path(const struct store *s, size_t p);

// True if the point has finished: it completed, or ended in a way that would be the same again.
bool store_finished(struct store *s, const char *hash);

// Add a point, or replace one that has not finished; one transaction. Returns 0, or -1 with an
// error.
int store_add(struct store *s, const struct store_point *point, struct err *err);

// Give a point that is in the store another position and other values. Returns 0, or -1 with an
// error.
int store_move(struct store *s, const char *hash, uint64_t position, const char *values,
               struct err *err);

// Points of earlier sweeps, which the present one does not have, are kept at this position.
#define STORE_RETIRED UINT64_C(0x7fffffffffffffff)

// Visit all points in the order of their positions, with their compressed metrics. The point is
// valid during the call of `each`. Returns 0, or -1 with an error.
int store_each(struct store *s, void (*each)(void *ctx, const struct store_point *point), void *ctx,
               struct err *err);

// The metrics of a point as text, to be freed; NULL = there are none.
char *store_metrics(struct store *s, const char *hash);

// Compress a text, and back; to be freed. `size` and `bytes` as in struct store_point.
void *metrics_pack(const char *text, size_t *size);
char *metrics_unpack(const void *packed, size_t size, size_t bytes);
