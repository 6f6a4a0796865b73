// SPDX-License-Identifier: MIT
// Folders are resolved with their symbolic links, since .. leads from where a link leads to.
#include "engine/text/relative_path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"

// The resolved folder of a path with "/" at its end; NULL if there is none.
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    char *folder = slash ? text_format("%.*s/", (int)(slash - path), path) : memory_text(".");
    char *whole = realpath(folder, NULL);
    free(folder);
    if (whole == NULL)
        return NULL;
    char *result = text_format("%s%s", whole, strcmp(whole, "/") == 0 ? "" : "/");
    free(whole);
    return result;
}

char *path_relative(const char *file, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    char *from = folder_of(file ? file : ""), *to = folder_of(path);
    struct text t = {0};
    FILE *out = text_open(&t);
    if (from == NULL || to == NULL) {
        fputs(path, out);
    } else {
        size_t common = 0; // up to the last "/" that both have
        for (size_t i = 0; from[i] != '\0' && from[i] == to[i]; i++)
            if (from[i] == '/')
                common = i + 1;
        for (const char *c = from + common; *c != '\0'; c++)
            if (*c == '/')
                fputs("../", out);
        fprintf(out, "%s%s", to + common, base);
    }
    free(from);
    free(to);
    return text_close(out, &t);
}
