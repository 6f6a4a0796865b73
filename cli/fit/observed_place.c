// SPDX-License-Identifier: MIT
#include "cli/fit/observed_place.h"

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

double by_path(const json_t *o, struct where w)
{
    const json_t *value = json_at_path(o, w.place);
    return json_is_number(value) ? json_number_value(value) : NAN;
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
    if (!w.other_end || !arrow)
        return strcmp(at, w.place) == 0;
    return length == head + tail + 2 && strncmp(w.place, arrow + 2, tail) == 0 &&
           strncmp(w.place + tail + 2, at, head) == 0;
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

double at_place(const json_t *list, struct where w, const char *key, bool most, double none)
{
    const json_t *entry;
    double found = NAN;
    size_t i;
    json_array_foreach(list, i, entry)
    {
        double here = number_at(entry, key);
        if (is_at(json_string_value(json_object_get(entry, "at")), w))
            found = isnan(found) ? here : most ? fmax(found, here) : found + here;
    }
    return isnan(found) ? none : found;
}

double zero_at(const json_t *metrics, struct where w)
{
    const json_t *links = json_object_get(metrics, "links");
    return isnan(at_place(links, w, "utilization", true, NAN)) ? (double)NAN : 0;
}
