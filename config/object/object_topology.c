// SPDX-License-Identifier: MIT
// The `topology` object: dimensions with their links and overrides.
#include <stdlib.h>
#include <string.h>

#include "collective/nccl/nccl_machine.h"
#include "config/object/astra_network.h"
#include "config/object/graph_file.h"
#include "config/object/link.h"
#include "config/object/machine.h"
#include "config/object/objects.h"
#include "engine/text/rank_ranges.h"
#include "engine/text/schema_parts.h"
#include "net/topology/graph_kind.h"
#include "transport/transport.h"

struct dim_params {
    uint64_t size, ranks_per_port;
};

static const struct param dim_params[] = {
    PARAM_ROW("size", COUNT, offsetof(struct dim_params, size), .def = "auto", .min = "1",
              .max = "262144", .can_auto = true,
              .help = "ranks of a group; their product over all dimensions is the network; auto = "
                      "the hosts in a graph's file that says them"),
    PARAM_ROW("ranks_per_port", COUNT, offsetof(struct dim_params, ranks_per_port), .def = "1",
              .min = "1", .max = "1024",
              .help = "neighbouring ranks that share a NIC; not where links are direct",
              .source = "servers with fewer NICs than GPUs"),
};
enum { N_DIM_PARAMS = sizeof dim_params / sizeof *dim_params };

// ---- reading ----

static const struct topology_kind *read_kind(struct reader *r, const struct place *place)
{
    struct keys words = {0};
    for (size_t i = 0; topology_registry[i] != NULL; i++)
        keys_add(&words, topology_registry[i]->name);
    int word = read_word(r, place, "topology kind", words.names);
    return word >= 0 ? topology_registry[word] : NULL;
}

// Read a link. Missing keys keep the values of `link`, which holds those of links[0].
static void read_link(struct reader *r, const struct place *dim, const char *name,
                      struct link_spec *link)
{
    struct keys keys = {0};
    struct place place = place_key(dim, name);
    if (!read_object(r, &place))
        return;
    link_read(r, &place, &keys, link);
    keys_check(r, &place, &keys);
}

static void read_links(struct reader *r, const struct place *place, struct keys *keys,
                       struct dim_spec *dim)
{
    link_defaults(&dim->links[0]);
    read_link(r, place, "link", &dim->links[0]);
    keys_add(keys, "link");
    for (size_t i = 0; dim->kind->links != NULL && dim->kind->links[i] != NULL; i++) {
        dim->links[i + 1] = dim->links[0];
        read_link(r, place, dim->kind->links[i], &dim->links[i + 1]);
        keys_add(keys, dim->kind->links[i]);
    }
}

static void read_overrides(struct reader *r, const struct place *place, struct keys *keys,
                           struct dim_spec *dim, bool *overrides)
{
    struct place sw = place_key(place, "switch"), nic = place_key(place, "nic"),
                 transport = place_key(place, "transport"), cc = place_key(place, "cc");
    object_read(r, &sw, &switch_object, &dim->sw);
    object_read(r, &nic, &nic_object, &dim->nic);
    object_read(r, &transport, &transport_object, dim);
    object_read(r, &cc, &cc_object, dim);
    struct place routing = place_key(&sw, "routing"), relay = place_key(&routing, "relay");
    if (dim->sw.routing.relay != r->scenario->base.sw.routing.relay)
        place_error(r->err, &relay,
                    "relaying concerns all dimensions together: it is set in the scenario's own "
                    "`switch`, and cannot differ in one of them");
    overrides[OVERRIDE_SWITCH] = sw.json != NULL;
    overrides[OVERRIDE_NIC] = nic.json != NULL;
    overrides[OVERRIDE_TRANSPORT] = transport.json != NULL;
    // another kind of transport may have another default policy
    overrides[OVERRIDE_CC] = cc.json != NULL || dim->cc != r->scenario->base.cc;
    keys_add(keys, "switch");
    keys_add(keys, "nic");
    keys_add(keys, "transport");
    keys_add(keys, "cc");
    if (sw.json != NULL || transport.json != NULL || cc.json != NULL)
        fit_check(r, place, dim);
    if (transport.json != NULL || cc.json != NULL)
        fit_policy_check(r, place, dim);
}

