// SPDX-License-Identifier: MIT
// Without a network of the user's, and without a GPU whose server is known, servers have as many
// GPUs as the files say.
#include "cli/import/import_scenario.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/import_network.h"
#include "cli/import/import_program.h"

#define GPUS_DEFAULT 8
#define GPUS_MOST 64 // of a machine of its own

/* ---- the machine ---- */

// The server that has GPUs of this name; NULL = none is known.
static const struct nccl_machine *machine_of(const char *gpu)
{
    static const struct {
        const char *word, *machine;
    } known[] = {{"GH200", "gh200"},   {"B200", "dgx_b200"}, {"H100", "dgx_h100"},
                 {"H200", "dgx_h100"}, {"H800", "dgx_h100"}, {"A100", "dgx_a100"},
                 {"A800", "dgx_a100"}, {"V100", "dgx2"},     {"MI300X", "mi300x"}};
    for (size_t i = 0; gpu != NULL && i < sizeof known / sizeof *known; i++)
        if (strstr(gpu, known[i].word) != NULL)
            return nccl_machine_named(known[i].machine);
    return NULL;
}

static uint32_t gpus_per_server(const struct recording *r, uint32_t otherwise)
{
    uint32_t gpus = r->gpus_per_node > 0 ? r->gpus_per_node : otherwise;
    return r->world < gpus || r->world % gpus != 0 ? r->world : gpus;
}

// The topology by the GPU that the files name, or one of GPUs that are not known.
static json_t *topology_by_gpu(struct recording *r, FILE *said)
{
    const struct nccl_machine *m = machine_of(r->gpu);
    uint32_t gpus = gpus_per_server(r, m != NULL ? m->gpus : GPUS_DEFAULT);
    if (m == NULL || gpus > GPUS_MOST) {
        fprintf(said,
                "  not named: %s, and the network between servers; --network FILE gives "
                "both\n",
                r->gpu == NULL ? "the GPU" : "a server for this GPU");
        recording_assume(r,
                         "servers of %u GPUs with 3600 Gb/s inside and a rail of 400 Gb/s for "
                         "each GPU",
                         gpus_per_server(r, GPUS_DEFAULT));
        return network_of_gpus(r->world, gpus_per_server(r, GPUS_DEFAULT));
    }
    fprintf(said, "  from the traces: %s, %u GPUs in %u server%s: machine %s\n", r->gpu, r->world,
            r->world / gpus, r->world == gpus ? "" : "s", m->name);
    recording_assume(r, "servers as %s has them, with %u GPU%s%s", m->name, gpus,
                     gpus == 1 ? "" : "s",
                     r->world > gpus ? ", and its NICs on rails that do not block" : "");
    if (r->world > gpus)
        fputs("  not named: the network between servers; --network FILE gives it\n", said);
    return network_of_machine(m, r->world, gpus);
}

/* ---- the library ---- */

// The version of NCCL whose rules are known and nearest to this one, as "2.20.5".
static const char *version_near(const char *version)
{
    static const struct {
        int minor;
        const char *text;
    } known[] = {{21, "2.21.5"}, {27, "2.27.7"}, {30, "2.30.7"}};
    size_t best = 0;
    const char *dot = strchr(version, '.');
    int minor = dot != NULL ? atoi(dot + 1) : 0;
    for (size_t i = 1; i < sizeof known / sizeof *known; i++)
        if (abs(known[i].minor - minor) < abs(known[best].minor - minor))
            best = i;
    return known[best].text;
}

static json_t *library_of(struct recording *r, const json_t *topology, FILE *said)
{
    const json_t *machine = json_object_get(topology, "machine");
    const char *name =
        json_string_value(json_is_object(machine) ? json_object_get(machine, "like") : machine);
    if (name == NULL || r->library == NULL)
        return NULL;
    if (strcmp(r->library, "rccl") == 0 || strcmp(name, "mi300x") == 0) {
        fputs("  from the traces: RCCL: library rccl\n", said);
        return json_pack("{s:s}", "kind", "rccl");
    }
    const char *version = r->library_version != NULL ? version_near(r->library_version)
                          : r->older_than_2_4        ? "2.21.5" // PyTorch 2.3 came with 2.20.5
                                                     : "2.27.7";
    fprintf(said, "  from the traces: NCCL%s%s: library nccl, by the rules of %s\n",
            r->library_version != NULL ? " " : "",
            r->library_version != NULL ? r->library_version : "", version);
    if (r->library_version == NULL)
        recording_assume(r, "the version of NCCL is %s", version);
    else if (strcmp(r->library_version, version) != 0)
        recording_assume(r, "NCCL %s decides as %s does", r->library_version, version);
    return json_pack("{s:s,s:s}", "kind", "nccl", "nccl", version);
}

/* ---- the scenario ---- */

static json_t *job_of(const struct recording *r, const char *program, bool whole)
{
    json_t *job = json_pack("{s:s,s:s,s:i}", "kind", "program", "file", program, "comm_streams",
                            (int)recording_comm_streams(r));
    json_t *ranks = json_array();
    for (uint32_t i = 0; i < r->world && !whole; i++)
        json_array_append_new(ranks, json_integer(i));
    if (!whole)
        json_object_set(job, "ranks", ranks);
    json_decref(ranks);
    return job;
}

char *recording_scenario(struct recording *r, const struct recording_scenario *from, FILE *said,
                         struct err *err)
{
    json_t *root = json_object(), *given = NULL;
    json_object_set_new(root, "name", json_string(from->name));
    if (from->network != NULL) {
        given = network_given(from->network, from->output, err);
        json_object_update(root, given);
    } else {
        json_object_set_new(root, "topology", topology_by_gpu(r, said));
    }
    // Ranks are named where the network may have more.
    json_t *job = job_of(r, from->program, from->network == NULL);
    json_t *library = library_of(r, json_object_get(root, "topology"), said);
    if (library != NULL)
        json_object_set_new(job, "library", library);
    json_object_set_new(root, "workload", job);
    char *text = NULL;
    if (from->network == NULL || given != NULL)
        text = json_dumps(root, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    json_decref(given);
    json_decref(root);
    return text;
}
