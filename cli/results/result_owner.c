// SPDX-License-Identifier: MIT
// Reads the file list of an earlier run.
#include "cli/results/result_owner.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/results/folder.h"
#include "config/object/output_name.h"

static void add(struct result_owner *owner, const char *name)
{
    if (name && !output_name_escapes(name))
        json_object_set_new(owner->names, name, json_true());
}

static void add_all(struct result_owner *owner, const json_t *list, const char *key)
{
    size_t i;
    json_t *item;
    json_array_foreach(list, i, item) add(owner, json_string_value(json_object_get(item, key)));
}

// run.json of version 0.1 had no list: its files are those with fixed names, and the captures that
// it names.
static void add_unlisted(struct result_owner *owner, const json_t *run)
{
    for (size_t i = 0; output_reserved[i]; i++)
        add(owner, output_reserved[i]);
    add_all(owner, json_object_get(run, "captures"), "file");
}

void result_owner_read(struct result_owner *owner, int dir_fd)
{
    char *text = folder_read(dir_fd, "run.json");
    json_t *run = text ? json_loads(text, 0, NULL) : NULL;
    *owner = (struct result_owner){.names = json_object()};
    if (json_object_get(json_object_get(run, "versions"), "collwire")) {
        const json_t *files = json_object_get(run, "files");
        add(owner, "run.json");
        if (files)
            add_all(owner, files, "name");
        else
            add_unlisted(owner, run);
    }
    json_decref(run);
    free(text);
}

bool result_owner_has(const struct result_owner *owner, const char *name)
{
    return json_object_get(owner->names, name) != NULL;
}

void result_owner_stale(const struct result_owner *owner, const json_t *install, json_t *remove)
{
    const char *name;
    json_t *value, *kept = json_object(), *item;
    size_t i;
    json_array_foreach(install, i, item)
        json_object_set_new(kept, json_string_value(item), json_true());
    json_object_foreach(owner->names, name,
                        value) if (strcmp(name, "run.json") != 0 && !json_object_get(kept, name))
        json_array_append_new(remove, json_string(name));
    json_decref(kept);
}

void result_owner_free(struct result_owner *owner) { json_decref(owner->names); }
