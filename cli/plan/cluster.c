// SPDX-License-Identifier: MIT
#include "cli/plan/cluster.h"

#include <stdlib.h>
#include <string.h>

#include "collective/nccl/nccl_machine.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "workload/llm/llm_job.h"

/* ---- parts of the scenario ---- */

static json_t *dims_of(json_t *scenario)
{
    return json_object_get(json_object_get(scenario, "topology"), "dims");
}

static void drop(json_t *object, const char *const *keys)
{
    for (; *keys != NULL; keys++)
        json_object_del(object, *keys);
}

/* ---- reading ---- */

static int read_fabric(struct cluster *m, const char *path, struct err *err)
{
    if (draft_read(&m->fabric_file, path, err) != 0)
        return -1;
    const json_t *dims = dims_of(m->fabric_file.json);
    m->fabric =
        dims != NULL ? json_array_get(dims, json_array_size(dims) - 1) : m->fabric_file.json;
    if (json_is_string(json_object_get(m->fabric, "kind")))
        return 0;
    return err_add(err, path,
                   "is neither a dimension of a topology (an object with `kind`) nor a "
                   "scenario with topology.dims");
}

// The GPUs of a server.
static int read_server(struct cluster *m, const char *path, struct err *err)
{
    const json_t *topology = json_object_get(m->draft.json, "topology"),
                 *dims = dims_of(m->draft.json), *machine = json_object_get(topology, "machine");
    if (machine != NULL) {
        const char *name =
            json_string_value(json_is_object(machine) ? json_object_get(machine, "like") : machine);
        const struct nccl_machine *known = name != NULL ? nccl_machine_named(name) : NULL;
        if (known == NULL)
            return err_add(err, "topology.machine", "is not a machine that plan knows");
        m->server = known->gpus;
        return 0;
    }
    const json_t *first = json_array_get(dims, 0);
    const char *kind = json_string_value(json_object_get(first, "kind"));
    json_int_t size = json_integer_value(json_object_get(first, "size"));
    if (kind == NULL || size < 1)
        return err_add(err, "topology", "%s: plan needs `dims`, or a `machine`", path);
    bool one = json_array_size(dims) == 1, is_switch = strcmp(kind, "switch") == 0;
    m->server = one && !is_switch ? 1 : (uint32_t)size;
    m->joins = one && is_switch;
    return 0;
}

int cluster_read(struct cluster *m, const struct options *o, const struct options *changes,
                 const char *path, struct err *err)
{
    *m = (struct cluster){.options = o};
    if (draft_read(&m->draft, path, err) != 0 ||
        (o->fabric != NULL && read_fabric(m, o->fabric, err) != 0))
        return -1;
    for (size_t i = 0; i < changes->n_sets; i++)
        if (draft_set(&m->draft, changes->sets[i].path, changes->sets[i].value, err) != 0)
            return -1;
    const json_t *job = draft_job(m->draft.json);
    const char *kind = json_string_value(json_object_get(job, "kind"));
    if (kind == NULL || strcmp(kind, "llm") != 0)
        return err_add(err, "workload", "plan takes a scenario with one job, of kind llm");
    if (json_object_get(job, "input") != NULL)
        return err_add(err, "workload.input",
                       "is not planned: the closed form does not know the time to read samples");
    return read_server(m, path, err);
}

void cluster_free(struct cluster *m)
{
    draft_free(&m->draft);
    draft_free(&m->fabric_file);
}

/* ---- growing ---- */

// Fabrics join all ranks, so leaves count ranks and not servers; one that is not full has them all.
static void fit_leaf(json_t *dim, uint32_t gpus)
{
    if (json_integer_value(json_object_get(dim, "ranks_per_leaf")) > gpus)
        json_object_set_new(dim, "ranks_per_leaf", json_integer(gpus));
}

static json_t *fabric_of(const struct cluster *m, json_int_t size, uint32_t gpus)
{
    static const char standard[] =
        "{\"kind\": \"leaf_spine\", \"ranks_per_leaf\": 16, \"spines\": 16,"
        " \"link\": {\"rate\": \"400Gbps\", \"delay\": \"1us\"},"
        " \"trunk\": {\"rate\": \"400Gbps\", \"delay\": \"1us\"}}";
    json_t *dim = m->fabric != NULL ? json_deep_copy(m->fabric) : json_loads(standard, 0, NULL);
    fit_leaf(dim, gpus);
    json_object_set_new(dim, "size", json_integer(size));
    return dim;
}

static int not_whole(uint32_t gpus, json_int_t of, struct err *err)
{
    return err_add(err, "--gpus", "%u are not whole servers of %lld GPUs", gpus, (long long)of);
}

