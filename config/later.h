// SPDX-License-Identifier: MIT
// Words of the scenario language whose meaning is not built yet: legal, but an error that
// says so. What a registry or table knows is never asked here, so an entry may outlive its purpose.
#pragma once

#include <stdbool.h>

// Is `word` a later one of `what` ("topology kind", or the name of a parameter)?
bool later_word(const char *what, const char *word);