// The size of a dimension, which a graph's file may say in place of the scenario. `read`: the file
// has been, and the shape has no errors.
static bool settle_size(struct reader *r, const struct place *place, struct dim_spec *dim,
                        uint64_t given, bool read)
{
    const struct graph_params *graph =
        dim->kind == &topology_graph ? (const void *)dim->params : NULL;
    uint64_t size = given == PARAM_AUTO && graph != NULL ? graph->hosts : given;
    dim->size = size <= RANKS_MAX ? (uint32_t)size : RANKS_MAX;
    if (size != PARAM_AUTO && size > 0)
        return true;
    const json_t *word = place_key(place, "size").json;
    bool auto_size = word == NULL || json_is_string(word);
    if (auto_size && (graph == NULL || read)) // else other errors come first
        place_key_error(r->err, place, "size",
                        "is required: ranks of a group; their product over all dimensions is the "
                        "network");
    return false;
}

// Read a dimension. Returns true if its shape has no errors; errors in overrides do not count.
static bool read_dim(struct reader *r, const struct place *place, struct dim_spec *dim,
                     bool *overrides)
{
    struct keys keys = {0};
    size_t errors = r->err->n_errors;
    // What the dimension does not state is inherited from the scenario.
    *dim = r->scenario->base;
    if (!read_object_of(r, place, "kind"))
        return false;
    struct place kind = place_key(place, "kind");
    struct dim_params own = {0};
    params_default(dim_params, N_DIM_PARAMS, &own);
    dim->kind = read_kind(r, &kind);
    if (dim->kind == NULL)
        return false;
    if (r->scenario->spec.network == NETWORK_ANALYTICAL && dim->kind->shape == SHAPE_OTHER)
        place_error(r->err, &kind,
                    "the analytical network has no closed form of %s, only of switch, ring, "
                    "fully_connected, leaf_spine, fat_tree and rail",
                    dim->kind->name);
    if (r->scenario->spec.route == ANALYTICAL_LINKS && dim->kind->shape == SHAPE_TIERED)
        place_error(r->err, &kind, "analytical_route links has no closed form of %s",
                    dim->kind->name);
    keys_add(&keys, "kind");
    read_params(r, place, &keys, dim_params, N_DIM_PARAMS, &own);
    dim->ranks_per_port = (uint32_t)own.ranks_per_port;
    params_default(dim->kind->params, dim->kind->n_params, dim->params);
    read_params(r, place, &keys, dim->kind->params, dim->kind->n_params, dim->params);
    bool sound = r->err->n_errors == errors;
    read_links(r, place, &keys, dim);
    struct place link = place_key(place, "link"), reverse = place_key(&link, "reverse");
    if (r->scenario->spec.network == NETWORK_ANALYTICAL && dim->links[0].reverse_rate_bps > 0)
        place_error(r->err, &reverse,
                    "the analytical network has no closed form of links that differ by direction");
    if (sound && dim->kind == &topology_graph) {
        struct place file = place_key(place, "file");
        graph_file_read(r, &file, (struct graph_params *)(void *)dim->params, &dim->links[0]);
        sound = r->err->n_errors == errors;
    }
    sound = settle_size(r, place, dim, own.size, sound) && sound;
    read_overrides(r, place, &keys, dim, overrides);
    keys_check_of(r, place, &keys, &topology_object);
    return sound;
}

// Build the dimensions as a graph without links, to look up which dimension two ranks share.
static void ranks_init(struct reader *r)
{
    const struct spec *spec = &r->scenario->spec;
    uint32_t sizes[SPEC_MAX_DIMS];
    for (uint32_t d = 0; d < spec->n_dims; d++)
        sizes[d] = spec->dims[d].size;
    graph_init(&r->scenario->site.ranks, spec->n_dims, sizes);
    for (uint32_t d = 0; d < spec->n_dims; d++)
        r->scenario->site.ranks.dim_fabric[d] = spec->dims[d].kind->fabric;
}

