// SPDX-License-Identifier: MIT
// A set of names, each stored once.
#pragma once

#include "engine/base/table.h"

struct name_pool {
    struct table table;
    char **names;
    size_t n, cap;
};

// Returns the stored copy of `name`, valid until names_free(); NULL for NULL. Equal names have
// equal pointers.
const char *name_keep(struct name_pool *pool, const char *name);
void names_free(struct name_pool *pool);
