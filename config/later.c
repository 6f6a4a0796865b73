// SPDX-License-Identifier: MIT
// The tables of what is to come.
#include "config/later.h"

#include <string.h>

static const struct later_words {
    const char *what;
    const char *words[13];
} later_words[] = {
    {"policy", {"newreno", "cubic"}},
    {"workload kind", {"poisson", "training", "chakra"}},
    {"algorithm", {"double_binary_tree", "tree", "bruck", "shifted_halving_doubling"}},
    {"op", {"broadcast", "reduce", "gather", "scatter", "send_recv", "barrier"}},
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

const struct later_key later_keys[] = {
    {"collective", "order", "\"fifo\"", "of chunks that wait"},
    {"collective", "schedule", "\"baseline\"", "order of dimensions"},
};
const size_t n_later_keys = sizeof later_keys / sizeof *later_keys;

void later_keys_write(json_t *json, const char *object)
{
    for (size_t i = 0; i < n_later_keys; i++)
        if (strcmp(later_keys[i].object, object) == 0)
            json_object_set_new(json, later_keys[i].key,
                                json_loads(later_keys[i].only, JSON_DECODE_ANY, NULL));
}
