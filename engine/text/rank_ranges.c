// SPDX-License-Identifier: MIT
// Expands ranges of ranks.
#include "engine/text/rank_ranges.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/text.h"

struct expansion {
    struct reader *r;
    const struct place *place;
    json_t *list;
    uint32_t n_ranks;
};

// Read digits at *text and move behind them. Returns false if there are none, or too many.
static bool rank_take(const char **text, uint32_t *rank)
{
    char *end;
    if (**text < '0' || **text > '9')
        return false;
    unsigned long value = strtoul(*text, &end, 10);
    *text = end;
    *rank = (uint32_t)value;
    return value < UINT32_MAX;
}

// Append the ranks of "5" or "0-15".
static bool range_add(struct expansion *e, const char *range)
{
    uint32_t first, last, most = e->n_ranks > 0 ? e->n_ranks : RANKS_MAX;
    const char *text = range + strspn(range, " ");
    bool good = rank_take(&text, &first);
    last = first;
    if (good && *text == '-') {
        text++;
        good = rank_take(&text, &last) && first <= last;
    }
    if (!good || text[strspn(text, " ")] != '\0') {
        place_error(e->r->err, e->place, "\"%s\" is not a range of ranks (write it like \"0-15\")",
                    range);
        return false;
    }
    if (last >= most) {
        place_error(e->r->err, e->place, "\"%s\" ends at rank %u, and the ranks are 0 to %u", range,
                    last, most - 1);
        return false;
    }
    for (uint32_t rank = first; rank <= last; rank++)
        json_array_append_new(e->list, json_integer(rank));
    return true;
}

static bool text_add(struct expansion *e, const char *text)
{
    char **parts;
    size_t n = text_split(text, ',', &parts);
    bool good = true;
    for (size_t i = 0; i < n && good; i++)
        good = range_add(e, parts[i]);
    texts_free(parts, n);
    return good;
}

static bool has_texts(const json_t *json)
{
    const json_t *item;
    size_t i;
    json_array_foreach(json, i, item)
    {
        if (json_is_string(item))
            return true;
    }
    return json_is_string(json);
}

bool ranks_expand(struct reader *r, struct place *place, uint32_t n_ranks)
{
    if (!has_texts(place->json))
        return true;
    struct expansion e = {r, place, json_array(), n_ranks};
    bool good = true;
    if (json_is_string(place->json))
        good = text_add(&e, json_string_value(place->json));
    for (size_t i = 0; good && i < json_array_size(place->json); i++) {
        struct place item = place_item(place, i);
        e.place = &item;
        if (json_is_string(item.json))
            good = text_add(&e, json_string_value(item.json));
        else
            json_array_append(e.list, item.json);
    }
    if (!good) {
        json_decref(e.list);
        return false;
    }
    json_object_set_new(place->parent->json, place->key, e.list);
    place->json = e.list;
    return true;
}
