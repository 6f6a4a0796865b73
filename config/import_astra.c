// SPDX-License-Identifier: MIT
// Makes one scenario with the analytical network from a network, a system and a workload file.
#include "config/import_astra.h"

#include <stdlib.h>
#include <string.h>

#include "collective/algorithm/schedule.h"
#include "config/object/astra_network.h"
#include "config/object/objects.h"
#include "workload/read/astra_system.h"
#include "workload/training/astra_workload.h"
#include "workload/training/training_layers.h"

#define NAME_MAX_CHARS 64

// The file's name without folders and extension, reduced to characters that a scenario's name may
// have.
static void stem_copy(char out[NAME_MAX_CHARS], const char *file)
{
    const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
    size_t n = 0, length = strcspn(base, ".");
    for (; n < length && n + 1 < NAME_MAX_CHARS; n++) {
        bool plain = (base[n] >= 'a' && base[n] <= 'z') || (base[n] >= 'A' && base[n] <= 'Z') ||
                     (base[n] >= '0' && base[n] <= '9') || base[n] == '_' || base[n] == '-';
        out[n] = base[n];
        if (!plain)
            out[n] = '-';
    }
    out[n] = '\0';
}

static json_t *name_json(const struct astra_import *from)
{
    char stems[3][NAME_MAX_CHARS];
    stem_copy(stems[0], from->workload);
    stem_copy(stems[1], from->network);
    stem_copy(stems[2], from->system);
    return json_pack("s++++", stems[0], "-", stems[1], "-", stems[2]);
}

// Read the network into `scenario`, which then has the dimensions of the file.
static void network_read(const struct astra_import *from, struct scenario *scenario,
                         struct err *err)
{
    json_t *file = json_string(from->network);
    struct place root = {0}, place = {.parent = &root, .key = "network", .json = file};
    struct reader r = {.err = err,
                       .dir = scenario->dir,
                       .kept = &scenario->kept,
                       .site = &scenario->site,
                       .scenario = scenario};
    if (file == NULL)
        err_add(err, "network", "the file's name is not UTF-8 text");
    else
        astra_network_read(&r, &place);
    json_decref(file);
}

static void schedule_dims(const struct spec *spec, struct coll_schedule *schedule, uint32_t *sizes)
{
    schedule->n_dims = spec->n_dims;
    for (uint32_t d = 0; d < spec->n_dims; d++)
        sizes[d] = schedule->dim_size[d] = spec->dims[d].size;
}

char *astra_import(const struct astra_import *from, struct err *err)
{
    char dir[] = ".", *text = NULL;
    size_t errors = err->n_errors;
    uint32_t sizes[SPEC_MAX_DIMS];
    struct scenario scenario = {.dir = dir};
    struct training_spec training;
    struct coll_schedule schedule = {0};
    json_t *system = json_object(), *job = json_object(), *root = json_object();
    object_defaults(&scenario_object, &scenario);
    network_read(from, &scenario, err);
    schedule_dims(&scenario.spec, &schedule, sizes);
    astra_system_read(dir, from->system, "system", &schedule, system, err);
    if (astra_workload_read(dir, from->workload, "workload", &training, err) == 0 &&
        scenario.spec.n_dims > 0)
        training_check_group(&training, sizes, scenario.spec.n_dims, "workload", err);
    if (err->n_errors == errors) {
        json_object_set_new(root, "name", name_json(from));
        json_object_set_new(root, "source", json_string("ASTRA-sim 1.0 files"));
        json_object_set_new(root, "network", json_string("analytical"));
        json_object_set_new(root, "analytical_route", json_string("last_dim"));
        json_object_set_new(root, "topology", object_json(&scenario, &topology_object, &scenario));
        // In ASTRA-sim a message uses all links of a rank; over packets it must be striped for
        // that.
        json_object_set_new(root, "transport", json_pack("{s:b}", "stripe", 1));
        json_object_set_new(job, "kind", json_string("training"));
        training_write(job, "parallelism", &training, NULL);
        json_object_set(job, "system", system);
        json_object_set_new(job, "iterations", json_integer((json_int_t)from->passes));
        json_object_set_new(job, "compute_scale", json_real(from->compute_scale));
        json_object_set(root, "workload", job);
        text = json_text(root);
    }
    training_free(&training);
    json_decref(system);
    json_decref(job);
    json_decref(root);
    return text;
}
