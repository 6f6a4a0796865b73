// SPDX-License-Identifier: MIT
#include "config/draft.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/text/json_file.h"
#include "engine/text/json_path.h"

char *file_folder(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? text_format("%.*s", (int)(slash - path), path) : memory_text(".");
}

const char *file_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

int draft_read(struct draft *d, const char *path, struct err *err)
{
    *d = (struct draft){.json = json_file_read(path, err), .folder = file_folder(path)};
    return d->json != NULL ? 0 : -1;
}

int draft_set(struct draft *d, const char *path, const char *value, struct err *err)
{
    return json_path_set(d->json, path, value, err);
}

void draft_free(struct draft *d)
{
    json_decref(d->json);
    free(d->folder);
}

json_t *draft_job(json_t *scenario)
{
    json_t *workload = json_object_get(scenario, "workload");
    if (!json_is_array(workload))
        return workload;
    return json_array_size(workload) == 1 ? json_array_get(workload, 0) : NULL;
}
