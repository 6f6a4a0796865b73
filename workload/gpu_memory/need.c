// SPDX-License-Identifier: MIT
// Lists of classes and steps, and their texts.
#include "workload/gpu_memory/need.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"

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
    if (need->n_steps == need->cap_steps)
        need->steps = memory_grow(need->steps, &need->cap_steps, sizeof *need->steps);
    struct memory_step *step = &need->steps[need->n_steps++];
    snprintf(step->what, sizeof step->what, "%s", what);
    step->within = *within;
    return true;
}

const struct footprint *memory_need_most(const struct memory_need *need)
{
    return &need->classes[need->fullest].footprint;
}

char *memory_kinds_text(const struct footprint *f)
{
    struct text text;
    FILE *out = text_open(&text);
    char bytes[UNIT_TEXT];
    bool any = false;
    for (unsigned k = 0; k < FOOTPRINT_KINDS; k++)
        if (f->bytes[k] >= footprint_total(f) / 100 && f->bytes[k] > 0) {
            fprintf(out, "%s%s %s", any ? ", " : "", footprint_kind_names[k],
                    human_bytes(f->bytes[k], bytes));
            any = true;
        }
    return text_close(out, &text);
}

const char *memory_capacity_text(uint64_t bytes, char *buf)
{
    human_bytes(bytes, buf);
    char *zeros = strstr(buf, ".0"), *unit = strchr(buf, ' ');
    if (zeros != NULL && unit != NULL && strspn(zeros + 1, "0") == (size_t)(unit - zeros - 1))
        memmove(zeros, unit, strlen(unit) + 1);
    return buf;
}

void memory_need_free(struct memory_need *need)
{
    free(need->classes);
    free(need->steps);
    *need = (struct memory_need){0};
}
