// SPDX-License-Identifier: MIT
// Dimensions from {"topologies-per-dim": ["Ring", ..], "units-count": [8, ..], "links-count": [2,
// ..], "link-latency": [500, ..] ns, "link-bandwidth": [50, ..] GB/s}, innermost first.
//
// A GB/s is 2^30 bytes. The links of a rank are distributed by kind: in a ring half towards each
// neighbour, with switches one to each plane, fully connected an equal number to each peer. A
// number that cannot be divided in this way becomes one link whose rate gives the rank the same
// total rate. "nic-latency", for each of the two ends of a message, and "router-latency", for a
// switch, are part of the latency of links: exact between neighbours, while a message over several
// hops of a ring has them at every hop.
// Source: the network files of ASTRA-sim 1.0 (Rashidi et al., ISPASS 2020).
#include "config/object/astra_network.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/object/link.h"
#include "engine/base/text.h"
#include "engine/text/json_file.h"
#include "engine/text/rank_ranges.h"
#include "workload/read/ignored_keys.h"

#define GB_BITS (8.0 * 1073741824.0)

// Keys that ASTRA-sim uses for cost models and memories, or does not use; they have no effect here.
static const char *const ignored[] = {"topology-name", "dimension-type", "hbm-latency",
                                      "hbm-bandwidth", "hbm-scale",      NULL};

static const struct {
    const char *word, *kind;
} kinds[] = {{"Ring", "ring"}, {"Switch", "switch"}, {"FullyConnected", "fully_connected"}};
#define N_KINDS (sizeof kinds / sizeof *kinds)

// One dimension as in the file.
struct astra_dim {
    size_t kind; // index into kinds[]
    uint64_t units, links;
    double latency_ns, gbytes_per_s;
    double nic_ns, router_ns; // of a message: twice the former, in a switch also the latter
};

// ---- values ----

static void read_kind(struct reader *r, const struct place *place, struct astra_dim *dim)
{
    const char *words[N_KINDS + 1] = {0};
    for (size_t i = 0; i < N_KINDS; i++)
        words[i] = kinds[i].word;
    int word = read_word(r, place, "topology", words);
    dim->kind = word >= 0 ? (size_t)word : 0;
}

static uint64_t read_count(struct reader *r, const struct place *place, uint64_t max)
{
    json_int_t value = json_integer_value(place->json);
    if (!json_is_integer(place->json))
        place_error(r->err, place, "must be a whole number, not %s", json_noun(place->json));
    else if (value < 1 || (uint64_t)value > max)
        place_error(r->err, place, "%" JSON_INTEGER_FORMAT " is not from 1 to %llu", value,
                    (unsigned long long)max);
    else
        return (uint64_t)value;
    return 1;
}

static double read_number(struct reader *r, const struct place *place, double min, double max)
{
    double value = json_number_value(place->json);
    if (!json_is_number(place->json))
        place_error(r->err, place, "must be a number, not %s", json_noun(place->json));
    else if (value < min || value > max)
        place_error(r->err, place, "%g is not from %g to %g", value, min, max);
    else
        return value;
    return min;
}

// ---- from the values to a dimension ----

// The number of parallel links of the dimension's kind, and the share of a link's rate that each
// gets.
static uint64_t links_between(const struct astra_dim *dim, double *share)
{
    uint64_t peers = 1;
    *share = 1;
    if (strcmp(kinds[dim->kind].kind, "ring") == 0)
        peers = dim->units > 2 ? 2 : 1;
    else if (strcmp(kinds[dim->kind].kind, "fully_connected") == 0)
        peers = dim->units > 1 ? dim->units - 1 : 1;
    // The links of a rank are shared equally among its peers. Where that leaves a remainder, one
    // link to each peer has the rate of all of them.
    if (dim->links % peers == 0)
        return dim->links / peers;
    *share = (double)dim->links / (double)peers;
    return 1;
}

// Returns the latency of a link with its share of the other costs of a message (NIC, router).
static double link_ns(const struct astra_dim *dim)
{
    if (strcmp(kinds[dim->kind].kind, "switch") == 0) // two links
        return dim->latency_ns + dim->nic_ns + dim->router_ns / 2;
    return dim->latency_ns + 2 * dim->nic_ns;
}

