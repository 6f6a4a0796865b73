// SPDX-License-Identifier: MIT
// Reads objects by parameter tables; checks types, ranges, required and unknown keys.
#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/assert.h"
#include "engine/base/memory.h"
#include "engine/base/param_hint.h"
#include "engine/text/object.h"
#include "engine/text/read.h"
#include "engine/text/synonyms.h"

/* ---- retired ---- */

// A table of the keys that have left.

static const struct retired {
    const char *path, *why;
} retired[] = {
    {"engine.fast_forward",
     "exact skipping has left, since it repeated nothing where hosts have noise or paths collide: "
     "remove `engine`, which had no other key"},
};

// Returns why the key at this path has left and what to do instead, or NULL if it has not left.
static const char *key_retired(const char *path)
{
    for (size_t i = 0; i < sizeof retired / sizeof *retired; i++)
        if (strcmp(retired[i].path, path) == 0)
            return retired[i].why;
    return NULL;
}

/* ---- key owners ---- */

// Which kinds of an object have a key that the kind at hand does not have.

#define OWNERS_NAMED 6 // kinds that are named
#define OWNERS_TEXT 160

struct finding {
    const char *key;
    bool found;
};

// Keys of contained objects come with a prefix: they are not keys of the object itself.
static void table_seen(void *ctx, const char *prefix, const struct param *params, size_t n)
{
    struct finding *f = ctx;
    f->found |= *prefix == '\0' && param_find(params, n, f->key).name != NULL;
}

static void own_seen(void *ctx, const struct own_key *key)
{
    struct finding *f = ctx;
    f->found |= strcmp(key->key, f->key) == 0;
}

// Write the names of the kinds of an object (topology, workload, ..) that have this key: "training,
// llm", with ".." for those beyond OWNERS_NAMED; "" = none has it. Returns `buf`.
static const char *key_owners(const struct object *o, const struct cc_catalogue *policies,
                              const char *key, char buf[OWNERS_TEXT])
{
    struct object_entry entry;
    unsigned n = 0;
    size_t used = 0;
    buf[0] = '\0';
    for (size_t i = 0; o->entry != NULL && o->entry(policies, i, &entry); i++) {
        struct finding f = {.key = key};
        const struct key_sink sink = {&f, table_seen, own_seen};
        if (entry.kind != NULL) // else it only groups keys for people
            o->keys(&entry, "", &sink);
        if (!f.found || n++ > OWNERS_NAMED)
            continue;
        used += (size_t)snprintf(buf + used, OWNERS_TEXT - used, "%s%s", n > 1 ? ", " : "",
                                 n > OWNERS_NAMED ? ".." : entry.name);
        if (used >= OWNERS_TEXT)
            break;
    }
    return buf;
}

/* ---- read params ---- */

#define BYTES_MAX 1e15 // 1 PB

static const char required[] = "is required";

void keys_add(struct keys *keys, const char *name)
{
    if (keys->n + 1 >= sizeof keys->names / sizeof *keys->names)
        sim_assert_fail("the keys of an object fit", __FILE__, __LINE__, 0, -1);
    keys->names[keys->n++] = name;
}

static bool read_type(struct reader *r, const struct place *place, json_type type, const char *noun)
{
    if (place->json == NULL)
        return false;
    if (json_typeof(place->json) == type)
        return true;
    place_error(r->err, place, "must be %s, not %s", noun, json_noun(place->json));
    return false;
}

bool read_object(struct reader *r, const struct place *place)
{
    return read_type(r, place, JSON_OBJECT, "an object");
}

const char *object_meant(const json_t *json, const char *key, char buf[OBJECT_TEXT])
{
    char value[HINT_TEXT];
    const char *word = json_string_value(json);
    buf[0] = '\0';
    if (key == NULL)
        return buf;
    if (strcmp(key, ENABLED) != 0 && word != NULL)
        snprintf(buf, OBJECT_TEXT, ": {\"%s\": \"%s\"}", key, word);
    if (strcmp(key, ENABLED) != 0)
        return buf;
    if (json_is_boolean(json))
        word = json_is_true(json) ? "true" : "false";
    if (word != NULL && param_unquoted(PARAM_BOOL, word, value)[0] != '\0')
        snprintf(buf, OBJECT_TEXT, ": {\"%s\": %s}", key, value);
    return buf;
}

bool read_object_of(struct reader *r, const struct place *place, const char *key)
{
    char meant[OBJECT_TEXT];
    if (place->json == NULL || json_is_object(place->json))
        return place->json != NULL;
    place_error(r->err, place, "must be an object, not %s%s", json_noun(place->json),
                object_meant(place->json, key, meant));
    return false;
}

