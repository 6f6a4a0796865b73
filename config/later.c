// SPDX-License-Identifier: MIT
// The tables of what is to come.
#include "config/later.h"

#include <string.h>

static const struct later_words {
    const char *what;
    const char *words[13];
} later_words[] = {
    {"policy", {"newreno", "cubic"}},
    {"workload kind", {"chakra"}},
    {"transport kind", {"tcp"}},
};

bool later_word(const char *what, const char *word)
{
    for (size_t i = 0; i < sizeof later_words / sizeof *later_words; i++) {
        if (strcmp(later_words[i].what, what) != 0)
            continue;
        for (const char *const *w = later_words[i].words; *w != NULL; w++)
            if (strcmp(*w, word) == 0)
                return true;
    }
    return false;
}
