// SPDX-License-Identifier: MIT
// The directory of one run of a comparison.
#include "cli/runs/run_folder.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"

char *run_folder(const char *scenario, const char *name, const uint64_t *seed)
{
    static const char kept[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._";
    char *folder = memory_text(name);
    size_t n = 0;
    for (const char *p = name; *p; p++)
        if (strchr(kept, *p))
            folder[n++] = *p;
        else if (n == 0 || folder[n - 1] != '-')
            folder[n++] = '-';
    while (n > 0 && folder[n - 1] == '-')
        n--;
    folder[n] = '\0';
    char *path = seed ? text_format("%s/%s-seed%llu", scenario, folder, (unsigned long long)*seed)
                      : text_format("%s/%s", scenario, folder);
    free(folder);
    return path;
}

char *run_folder_of(const json_t *row, bool seeds)
{
    const char *scenario = json_string_value(json_object_get(row, "scenario")),
               *name = json_string_value(json_object_get(row, "name"));
    uint64_t seed = (uint64_t)json_integer_value(json_object_get(row, "seed"));
    if (!name) // the policy
        name = json_string_value(json_object_get(row, "cc"));
    return run_folder(scenario ? scenario : ".", name ? name : "", seeds ? &seed : NULL);
}
