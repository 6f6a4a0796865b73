// SPDX-License-Identifier: MIT
// Builds a JSON value from libyaml's events. An unquoted scalar that is a JSON number, true or
// false becomes one; every other scalar is text.
#include "engine/text/yaml_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "engine/base/memory.h"
#include "engine/base/regular_file.h"

#define DEPTH_MAX 32

struct yaml_reader {
    yaml_parser_t parser;
    const char *path, *place;
    struct err *err;
    unsigned depth;
};

static json_t *fail(struct yaml_reader *r, size_t line, const char *what)
{
    err_add(r->err, r->place, "%s, line %zu: %s", r->path, line + 1, what);
    return NULL;
}

static json_t *scalar(struct yaml_reader *r, const yaml_event_t *e)
{
    const char *text = (const char *)e->data.scalar.value;
    json_t *value = NULL;
    if (e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)
        value = json_loads(text, JSON_DECODE_ANY, NULL);
    if (value != NULL && !json_is_number(value) && !json_is_boolean(value)) {
        json_decref(value);
        value = NULL;
    }
    if (value == NULL)
        value = json_stringn(text, e->data.scalar.length);
    return value != NULL ? value : fail(r, e->start_mark.line, "the text is not UTF-8");
}

static json_t *value_read(struct yaml_reader *r, yaml_event_t *e);

// Read the next event; false with an error.
static bool next(struct yaml_reader *r, yaml_event_t *e)
{
    if (yaml_parser_parse(&r->parser, e))
        return true;
    fail(r, r->parser.problem_mark.line, r->parser.problem ? r->parser.problem : "is not YAML");
    return false;
}

static json_t *list_read(struct yaml_reader *r)
{
    json_t *list = json_array();
    yaml_event_t e;
    while (next(r, &e)) {
        bool end = e.type == YAML_SEQUENCE_END_EVENT;
        json_t *item = end ? NULL : value_read(r, &e);
        yaml_event_delete(&e);
        if (end)
            return list;
        if (item == NULL)
            break;
        json_array_append_new(list, item);
    }
    json_decref(list);
    return NULL;
}

static json_t *mapping_read(struct yaml_reader *r)
{
    json_t *mapping = json_object(), *item = NULL;
    yaml_event_t e;
    while (next(r, &e)) {
        bool end = e.type == YAML_MAPPING_END_EVENT;
        char *key = NULL;
        size_t line = e.start_mark.line;
        if (e.type == YAML_SCALAR_EVENT)
            key = memory_text((const char *)e.data.scalar.value);
        else if (!end)
            fail(r, line, "a key must be a text");
        yaml_event_delete(&e);
        if (end)
            return mapping;
        item = NULL;
        if (key != NULL && json_object_get(mapping, key) != NULL)
            fail(r, line, "a key is given twice");
        else if (key != NULL && next(r, &e)) {
            item = value_read(r, &e);
            yaml_event_delete(&e);
        }
        if (item != NULL && json_object_set_new(mapping, key, item) != 0)
            item = fail(r, line, "the key is not UTF-8");
        free(key);
        if (item == NULL)
            break;
    }
    json_decref(mapping);
    return NULL;
}

static json_t *value_read(struct yaml_reader *r, yaml_event_t *e)
{
    json_t *value = NULL;
    if (r->depth++ > DEPTH_MAX)
        return fail(r, e->start_mark.line, "is nested too deeply");
    if (e->type == YAML_SCALAR_EVENT)
        value = scalar(r, e);
    else if (e->type == YAML_SEQUENCE_START_EVENT)
        value = list_read(r);
    else if (e->type == YAML_MAPPING_START_EVENT)
        value = mapping_read(r);
    else
        fail(r, e->start_mark.line, "must be a value: aliases are not supported");
    r->depth--;
    return value;
}

// The value of the first document.
static json_t *document_read(struct yaml_reader *r)
{
    yaml_event_t e;
    json_t *value = NULL;
    while (next(r, &e)) {
        bool before = e.type == YAML_STREAM_START_EVENT || e.type == YAML_DOCUMENT_START_EVENT;
        if (e.type == YAML_STREAM_END_EVENT)
            fail(r, 0, "is empty");
        else if (!before)
            value = value_read(r, &e);
        yaml_event_delete(&e);
        if (!before)
            break;
    }
    return value;
}

json_t *yaml_file_read(const char *path, const char *place, struct err *err)
{
    struct yaml_reader r = {.path = path, .place = place, .err = err};
    const char *why;
    FILE *file = regular_file_stream(path, &why);
    if (file == NULL) {
        err_add(err, place, "%s cannot be opened: %s", path, why);
        return NULL;
    }
    json_t *value = NULL;
    if (yaml_parser_initialize(&r.parser)) {
        yaml_parser_set_input_file(&r.parser, file);
        value = document_read(&r);
        yaml_parser_delete(&r.parser);
    } else {
        err_add(err, place, "%s: out of memory", path);
    }
    fclose(file);
    return value;
}
