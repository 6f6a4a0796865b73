// SPDX-License-Identifier: MIT
// The results that earlier commands have kept in a folder: files packets*.jsonl, of one line
// {"hash": "..", "ps": 1234} for each run.
#pragma once

#include <jansson.h>

// Add the times of all files of the folder to `known`, an object: hash -> ps. What is no such line
// is passed over: a command that was killed leaves a line that is cut off.
void known_read(json_t *known, const char *folder);
