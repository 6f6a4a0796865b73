// SPDX-License-Identifier: MIT
// `collwire import FILE`: what the file is by its content, and the scenario of kinds that are jobs.
#include <stdlib.h>
#include <string.h>

#include "cli/import/file_job.h"
#include "tests/fuzz/support.h"

// A scenario that is made is JSON; whether it runs is up to the readers of its kind.
static void job(const struct file_kind *kind, const char *path)
{
    struct file_job from = {.kind = kind, .file = path, .output = path};
    from.network = kind->use == KIND_NETWORK ? path : NULL; // as import_any() has it
    struct notes notes = {0};
    struct err err = {0};
    char *text = file_job_scenario(&from, &notes, &err);
    json_t *scenario = text != NULL ? json_loads(text, 0, NULL) : NULL;
    if ((text != NULL) != (scenario != NULL) || (text == NULL && err.n_errors == 0))
        abort();
    json_decref(scenario);
    free(text);
    notes_free(&notes);
    err_free(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    struct content content;
    struct err err = {0};
    fuzz_write("a", data, n);
    char path[512];
    snprintf(path, sizeof path, "%s", fuzz_path("a"));
    if (content_read(&content, path, &err) == 0) {
        const struct file_kind *kind = kind_of(&content);
        if (kind != NULL && kind_named(kind->name) != kind)
            abort();
        if (kind != NULL && (kind->use == KIND_JOB || kind->use == KIND_NETWORK))
            job(kind, path);
    } else if (err.n_errors == 0) {
        abort();
    }
    content_free(&content);
    err_free(&err);
    return 0;
}
