// SPDX-License-Identifier: MIT
// The network is a YAML file of lists with a value for each dimension, innermost first: topology
// (Ring, FullyConnected, Switch), npus_count, bandwidth (GB/s of 2^30 bytes) and latency (ns). The
// system file becomes the job's `system`; num-queues-per-dim, an option of ASTRA-sim's command
// line, may stand in it too. A remote memory that several ranks share serves
// one load or store at a time.
#include "config/import_chakra.h"
#include "workload/read/site.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/text/json_file.h"
#include "engine/text/rank_ranges.h"
#include "engine/text/relative_path.h"
#include "engine/text/yaml_file.h"
#include "workload/chakra/chakra_job.h"
#include "workload/read/astra2_system.h"

#define GB_BITS (8.0 * 1073741824.0)

struct import {
    const struct chakra_import *from;
    struct err *err;
    json_t *dims; // of the topology
    struct coll_schedule schedule;
};

/* ---- the network ---- */

static const struct {
    const char *word, *kind;
} kinds[] = {{"Ring", "ring"}, {"FullyConnected", "fully_connected"}, {"Switch", "switch"}};
#define N_KINDS (sizeof kinds / sizeof *kinds)

static int network_error(struct import *im, const char *what)
{
    return err_add(im->err, "network", "%s: %s", im->from->network, what);
}

// Item `d` of a list of numbers; -1 with an error if it is not one from `min` to `max`.
static double number_at(struct import *im, const json_t *root, const char *key, size_t d,
                        double min, double max)
{
    const json_t *item = json_array_get(json_object_get(root, key), d);
    double number = json_number_value(item);
    if (json_is_number(item) && number >= min && number <= max)
        return number;
    err_add(im->err, "network", "%s: %s[%zu] must be a number from %g to %g", im->from->network,
            key, d, min, max);
    return -1;
}

static void dim_read(struct import *im, const json_t *root, size_t d)
{
    const char *word = json_string_value(json_array_get(json_object_get(root, "topology"), d));
    size_t kind = 0;
    while (kind < N_KINDS && (word == NULL || strcmp(word, kinds[kind].word) != 0))
        kind++;
    if (kind == N_KINDS)
        err_add(im->err, "network", "%s: topology[%zu] must be one of Ring, FullyConnected, Switch",
                im->from->network, d);
    double size = number_at(im, root, "npus_count", d, 1, RANKS_MAX);
    double gbytes = number_at(im, root, "bandwidth", d, 1e-4, 12500);
    double ns = number_at(im, root, "latency", d, 0, 1e9);
    if (kind == N_KINDS || size < 0 || gbytes < 0 || ns < 0)
        return;
    if (size != floor(size)) {
        err_add(im->err, "network", "%s: npus_count[%zu] must be a whole number", im->from->network,
                d);
        return;
    }
    char *rate = text_format("%" PRIu64 "bps", (uint64_t)llround(gbytes * GB_BITS));
    char *delay = text_format("%" PRId64 "ps", (int64_t)llround(ns * (double)PS_PER_NS));
    json_array_append_new(im->dims,
                          json_pack("{s:s,s:I,s:{s:s,s:s}}", "kind", kinds[kind].kind, "size",
                                    (json_int_t)size, "link", "rate", rate, "delay", delay));
    im->schedule.dim_size[im->schedule.n_dims++] = (uint32_t)size;
    free(rate);
    free(delay);
}

