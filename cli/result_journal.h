// SPDX-License-Identifier: MIT
// The journal of an output directory: what is to be removed and installed, in DIR/.collwire/journal.
#pragma once

#include <jansson.h>

#define RESULT_FOLDER ".collwire"
#define RESULT_NEW "new"
#define RESULT_HASH_TEXT 65

// The point of no return: after it the staged files will be the results. 0, or -1 with errno.
int result_journal_write(int own_fd, json_t *install, json_t *remove);

// Carry a journal out, which may have been begun; without one remove what is staged. 0, or -1 with
// errno: the journal stays, to be carried out later.
int result_journal_recover(int dir_fd, int own_fd);

// SHA-256 (FIPS 180-4) of a file as hexadecimal text. 0, or -1 with errno.
int result_hash(int fd, const char *name, char text[RESULT_HASH_TEXT]);
