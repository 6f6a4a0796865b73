// SPDX-License-Identifier: MIT
// Normalizes names of output files.
#include "config/object/output_name.h"

#include <string.h>

#include "engine/base/memory.h"
#include "sim/spec/output_list.h"

#define NAME(name, text, wanted) name,
const char *const output_reserved[] = {"metrics.json", "run.json",    "qpmap.csv",
                                       "report.html",  "sweep.json",  "sweep.csv",
                                       "compare.json", "compare.csv", OUTPUT_LIST(NAME) NULL};
#undef NAME

char *output_name(const char *file)
{
    char *clean = memory_zeroed(strlen(file) + 1, 1);
    size_t n = 0;
    for (const char *part = file; *part != '\0';) {
        size_t length = strcspn(part, "/");
        if (length > 0 && !(length == 1 && *part == '.')) {
            if (n > 0)
                clean[n++] = '/';
            memcpy(clean + n, part, length);
            n += length;
        }
        part += length + (part[length] == '/');
    }
    return clean;
}

bool output_name_escapes(const char *file)
{
    if (file[0] == '/')
        return true;
    for (const char *part = file; *part != '\0';) {
        size_t length = strcspn(part, "/");
        if (length == 2 && strncmp(part, "..", 2) == 0)
            return true;
        part += length + (part[length] == '/');
    }
    return false;
}

bool output_name_reserved(const char *name)
{
    static const char own[] = ".collwire";
    for (size_t i = 0; output_reserved[i]; i++)
        if (strcmp(name, output_reserved[i]) == 0)
            return true;
    return strncmp(name, own, sizeof own - 1) == 0 &&
           (name[sizeof own - 1] == '/' || name[sizeof own - 1] == '\0');
}
