// SPDX-License-Identifier: MIT
// What follows from the rows.
#include "workload/read/job_parts.h"

#include <string.h>

#include "engine/text/schema_parts.h"
#include "workload/read/job_reader.h"

// The rows of a kind, whose `parts` are NULL if it has none.
static const struct job_part *rows_of(const struct job_part *parts)
{
    static const struct job_part none[] = {PARTS_END};
    return parts != NULL ? parts : none;
}

static bool counts(const struct job_part *part, enum job_part_use use)
{
    return part->only == 0 || (part->only & use) != 0;
}

void parts_add(struct keys *keys, const struct job_part *parts)
{
    for (const struct job_part *part = rows_of(parts); part->own.key != NULL; part++)
        if (counts(part, PART_LISTED))
            keys_add(keys, part->own.key);
}

void parts_write(json_t *json, const struct job_part *parts, const void *settings,
                 const json_t *given)
{
    for (const struct job_part *part = rows_of(parts); part->own.key != NULL; part++) {
        const char *key = part->own.key;
        if (!counts(part, PART_WRITTEN))
            continue;
        if (part->write != NULL)
            part->write(json, key, (const char *)settings + part->offset, given);
        else if (json_object_get(given, key) != NULL)
            json_object_set_new(json, key, json_deep_copy(json_object_get(given, key)));
    }
}

void parts_schema(json_t *object, const struct job_part *parts)
{
    for (const struct job_part *part = rows_of(parts); part->own.key != NULL; part++)
        if (counts(part, PART_IN_SCHEMA))
            schema_key(object, part->own.key, part->schema(), false);
}

void parts_remove(json_t *json, const char *const *names)
{
    for (; *names != NULL; names++)
        json_object_del(json, *names);
}

void parts_list(const struct job_part *parts, const struct key_sink *to)
{
    for (const struct job_part *part = rows_of(parts); part->own.key != NULL; part++)
        if (counts(part, PART_LISTED))
            to->own(to->ctx, &part->own);
}

size_t job_algorithm_rows(const struct job_reader *reader, struct param rows[ALGORITHM_ROWS_MAX])
{
    return reader->algorithms > 0 ? algorithms_table(rows) : 0;
}

bool job_has_key(const struct job_kind *kind, const struct job_reader *reader, const char *key)
{
    struct param rows[ALGORITHM_ROWS_MAX];
    size_t n = job_algorithm_rows(reader, rows);
    for (const struct job_part *part = rows_of(reader->parts); part->own.key != NULL; part++)
        if (strcmp(part->own.key, key) == 0)
            return true;
    return param_find(job_params, n_job_params, key).name != NULL ||
           param_find(kind->params, kind->n_params, key).name != NULL ||
           param_find(rows, n, key).name != NULL;
}
