// SPDX-License-Identifier: MIT
// Lists of classes and steps.
#include "footprint/need.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"

void memory_need_add(struct memory_need *need, const struct memory_class *one)
{
    struct memory_class *last = need->n_classes > 0 ? &need->classes[need->n_classes - 1] : NULL;
    if (last != NULL && strcmp(last->when, one->when) == 0 &&
        memcmp(&last->footprint, &one->footprint, sizeof one->footprint) == 0) {
        last->ranks += one->ranks;
        return;
    }
    need->classes = memory_resize(need->classes, need->n_classes + 1, sizeof *need->classes);
    need->classes[need->n_classes] = *one;
    if (footprint_total(&one->footprint) > footprint_total(memory_need_most(need)))
        need->fullest = need->n_classes;
    need->n_classes++;
}

bool memory_need_step(struct memory_need *need, const char *what, const struct footprint *within)
{
    need->steps_cut = need->n_steps == MEMORY_STEPS_MAX;
    if (need->steps_cut)
        return false;
    if (need->steps == NULL)
        need->steps = memory_zeroed(MEMORY_STEPS_MAX, sizeof *need->steps);
    struct memory_step *step = &need->steps[need->n_steps++];
    snprintf(step->what, sizeof step->what, "%s", what);
    step->within = *within;
    return true;
}

const struct footprint *memory_need_most(const struct memory_need *need)
{
    return &need->classes[need->fullest].footprint;
}

void memory_need_free(struct memory_need *need)
{
    free(need->classes);
    free(need->steps);
    *need = (struct memory_need){0};
}
