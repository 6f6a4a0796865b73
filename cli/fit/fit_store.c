// SPDX-License-Identifier: MIT
#include "cli/fit/fit_store.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/regular_file.h"

static bool are_values(const json_t *values, size_t n)
{
    const json_t *value;
    size_t i;
    bool good = json_is_array(values) && json_array_size(values) == n;
    json_array_foreach(values, i, value) good &= json_is_number(value) || json_is_null(value);
    return good;
}

void fit_store_read(json_t *known, const char *path, const char *mark, size_t n_values)
{
    char *line = NULL;
    size_t room = 0;
    const char *why;
    FILE *in = regular_file_stream(path, &why);
    while (in && getline(&line, &room, in) > 0) {
        json_t *row = json_loads(line, 0, NULL);
        const char *of = json_string_value(json_object_get(row, "of")),
                   *key = json_string_value(json_object_get(row, "key"));
        json_t *values = json_object_get(row, "values");
        if (of && key && strcmp(of, mark) == 0 && are_values(values, n_values))
            json_object_set(known, key, values);
        json_decref(row);
    }
    free(line);
    if (in)
        fclose(in);
}
