// SPDX-License-Identifier: MIT
// What a tuning writes: JSON and the scenario with the settings.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/results/output.h"
#include "cli/tune/tune.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

char *tune_own_value(const struct tune *t, const char *path)
{
    const json_t *at = json_at_path(t->cases[0].search.draft.json, path);
    char *text = at ? json_dumps(at, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    return text ? text : memory_text("as shipped");
}

json_t *tune_keys_json(const struct tune *t, const struct tune_effect *effects)
{
    json_t *keys = json_array();
    for (size_t k = 0; k < t->keys.n; k++) {
        const struct unknown *u = &t->keys.list[k];
        const double places[] = {t->best[k], effects[k].low, effects[k].high};
        json_t *values[3];
        for (int i = 0; i < 3; i++) {
            char text[UNKNOWN_TEXT];
            values[i] = json_loads(unknown_text(u, places[i], text), JSON_DECODE_ANY, NULL);
        }
        char *own = tune_own_value(t, u->path);
        json_array_append_new(keys, json_pack("{s:s, s:s, s:o, s:o, s:o, s:f}", "path", u->path,
                                              "scenario", own, "best", values[0], "low", values[1],
                                              "high", values[2], "loss", effects[k].loss));
        free(own);
    }
    return keys;
}

// The best settings, "PATH=VALUE" each.
static json_t *settings_json(const struct tune *t)
{
    json_t *set = json_array();
    for (size_t k = 0; k < t->keys.n; k++) {
        char value[UNKNOWN_TEXT],
            *one = text_format("%s=%s", t->keys.list[k].path,
                               unknown_text(&t->keys.list[k], t->best[k], value));
        json_array_append_new(set, json_string(one));
        free(one);
    }
    return set;
}

void tune_add_summary(const struct tune *t, json_t *all, const json_t *gains)
{
    const json_t *first = json_array_get(gains, 0), *now = json_object_get(first, "best"),
                 *before = json_object_get(first, "before");
    double change = json_number_value(now) / json_number_value(before) - 1;
    bool known = json_is_number(now) && json_is_number(before) && isfinite(change);
    json_t *value = now ? json_deep_copy(now) : json_null();
    json_object_set_new(all, "best",
                        json_pack("{s:o, s:o}", "set", settings_json(t), "value", value));
    json_object_set_new(all, "default", before ? json_deep_copy(before) : json_null());
    json_object_set_new(all, "gain",
                        known ? json_real(t->goals[0].most ? change : -change) : json_null());
}

int tune_write_scenario(const struct tune *t, struct err *err)
{
    const struct draft *draft = &t->cases[0].search.draft;
    struct draft tuned = {.json = json_deep_copy(draft->json), .folder = draft->folder};
    int status = 0;
    for (size_t k = 0; k < t->keys.n; k++) {
        char value[UNKNOWN_TEXT];
        status |= draft_set(&tuned, t->keys.list[k].path,
                            unknown_text(&t->keys.list[k], t->best[k], value), err);
    }
    if (status == 0 && json_write(t->options->file, tuned.json) != EXIT_DONE)
        status = -1; // it has said why
    json_decref(tuned.json);
    return status;
}
