// SPDX-License-Identifier: MIT
// The journal of an output directory: the files to be removed and installed, in
// DIR/.collwire/journal.
#pragma once

#include <jansson.h>

#define RESULT_FOLDER ".collwire"
#define RESULT_NEW "new"
#define RESULT_HASH_TEXT 65

// Write the journal. This is the point of no return: the staged files will become the results.
// Returns 0, or -1 with errno.
int result_journal_write(int own_fd, json_t *install, json_t *remove);

// Complete the actions of a journal, some of which may have been done already; without a journal,
// remove the staged files. Returns 0, or -1 with errno: the journal is kept for the next attempt.
int result_journal_recover(int dir_fd, int own_fd);

// SHA-256 (FIPS 180-4) of a file as hexadecimal text. Returns 0, or -1 with errno.
int result_hash(int fd, const char *name, char text[RESULT_HASH_TEXT]);