// Set a parameter by the tables of kind and link, which check the range.
static void set_text(struct reader *r, const struct place *place, const struct param *param,
                     void *base, const char *text)
{
    char path[PLACE_TEXT];
    param_set(param, base, text, place_text(place, path), r->err);
}

static void dim_fill(struct reader *r, const struct astra_dim *from, const struct place *links,
                     const struct place *bandwidth, struct dim_spec *dim)
{
    double share;
    char count[UNIT_TEXT], rate[UNIT_TEXT];
    dim->kind = topology_find(kinds[from->kind].kind);
    dim->size = (uint32_t)from->units;
    dim->ranks_per_port = 1;
    params_default(dim->kind->params, dim->kind->n_params, dim->params);
    link_defaults(&dim->links[0]);
    snprintf(count, sizeof count, "%llu", (unsigned long long)links_between(from, &share));
    set_text(r, links, &dim->kind->params[0], dim->params, count); // planes or parallel links
    dim->links[0].delay_ps = (ps_t)llround(link_ns(from) * (double)PS_PER_NS);
    format_rate((uint64_t)llround(from->gbytes_per_s * GB_BITS * share), rate);
    struct param rate_param = param_find(link_params, n_link_params, "rate");
    set_text(r, bandwidth, &rate_param, &dim->links[0], rate);
}

// ---- the file ----

// Check for a list with one value for each of `n` dimensions.
static bool list_check(struct reader *r, const struct place *list, size_t n)
{
    if (list->json == NULL)
        place_error(r->err, list, "is required: a list with a value per dimension");
    else if (read_list(r, list) && json_array_size(list->json) != n)
        place_error(r->err, list, "has %zu values for %zu dimensions", json_array_size(list->json),
                    n);
    else
        return json_is_array(list->json);
    return false;
}

// The number of dimension `d` in a list that may be missing; then 0.
static double read_optional(struct reader *r, const struct place *list, size_t d)
{
    struct place at = place_item(list, d);
    return list->json == NULL ? 0 : read_number(r, &at, 0, 1e9);
}

static void read_dims(struct reader *r, const struct place *root, size_t n)
{
    enum { KINDS, UNITS, LINKS, LATENCY, BANDWIDTH, N_LISTS };
    static const char *const names[N_LISTS] = {"topologies-per-dim", "units-count", "links-count",
                                               "link-latency", "link-bandwidth"};
    struct place lists[N_LISTS], nic = place_key(root, "nic-latency"),
                                 router = place_key(root, "router-latency");
    bool sound = (nic.json == NULL || list_check(r, &nic, n)) &&
                 (router.json == NULL || list_check(r, &router, n));
    for (size_t i = 0; i < N_LISTS; i++) {
        lists[i] = place_key(root, names[i]);
        sound &= list_check(r, &lists[i], n);
    }
    for (size_t d = 0; d < n && sound; d++) {
        struct place at[N_LISTS];
        struct astra_dim dim;
        size_t errors = r->err->n_errors;
        for (size_t i = 0; i < N_LISTS; i++)
            at[i] = place_item(&lists[i], d);
        read_kind(r, &at[KINDS], &dim);
        dim.units = read_count(r, &at[UNITS], RANKS_MAX);
        dim.links = read_count(r, &at[LINKS], 65536);
        dim.latency_ns = read_number(r, &at[LATENCY], 0, 1e9);
        dim.gbytes_per_s = read_number(r, &at[BANDWIDTH], 1e-4, 12500);
        dim.nic_ns = read_optional(r, &nic, d);
        dim.router_ns = read_optional(r, &router, d);
        if (r->err->n_errors == errors)
            dim_fill(r, &dim, &at[LINKS], &at[BANDWIDTH], &r->scenario->spec.dims[d]);
    }
}

