// SPDX-License-Identifier: MIT
// The sentences of a run with what `collwire explain --verify` found.
#pragma once

#include <jansson.h>

// Returns a new list of a run's sentences (`explain` of its metrics). With the contents of
// verified.json (NULL = none) causes come first by what removing them saved, and say so.
json_t *verified_sentences(const json_t *explain, const json_t *verified);
