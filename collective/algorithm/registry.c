// SPDX-License-Identifier: MIT
// The list of all collective algorithms.
#include <string.h>

#include "collective/algorithm/collective.h"

extern const struct coll_algorithm coll_ring;
extern const struct coll_algorithm coll_direct;
extern const struct coll_algorithm coll_halving_doubling;
extern const struct coll_algorithm coll_tree;
extern const struct coll_algorithm coll_double_binary_tree;
extern const struct coll_algorithm coll_bruck;
extern const struct coll_algorithm coll_shifted_halving_doubling;
extern const struct coll_algorithm coll_in_network;
extern const struct coll_algorithm coll_sparse_doubling;
extern const struct coll_algorithm coll_sparse_split;

const struct coll_algorithm *const coll_registry[] = {
    &coll_ring,
    &coll_direct,
    &coll_halving_doubling,
    &coll_tree,
    &coll_double_binary_tree,
    &coll_bruck,
    &coll_shifted_halving_doubling,
    &coll_in_network,
    &coll_sparse_doubling,
    &coll_sparse_split,
    NULL,
};

const struct coll_algorithm *coll_find(const char *name)
{
    for (const struct coll_algorithm *const *a = coll_registry; *a != NULL; a++) {
        if (strcmp((*a)->name, name) == 0)
            return *a;
    }
    return NULL;
}