// Check the dimensions together; each has been checked by itself.
static void check_whole(struct reader *r, const struct place *dims)
{
    struct spec *spec = &r->scenario->spec;
    uint64_t ranks = 1;
    // The limit is checked in each step, so the product cannot overflow.
    for (uint32_t d = 0; d < spec->n_dims; d++) {
        ranks *= spec->dims[d].size;
        if (ranks > RANKS_MAX) {
            place_error(r->err, dims, "the sizes multiply to more than %d ranks", RANKS_MAX);
            return;
        }
    }
    size_t errors = r->err->n_errors;
    for (uint32_t d = 0; d < spec->n_dims; d++) {
        char path[PLACE_TEXT];
        struct place place = place_item(dims, d);
        const struct dim_spec *dim = &spec->dims[d];
        struct place share = place_key(&place, "ranks_per_port");
        if (dim->ranks_per_port > 1 && dim->kind->direct)
            place_error(r->err, &share,
                        "links of %s connect ranks directly: a NIC cannot be shared",
                        dim->kind->name);
        else if ((dim->kind->fabric ? ranks : dim->size) % dim->ranks_per_port != 0)
            place_error(r->err, &share, "%u ranks are not a multiple of %u per NIC",
                        dim->kind->fabric ? (unsigned)ranks : dim->size, dim->ranks_per_port);
        // closed forms have no switches with ports, nor routes
        if (dim->kind->check != NULL && spec->network != NETWORK_ANALYTICAL)
            dim->kind->check(dim->params, dim->size, (uint32_t)ranks, place_text(&place, path),
                             r->err);
    }
    if (r->err->n_errors == errors)
        ranks_init(r);
}

static void read_dims(struct reader *r, const struct place *place)
{
    struct scenario *s = r->scenario;
    size_t n = json_array_size(place->json), errors = r->err->n_errors;
    if (place->json == NULL)
        place_error(r->err, place, "is required: a list of dimensions, innermost first");
    else if (read_list(r, place) && n == 0)
        place_error(r->err, place, "must not be empty");
    else if (n > SPEC_MAX_DIMS)
        place_error(r->err, place, "%zu dimensions are more than %d", n, SPEC_MAX_DIMS);
    if (r->err->n_errors > errors)
        return;
    s->spec.n_dims = (uint32_t)n;
    bool sound = true;
    for (uint32_t d = 0; d < n; d++) {
        struct place dim = place_item(place, d);
        sound &= read_dim(r, &dim, &s->spec.dims[d], s->overrides[d]);
    }
    if (sound)
        check_whole(r, place);
}

// The innermost dimension must be the servers of the machine.
static void check_machine(struct reader *r, const struct place *place)
{
    const struct spec *spec = &r->scenario->spec;
    const struct nccl_machine *m = spec->machine;
    struct place machine = place_key(place, "machine");
    if (m != NULL && m->gpus > 1 && spec->n_dims > 0 && spec->dims[0].kind != NULL &&
        (spec->dims[0].kind->fabric || spec->dims[0].size != m->gpus))
        place_error(r->err, &machine, "%s has %u GPUs: the innermost dimension must join so many",
                    m->name, m->gpus);
}

static void topology_read(struct reader *r, const struct place *place, void *value)
{
    (void)value;
    struct keys keys = {0};
    if (place->json == NULL)
        place_error(r->err, place, "is required: an object with the list `dims`");
    if (!read_object(r, place) || !machine_read(r, place, &keys))
        return;
    struct place astra = place_key(place, "astra"), dims = place_key(place, "dims");
    if (dims.json == NULL && json_object_get(place->json, "kind") != NULL) {
        place_error(r->err, &dims,
                    "is required: a list of dimensions: write {\"dims\": [{\"kind\": .., "
                    "\"size\": ..}]}");
        return;
    }
    if (astra.json == NULL)
        read_dims(r, &dims);
    else if (dims.json != NULL)
        place_error(r->err, &astra, "cannot be combined with `dims`");
    else if (astra_network_read(r, &astra))
        check_whole(r, &astra);
    if (astra.json != NULL && json_object_get(r->scenario->root, "analytical_route") == NULL)
        r->scenario->spec.route = ANALYTICAL_LAST_DIM; // as ASTRA-sim 1.0, whose file it is
    check_machine(r, place);
    keys_add(&keys, "dims");
    keys_add(&keys, "astra");
    keys_check(r, place, &keys);
}

