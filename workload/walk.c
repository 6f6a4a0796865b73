// SPDX-License-Identifier: MIT
// Arrivals of later steps wait in a window that slides along, as long as ranks run ahead.
#include "workload/walk.h"

#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"

struct arrivals *walk_arrivals(struct walk *walk, uint32_t step)
{
    if (step == walk->step)
        return &walk->now;
    uint32_t at = step - walk->early_base;
    if (at >= walk->n_early) {
        uint32_t n = walk->n_early ? walk->n_early * 2 : 4;
        while (n <= at)
            n *= 2;
        walk->early = memory_resize(walk->early, n, sizeof *walk->early);
        memset(walk->early + walk->n_early, 0, (n - walk->n_early) * sizeof *walk->early);
        walk->n_early = n;
    }
    return &walk->early[at];
}

void walk_next_step(struct walk *walk)
{
    walk->step++;
    walk->now = (struct arrivals){0};
    uint32_t at = walk->step - walk->early_base;
    if (at >= walk->n_early) { // all that came early is used up
        walk->early_base = walk->step;
        return;
    }
    walk->now = walk->early[at];
    walk->early[at] = (struct arrivals){0};
    if (2 * at >= walk->n_early) { // slide the window
        memmove(walk->early, walk->early + at, (walk->n_early - at) * sizeof *walk->early);
        memset(walk->early + (walk->n_early - at), 0, at * sizeof *walk->early);
        walk->early_base = walk->step;
    }
}

void walk_reset(struct walk *walk)
{
    walk->step = walk->early_base = 0;
    walk->begun = walk->delayed = false;
    walk->now = (struct arrivals){0};
    if (walk->early)
        memset(walk->early, 0, walk->n_early * sizeof *walk->early);
}

void walk_free(struct walk *walk) { free(walk->early); }
