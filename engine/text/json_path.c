// SPDX-License-Identifier: MIT
// Dotted paths with [i]: key ('.' key | '[' i ']')*.
#include "engine/text/json_path.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/text/place.h"

// One step of a path: a key (at, length) or an index.
struct step {
    const char *at;
    size_t length, index;
    bool is_index;
};

// Parse the next step of *path; false if the path is malformed.
static bool step_take(const char **path, bool first, struct step *step)
{
    const char *at = *path;
    *step = (struct step){.is_index = *at == '['};
    if (step->is_index) {
        size_t digits = strspn(at + 1, "0123456789");
        if (first || digits == 0 || digits > 9 || at[1 + digits] != ']')
            return false;
        step->index = strtoul(at + 1, NULL, 10);
        *path = at + digits + 2;
        return true;
    }
    if (!first && *at++ != '.')
        return false;
    step->at = at;
    step->length = strcspn(at, ".[");
    *path = at + step->length;
    return step->length > 0;
}

// A value that is no object has no keys. The items of a list have numbers in brackets.
static int no_key_error(const json_t *json, const struct step *step, const char *path,
                        struct err *err)
{
    int length = (int)step->length, before = (int)(step->at - path) - 1;
    bool number = step->length > 0 && strspn(step->at, "0123456789") >= step->length;
    if (json_is_array(json) && number && before >= 0)
        return err_add(err, path, "--set: a list has no key \"%.*s\"; write %.*s[%.*s]%s", length,
                       step->at, before, path, length, step->at, step->at + step->length);
    return err_add(err, path, "--set: %s has no key \"%.*s\"", json_noun(json), length, step->at);
}

// Returns the child that a step leads to; a missing object is made, or a list where the next step
// is an item. Returns NULL with an error.
static json_t *step_into(json_t *json, const struct step *step, const char *path, struct err *err)
{
    if (step->is_index) {
        json_t *item = json_array_get(json, step->index);
        if (!json_is_array(json))
            err_add(err, path, "--set: %s has no item [%zu]", json_noun(json), step->index);
        else if (item == NULL)
            err_add(err, path, "--set: [%zu] is not one of %zu items", step->index,
                    json_array_size(json));
        return item;
    }
    if (!json_is_object(json)) {
        no_key_error(json, step, path, err);
        return NULL;
    }
    json_t *child = json_object_getn(json, step->at, step->length);
    if (child != NULL)
        return child;
    bool list = step->at[step->length] == '[';
    json_object_setn_new(json, step->at, step->length, list ? json_array() : json_object());
    return json_object_getn(json, step->at, step->length);
}

// Stores the value of the last step; null removes the key or the item. The index after the last
// item adds one.
static int step_store(json_t *json, const struct step *step, json_t *value, const char *path,
                      struct err *err)
{
    int status;
    bool remove = json_is_null(value);
    if (step->is_index && json_is_array(json) && step->index == json_array_size(json) && !remove) {
        status = json_array_append_new(json, value);
    } else if (step->is_index) {
        if (step_into(json, step, path, err) == NULL) {
            json_decref(value);
            return -1;
        }
        status = remove ? json_array_remove(json, step->index)
                        : json_array_set_new(json, step->index, value);
    } else if (json_is_object(json) && remove) {
        json_object_deln(json, step->at, step->length); // a key that is missing remains so
        status = 0;
    } else if (json_is_object(json)) {
        status = json_object_setn_new(json, step->at, step->length, value);
    } else {
        json_decref(value);
        return no_key_error(json, step, path, err);
    }
    return status == 0 ? 0 : err_add(err, path, "--set: the value cannot be set");
}

int json_path_set(json_t *root, const char *path, const char *value, struct err *err)
{
    const char *rest = path;
    json_t *at = root;
    struct step step;
    for (bool first = true;; first = false) {
        if (!step_take(&rest, first, &step))
            return err_add(err, path, "--set: invalid path (write it like workload[0].bytes)");
        if (*rest == '\0')
            break;
        at = step_into(at, &step, path, err);
        if (at == NULL)
            return -1;
    }
    json_t *json = json_loads(value, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, NULL);
    if (json == NULL)
        json = json_string(value);
    if (json == NULL)
        return err_add(err, path, "--set: the value is not UTF-8 text");
    return step_store(at, &step, json, path, err);
}