// Check the global settings; a dimension with overrides has checked its own.
static void check_base(struct reader *r, const struct place *root)
{
    const struct scenario *s = r->scenario;
    bool used = s->spec.n_dims == 0, pair_used = used;
    for (uint32_t d = 0; d < s->spec.n_dims; d++) {
        const bool *o = s->overrides[d];
        bool inherits = !o[OVERRIDE_TRANSPORT] && !o[OVERRIDE_CC];
        pair_used |= inherits;
        used |= inherits && !o[OVERRIDE_SWITCH];
    }
    if (pair_used)
        fit_policy_check(r, root, &s->base);
    if (used)
        fit_check(r, root, &s->base);
}

static void complete_stacks(struct dim_spec *dim)
{
    for (uint32_t t = 0; t < dim->n_stacks; t++)
        transport_complete(&dim->stacks[t].transport, dim->stacks[t].cc_preset, dim->nic.preset);
}

// A dimension whose transport is of another kind than the network's uses that kind's data class,
// since a job's class is the default of the network's kind.
static void own_class(struct dim_spec *dim, const struct dim_spec *base)
{
    for (uint32_t t = 0; t < dim->n_stacks; t++) {
        struct transport_spec *transport = &dim->stacks[t].transport;
        if (transport->cls == PARAM_AUTO && transport->ops != base->stacks[t].transport.ops)
            transport->cls = transport->ops->data_class;
    }
}

// Set the values of transports that depend on presets of policies. Called after all presets are
// known and the dimensions have inherited unset values of the global transport.
static void complete_transports(struct scenario *s)
{
    for (uint32_t d = 0; d < s->spec.n_dims; d++) {
        complete_stacks(&s->spec.dims[d]);
        own_class(&s->spec.dims[d], &s->base);
    }
    complete_stacks(&s->base);
}

static void topology_finish(struct reader *r, const struct place *place, void *value)
{
    check_base(r, place->parent);
    complete_transports(value);
}

// ---- the resolved form ----

// True if a policy of a dimension completes its transport in another way than the global one.
static bool completed_apart(const struct dim_spec *dim, const struct dim_spec *base)
{
    bool apart = false;
    for (uint32_t t = 0; t < dim->n_stacks; t++)
        apart |= memcmp(dim->stacks[t].transport.own, base->stacks[t].transport.own,
                        sizeof dim->transport.own) != 0;
    return apart;
}

static json_t *dim_json(const struct scenario *s, const struct dim_spec *dim, const bool *overrides)
{
    json_t *json = json_object();
    struct dim_params own = {dim->size, dim->ranks_per_port};
    json_object_set_new(json, "kind", json_string(dim->kind->name));
    write_params(json, dim_params, N_DIM_PARAMS, &own);
    write_params(json, dim->kind->params, dim->kind->n_params, dim->params);
    json_object_set_new(json, "link", link_json(&dim->links[0]));
    for (size_t i = 0; dim->kind->links != NULL && dim->kind->links[i] != NULL; i++)
        json_object_set_new(json, dim->kind->links[i], link_json(&dim->links[i + 1]));
    if (overrides[OVERRIDE_SWITCH])
        json_object_set_new(json, "switch", object_json(s, &switch_object, &dim->sw));
    if (overrides[OVERRIDE_NIC])
        json_object_set_new(json, "nic", object_json(s, &nic_object, &dim->nic));
    if (overrides[OVERRIDE_TRANSPORT] || completed_apart(dim, &s->base))
        json_object_set_new(json, "transport", object_json(s, &transport_object, dim));
    if (overrides[OVERRIDE_CC])
        json_object_set_new(json, "cc", object_json(s, &cc_object, dim));
    return json;
}

static json_t *topology_write(const struct scenario *s, const void *value)
{
    (void)value;
    json_t *dims = json_array(), *json = json_object();
    for (uint32_t d = 0; d < s->spec.n_dims; d++)
        json_array_append_new(dims, dim_json(s, &s->spec.dims[d], s->overrides[d]));
    json_object_set_new(json, "dims", dims);
    machine_write(json, &s->spec);
    return json;
}

// ---- the schema ----

// In a dimension `kind` is optional: without it the values modify the global policy.
static json_t *cc_override_schema(void)
{
    json_t *cases =
        json_pack("[o,o]", schema_ref("cc"),
                  json_pack("{s:s,s:{s:b}}", "type", "object", "properties", "kind", 0));
    return schema_one_or_list(json_pack("{s:o}", "anyOf", cases));
}

