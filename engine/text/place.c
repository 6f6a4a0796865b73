// SPDX-License-Identifier: MIT
// Builds the path of a place, only when a message needs it.
#include "engine/text/place.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct place place_key(const struct place *parent, const char *key)
{
    return (struct place){.parent = parent, .key = key, .json = json_object_get(parent->json, key)};
}

struct place place_item(const struct place *parent, size_t index)
{
    return (struct place){
        .parent = parent, .index = index, .json = json_array_get(parent->json, index)};
}

const char *place_text(const struct place *place, char buf[PLACE_TEXT])
{
    buf[0] = '\0';
    if (place->parent == NULL)
        return buf;
    place_text(place->parent, buf);
    size_t used = strlen(buf);
    if (place->key != NULL)
        snprintf(buf + used, PLACE_TEXT - used, "%s%s", used > 0 ? "." : "", place->key);
    else
        snprintf(buf + used, PLACE_TEXT - used, "[%zu]", place->index);
    return buf;
}

#define MESSAGE_TEXT 512

static int add_error(struct err *err, const struct place *place, const char *format, va_list args)
{
    char path[PLACE_TEXT], message[MESSAGE_TEXT];
    vsnprintf(message, sizeof message, format, args);
    return err_add(err, place_text(place, path), "%s", message);
}

int place_error(struct err *err, const struct place *place, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int result = add_error(err, place, format, args);
    va_end(args);
    return result;
}

int place_key_error(struct err *err, const struct place *place, const char *key, const char *format,
                    ...)
{
    struct place at = place_key(place, key);
    va_list args;
    va_start(args, format);
    int result = add_error(err, &at, format, args);
    va_end(args);
    return result;
}

void place_warn(struct err *err, const struct place *place, const char *format, ...)
{
    char path[PLACE_TEXT], message[MESSAGE_TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    err_warn(err, place_text(place, path), "%s", message);
}

const char *json_noun(const json_t *json)
{
    if (json == NULL)
        return "nothing";
    switch (json_typeof(json)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "a list";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
    case JSON_REAL:
        return "a number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a boolean";
    case JSON_NULL:
        return "null";
    }
    return "nothing";
}

void place_keys_need(struct err *err, const struct place *place, const struct param *params,
                     size_t n, const void *base, const char *const *keys, const char *what)
{
    for (; *keys != NULL; keys++) {
        struct param param = param_find(params, n, *keys);
        if (!param_is_default(&param, base))
            place_key_error(err, place, *keys, "needs %s", what);
    }
}
