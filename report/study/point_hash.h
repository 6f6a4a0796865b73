// SPDX-License-Identifier: MIT
// The identity of a point: SHA-256 over the version of the program, the resolved scenario and the
// contents of every file that the scenario names.
#pragma once

#define POINT_HASH 65 // bytes of a hash as text

// `resolved` is JSON; `dir` is the folder that its file names are relative to. Every text of the
// scenario that is the name of a regular file counts as one.
void point_hash(const char *resolved, const char *dir, const char *version, char hash[POINT_HASH]);
