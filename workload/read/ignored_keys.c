// SPDX-License-Identifier: MIT
// One line for all keys of a file.
#include "workload/read/ignored_keys.h"

#include <stdio.h>
#include <string.h>

#define LIST_MAX 512

void ignored_keys_warn(struct err *err, const char *path, const char *file, const json_t *object,
                       const char *const *keys)
{
    char list[LIST_MAX] = "";
    for (size_t i = 0; keys[i] != NULL; i++) {
        size_t used = strlen(list);
        if (json_object_get(object, keys[i]) != NULL)
            snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "", keys[i]);
    }
    if (list[0] != '\0')
        err_warn(err, path, "%s%sthese keys have no effect: %s", file, file[0] != '\0' ? ": " : "",
                 list);
}
