// SPDX-License-Identifier: MIT
#include "cli/plan/known.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/regular_file.h"
#include "engine/base/text.h"

#define PS_MOST 9e18 // the longest time of a simulation

static void line_read(json_t *known, const char *line)
{
    json_t *row = json_loads(line, 0, NULL);
    const char *hash = json_string_value(json_object_get(row, "hash"));
    json_t *ps = json_object_get(row, "ps");
    double value = json_number_value(ps);
    if (hash != NULL && value > 0 && value < PS_MOST)
        json_object_set(known, hash, ps);
    json_decref(row);
}

static void file_read(json_t *known, const char *name)
{
    char *line = NULL;
    size_t cap = 0;
    const char *why;
    FILE *in = regular_file_stream(name, &why);
    while (in != NULL && getline(&line, &cap, in) > 0)
        line_read(known, line);
    free(line);
    if (in != NULL)
        fclose(in);
}

void known_read(json_t *known, const char *folder)
{
    DIR *list = opendir(folder);
    for (struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;) {
        size_t length = strlen(entry->d_name);
        if (strncmp(entry->d_name, "packets", 7) != 0 || length < 13 ||
            strcmp(entry->d_name + length - 6, ".jsonl") != 0)
            continue;
        char *name = text_format("%s/%s", folder, entry->d_name);
        file_read(known, name);
        free(name);
    }
    if (list != NULL)
        closedir(list);
}
