// SPDX-License-Identifier: MIT
// A hard link keeps each replaced file until all files have been renamed. On a file system without
// hard links, files that were replaced before a failure are lost, and their replacements are
// removed.
#include "engine/file_set.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"

// A second name of the file, to be freed; NULL = there is none.
static char *keep_old(const char *name)
{
    char *old = text_format("%s.collwire-%ld", name, (long)getpid());
    if (link(name, old) == 0)
        return old;
    free(old);
    return NULL;
}

int file_set_name(char *const *from, char *const *to, size_t n, size_t *at)
{
    char **old = memory_zeroed(n + 1, sizeof *old);
    bool good = true;
    size_t named = 0;
    while (good && named < n) {
        old[named] = keep_old(to[named]);
        good = rename(from[named], to[named]) == 0;
        named += good;
    }
    int reason = errno;
    *at = named;
    for (size_t i = 0; i <= named && i < n; i++) {
        if (good || i == named) {
            if (old[i] != NULL)
                unlink(old[i]);
        } else if (old[i] == NULL || rename(old[i], to[i]) != 0) {
            unlink(to[i]);
        }
        free(old[i]);
    }
    free(old);
    errno = reason;
    return good ? 0 : -1;
}
