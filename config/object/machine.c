// SPDX-License-Identifier: MIT
// A machine makes two dimensions: the GPUs of a server on their NVLinks, and the NICs of all
// servers on one fabric, by default a switch for the NICs with one number (`rail`), as NVIDIA's
// reference has it: a plane of rails for each NIC of a GPU. A machine of one GPU has only the
// second.
#include "config/object/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collective/nccl/nccl_machine.h"
#include "collective/nccl/xml/topology.h"
#include "engine/base/memory.h"
#include "engine/text/schema_parts.h"

#define NODES_MAX 65536
#define TRUNKS_MAX 64
#define SPINES 8

struct machine_params {
    uint64_t gpus, nics, nic_bps;
    int cpu;
};

/* ---- a machine of its own: a named one with other numbers ---- */

static const char *const cpus[] = {"auto", "intel", "amd", "arm", NULL};
static const struct param machine_params[] = {
    PARAM_ROW("gpus", COUNT, offsetof(struct machine_params, gpus), .def = "0", .max = "64",
              .help = "GPUs of a server; 0 = as of `like`"),
    PARAM_ROW("nics", COUNT, offsetof(struct machine_params, nics), .def = "0", .max = "64",
              .help = "NICs of a server, spread evenly over the GPUs; 0 = as of `like`"),
    PARAM_ROW("nic_rate", RATE, offsetof(struct machine_params, nic_bps), .def = "0bps",
              .help = "rate of each NIC; 0bps = as of `like`"),
    PARAM_ROW("cpu", ENUM, offsetof(struct machine_params, cpu), .def = "auto", .choices = cpus,
              .help = "vendor of the CPUs; auto = as of `like`"),
};
enum { N_MACHINE_PARAMS = sizeof machine_params / sizeof *machine_params };

static void change_devices(struct nccl_machine *m, const struct machine_params *p)
{
    uint32_t gpus = p->gpus > 0 ? (uint32_t)p->gpus : m->gpus,
             nics = p->nics > 0 ? (uint32_t)p->nics : m->nics;
    struct nccl_slot gpu[NCCL_SERVER_GPUS] = {0}, nic[NCCL_SERVER_NICS] = {0};
    double gbps = p->nic_bps > 0 ? (double)p->nic_bps / 1e9 : m->nic_gbps[0];
    // More GPUs than `like` has are spread over its slots; fewer take the first slots.
    for (uint32_t i = 0; i < gpus; i++)
        gpu[i] = m->gpu_slot[gpus > m->gpus ? i * m->gpus / gpus : i];
    // Where the numbers differ, each NIC is beside the first of the GPUs that it serves.
    for (uint32_t i = 0; i < nics; i++)
        nic[i] = nics == m->nics && gpus == m->gpus ? m->nic_slot[i] : gpu[i * gpus / nics];
    memcpy(m->gpu_slot, gpu, gpus * sizeof *gpu);
    memcpy(m->nic_slot, nic, nics * sizeof *nic);
    for (uint32_t i = 0; i < nics; i++)
        m->nic_gbps[i] = gbps;
    m->gpus = gpus;
    m->nics = nics;
    if (p->cpu > 0)
        m->cpu = (enum nccl_cpu)(p->cpu - 1);
}

// Blocks of 4 x 4 x 4 chips, six links of 50 GB/s each, joined along one dimension of the torus.
// Source: Jouppi et al., TPU v4, ISCA 2023.
#define TPU_V4 "tpu_v4"
#define TPU_SIDE 4

static const struct nccl_machine *machine_named(struct reader *r, const struct place *place)
{
    struct keys words = {0};
    for (uint32_t i = 0; nccl_machine_at(i) != NULL; i++)
        keys_add(&words, nccl_machine_at(i)->name);
    keys_add(&words, TPU_V4);
    if (json_is_string(place->json) && nccl_machine_named(json_string_value(place->json)) != NULL)
        return nccl_machine_named(json_string_value(place->json)); // other names of machines too
    int word = read_word(r, place, "machine", words.names);
    const struct nccl_machine *m = word >= 0 ? nccl_machine_at((uint32_t)word) : NULL;
    if (word >= 0 && m == NULL)
        place_error(r->err, place, "%s is a torus, made by `nodes` alone", TPU_V4);
    return m;
}

