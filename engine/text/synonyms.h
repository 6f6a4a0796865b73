// SPDX-License-Identifier: MIT
// Words that other tools, or other objects of a scenario, have for a key or a kind.
#pragma once

// The key (or kind) that a user who writes `word` probably means: a path whose first key is among
// `candidates`, NULL-terminated, such as "link.rate" for "rate". Else the nearest candidate by
// spelling; NULL = none is near.
const char *word_meant(const char *word, const char *const *candidates);
