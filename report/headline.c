// SPDX-License-Identifier: MIT
// Describes the network and the jobs of a scenario in a few words.
#include "report/headline.h"

#include <jansson.h>

#include <stdlib.h>

#include "engine/base/text.h"

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

static void put_network(FILE *out, const json_t *dims)
{
    json_int_t ranks = 1;
    const json_t *dim, *last = NULL;
    size_t d;
    json_array_foreach(dims, d, dim)
    {
        ranks *= json_integer_value(json_object_get(dim, "size"));
        last = dim;
    }
    fprintf(out, "%lld ranks, ", (long long)ranks);
    json_array_foreach(dims, d, dim)
        fprintf(out, "%s%s of %lld", d > 0 ? " x " : "", text_at(dim, "kind"),
                (long long)json_integer_value(json_object_get(dim, "size")));
    // `link` of a graph is the default of links in its file, which have rates of their own
    const char *rate = text_at(json_object_get(last, "link"), "rate"),
               *file = text_at(last, "file");
    if (*file)
        fprintf(out, " (rates in %s)", file);
    else if (*rate)
        fprintf(out, " at %s", rate);
}

// A value as written, "" if it is missing.
static char *value_text(const json_t *job, const char *key)
{
    const json_t *value = json_object_get(job, key);
    if (json_is_integer(value))
        return text_format("%lld", (long long)json_integer_value(value));
    return text_format("%s", json_is_string(value) ? json_string_value(value) : "");
}

static void put_algorithm(FILE *out, const json_t *algorithm)
{
    const json_t *name;
    size_t i;
    if (json_is_string(algorithm))
        fprintf(out, " by %s", json_string_value(algorithm));
    json_array_foreach(algorithm, i, name) fprintf(
        out, "%s%s", i > 0 ? " + " : " by ", json_is_string(name) ? json_string_value(name) : "");
}

static void put_job(FILE *out, const json_t *job)
{
    const char *op = text_at(job, "op");
    char *bytes = value_text(job, "bytes");
    fputs(*op ? op : text_at(job, "kind"), out);
    if (*bytes)
        fprintf(out, " of %s", bytes);
    const char *library = text_at(json_object_get(job, "library"), "kind");
    if (*library)
        fprintf(out, " by %s", library);
    put_algorithm(out, json_object_get(job, "algorithm"));
    free(bytes);
}

char *scenario_headline(const char *resolved)
{
    json_t *scenario = json_loads(resolved, 0, NULL);
    const json_t *workload = json_object_get(scenario, "workload"), *job;
    struct text text;
    FILE *out = text_open(&text);
    size_t j;
    put_network(out, json_object_get(json_object_get(scenario, "topology"), "dims"));
    fputs(": ", out);
    if (json_is_object(workload))
        put_job(out, workload);
    json_array_foreach(workload, j, job)
        fprintf(out, "%s%s", j > 0 ? ", " : "", text_at(job, "name"));
    json_decref(scenario);
    return text_close(out, &text);
}
