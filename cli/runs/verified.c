// SPDX-License-Identifier: MIT
#include "cli/runs/verified.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/units.h"

#define SAVES_FROM 0.02 // share of the time from which a cause saves something

static const json_t *entry_of(const json_t *verified, const json_t *sentence)
{
    const json_t *causes = json_object_get(verified, "causes"), *entry;
    size_t i;
    json_array_foreach(causes, i, entry)
    {
        if (json_equal(json_object_get(entry, "sentence"), sentence))
            return entry;
    }
    return NULL;
}

// A sentence and what removing its cause saved, as a share of the time; NAN = not verified.
struct said {
    const char *sentence;
    double share;
    json_int_t saved_ns;
};

static struct said said_of(const json_t *sentence, const json_t *verified)
{
    struct said said = {json_string_value(sentence), NAN, 0};
    const json_t *entry = entry_of(verified, sentence);
    const json_t *saved = json_object_get(entry, "saved_ns");
    double all = (double)json_integer_value(json_object_get(entry, "before_ns"));
    if (!json_is_integer(saved) || all <= 0)
        return said;
    said.saved_ns = json_integer_value(saved);
    said.share = (double)said.saved_ns / all;
    return said;
}

// The order of sentences: verified causes by their savings, then sentences that were not verified,
// in their own order, then verified causes that save less than SAVES_FROM.
static bool comes_before(const struct said *a, const struct said *b)
{
    double x = isnan(a->share) ? SAVES_FROM : a->share, y = isnan(b->share) ? SAVES_FROM : b->share;
    return x > y;
}

static json_t *said_text(const struct said *said)
{
    char time[UNIT_TEXT];
    if (isnan(said->share))
        return json_string(said->sentence);
    const char *less = said->saved_ns < 0 ? "longer" : "less";
    human_time((said->saved_ns < 0 ? -said->saved_ns : said->saved_ns) * PS_PER_NS, time);
    return json_sprintf("%s [verified: %s %s without it]", said->sentence, time, less);
}

json_t *verified_sentences(const json_t *explain, const json_t *verified)
{
    size_t n = json_array_size(explain);
    struct said *all = memory_zeroed(n + 1, sizeof *all);
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        struct said one = said_of(json_array_get(explain, i), verified);
        size_t at = i;
        for (; at > 0 && comes_before(&one, &all[at - 1]); at--)
            all[at] = all[at - 1];
        all[at] = one;
    }
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, said_text(&all[i]));
    free(all);
    return list;
}
