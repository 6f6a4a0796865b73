// SPDX-License-Identifier: MIT
// A scenario as JSON, which a command changes before it is checked and completed.
#pragma once

#include <jansson.h>

#include "engine/base/err.h"

struct draft {
    json_t *json; // as read
    char *folder; // of the file, which file names are relative to
};

// Read the file. Returns 0, or -1 with an error; to be freed in both cases.
int draft_read(struct draft *d, const char *path, struct err *err);
// Change a key by its path, as --set does; the value is JSON, or else text. Returns 0, or -1 with
// an error.
int draft_set(struct draft *d, const char *path, const char *value, struct err *err);
void draft_free(struct draft *d);

// The only job of a scenario; NULL if it has several.
json_t *draft_job(json_t *scenario);

// The folder of a file; to be freed. And its name in there, borrowed.
char *file_folder(const char *path);
const char *file_base(const char *path);
