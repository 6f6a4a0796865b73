// SPDX-License-Identifier: MIT
// `switch.queue_limit`: "auto", or {"packets": 42}, or {"bytes": "120350B"}.
#include <string.h>

#include "config/object/objects.h"
#include "config/object/scenario_parts.h"
#include "engine/text/read.h"
#include "engine/text/schema_parts.h"

static bool limits(const struct queue_limit_spec *limit)
{
    return limit->packets != PARAM_AUTO || limit->bytes != PARAM_AUTO;
}

static void queue_limit_defaults(void *value)
{
    params_default(queue_limit_params, n_queue_limit_params, value);
}

// A limit that a dimension gives replaces the global one, also if its unit is another.
static void queue_limit_read(struct reader *r, const struct place *place, void *value)
{
    struct queue_limit_spec *limit = value;
    struct keys keys = {0};
    const char *word = json_string_value(place->json);
    if (place->json == NULL)
        return;
    queue_limit_defaults(limit);
    if (word != NULL && strcmp(word, "auto") == 0)
        return;
    if (!json_is_object(place->json)) {
        place_error(r->err, place, "must be \"auto\" or an object, not %s", json_noun(place->json));
        return;
    }
    size_t errors = r->err->n_errors;
    read_params(r, place, &keys, queue_limit_params, n_queue_limit_params, limit);
    keys_check(r, place, &keys);
    if (r->err->n_errors > errors)
        return;
    if (limit->packets != PARAM_AUTO && limit->bytes != PARAM_AUTO)
        place_error(r->err, place, "takes either `packets` or `bytes`, not both");
    else if (!limits(limit))
        place_error(r->err, place, "needs `packets` or `bytes`");
}

static json_t *queue_limit_write(const struct scenario *s, const void *value)
{
    (void)s;
    const struct queue_limit_spec *limit = value;
    if (!limits(limit))
        return json_string("auto");
    json_t *object = params_json(queue_limit_params, n_queue_limit_params, limit);
    if (limit->at[0] == '\0')
        json_object_del(object, "at"); // of all switches
    return object;
}

static json_t *queue_limit_schema(const struct cc_catalogue *policies)
{
    (void)policies;
    json_t *table = schema_table(queue_limit_params, n_queue_limit_params);
    return json_pack("{s:[o,o]}", "anyOf", schema_constant("auto"), table);
}

static void queue_limit_keys(const struct object_entry *entry, const char *prefix,
                             const struct key_sink *to)
{
    (void)entry;
    to->table(to->ctx, prefix, queue_limit_params, n_queue_limit_params);
}

const struct object queue_limit_object = {
    .key = "queue_limit",
    .doc = "fixed limit of each output queue of a lossy class (the control class too), in place "
           "of the dynamic threshold; the buffer remains a bound. An object has `packets` or "
           "`bytes`",
    .source = "drop-tail queues",
    .type = "\"auto\" or object",
    .def = "auto",
    .offset = offsetof(struct switch_spec, queue_limit),
    .defaults = queue_limit_defaults,
    .read = queue_limit_read,
    .write = queue_limit_write,
    .schema = queue_limit_schema,
    .keys = queue_limit_keys,
};
