// SPDX-License-Identifier: MIT
// Descriptions of paths for policies; flows with equal descriptions share one copy.
#pragma once

#include <stddef.h>

#include "cc/cc.h"

struct cc_envs {
    struct cc_env **slots; // a hash table with open addressing; NULL = free
    size_t cap, n;         // cap is a power of two, or 0
};

// Returns the copy of `env`, which stays valid and in its place until cc_envs_free().
const struct cc_env *cc_envs_keep(struct cc_envs *envs, const struct cc_env *env);
void cc_envs_free(struct cc_envs *envs);
