// SPDX-License-Identifier: MIT
// --vary PATH=RANGE, --goal QUANTITY[:min|max], --guard QUANTITY<=VALUE.
#include <stdlib.h>
#include <string.h>

#include "cli/tune/tune.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"

// Quantities of which more is better.
static bool wants_most(const char *quantity)
{
    return strcmp(quantity, "goodput") == 0 || strcmp(quantity, "busbw") == 0 ||
           strcmp(quantity, "utilization") == 0;
}

// Add "QUANTITY[ PLACE]"; what is no quantity is a path of metrics.json.
static void add_value(struct tune *t, const char *text)
{
    struct observed_value *v;
    const char *blank = strchr(text, ' ');
    size_t length = blank ? (size_t)(blank - text) : strlen(text);
    char *quantity = memory_zeroed(length + 1, 1);
    memcpy(quantity, text, length);
    t->values.list = memory_resize(t->values.list, t->values.n + 1, sizeof *t->values.list);
    v = &t->values.list[t->values.n++];
    *v = (struct observed_value){.value = 1, .relative = 1, .scale = 1, .unit = memory_text("")};
    if (observed_is_quantity(quantity)) {
        v->quantity = quantity;
        v->place = memory_text(blank ? blank + 1 : "");
    } else {
        free(quantity);
        v->quantity = memory_text("metric");
        v->place = memory_text(text);
    }
}

static int take_goal(struct tune *t, const char *text, struct err *err)
{
    char *copy = memory_text(text), *word = strrchr(copy, ':');
    bool most = word && strcmp(word, ":max") == 0, least = word && strcmp(word, ":min") == 0;
    if (most || least)
        *word = '\0';
    if (t->n_goals == TUNE_GOALS) {
        free(copy);
        return err_add(err, "--goal", "more than %d", TUNE_GOALS);
    }
    add_value(t, copy);
    if (!most && !least)
        most = wants_most(t->values.list[t->values.n - 1].quantity);
    t->goals[t->n_goals++] = (struct tune_goal){copy, most};
    return 0;
}

// The value of a bound: a number, or a quantity with its unit (times in ns).
static bool bound_of(const char *text, double *value)
{
    char *end;
    ps_t ps;
    uint64_t whole;
    *value = strtod(text, &end);
    if (end != text && *end == '\0')
        return true;
    if (parse_time(text, &ps) == 0)
        *value = (double)ps / PS_PER_NS;
    else if (parse_bytes(text, &whole) == 0 || parse_rate(text, &whole) == 0)
        *value = (double)whole;
    else
        return false;
    return true;
}

static int take_guard(struct tune *t, const char *text, struct err *err)
{
    char *copy = memory_text(text), *sign = strpbrk(copy, "<>");
    struct tune_guard guard = {.text = memory_text(text)};
    int status = 0;
    if (!sign || sign[1] != '=' || sign == copy || !bound_of(sign + 2, &guard.bound)) {
        status = err_add(err, "--guard", "\"%s\" is not QUANTITY<=VALUE or QUANTITY>=VALUE", text);
    } else if (t->n_guards == TUNE_GUARDS) {
        status = err_add(err, "--guard", "more than %d", TUNE_GUARDS);
    } else {
        guard.least = *sign == '>';
        *sign = '\0';
        add_value(t, copy);
        t->guards[t->n_guards++] = guard;
        guard.text = NULL;
    }
    free(guard.text);
    free(copy);
    return status;
}

static int take_key(struct tune *t, const char *text, struct err *err)
{
    const char *sign = strchr(text, '=');
    if (!sign || sign == text)
        return err_add(err, "--vary", "\"%s\" is not PATH=FROM..TO or PATH=VALUE,VALUE", text);
    if (t->keys.n == UNKNOWNS_MOST)
        return err_add(err, "--vary", "more than %d keys", UNKNOWNS_MOST);
    char *path = memory_text(text);
    path[sign - text] = '\0';
    t->keys.list = memory_resize(t->keys.list, t->keys.n + 1, sizeof *t->keys.list);
    int status = unknown_parse(&t->keys.list[t->keys.n++], path, sign + 1, err);
    free(path);
    return status;
}

int tune_words(struct tune *t, struct err *err)
{
    const struct options *o = t->options;
    int status = 0;
    for (size_t i = 0; i < o->vary.n; i++)
        status |= take_key(t, o->vary.list[i], err);
    for (size_t i = 0; i < o->goals.n; i++)
        status |= take_goal(t, o->goals.list[i], err);
    if (o->goals.n == 0)
        status |= take_goal(t, "time", err);
    for (size_t i = 0; i < o->guards.n; i++)
        status |= take_guard(t, o->guards.list[i], err);
    if (o->vary.n == 0)
        status = err_add(err, "--vary",
                         "nothing to tune: give a key and its range, such as "
                         "--vary switch.ecn.kmin=50KB..2MB");
    return status;
}

void tune_words_free(struct tune *t)
{
    for (size_t i = 0; i < t->n_goals; i++)
        free(t->goals[i].text);
    for (size_t i = 0; i < t->n_guards; i++)
        free(t->guards[i].text);
    observed_free(&t->values);
    unknowns_free(&t->keys);
}
