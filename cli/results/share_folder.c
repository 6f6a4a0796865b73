// SPDX-License-Identifier: MIT
// Looks beside the running program.
#include "cli/results/share_folder.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/text.h"

char *program_path(void)
{
    char path[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    path[n > 0 ? n : 0] = '\0';
    return n > 0 ? text_format("%s", path) : NULL;
}

// The path if there is something; it is freed if not.
static char *there(char *path)
{
    if (access(path, R_OK) == 0)
        return path;
    free(path);
    return NULL;
}

char *share_find(const char *name)
{
    const char *named = getenv("COLLWIRE_SHARE");
    if (named)
        return there(text_format("%s/%s", named, name));
    char *program = program_path(), *found = NULL;
    char *slash = program ? strrchr(program, '/') : NULL;
    if (slash) {
        *slash = '\0';
        found = there(text_format("%s/share/collwire/%s", program, name));
        if (!found)
            found = there(text_format("%s/../share/collwire/%s", program, name));
    }
    free(program);
    return found;
}