bool read_list(struct reader *r, const struct place *place)
{
    return read_type(r, place, JSON_ARRAY, "a list");
}

void reader_keep_until(struct reader *r, void *block, void (*end)(void *block))
{
    struct kept *k = r->kept;
    k->blocks = memory_resize(k->blocks, k->n + 1, sizeof *k->blocks);
    k->blocks[k->n++] = (struct kept_block){block, end};
}

void reader_keep(struct reader *r, void *block) { reader_keep_until(r, block, free); }

static const char *type_like(enum param_type type)
{
    switch (type) {
    case PARAM_BOOL:
        return "true or false";
    case PARAM_COUNT:
        return "a whole number";
    case PARAM_BYTES:
        return "a size like \"128MB\" or 4096";
    case PARAM_RATE:
        return "a rate with its unit like \"100Gbps\"";
    case PARAM_TIME:
        return "a time with its unit like \"12.5us\"";
    case PARAM_RATIO:
        return "a number";
    case PARAM_LINE_RATE:
        return "a rate like \"40Mbps\" or \"line/1000\"";
    case PARAM_ENUM:
    case PARAM_TEXT:
        break;
    }
    return "a string";
}

static const char *number_text(enum param_type type, const json_t *json, char *buf)
{
    bool integer = type == PARAM_COUNT || type == PARAM_BYTES;
    double value = json_number_value(json);
    if (json_is_integer(json) && (integer || type == PARAM_RATIO))
        snprintf(buf, PARAM_TEXT_MAX, "%" JSON_INTEGER_FORMAT, json_integer_value(json));
    else if (type == PARAM_RATIO)
        snprintf(buf, PARAM_TEXT_MAX, "%.17g", value);
    else if (integer && value > -1e15 && value < 1e15 && value == (double)(int64_t)value)
        snprintf(buf, PARAM_TEXT_MAX, "%" PRId64, (int64_t)value);
    else
        return NULL;
    return buf;
}

bool choice_is_bool(const struct param *param, const char *choice)
{
    bool has = false;
    for (size_t i = 0; param->type == PARAM_ENUM && param->choices[i] != NULL; i++)
        has |= strcmp(param->choices[i], "true") == 0;
    return has && (strcmp(choice, "true") == 0 || strcmp(choice, "false") == 0);
}

// A JSON value in scenario syntax; NULL if the parameter does not accept its JSON type.
static const char *scalar_text(const struct param *param, const json_t *json, char *buf)
{
    bool bare =
        param->type == PARAM_BOOL || param->type == PARAM_COUNT || param->type == PARAM_RATIO;
    const char *text = json_string_value(json);
    if (text != NULL)
        return !bare || (param->can_auto && strcmp(text, "auto") == 0) ? text : NULL;
    if (json_is_boolean(json) && (param->type == PARAM_BOOL || choice_is_bool(param, "true")))
        return json_is_true(json) ? "true" : "false";
    return json_is_number(json) ? number_text(param->type, json, buf) : NULL;
}

#define CHOICES_TEXT 320

// The choices of an enumeration as "off, on or auto".
static const char *choices_text(const struct param *param, char buf[CHOICES_TEXT])
{
    size_t used = 0;
    for (size_t i = 0; param->choices[i] != NULL && used < CHOICES_TEXT; i++)
        used += (size_t)snprintf(buf + used, CHOICES_TEXT - used, "%s%s",
                                 i == 0                          ? ""
                                 : param->choices[i + 1] != NULL ? ", "
                                                                 : " or ",
                                 param->choices[i]);
    return buf;
}

static void read_value(struct reader *r, const struct place *place, const struct param *param,
                       void *base)
{
    char buf[PARAM_TEXT_MAX], path[PLACE_TEXT], choices[CHOICES_TEXT], meant[HINT_TEXT] = "";
    const json_t *json = place->json;
    const char *text = scalar_text(param, json, buf);
    if (text == NULL && json_is_string(json))
        param_unquoted(param->type, json_string_value(json), meant);
    if (text == NULL && param->type == PARAM_ENUM && param->choices[0] != NULL)
        place_error(r->err, place, "must be %s, not %s", choices_text(param, choices),
                    json_noun(json));
    else if (text == NULL)
        place_error(r->err, place, "must be %s%s, not %s%s%s", type_like(param->type),
                    param->can_auto ? " or \"auto\"" : "", json_noun(json),
                    meant[0] != '\0' ? ": write " : "", meant);
    else if (param->type == PARAM_BYTES && json_is_number(json) &&
             json_number_value(json) > BYTES_MAX)
        place_error(r->err, place, "%s bytes is above the maximum %s", text,
                    param->max != NULL ? param->max : "1PB");
    else
        param_set(param, base, text, place_text(place, path), r->err);
}