static int grow_dims(const struct cluster *m, json_t *scenario, uint32_t gpus, struct err *err)
{
    json_t *dims = dims_of(scenario), *last = json_array_get(dims, json_array_size(dims) - 1);
    json_int_t inner = 1;
    if (m->joins && gpus <= m->server)
        return json_object_set_new(last, "size", json_integer(gpus));
    if (m->joins) {
        if (gpus % m->server != 0)
            return not_whole(gpus, m->server, err);
        return json_array_append_new(dims, fabric_of(m, gpus / m->server, gpus));
    }
    for (size_t d = 0; d + 1 < json_array_size(dims); d++)
        inner *= json_integer_value(json_object_get(json_array_get(dims, d), "size"));
    if (inner < 1 || gpus % inner != 0)
        return not_whole(gpus, inner, err);
    fit_leaf(last, gpus);
    return json_object_set_new(last, "size", json_integer(gpus / inner));
}

json_t *cluster_grown(const struct cluster *m, uint32_t gpus, struct err *err)
{
    static const char *const not_needed[] = {"capture", "report", "faults", NULL};
    json_t *scenario = json_deep_copy(m->draft.json),
           *topology = json_object_get(scenario, "topology");
    int status = 0;
    drop(scenario, not_needed);
    json_object_set_new(scenario, "report", json_pack("{s:i}", "flows_max", 0));
    json_object_set_new(scenario, "memory", json_pack("{s:s}", "fit", "off"));
    if (json_object_get(topology, "machine") == NULL)
        status = grow_dims(m, scenario, gpus, err);
    else if (gpus % m->server != 0)
        status = not_whole(gpus, m->server, err);
    else
        json_object_set_new(topology, "nodes", json_integer(gpus / m->server));
    if (status == 0)
        return scenario;
    json_decref(scenario);
    return NULL;
}

/* ---- what the closed form needs ---- */

static double bytes_ps(const struct dim_spec *dim)
{
    return (double)dim->links[0].rate_bps / 8 / 1e12;
}

// Work that every network can do: not all of them have a path between any two ranks.
static json_t *any_work(uint32_t gpus)
{
    return gpus > 1
               ? json_pack("{s:s, s:i, s:[i], s:s}", "kind", "incast", "receiver", 0, "senders", 1,
                           "bytes", "1B")
               : json_pack("{s:s, s:s, s:s}", "kind", "collective", "op", "barrier", "bytes", "1B");
}

int cluster_network(const struct cluster *m, uint32_t gpus, struct plan_network *network,
                    struct err *err)
{
    json_t *scenario = cluster_grown(m, gpus, err);
    if (scenario == NULL)
        return -1;
    json_object_set_new(scenario, "workload", any_work(gpus));
    struct collwire_scenario *parsed = scenario_of_json(m->options, scenario, m->draft.folder, err);
    json_decref(scenario);
    if (parsed == NULL)
        return -1;
    const struct spec *spec = scenario_spec(scenario_of(parsed));
    const struct dim_spec *inner = &spec->dims[0], *outer = &spec->dims[spec->n_dims - 1];
    *network = (struct plan_network){.server = m->server < gpus ? m->server : gpus,
                                     .inner_bytes_ps = bytes_ps(inner),
                                     .outer_bytes_ps = bytes_ps(outer),
                                     .inner_delay_ps = (double)dim_path_ps(inner, gpus),
                                     .outer_delay_ps = (double)dim_path_ps(outer, gpus)};
    collwire_scenario_free(parsed);
    return 0;
}

int cluster_job(const struct cluster *m, struct llm_params *job, uint64_t *capacity_bytes,
                struct err *err)
{
    static const char *const planned[] = {
        "tensor",           "context",  "expert",      "data",    "pipeline",
        "virtual_stages",   "schedule", "micro_batch", "zero",    "recompute",
        "placement",        "ranks",    "mapping",     "library", "stride",
        "tables_as_layers", NULL};
    json_t *scenario = json_deep_copy(m->draft.json), *one = draft_job(scenario);
    static const char *const not_needed[] = {"capture", "faults", "switch", "transport",
                                             "cc",      "nic",    "links",  NULL};
    drop(one, planned);
    drop(scenario, not_needed);
    json_object_set_new(one, "ranks", json_pack("[i]", 0));
    json_object_set_new(scenario, "topology",
                        json_pack("{s:[{s:s, s:i}]}", "dims", "kind", "switch", "size", 2));
    json_t *memory = json_object_get(scenario, "memory");
    if (memory == NULL)
        json_object_set_new(scenario, "memory", memory = json_object());
    json_object_set_new(memory, "fit", json_string("off"));
    struct collwire_scenario *parsed = scenario_of_json(m->options, scenario, m->draft.folder, err);
    json_decref(scenario);
    if (parsed == NULL)
        return -1;
    const struct spec *spec = scenario_spec(scenario_of(parsed));
    const struct llm_settings *settings = spec->jobs[0].settings;
    uint64_t bytes = spec_memory_bytes(spec, &settings->memory);
    *job = settings->params;
    *capacity_bytes = bytes > spec->memory.reserve_bytes ? bytes - spec->memory.reserve_bytes : 1;
    collwire_scenario_free(parsed);
    return 0;
}