// The file of a machine: its name is a path or ends in ".xml".
static const char *file_of(const struct place *place)
{
    const char *name = json_string_value(place->json);
    size_t n = name != NULL ? strlen(name) : 0;
    return n > 0 && (strchr(name, '/') != NULL || (n > 4 && strcmp(name + n - 4, ".xml") == 0))
               ? name
               : NULL;
}

// A topology of NCCL has all numbers of the machine, one of hwloc needs a machine that it is like.
static bool read_file(struct reader *r, const struct place *place, const char *name,
                      const struct nccl_machine *like)
{
    struct spec *spec = &r->scenario->spec;
    char path[PLACE_TEXT];
    spec->own_machine =
        nccl_topology_read(r->scenario->dir, name, place_text(place, path), like, r->err);
    spec->machine = spec->own_machine;
    return spec->machine != NULL;
}

static bool read_file_key(struct reader *r, const struct place *place, const struct place *file)
{
    struct keys keys = {0};
    struct place like = place_key(place, "like");
    size_t errors = r->err->n_errors;
    keys_add(&keys, "file");
    keys_add(&keys, "like");
    keys_check(r, place, &keys);
    if (!json_is_string(file->json))
        place_error(r->err, file, "must be the name of a file, not %s", json_noun(file->json));
    const struct nccl_machine *other = like.json != NULL ? machine_named(r, &like) : NULL;
    return r->err->n_errors == errors && read_file(r, file, json_string_value(file->json), other);
}

static bool read_machine(struct reader *r, const struct place *place)
{
    struct spec *spec = &r->scenario->spec;
    struct machine_params own;
    struct keys keys = {0};
    struct place like = place_key(place, "like"), file = place_key(place, "file");
    if (file.json != NULL)
        return read_file_key(r, place, &file);
    if (file_of(place) != NULL)
        return read_file(r, place, file_of(place), NULL);
    if (!json_is_object(place->json)) {
        spec->machine = machine_named(r, place);
        return spec->machine != NULL;
    }
    size_t errors = r->err->n_errors;
    params_default(machine_params, N_MACHINE_PARAMS, &own);
    read_params(r, place, &keys, machine_params, N_MACHINE_PARAMS, &own);
    keys_add(&keys, "like");
    keys_check(r, place, &keys);
    const struct nccl_machine *base = machine_named(r, &like);
    if (base == NULL || r->err->n_errors > errors)
        return false;
    struct nccl_machine *m = spec->own_machine = memory_zeroed(1, sizeof *m);
    char why[200];
    *m = *base;
    change_devices(m, &own);
    spec->machine = m;
    if (m->gpus % m->nics != 0 && m->nics % m->gpus != 0)
        place_error(r->err, place, "%u NICs are not spread evenly over %u GPUs", m->nics, m->gpus);
    else if (!nccl_machine_valid(m, why, sizeof why))
        place_error(r->err, place, "%s", why);
    return r->err->n_errors == errors;
}

/* ---- dimensions ---- */

static json_t *link_of(double gbps, const char *delay)
{
    char rate[64];
    snprintf(rate, sizeof rate, "%.10gGbps", gbps);
    return json_pack("{s:s,s:s}", "rate", rate, "delay", delay);
}

// GB/s of an NVLink as NCCL counts it (graph/topo.h): its framing is left out.
static double nvlink_gbytes(const struct nccl_machine *m)
{
    static const double generations[NCCL_GPUS] = {20, 20, 20.6, 40.1};
    return m->nvlink_bw > 0 ? m->nvlink_bw : generations[m->gpu];
}

// NVLink has no congestion control. GPUs without NVLink have their PCIe on one switch.
static json_t *inner_dim(const struct nccl_machine *m)
{
    bool pairs = m->nvlink == NCCL_NVLINK_PAIRS;
    double gbytes =
        m->nvlink == NCCL_NVLINK_NONE ? m->gpu_slot[0].bw : nvlink_gbytes(m) * m->nvlinks;
    return json_pack("{s:s,s:i,s:o,s:{s:s,s:s,s:i,s:s},s:{s:s}}", "kind",
                     pairs ? "fully_connected" : "switch", "size", (int)m->gpus, "link",
                     link_of(gbytes * 8, "250ns"), "transport", "kind", "roce", "mtu", "4096B",
                     "ack_interval", 16, "wire_overhead", "none", "cc", "kind", "none");
}

