// SPDX-License-Identifier: MIT
// Keys that scenarios had in earlier versions, which are refused with the reason.
#pragma once

// Returns why the key at this path has left and what to do instead, or NULL if it has not left.
const char *key_retired(const char *path);