void read_params(struct reader *r, const struct place *place, struct keys *keys,
                 const struct param *params, size_t n, void *base)
{
    struct param_walk walk = params_walk(params, n);
    for (const struct param *param; (param = params_next(&walk)) != NULL;) {
        keys_add(keys, param->name);
        struct place value = place_key(place, param->name);
        if (value.json != NULL)
            read_value(r, &value, param, base);
        else if (param->def == NULL)
            place_error(r->err, &value, "%s: %s", required, param->help);
    }
}

static bool keys_have(const struct keys *keys, const char *name)
{
    for (size_t i = 0; i < keys->n; i++)
        if (strcmp(keys->names[i], name) == 0)
            return true;
    return false;
}

// Report the keys at this place or directly within it that have left. Returns false if there is
// none.
static bool report_retired(struct reader *r, const struct place *at)
{
    char path[PLACE_TEXT];
    const char *name, *why = key_retired(place_text(at, path));
    json_t *value;
    if (why != NULL)
        place_error(r->err, at, "%s", why);
    bool found = why != NULL;
    json_object_foreach(at->json, name, value)
    {
        struct place inner = place_key(at, name);
        why = key_retired(place_text(&inner, path));
        if (why != NULL)
            place_error(r->err, &inner, "%s", why);
        found |= why != NULL;
    }
    return found;
}

// An unknown key: what was probably meant, and which other kinds of the object `o` have it.
static void key_error(struct reader *r, const struct place *at, const struct keys *keys,
                      const struct object *o)
{
    char path[PLACE_TEXT], owners[OWNERS_TEXT] = "";
    const char *meant = word_meant(at->key, keys->names);
    if (o != NULL)
        key_owners(o, r->policies, at->key, owners);
    if (meant != NULL) {
        struct place missing = place_key(at->parent, meant);
        if (missing.json == NULL) // one error for both
            err_withdraw(r->err, place_text(&missing, path), required);
    }
    place_error(r->err, at, "unknown key%s%s%s%s%s%s%s", meant != NULL ? "; did you mean \"" : "",
                meant != NULL ? meant : "", meant != NULL ? "\"?" : "",
                owners[0] == '\0' ? ""
                : meant != NULL   ? " "
                                  : "; ",
                owners[0] == '\0' ? "" : at->key, owners[0] == '\0' ? "" : " is a key of ", owners);
}

void keys_check_of(struct reader *r, const struct place *place, const struct keys *keys,
                   const struct object *o)
{
    const char *name;
    json_t *value;
    json_object_foreach(place->json, name, value)
    {
        struct place at = place_key(place, name);
        if (!keys_have(keys, name) && !report_retired(r, &at))
            key_error(r, &at, keys, o);
    }
}

void keys_check(struct reader *r, const struct place *place, const struct keys *keys)
{
    keys_check_of(r, place, keys, NULL);
}

#define WORDS_TEXT 400

// The article of a noun that is a word of a scenario.
static const char *article(const char *noun) { return strchr("aeiou", noun[0]) ? "an" : "a"; }

int read_word(struct reader *r, const struct place *place, const char *what,
              const char *const *words)
{
    const char *word = json_string_value(place->json);
    if (place->json == NULL)
        return place_error(r->err, place, "is required: %s %s", article(what), what);
    if (word == NULL)
        return place_error(r->err, place, "must be the name of %s %s, not %s", article(what), what,
                           json_noun(place->json));
    for (int i = 0; words[i] != NULL; i++)
        if (strcmp(word, words[i]) == 0)
            return i;
    const char *meant = word_meant(word, words);
    if (meant != NULL)
        return place_error(r->err, place, "unknown %s \"%s\"; did you mean \"%s\"?", what, word,
                           meant);
    char list[WORDS_TEXT] = "";
    size_t used = 0;
    for (int i = 0; words[i] != NULL && used < sizeof list; i++)
        used +=
            (size_t)snprintf(list + used, sizeof list - used, "%s%s", i > 0 ? ", " : "", words[i]);
    return place_error(r->err, place, "unknown %s \"%s\"; one of %s", what, word, list);
}
