// SPDX-License-Identifier: MIT
// Compares the scenario of a run with that of the results that it replaces.
#include "cli/results/replaced.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "cli/results/result_set.h"
#include "cli/terminal/terminal.h"
#include "config/scenario.h"
#include "engine/base/text.h"
#include "library/handles.h"
#include "report/study/point_hash.h"

json_t *scenario_mark(const struct collwire_scenario *scenario)
{
    char hash[POINT_HASH], *policy = collwire_scenario_policy(scenario);
    // The hash leaves out the version: the scenario is the same in all versions of the program.
    point_hash(collwire_scenario_json(scenario), scenario_dir(scenario_of(scenario)), "", hash);
    json_t *mark = json_pack("{s:s, s:s, s:s}", "name", collwire_scenario_name(scenario), "policy",
                             policy, "sha256", hash);
    free(policy);
    return mark;
}

struct replaced replaced_read(const char *dir)
{
    struct replaced earlier = {.run = result_set_json(dir, "run.json"), .when = "an unknown time"};
    char *path = text_format("%s/run.json", dir);
    struct stat about;
    struct tm local;
    if (stat(path, &about) == 0 && localtime_r(&about.st_mtime, &local))
        strftime(earlier.when, sizeof earlier.when, "%Y-%m-%d %H:%M", &local);
    free(path);
    return earlier;
}

void replaced_free(struct replaced *earlier)
{
    json_decref(earlier->run);
    earlier->run = NULL;
}

static bool lists(const json_t *run, const char *name)
{
    const json_t *files = json_object_get(run, "files"), *file;
    size_t i;
    json_array_foreach(files, i, file)
    {
        const char *listed = json_string_value(json_object_get(file, "name"));
        if (listed && strcmp(listed, name) == 0)
            return true;
    }
    return false;
}

void replaced_note(const struct replaced *earlier, const char *dir, const json_t *mark)
{
    const json_t *other = json_object_get(earlier->run, "scenario");
    const char *name = json_string_value(json_object_get(other, "name"));
    const char *policy = json_string_value(json_object_get(other, "policy"));
    bool same = json_equal(other, mark);
    char *what = name && policy ? text_format("results of %s (%s)", name, policy)
                 : lists(earlier->run, "compare.json") ? text_format("a comparison")
                                                       : text_format("results");
    char *line = text_format("collwire: %s: replaced %s of %s\n", dir, what, earlier->when);
    if (earlier->run && !same)
        text_print(stderr, line);
    free(line);
    free(what);
}
