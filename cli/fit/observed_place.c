// SPDX-License-Identifier: MIT
#include "cli/fit/observed_place.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fit/observed.h"

double number_at(const json_t *o, const char *key)
{
    const json_t *value = json_object_get(o, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

const json_t *json_at_path(const json_t *o, const char *path)
{
    char key[64];
    while (o && *path != '\0') {
        size_t length = strcspn(path, ".[");
        if (*path == '[') {
            char *end;
            o = json_array_get(o, strtoul(path + 1, &end, 10));
            path = *end == ']' ? end + 1 : end;
        } else if (length < sizeof key) {
            memcpy(key, path, length);
            key[length] = '\0';
            o = json_object_get(o, key);
            path += length;
        } else {
            return NULL;
        }
        path += *path == '.';
    }
    return o;
}

double number_at_path(const json_t *o, const char *path)
{
    const json_t *value = json_at_path(o, path);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

bool is_opposite(const char *a, const char *b)
{
    const char *arrow = strstr(a, "->");
    size_t head = arrow ? (size_t)(arrow - a) : 0, tail = arrow ? strlen(arrow + 2) : 0;
    return arrow && strlen(b) == head + tail + 2 && strncmp(b, arrow + 2, tail) == 0 &&
           strncmp(b + tail, "->", 2) == 0 && strncmp(b + tail + 2, a, head) == 0;
}

// Whether a port or a pair "a->b" is the place, or of its node.
static bool is_at(const char *at, struct where w)
{
    const char *arrow = strstr(at, "->");
    size_t head = arrow ? (size_t)(arrow - at) : strlen(at), tail = arrow ? strlen(arrow + 2) : 0;
    size_t length = strlen(w.place);
    if (length == 0)
        return true;
    if (!strstr(w.place, "->")) {
        const char *end = w.other_end && arrow ? arrow + 2 : at;
        return length == (w.other_end && arrow ? tail : head) && strncmp(end, w.place, length) == 0;
    }
    return w.other_end && arrow ? is_opposite(at, w.place) : strcmp(at, w.place) == 0;
}

bool is_between(const json_t *flow, struct where w)
{
    char name[64];
    snprintf(name, sizeof name, "rank%lld->rank%lld",
             (long long)json_integer_value(json_object_get(flow, "src")),
             (long long)json_integer_value(json_object_get(flow, "dst")));
    return is_at(name, w);
}

double over_flows(const json_t *metrics, struct where w, const char *key, bool mean)
{
    const json_t *flows = json_object_get(metrics, "flows"), *flow;
    double sum = 0, n = 0;
    size_t i;
    json_array_foreach(flows, i, flow) if (is_between(flow, w) && !isnan(number_at(flow, key)))
    {
        sum += number_at(flow, key);
        n++;
    }
    return n > 0 ? (mean ? sum / n : sum) : (double)NAN;
}

static bool is_link(const char *at, struct where w)
{
    return strchr(w.place, '*') ? fnmatch(w.place, at, 0) == 0 : is_at(at, w);
}

// The sum of a number, or its maximum, over the entries of a list that match; NAN = none does.
static double gather(const json_t *list, struct where w, const char *key, bool most,
                     bool (*matches)(const char *at, struct where w))
{
    const json_t *entry;
    double found = NAN;
    size_t i;
    json_array_foreach(list, i, entry)
    {
        double here = number_at(entry, key);
        if (matches(json_string_value(json_object_get(entry, "at")), w))
            found = isnan(found) ? here : most ? fmax(found, here) : found + here;
    }
    return found;
}

double at_place(const json_t *list, struct where w, const char *key, bool most, double none)
{
    double found = gather(list, w, key, most, is_at);
    return isnan(found) ? none : found;
}

double at_links(const json_t *metrics, struct where w, const char *key, bool most)
{
    return gather(json_object_get(metrics, "links"), w, key, most, is_link);
}

double zero_at(const json_t *metrics, struct where w)
{
    return isnan(at_links(metrics, w, "utilization", true)) ? (double)NAN : 0;
}