static json_t *dims_schema(void)
{
    json_t *kinds = json_array();
    for (size_t i = 0; topology_registry[i] != NULL; i++) {
        const struct topology_kind *kind = topology_registry[i];
        json_t *dim = schema_object();
        schema_key(dim, "kind", schema_constant(kind->name), true);
        schema_params(dim, dim_params, N_DIM_PARAMS);
        schema_params(dim, kind->params, kind->n_params);
        schema_key(dim, "link", schema_ref("link"), false);
        for (size_t l = 0; kind->links != NULL && kind->links[l] != NULL; l++)
            schema_key(dim, kind->links[l], schema_ref("link"), false);
        schema_key(dim, "switch", schema_ref("switch"), false);
        schema_key(dim, "nic", schema_ref("nic"), false);
        schema_key(dim, "transport", schema_one_or_list(schema_ref("transport")), false);
        schema_key(dim, "cc", cc_override_schema(), false);
        json_object_set_new(dim, "description", json_string(kind->doc));
        json_array_append_new(kinds, dim);
    }
    json_t *dims = schema_list(json_pack("{s:o}", "oneOf", kinds));
    json_object_set_new(dims, "minItems", json_integer(1));
    json_object_set_new(dims, "maxItems", json_integer(SPEC_MAX_DIMS));
    return dims;
}

static json_t *topology_schema(const struct cc_catalogue *policies)
{
    (void)policies;
    json_t *topology = schema_object();
    schema_key(topology, "dims", dims_schema(), false);
    schema_key(topology, "astra",
               json_pack("{s:s,s:s}", "type", "string", "description",
                         "a network file of ASTRA-sim 1.0, instead of dims"),
               false);
    machine_schema(topology);
    json_object_del(topology, "required");
    json_object_set_new(topology, "anyOf",
                        json_pack("[{s:[s]},{s:[s]},{s:[s]}]", "required", "dims", "required",
                                  "astra", "required", "machine"));
    return topology;
}

static void topology_definitions(json_t *defs) { json_object_set_new(defs, "link", link_schema()); }

// ---- the object ----

static bool topology_entry(const struct cc_catalogue *policies, size_t i, struct object_entry *out)
{
    (void)policies;
    const struct topology_kind *kind = topology_registry[i];
    if (kind == NULL)
        return false;
    *out = (struct object_entry){
        .name = kind->name, .doc = kind->doc, .source = kind->source, .kind = kind};
    return true;
}

static void topology_keys(const struct object_entry *entry, const char *prefix,
                          const struct key_sink *to)
{
    static const struct own_key own[] = {
        {"machine", "word or object", "",
         "of the topology itself: servers by name (docs/nccl.md); with `nodes`, and `fabric` for "
         "the dimension between them, in place of dims"},
        {"astra", "file name", "",
         "of the topology itself, in place of dims: a network file of ASTRA-sim 1.0"},
        {"link", "object", "100Gbps, 1us",
         "rate and delay of a rank's links; a trunk that leaves them out has the same"},
        {"switch", "object", "the global one", "settings that differ in this dimension"},
        {"nic", "word or object", "the global one", "settings that differ in this dimension"},
        {"transport", "object", "the global one", "settings that differ in this dimension"},
        {"cc", "object", "the global one", "policy of this dimension"},
    };
    const struct topology_kind *kind = entry->kind;
    to->table(to->ctx, prefix, dim_params, N_DIM_PARAMS);
    to->table(to->ctx, prefix, kind->params, kind->n_params);
    link_keys("link", to);
    for (size_t i = 0; kind->links != NULL && kind->links[i] != NULL; i++)
        link_keys(kind->links[i], to);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        to->own(to->ctx, &own[i]);
}

static void topology_free(void *value)
{
    struct scenario *s = value;
    free(s->spec.own_machine);
    for (uint32_t d = 0; d < s->spec.n_dims; d++)
        if (s->spec.dims[d].kind == &topology_graph)
            free(((struct graph_params *)(void *)s->spec.dims[d].params)->links);
}

const struct object topology_object = {
    .key = "topology",
    .doc = "kinds of dimensions",
    .stage = STAGE_NETWORK,
    .required = true,
    .read = topology_read,
    .finish = topology_finish,
    .write = topology_write,
    .schema = topology_schema,
    .definitions = topology_definitions,
    .free = topology_free,
    .entry = topology_entry,
    .keys = topology_keys,
};