static void read_root(struct reader *r, const struct place *root)
{
    struct keys keys = {.names = {"dimensions-count", "topologies-per-dim", "units-count",
                                  "links-count", "link-latency", "link-bandwidth", "nic-latency",
                                  "router-latency"},
                        .n = 8};
    for (size_t i = 0; ignored[i] != NULL; i++)
        keys_add(&keys, ignored[i]);
    if (!json_is_object(root->json)) {
        place_error(r->err, root, "must be an object, not %s", json_noun(root->json));
        return;
    }
    keys_check(r, root, &keys);
    struct place count = place_key(root, "dimensions-count");
    if (count.json == NULL) {
        place_error(r->err, &count, "is required: the number of dimensions");
        return;
    }
    size_t errors = r->err->n_errors;
    uint64_t n = read_count(r, &count, SPEC_MAX_DIMS);
    if (r->err->n_errors > errors)
        return;
    for (uint64_t d = 0; d < n; d++)
        // Dimensions of the file have the settings of the scenario beside their links.
        r->scenario->spec.dims[d] = r->scenario->base;
    read_dims(r, root, (size_t)n);
    r->scenario->spec.n_dims = r->err->n_errors == errors ? (uint32_t)n : 0;
}

bool astra_garnet_is(const char *text)
{
    static const char *const names[] = {
        "num-npus:",   "num-packages:", "package-rows:",   "local-rings:",
        "flit-width:", "vcs-per-vnet:", "vertical-rings:", "horizontal-rings:"};
    size_t found = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        found += strstr(text, names[i]) != NULL;
    // A JSON file may mention the names in a text.
    return found >= 2 && text[strspn(text, " \t\r\n")] != '{';
}

// A number of the file; `otherwise` where it has none that can be one of units.
static unsigned garnet_number(const char *text, const char *key, unsigned otherwise)
{
    const char *at = strstr(text, key);
    long value = at != NULL ? strtol(at + strlen(key), NULL, 10) : 0;
    return value >= 1 && value <= INT_MAX ? (unsigned)value : otherwise;
}

// What the file says of dimensions: NPUs of a package, columns and rows of packages.
char *astra_garnet_error(const char *text)
{
    unsigned npus = garnet_number(text, "num-npus:", 8),
             packages = garnet_number(text, "num-packages:", 4),
             rows = garnet_number(text, "package-rows:", 2), inside = npus / packages;
    bool switched = strstr(text, "NV_Switch") != NULL;
    char units[64];
    if (switched)
        snprintf(units, sizeof units, "[%u, %u]", inside, packages);
    else
        snprintf(units, sizeof units, "[%u, %u, %u]", inside, packages / rows, rows);
    return text_format(
        "is a network of Garnet: the file says neither how long a cycle is nor in which directions "
        "its rings run, and flits and virtual channels are not simulated. Give a network of the "
        "analytical back end, {\"dimensions-count\": %d, \"topologies-per-dim\": %s, "
        "\"units-count\": %s, ..}, with the width of a link by the length of a cycle as its "
        "bandwidth (docs/from/astra-sim.md)",
        switched ? 2 : 3, switched ? "[\"Ring\", \"Switch\"]" : "[\"Ring\", \"Ring\", \"Ring\"]",
        units);
}

// The error of a network of Garnet, to be freed; NULL for other files.
static char *garnet_read(const char *path)
{
    struct err unread = {0};
    size_t length = 0;
    char *text = file_read(path, &length, &unread);
    char *error = text != NULL && astra_garnet_is(text) ? astra_garnet_error(text) : NULL;
    free(text);
    err_free(&unread);
    return error;
}

bool astra_network_read(struct reader *r, const struct place *place)
{
    const char *file = json_string_value(place->json);
    struct err reading = {0};
    struct reader inner = *r;
    if (file == NULL)
        return place_error(r->err, place, "must be the name of a file, not %s",
                           json_noun(place->json)) == 0;
    inner.err = &reading;
    char *path = path_from(r->scenario->dir, file);
    json_t *json = json_file_read(path, &reading);
    bool read = json != NULL;
    if (read)
        read_root(&inner, &(struct place){.json = json});
    char *garnet = read ? NULL : garnet_read(path);
    if (garnet != NULL) {
        err_free(&reading);
        reading = (struct err){0};
        err_add(&reading, file, "%s", garnet);
    }
    free(garnet);
    // the messages of json_file_read() contain the file name already
    for (size_t i = 0; i < reading.n_items; i++)
        place_error(r->err, place, "%s%s%s", read ? file : "", read ? ": " : "",
                    reading.items[i].text);
    char where[PLACE_TEXT];
    if (reading.n_errors == 0)
        ignored_keys_warn(r->err, place_text(place, where), file, json, ignored);
    bool good = reading.n_errors == 0;
    json_decref(json);
    err_free(&reading);
    free(path);
    return good;
}