static void network_read(struct import *im)
{
    static const char *const keys[] = {"topology", "npus_count", "bandwidth", "latency"};
    json_t *root = yaml_file_read(im->from->network, "network", im->err);
    const char *key;
    const json_t *value;
    size_t n = json_array_size(json_object_get(root, "topology")), errors = im->err->n_errors;
    if (root == NULL)
        return;
    if (!json_is_object(root) || n == 0 || n > COLL_MAX_DIMS)
        network_error(im, "needs lists of 1 to 8 dimensions: topology, npus_count, bandwidth, "
                          "latency");
    for (size_t i = 0; i < 4 && im->err->n_errors == errors; i++)
        if (json_array_size(json_object_get(root, keys[i])) != n)
            err_add(im->err, "network", "%s: %s must be a list of %zu values", im->from->network,
                    keys[i], n);
    json_object_foreach(root, key, value)
    {
        bool known = false;
        for (size_t i = 0; i < 4; i++)
            known = known || strcmp(key, keys[i]) == 0;
        if (!known)
            err_add(im->err, "network", "%s: unknown key \"%s\"", im->from->network, key);
    }
    for (size_t d = 0; d < n && im->err->n_errors == errors; d++)
        dim_read(im, root, d);
    json_decref(root);
}

/* ---- system and memory ---- */

static json_t *system_read(struct import *im)
{
    struct err errors = {0};
    json_t *root = json_file_read(im->from->system, im->err);
    struct place place = {.json = root};
    static const struct site none;
    struct reader r = {.err = &errors, .site = &none};
    struct astra2_system system = {.whole = im->schedule};
    if (root == NULL)
        return NULL;
    // Without dimensions the errors of the network would be reported again.
    if (im->schedule.n_dims > 0)
        astra2_system_read(&r, &place, &system);
    // The messages name keys of the system file, so the name of that file is put before them.
    for (size_t i = 0; i < errors.n_items; i++) {
        if (errors.items[i].warning)
            err_warn(im->err, "system", "%s: %s", im->from->system, errors.items[i].text);
        else
            err_add(im->err, "system", "%s: %s", im->from->system, errors.items[i].text);
    }
    err_free(&errors);
    astra2_system_strip(root);
    astra2_system_move(root, ".", im->from->output); // from the working directory, as ASTRA-sim
    return root;
}

// Number of neighbouring ranks that share a memory.
static json_int_t memory_share(struct import *im, const json_t *root, const char *type)
{
    json_int_t ranks = 1, share = json_integer_value(json_object_get(root, "num-npus-per-node"));
    for (uint32_t d = 0; d < im->schedule.n_dims; d++)
        ranks *= im->schedule.dim_size[d];
    if (strcmp(type, "MEMORY_POOL") == 0)
        return ranks;
    if (strcmp(type, "PER_NPU_MEMORY_EXPANSION") == 0)
        return 1;
    if (strcmp(type, "PER_NODE_MEMORY_EXPANSION") != 0)
        err_add(im->err, "memory",
                "%s: memory-type must be one of NO_MEMORY_EXPANSION, PER_NPU_MEMORY_EXPANSION, "
                "PER_NODE_MEMORY_EXPANSION, MEMORY_POOL",
                im->from->memory);
    else if (share < 1 || share > ranks)
        err_add(im->err, "memory", "%s: num-npus-per-node must be from 1 to %lld", im->from->memory,
                (long long)ranks);
    return share;
}

static void memory_keys(struct import *im, json_t *root)
{
    static const char *const known[] = {"memory-type", "remote-mem-latency", "remote-mem-bw",
                                        "num-nodes", "num-npus-per-node"};
    const char *key;
    const json_t *value;
    json_object_foreach(root, key, value)
    {
        size_t i = 0;
        while (i < sizeof known / sizeof *known && strcmp(key, known[i]) != 0)
            i++;
        if (i == sizeof known / sizeof *known)
            err_add(im->err, "memory", "%s: unknown key \"%s\"", im->from->memory, key);
    }
}

