// SPDX-License-Identifier: MIT
// The `topology` object: dimensions with their links and what they override.
#include <string.h>

#include "config/astra_network.h"
#include "config/graph_file.h"

#define RANKS_MAX 65536

static const struct topology_kind *read_kind(struct reader *r, const struct place *place)
{
    struct keys words = {0};
    for (size_t i = 0; topology_registry[i] != NULL; i++)
        keys_add(&words, topology_registry[i]->name);
    int word = read_word(r, place, "topology kind", words.names);
    return word >= 0 ? topology_registry[word] : NULL;
}

// A link that is left out, or a part of it, is as links[0].
static void read_link(struct reader *r, const struct place *dim, const char *name,
                      struct link_spec *link)
{
    struct keys keys = {0};
    struct place place = place_key(dim, name);
    if (!read_object(r, &place))
        return;
    read_params(r, &place, &keys, link_params, n_link_params, link);
    keys_check(r, &place, &keys);
}

static void read_links(struct reader *r, const struct place *place, struct keys *keys,
                       struct dim_spec *dim)
{
    params_default(link_params, n_link_params, &dim->links[0]);
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
    struct place sw = place_key(place, "switch"), transport = place_key(place, "transport"),
                 cc = place_key(place, "cc");
    read_switch(r, &sw, &dim->sw);
    read_transport(r, &transport, &dim->transport);
    read_cc(r, &cc, dim);
    struct place routing = place_key(&sw, "routing"), relay = place_key(&routing, "relay");
    if (dim->sw.routing.relay != r->scenario->base.sw.routing.relay)
        place_error(r->err, &relay,
                    "relaying concerns all dimensions together: it is set in the scenario's own "
                    "`switch`, and cannot differ in one of them");
    overrides[OVERRIDE_SWITCH] = sw.json != NULL;
    overrides[OVERRIDE_TRANSPORT] = transport.json != NULL;
    overrides[OVERRIDE_CC] = cc.json != NULL;
    keys_add(keys, "switch");
    keys_add(keys, "transport");
    keys_add(keys, "cc");
    if (sw.json != NULL || transport.json != NULL || cc.json != NULL)
        fit_check(r, place, dim);
}

// Is all of it well? Overrides are not counted: they say nothing about the shape.
static bool read_dim(struct reader *r, const struct place *place, struct dim_spec *dim,
                     bool *overrides)
{
    struct keys keys = {0};
    size_t errors = r->err->n_errors;
    *dim = r->scenario->base;
    if (!read_object(r, place))
        return false;
    struct place kind = place_key(place, "kind");
    struct dim_params own = {0};
    params_default(dim_params, n_dim_params, &own);
    dim->kind = read_kind(r, &kind);
    if (dim->kind == NULL)
        return false;
    if (r->scenario->spec.network == NETWORK_ANALYTICAL && dim->kind->shape == SHAPE_OTHER)
        place_error(r->err, &kind,
                    "the analytical network has no closed form of %s, only of switch, ring and "
                    "fully_connected",
                    dim->kind->name);
    keys_add(&keys, "kind");
    read_params(r, place, &keys, dim_params, n_dim_params, &own);
    dim->size = (uint32_t)own.size;
    dim->ranks_per_port = (uint32_t)own.ranks_per_port;
    params_default(dim->kind->params, dim->kind->n_params, dim->params);
    read_params(r, place, &keys, dim->kind->params, dim->kind->n_params, dim->params);
    bool sound = r->err->n_errors == errors;
    read_links(r, place, &keys, dim);
    if (sound && dim->kind == &topology_graph) {
        struct place file = place_key(place, "file");
        graph_file_read(r, &file, (struct graph_params *)(void *)dim->params, &dim->links[0]);
        sound = r->err->n_errors == errors;
    }
    read_overrides(r, place, &keys, dim, overrides);
    keys_check(r, place, &keys);
    return sound;
}

// The dimensions as a graph without links, for asking which of them joins two ranks.
static void ranks_init(struct reader *r)
{
    const struct spec *spec = &r->scenario->spec;
    uint32_t sizes[SPEC_MAX_DIMS];
    for (uint32_t d = 0; d < spec->n_dims; d++)
        sizes[d] = spec->dims[d].size;
    graph_init(&r->ranks, spec->n_dims, sizes);
    for (uint32_t d = 0; d < spec->n_dims; d++)
        r->ranks.dim_fabric[d] = spec->dims[d].kind->fabric;
}

// What only the whole can tell; every dimension is sound by itself.
static void check_whole(struct reader *r, const struct place *dims)
{
    struct spec *spec = &r->scenario->spec;
    uint64_t ranks = 1;
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
            place_error(r->err, &share, "links of %s lead from rank to rank: no NIC is shared",
                        dim->kind->name);
        else if ((dim->kind->fabric ? ranks : dim->size) % dim->ranks_per_port != 0)
            place_error(r->err, &share, "%u ranks do not fill NICs of %u",
                        dim->kind->fabric ? (unsigned)ranks : dim->size, dim->ranks_per_port);
        if (dim->kind->check != NULL)
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
        place_error(r->err, place, "lists no dimension");
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

void read_topology(struct reader *r, const struct place *place)
{
    struct keys keys = {0};
    if (place->json == NULL)
        place_error(r->err, place, "is required: an object with the list `dims`");
    if (!read_object(r, place))
        return;
    struct place astra = place_key(place, "astra"), dims = place_key(place, "dims");
    if (astra.json == NULL)
        read_dims(r, &dims);
    else if (dims.json != NULL)
        place_error(r->err, &astra, "stands beside `dims`; give one of them");
    else if (astra_network_read(r, &astra))
        check_whole(r, &astra);
    keys_add(&keys, "dims");
    keys_add(&keys, "astra");
    keys_check(r, place, &keys);
}