static void set_missing(json_t *object, const char *key, json_t *value)
{
    if (json_object_get(object, key) == NULL)
        json_object_set(object, key, value);
    json_decref(value);
}

// The bus of a GPU, which all its NICs share: 16 lanes of PCIe as NCCL counts them (graph/topo.h),
// 48 GB/s of Gen5. Two GPUs with four NICs of 400 Gbit/s each were measured at 44 to 47
// (NVIDIA/nccl-tests#232). A coherent link to the CPU is not taken for such a bus.
static double gpu_bus_gbps(const struct nccl_machine *m)
{
    return m->c2c_bw > 0 ? 0 : 8 * m->gpu_slot[0].bw;
}

// A GPU's bus limits its NICs where it has several that together are faster.
static void share_bus(json_t *dim, const struct nccl_machine *m)
{
    double bus = gpu_bus_gbps(m), nics = m->nic_gbps[0] * m->nics / m->gpus;
    char rate[64];
    if (m->nics <= m->gpus || bus <= 0 || nics <= bus)
        return;
    snprintf(rate, sizeof rate, "%.10gGbps", bus);
    set_missing(
        dim, "nic",
        json_pack("{s:s,s:s}", "bus_rate", rate, "burst_overhead", "0B")); // it is payload's
}

static json_t *outer_dim(const struct nccl_machine *m, uint32_t nodes, const json_t *fabric)
{
    json_t *dim = fabric != NULL ? json_deep_copy(fabric) : json_object();
    const char *kind = json_string_value(json_object_get(fabric, "kind"));
    bool rails = (m->gpus > 1 && fabric == NULL) || (kind != NULL && strcmp(kind, "rail") == 0);
    if (rails) {
        uint32_t spines = nodes < SPINES ? nodes : SPINES;
        while (nodes > spines * TRUNKS_MAX)
            spines *= 2;
        set_missing(dim, "gpus_per_server", json_integer(m->gpus));
        set_missing(dim, "spines", json_integer(spines));
        set_missing(dim, "trunks", json_integer((nodes + spines - 1) / spines));
    }
    set_missing(dim, "kind", json_string(rails ? "rail" : "switch"));
    set_missing(dim, "size", json_integer(nodes));
    set_missing(dim, "link", link_of(m->nic_gbps[0], "500ns"));
    if (m->nics < m->gpus)
        set_missing(dim, "ranks_per_port", json_integer(m->gpus / m->nics));
    else if (m->nics > m->gpus)
        set_missing(dim, "planes", json_integer(m->nics / m->gpus));
    share_bus(dim, m);
    return dim;
}

static void make_torus(json_t *topology, uint32_t blocks)
{
    json_t *dims = json_array();
    for (uint32_t d = 0; d < 3; d++)
        json_array_append_new(dims, json_pack("{s:s,s:i,s:o}", "kind", "ring", "size",
                                              (int)(d == 2 ? TPU_SIDE * blocks : TPU_SIDE), "link",
                                              link_of(400, "100ns")));
    json_object_set_new(topology, "dims", dims);
}

// Whether the scenario's own `nic` is another than an ideal one.
static bool has_nics(const struct nic_kinds *nics)
{
    bool any = nics->more > 0;
    for (uint32_t k = 0; k <= nics->more; k++)
        any = any || nic_spec_serves(&nics->list[k]) || nics->list[k].doorbell_ps > 0 ||
              nics->list[k].completion_ps > 0;
    return any;
}

