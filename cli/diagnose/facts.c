// SPDX-License-Identifier: MIT
// What is known of the healthy network, and the names of its places.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diagnose/cause_kind.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

const json_t *fact(const struct facts *f, const char *path)
{
    return json_at_path(f->scenario, path);
}

const char *fact_text(const struct facts *f, const char *path)
{
    const char *text = json_string_value(fact(f, path));
    return text ? text : "";
}

const json_t *fact_job(const struct facts *f)
{
    return json_array_get(json_object_get(f->draft, "workload"), 0);
}

bool fact_transport_is(const struct facts *f, const char *kind)
{
    return strcmp(fact_text(f, "transport.kind"), kind) == 0;
}

bool link_is_trunk(const char *name) { return strstr(name, "rank") == NULL; }

/* ---- names ---- */

bool names_alike(const char *a, const char *b)
{
    while (*a && *b) {
        a += strspn(a, "0123456789");
        b += strspn(b, "0123456789");
        if (*a != *b)
            return false;
        a += *a != '\0';
        b += *b != '\0';
    }
    return *a == *b;
}

char *name_pattern(const char *name)
{
    char *made = memory_zeroed(2 * strlen(name) + 1, 1), *out = made;
    while (*name) {
        size_t digits = strspn(name, "0123456789");
        if (digits > 0)
            *out++ = '*';
        name += digits;
        if (*name)
            *out++ = *name++;
    }
    return made;
}

/* ---- all ---- */

static void note_ends(struct facts *f)
{
    const json_t *links = json_object_get(f->metrics, "links"), *one;
    size_t i;
    json_array_foreach(links, i, one)
    {
        const char *at = json_string_value(json_object_get(one, "at"));
        if (!at || strncmp(at, "rank", 4) != 0)
            continue;
        uint32_t rank = (uint32_t)strtoul(at + 4, NULL, 10);
        f->n_ranks = rank + 1 > f->n_ranks ? rank + 1 : f->n_ranks;
        double busy_ns = json_number_value(json_object_get(one, "utilization")) * f->time_ns,
               bytes = json_number_value(json_object_get(one, "bytes"));
        double rate = busy_ns > 0 ? round(8 * bytes / busy_ns) * 1e9 : 0; // both are rounded
        if (rate > 0 && (f->line_bps <= 0 || rate < f->line_bps)) // NICs, not links in a server
            f->line_bps = rate;
    }
}

void facts_make(struct facts *f, json_t *metrics, const json_t *draft,
                const struct observed *measured)
{
    *f = (struct facts){.metrics = metrics,
                        .scenario = json_object_get(metrics, "scenario"),
                        .draft = draft,
                        .time_ns = json_number_value(json_object_get(metrics, "sim_time_ns"))};
    note_ends(f);
    places_find(f, measured);
}

static void places_free(struct places *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->list[i].at);
    free(p->list);
}

void facts_free(struct facts *f)
{
    places_free(&f->links);
    places_free(&f->ranks);
    places_free(&f->more_links);
    places_free(&f->more_ranks);
    json_decref(f->metrics);
}
