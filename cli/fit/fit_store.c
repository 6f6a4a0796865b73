// SPDX-License-Identifier: MIT
// Runs of a fit that have ended: lines of JSON {"of": mark, "key": point and seed, "values": [..]}.
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fit/fit.h"
#include "cli/results/folder.h"
#include "collwire/collwire.h"
#include "engine/base/regular_file.h"
#include "engine/base/rng.h"
#include "engine/base/text.h"

static bool are_values(const json_t *values, size_t n)
{
    const json_t *value;
    size_t i;
    bool good = json_is_array(values) && json_array_size(values) == n;
    json_array_foreach(values, i, value) good &= json_is_number(value) || json_is_null(value);
    return good;
}

// Add the runs of a scenario with this mark and so many values to `known`, by their keys; other
// lines are left out.
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

// A mark of the scenario and of what is taken from its results, for runs of an earlier fit.
static char *mark_of(const struct fit *f)
{
    char *text = json_dumps(f->draft.json, JSON_SORT_KEYS | JSON_COMPACT);
    uint64_t h = f->measured.n;
    for (const char *at = collwire_version(); *at; at++)
        h = hash_mix(h ^ (unsigned char)*at) + 1;
    for (const char *at = text; *at; at++)
        h = hash_mix(h ^ (unsigned char)*at) + 1;
    for (size_t i = 0; i < f->measured.n; i++) {
        const struct observed_value *v = &f->measured.list[i];
        const char *const parts[] = {v->quantity, v->place, v->job ? v->job : ""};
        for (size_t part = 0; part < sizeof parts / sizeof *parts; part++)
            for (const char *at = parts[part]; *at; at++)
                h = hash_mix(h ^ (unsigned char)*at) + 1;
    }
    free(text);
    return text_format("%016llx", (unsigned long long)h);
}

int fit_keep_in(struct fit *f, const char *file, struct err *err)
{
    const char *folder = f->options->out;
    free(f->scenario_mark);
    free(f->store);
    f->store = NULL;
    f->scenario_mark = mark_of(f);
    if (!folder)
        return 0;
    size_t existed;
    if (folder_make(folder, &existed) != 0)
        return err_add(err, folder, "cannot be made: %s", strerror(errno));
    f->store = text_format("%s/%s", folder, file);
    FILE *out = fopen(f->store, "a");
    if (!out)
        return err_add(err, f->store, "cannot be written: %s", strerror(errno));
    fclose(out);
    fit_store_read(f->known, f->store, f->scenario_mark, f->measured.n);
    return 0;
}
