// SPDX-License-Identifier: MIT
// A list of sentences.
#include "cli/import/notes.h"

#include <stdarg.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"

static void add(struct notes *notes, bool assumed, const char *format, va_list list)
{
    struct text text;
    FILE *out = text_open(&text);
    vfprintf(out, format, list);
    if (notes->n == notes->cap)
        notes->items = memory_grow(notes->items, &notes->cap, sizeof *notes->items);
    notes->items[notes->n++] = (struct note){text_close(out, &text), assumed};
}

void note_say(struct notes *notes, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    add(notes, false, format, list);
    va_end(list);
}

void note_assume(struct notes *notes, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    add(notes, true, format, list);
    va_end(list);
}

bool notes_strict(const struct notes *notes, struct err *err)
{
    bool none = true;
    for (size_t i = 0; i < notes->n; i++)
        if (notes->items[i].assumed) {
            err_add(err, NULL, "--strict: would be assumed: %s", notes->items[i].text);
            none = false;
        }
    return none;
}

void notes_free(struct notes *notes)
{
    for (size_t i = 0; i < notes->n; i++)
        free(notes->items[i].text);
    free(notes->items);
    *notes = (struct notes){0};
}
