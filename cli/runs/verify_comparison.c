// SPDX-License-Identifier: MIT
// collwire explain --verify of a comparison: verifies each of its runs, and puts what was found
// into compare.json.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/results/result_set.h"
#include "cli/runs/report.h"
#include "cli/runs/run_folder.h"
#include "cli/runs/verify.h"
#include "cli/terminal/ends.h"
#include "cli/terminal/terminal.h"
#include "engine/base/text.h"

// True for the row of a run that completed; rows of single jobs are parts of such a run.
static bool is_whole(const json_t *row)
{
    const char *status = json_string_value(json_object_get(row, "status"));
    return !json_is_string(json_object_get(row, "job")) && status &&
           strcmp(status, "completed") == 0;
}

// Verify the run of a row, and give the row its causes. Returns an exit code.
static int verify_row(const struct options *o, const char *dir, json_t *row, bool seeds, bool first)
{
    char *folder = run_folder_of(row, seeds), *path = text_format("%s/%s", dir, folder);
    json_t *metrics = result_set_json(path, "metrics.json"), *verified = NULL;
    int code = EXIT_BAD_USE;
    if (json_is_object(metrics)) {
        printf("%s%s\n", first ? "" : "\n", folder);
        code = verify_run(o, path, metrics);
        verified = result_set_json(path, "verified.json");
    } else {
        path_print(stderr, "collwire: %s holds no results of a run (metrics.json)\n", path);
    }
    json_t *causes = json_object_get(verified, "causes");
    if (json_is_array(causes))
        json_object_set(row, "verified", causes);
    json_decref(verified);
    json_decref(metrics);
    free(path);
    free(folder);
    return code;
}

int verify_comparison(const struct options *o, const char *dir, json_t *comparison)
{
    bool seeds = json_integer_value(json_object_get(comparison, "seeds")) > 1, first = true;
    int code = EXIT_DONE;
    size_t i;
    json_t *row;
    json_array_foreach(json_object_get(comparison, "rows"), i, row)
    {
        if (!is_whole(row))
            continue;
        int one = verify_row(o, dir, row, seeds, first);
        code = one != EXIT_DONE ? one : code;
        first = false;
        if (ends_interrupted())
            break;
    }
    if (first) {
        path_print(stderr, "collwire: %s: no run of the comparison completed\n", dir);
        return EXIT_BAD_USE;
    }
    struct err err = {0};
    int status = result_set_add_json(dir, "compare.json", comparison, &err);
    errors_print(&err);
    if (status != 0)
        return EXIT_NOT_COMPLETED;
    return report_after(o, dir, code);
}
