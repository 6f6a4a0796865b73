// SPDX-License-Identifier: MIT
// A table of the keys that have left.
#include "engine/text/retired.h"

#include <stddef.h>
#include <string.h>

static const struct retired {
    const char *path, *why;
} retired[] = {
    {"engine.fast_forward",
     "exact skipping has left, since it repeated nothing where hosts have noise or paths collide: "
     "remove `engine`, which had no other key"},
};

const char *key_retired(const char *path)
{
    for (size_t i = 0; i < sizeof retired / sizeof *retired; i++)
        if (strcmp(retired[i].path, path) == 0)
            return retired[i].why;
    return NULL;
}
