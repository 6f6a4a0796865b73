// SPDX-License-Identifier: MIT
// SQLite databases from other programs, which may be malicious. SQLite would execute what the file
// itself contains: views and triggers that never finish, functions with side effects, pages linked
// in a circle. Therefore a database is opened as "Defense Against The Dark Arts" of SQLite's
// documentation advises: only from a regular file, for reading, without its views and triggers,
// with limits of the lengths of its values, and with a limit of the work, which follows from the
// size of the file.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <sqlite3.h>

#include "engine/base/err.h"

struct database {
    sqlite3 *db;
    const char *path; // borrowed
    int64_t work;     // thousands of SQLite's instructions that may still be run
};

// Open a file for reading. Returns 0, or -1 with an error at `path`. Either way release the
// database with database_close(); it must not move in between.
int database_open(struct database *d, const char *path, struct err *err);
void database_close(struct database *d);

// Add an error with the reason for the last failure.
void database_error(const struct database *d, struct err *err);

// Forbid a database to run code from its file. This also applies to databases that this program has
// written, because the file may have been replaced.
void database_distrust(sqlite3 *db);