static void make_dims(const struct reader *r, json_t *topology, uint32_t nodes,
                      const json_t *fabric)
{
    const struct nccl_machine *m = r->scenario->spec.machine;
    json_t *dims = json_array();
    json_t *inner = m->gpus > 1 ? inner_dim(m) : NULL;
    if (inner != NULL && has_nics(&r->scenario->base.nics)) // which are not at NVLink
        json_object_set_new(inner, "nic", json_string("ideal"));
    if (inner != NULL)
        json_array_append_new(dims, inner);
    if (nodes > 1 || m->gpus == 1)
        json_array_append_new(dims, outer_dim(m, nodes, fabric));
    json_object_set_new(topology, "dims", dims);
}

bool machine_read(struct reader *r, const struct place *topology, struct keys *keys)
{
    struct place machine = place_key(topology, "machine"), nodes = place_key(topology, "nodes"),
                 fabric = place_key(topology, "fabric"), dims = place_key(topology, "dims");
    size_t errors = r->err->n_errors;
    keys_add(keys, "machine");
    keys_add(keys, "nodes");
    keys_add(keys, "fabric");
    if (machine.json == NULL) {
        if (nodes.json != NULL || fabric.json != NULL)
            place_error(r->err, nodes.json != NULL ? &nodes : &fabric, "needs a `machine`");
        return r->err->n_errors == errors;
    }
    bool torus = json_is_string(machine.json) && dims.json == NULL &&
                 strcmp(json_string_value(machine.json), TPU_V4) == 0;
    bool named = torus || read_machine(r, &machine);
    if (dims.json != NULL) {
        if (nodes.json != NULL || fabric.json != NULL)
            place_error(r->err, nodes.json != NULL ? &nodes : &fabric,
                        "cannot be combined with `dims`");
        return named && r->err->n_errors == errors;
    }
    json_int_t n = json_integer_value(nodes.json);
    if (nodes.json == NULL)
        place_error(r->err, &nodes, "is required: the number of servers");
    else if (n < 1 || n > NODES_MAX)
        place_error(r->err, &nodes, "must be a number of servers from 1 to %d", NODES_MAX);
    if (fabric.json != NULL)
        read_object(r, &fabric);
    if (r->err->n_errors > errors)
        return false;
    const struct nccl_machine *m = r->scenario->spec.machine;
    if (torus && fabric.json != NULL)
        place_error(r->err, &fabric, "is not for a torus");
    else if (!torus && m->nics == 0 && (n > 1 || m->gpus == 1))
        place_error(r->err, &machine, "%s has no NIC, so `nodes` must be 1", m->name);
    else if (torus)
        make_torus(topology->json, (uint32_t)n);
    else
        make_dims(r, topology->json, (uint32_t)n, fabric.json);
    return r->err->n_errors == errors;
}

void machine_write(json_t *topology, const struct spec *spec)
{
    const struct nccl_machine *m = spec->machine;
    if (m == NULL)
        return;
    if (m->file != NULL) {
        json_object_set_new(topology, "machine", json_pack("{s:s}", "file", m->file));
        return;
    }
    if (m != spec->own_machine) {
        json_object_set_new(topology, "machine", json_string(m->name));
        return;
    }
    struct machine_params p = {m->gpus, m->nics, (uint64_t)(m->nic_gbps[0] * 1e9 + 0.5),
                               (int)m->cpu + 1};
    json_t *own = params_json(machine_params, N_MACHINE_PARAMS, &p);
    json_object_set_new(own, "like", json_string(m->name));
    json_object_set_new(topology, "machine", own);
}

void machine_schema(json_t *topology)
{
    json_t *own = schema_table(machine_params, N_MACHINE_PARAMS);
    schema_key(own, "like", json_pack("{s:s}", "type", "string"), true);
    schema_key(topology, "machine",
               json_pack("{s:[{s:s},o,{s:s,s:{s:{s:s},s:{s:s}},s:[s],s:b}],s:s}", "anyOf", "type",
                         "string", own, "type", "object", "properties", "file", "type", "string",
                         "like", "type", "string", "required", "file", "additionalProperties", 0,
                         "description",
                         "servers by name (collwire list machine), one with other numbers, the "
                         "file of a topology of NCCL, or one of hwloc with a machine that it is "
                         "like"),
               false);
    schema_key(topology, "nodes", schema_integer(1), false);
    schema_key(topology, "fabric", json_pack("{s:s}", "type", "object"), false);
}