static void memory_read(struct import *im, json_t *job)
{
    json_t *root = json_file_read(im->from->memory, im->err);
    const char *type = json_string_value(json_object_get(root, "memory-type"));
    double latency = json_number_value(json_object_get(root, "remote-mem-latency"));
    double gbytes = json_number_value(json_object_get(root, "remote-mem-bw"));
    if (root != NULL && type == NULL)
        err_add(im->err, "memory", "%s: memory-type is required", im->from->memory);
    memory_keys(im, root);
    if (type != NULL && strcmp(type, "NO_MEMORY_EXPANSION") != 0) {
        if (!(latency >= 0 && latency <= 1e9) || !(gbytes > 0 && gbytes <= 1e6))
            err_add(im->err, "memory",
                    "%s: remote-mem-latency must be from 0 to 1e9 ns, remote-mem-bw above 0 GB/s",
                    im->from->memory);
        char *time = text_format("%" PRId64 "ps", (int64_t)llround(latency * (double)PS_PER_NS));
        char *rate = text_format("%" PRIu64 "bps", (uint64_t)llround(gbytes * 8e9));
        json_object_set_new(job, "remote_latency", json_string(time));
        json_object_set_new(job, "remote_bandwidth", json_string(rate));
        json_int_t share = memory_share(im, root, type);
        if (share > 1)
            json_object_set_new(job, "remote_share", json_integer(share));
        free(time);
        free(rate);
    }
    json_decref(root);
}

/* ---- the scenario ---- */

// The last part of a path without extension, of characters that names may have.
static void stem_add(char *name, size_t room, const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    size_t n = strlen(name);
    if (n > 0 && n + 1 < room)
        name[n++] = '-';
    for (size_t length = strcspn(base, "."), i = 0; i < length && n + 1 < room; i++) {
        bool plain = strchr("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-",
                            base[i]) != NULL;
        name[n++] = plain ? base[i] : '-';
    }
    name[n] = '\0';
}

static void path_set(json_t *job, const char *key, const char *path, const char *output)
{
    char *relative = path_relative(output, path);
    json_object_set_new(job, key, json_string(relative));
    free(relative);
}

char *chakra_import(const struct chakra_import *from, struct err *err)
{
    struct import im = {.from = from, .err = err, .dims = json_array()};
    char name[160] = "", *text = NULL;
    size_t errors = err->n_errors;
    json_t *job = json_pack("{s:s}", "kind", "chakra"), *root = json_object();
    network_read(&im);
    json_t *system = system_read(&im);
    path_set(job, "prefix", from->prefix, from->output);
    if (from->groups != NULL)
        path_set(job, "comm_groups", from->groups, from->output);
    if (from->memory != NULL)
        memory_read(&im, job);
    if (from->ignores_missing)
        json_object_set_new(job, "missing_nodes", json_string("ignore"));
    if (err->n_errors == errors) {
        stem_add(name, 60, from->prefix);
        stem_add(name, 110, from->network);
        stem_add(name, sizeof name, from->system);
        json_object_set(job, "system", system);
        json_object_set_new(root, "name", json_string(name));
        json_object_set_new(root, "source", json_string("Chakra traces, ASTRA-sim 2 files"));
        json_object_set_new(root, "network", json_string("analytical"));
        json_object_set_new(root, "analytical_route", json_string("first_dim"));
        json_object_set_new(root, "topology", json_pack("{s:O}", "dims", im.dims));
        json_object_set(root, "workload", job);
        text = json_text(root);
    }
    json_decref(system);
    json_decref(im.dims);
    json_decref(job);
    json_decref(root);
    return text;
}

char *chakra_import_summary(const struct scenario *scenario)
{
    const struct chakra_settings *settings = scenario_spec(scenario)->jobs[0].settings;
    const struct trace_set *set = &settings->set;
    char bytes[UNIT_TEXT];
    return text_format("traces: %u ranks, %" PRIu64 " nodes, groups: %u, messages between two "
                       "ranks: %" PRIu64 " (%s); computations take %s",
                       set->n_ranks, set->n_nodes, settings->program.n_groups, set->messages,
                       human_bytes(set->message_bytes, bytes),
                       set->rules.roofline
                           ? "what the roofline of num_ops and tensor_size says"
                           : "their duration, and num_ops is not used (roofline-enabled is 0)");
}
