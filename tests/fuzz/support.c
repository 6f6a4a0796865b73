// SPDX-License-Identifier: MIT
// Processes one input from a file to its results in memory, as `collwire run` does.
#include "tests/fuzz/support.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/base/memory.h"
#include "report/metrics.h"
#include "sim/estimate.h"
#include "sim/sim.h"

#define PATH_BYTES 256
#define NAMES_MAX 16

static char folder[PATH_BYTES];
static const char *names[NAMES_MAX];
static size_t n_names;

static void path_of(const char *name, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%.200s/%.40s", fuzz_folder(), name);
}

const char *fuzz_path(const char *name)
{
    static char path[PATH_BYTES];
    path_of(name, path);
    return path;
}

static void remove_folder(void)
{
    char path[PATH_BYTES];
    for (size_t i = 0; i < n_names; i++) {
        path_of(names[i], path);
        unlink(path);
    }
    rmdir(folder);
}

const char *fuzz_folder(void)
{
    if (folder[0] != '\0')
        return folder;
    const char *base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(folder, sizeof folder, "%s/collwire-fuzz-XXXXXX", base);
    if (mkdtemp(folder) == NULL)
        abort();
    atexit(remove_folder);
    return folder;
}

void fuzz_write(const char *name, const uint8_t *data, size_t n)
{
    char path[PATH_BYTES];
    bool known = false;
    for (size_t i = 0; i < n_names; i++)
        known |= strcmp(names[i], name) == 0;
    if (!known && n_names < NAMES_MAX)
        names[n_names++] = name;
    path_of(name, path);
    FILE *f = fopen(path, "wb");
    if (f == NULL || fwrite(data, 1, n, f) != n || fclose(f) != 0)
        abort();
}

void fuzz_write_text(const char *name, const char *text)
{
    fuzz_write(name, (const uint8_t *)text, strlen(text));
}

// The product of all sizes of dimensions, at any depth of a scenario or a network file.
static double ranks_below(const char *key, const json_t *json)
{
    double product = 1;
    const char *inner;
    const json_t *value;
    size_t i;
    bool size = key && (strcmp(key, "size") == 0 || strcmp(key, "units-count") == 0);
    if (size && json_is_integer(json))
        return (double)json_integer_value(json);
    if (json_is_array(json))
        json_array_foreach(json, i, value) product *= ranks_below(key, value);
    json_object_foreach((json_t *)json, inner, value) product *= ranks_below(inner, value);
    return product;
}

bool fuzz_many_ranks(const char *name)
{
    char path[PATH_BYTES];
    path_of(name, path);
    json_t *json = json_load_file(path, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    bool many = json && ranks_below(NULL, json) > FUZZ_RANKS;
    json_decref(json);
    return many;
}

static void run(const struct scenario *scenario, struct err *err)
{
    struct sim *sim = sim_new(scenario_spec(scenario), err);
    if (sim == NULL)
        return;
    struct estimate e = sim_estimate(sim);
    if (sim_check_captures(sim, err) == 0 && estimate_bytes(&e) < FUZZ_BYTES) {
        sim_run(sim, NULL);
        struct result *result = sim_result(sim);
        free(metrics_json(result, scenario_resolved(scenario)));
        result_free(result);
        free(sim_describe(sim));
    }
    sim_free(sim);
}

void fuzz_run(const char *name, const char *network)
{
    char path[PATH_BYTES];
    struct err err = {0};
    struct collwire_setting sets[] = {{"limits.events", FUZZ_EVENTS}, {"network", network}};
    path_of(name, path);
    if (fuzz_many_ranks(name))
        return;
    struct policies policies = policies_builtin(NULL);
    struct scenario *scenario = scenario_load(path, sets, network ? 2 : 1, &policies, &err);
    if (scenario)
        run(scenario, &err);
    scenario_free(scenario);
    err_free(&err);
}
