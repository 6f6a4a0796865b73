// SPDX-License-Identifier: MIT
// What the user is told of an import: what the files are, what was assumed, what was not taken.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/err.h"

struct note {
    char *text;
    bool assumed;
};

struct notes {
    struct note *items;
    size_t n, cap;
};

__attribute__((format(printf, 2, 3))) void note_say(struct notes *notes, const char *format, ...);
// Something that no file says, which --strict makes an error.
__attribute__((format(printf, 2, 3))) void note_assume(struct notes *notes, const char *format,
                                                       ...);

// Add an error for each assumption. Returns true if there is none.
bool notes_strict(const struct notes *notes, struct err *err);
void notes_free(struct notes *notes);
