// SPDX-License-Identifier: MIT
#include "config/object/infragraph.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/object/component_graph.h"
#include "config/object/infragraph_link.h"
#include "engine/base/memory.h"
#include "engine/base/table.h"
#include "engine/base/units.h"

#define COUNT_MAX "1000000"
#define COMPONENTS_MAX UINT64_C(4000000) // of all instances
#define LINKS_MAX (UINT64_C(1) << 20)
#define PAIRS_MAX (UINT64_C(1) << 24) // of all edges, those inside a switch too

bool infragraph_is(const char *text)
{
    return strstr(text, "devices") != NULL && strstr(text, "instances") != NULL &&
           strstr(text, "ep1") != NULL;
}

struct part {
    const char *name, *description;
    int kind; // choices[]
    uint64_t count, offset;
};

struct device {
    const char *name, *description;
    struct part *parts;
    size_t n_parts;
    uint64_t n_components, n_nodes; // nodes: 1 for a device without xpu
    bool has_ranks;
};

struct instance {
    const char *name, *description, *device_name;
    uint64_t count;
    const struct device *device;
    uint64_t first, first_node; // component and node of its index 0
};

struct edge_text {
    const char *scheme, *link;
};
struct end_text {
    const char *instance, *component, *device;
};

struct reading {
    struct reader *r;
    struct device *devices;
    struct instance *instances;
    size_t n_devices, n_instances, cap;
    struct component_graph graph;
    struct table pairs;
    uint64_t n_pairs;
    bool transfers; // a rate is in transfers a second
};

static const char *const choices[] = {"custom", "device", "cpu",    "xpu", "nic",
                                      "memory", "port",   "switch", NULL};
enum { CHOICE_DEVICE = 1, CHOICE_XPU = 3, CHOICE_NIC = 4, CHOICE_PORT = 6 };

#define PART(field) offsetof(struct part, field)
static const struct param part_rows[] = {
    PARAM_ROW("name", TEXT, PART(name), .help = "its name"),
    PARAM_ROW("description", TEXT, PART(description), .def = ""),
    PARAM_ROW("count", COUNT, PART(count), .min = "1", .max = COUNT_MAX),
    PARAM_ROW("choice", ENUM, PART(kind), .choices = choices),
};
static const struct param instance_rows[] = {
    PARAM_ROW("name", TEXT, offsetof(struct instance, name), .help = "its name"),
    PARAM_ROW("description", TEXT, offsetof(struct instance, description), .def = ""),
    PARAM_ROW("device", TEXT, offsetof(struct instance, device_name), .help = "its device"),
    PARAM_ROW("count", COUNT, offsetof(struct instance, count), .min = "1", .max = COUNT_MAX),
};
static const struct param edge_rows[] = {
    PARAM_ROW("scheme", TEXT, offsetof(struct edge_text, scheme), .help = "its scheme"),
    PARAM_ROW("link", TEXT, offsetof(struct edge_text, link), .help = "its link"),
};
static const struct param device_end_rows[] = {
    PARAM_ROW("component", TEXT, offsetof(struct end_text, component), .help = "its component"),
    PARAM_ROW("device", TEXT, offsetof(struct end_text, device), .def = ""),
};
static const struct param instance_end_rows[] = {
    PARAM_ROW("component", TEXT, offsetof(struct end_text, component), .help = "its component"),
    PARAM_ROW("instance", TEXT, offsetof(struct end_text, instance), .help = "its instance"),
};
#define ROWS(table) (table), sizeof(table) / sizeof *(table)

static bool failed(const struct reading *g) { return g->r->err->n_errors > 0; }

/* ---- devices and instances ---- */

static void read_part(struct reading *g, const struct place *place, struct device *device)
{
    struct keys keys = {0};
    struct part *part = &device->parts[device->n_parts];
    if (!read_object(g->r, place))
        return;
    read_params(g->r, place, &keys, ROWS(part_rows), part);
    for (size_t i = 0; choices[i] != NULL; i++)
        keys_add(&keys, choices[i]);
    keys_check(g->r, place, &keys);
    if (failed(g))
        return;
    if (part->kind == CHOICE_DEVICE)
        place_error(g->r->err, place,
                    "is a device inside a device, which is not read: give its components here");
    part->offset = device->n_components;
    device->n_components += part->count;
    device->has_ranks |= part->kind == CHOICE_XPU;
    device->n_parts++;
}

static void read_device(struct reading *g, const struct place *place)
{
    struct device *device = &g->devices[g->n_devices++];
    struct keys keys = {.names = {"name", "description", "components", "links", "edges"}, .n = 5};
    struct place name = place_key(place, "name"), parts = place_key(place, "components");
    if (!read_object(g->r, place))
        return;
    keys_check(g->r, place, &keys);
    device->name = json_string_value(name.json);
    if (device->name == NULL)
        place_error(g->r->err, &name, "must be a text");
    if (parts.json == NULL)
        place_error(g->r->err, &parts, "is required: a list of components");
    if (failed(g) || !read_list(g->r, &parts))
        return;
    size_t n = json_array_size(parts.json);
    device->parts = memory_zeroed(n + 1, sizeof *device->parts);
    for (size_t i = 0; i < n && !failed(g); i++) {
        struct place item = place_item(&parts, i);
        read_part(g, &item, device);
    }
    device->n_nodes = device->has_ranks ? device->n_components : 1;
}

static void read_instance(struct reading *g, const struct place *place)
{
    struct instance *instance = &g->instances[g->n_instances];
    struct keys keys = {0};
    if (!read_object(g->r, place))
        return;
    read_params(g->r, place, &keys, ROWS(instance_rows), instance);
    keys_check(g->r, place, &keys);
    for (size_t d = 0; !failed(g) && d < g->n_devices; d++)
        if (strcmp(g->devices[d].name, instance->device_name) == 0)
            instance->device = &g->devices[d];
    if (failed(g))
        return;
    if (instance->device == NULL) {
        place_error(g->r->err, place, "is of device \"%.60s\", which does not exist",
                    instance->device_name);
        return;
    }
    if (g->n_instances > 0) {
        const struct instance *last = instance - 1;
        instance->first = last->first + last->count * last->device->n_components;
        instance->first_node = last->first_node + last->count * last->device->n_nodes;
    }
    g->n_instances++;
    if (instance->first_node + instance->count * instance->device->n_nodes > COMPONENTS_MAX)
        place_error(g->r->err, place, "the file has more than %" PRIu64 " components",
                    COMPONENTS_MAX);
}

static void set_kinds(struct reading *g)
{
    const struct instance *last = g->n_instances > 0 ? &g->instances[g->n_instances - 1] : NULL;
    g->graph.n =
        last != NULL ? (uint32_t)(last->first_node + last->count * last->device->n_nodes) : 0;
    g->graph.kinds = memory_zeroed(g->graph.n + UINT32_C(1), 1);
    memset(g->graph.kinds, COMPONENT_OTHER, g->graph.n);
    for (size_t i = 0; i < g->n_instances; i++) {
        const struct device *device = g->instances[i].device;
        for (uint64_t c = 0; device->has_ranks && c < g->instances[i].count; c++)
            for (size_t p = 0; p < device->n_parts; p++) {
                const struct part *part = &device->parts[p];
                bool port = part->kind == CHOICE_NIC || part->kind == CHOICE_PORT;
                if (part->kind == CHOICE_XPU || port)
                    memset(g->graph.kinds + g->instances[i].first_node + c * device->n_nodes +
                               part->offset,
                           port ? COMPONENT_PORT : COMPONENT_RANK, part->count);
            }
    }
}

/* ---- slices ---- */

struct slice {
    size_t name; // characters
    uint64_t first, n, step;
};

// "nic", "nic[3]", "nic[0:4]", "nic[0:8:2]", of `count`.
static bool take_slice(const char *text, uint64_t count, struct slice *s)
{
    uint64_t values[3] = {0, count, 1};
    size_t piece = 0;
    *s = (struct slice){.name = strcspn(text, "["), .n = count, .step = 1};
    const char *at = text + s->name;
    if (*at == '\0')
        return s->name > 0;
    for (at++; piece < 3; at++) {
        char *end = (char *)(uintptr_t)at;
        if (*at >= '0' && *at <= '9')
            values[piece] = strtoull(at, &end, 10);
        at = end;
        if (*at != ':')
            break;
        piece++;
    }
    if (strcmp(at, "]") != 0)
        return false;
    if (piece == 0)
        values[1] = values[0] + 1;
    if (values[0] >= values[1] || values[1] > count || values[2] == 0 || values[2] > count)
        return false;
    s->first = values[0];
    s->step = values[2];
    s->n = (values[1] - values[0] + s->step - 1) / s->step;
    return true;
}

// The components that an end means: `n` = instances.n * parts.n, instances first.
struct end {
    const struct instance *instance;
    const struct part *part;
    struct slice instances, parts;
    uint64_t n;
};

static bool is_named(const char *text, size_t n, const char *name)
{
    return strlen(name) == n && strncmp(text, name, n) == 0;
}

static void find_part(struct reading *g, const struct place *place, const char *text,
                      struct end *end)
{
    const struct device *device = end->instance->device;
    size_t n = strcspn(text, "[");
    for (size_t p = 0; p < device->n_parts; p++)
        if (is_named(text, n, device->parts[p].name))
            end->part = &device->parts[p];
    if (end->part == NULL)
        place_error(g->r->err, place, "\"%.60s\" is no component of device %s", text, device->name);
    else if (!take_slice(text, end->part->count, &end->parts))
        place_error(g->r->err, place, "\"%.60s\" is not a slice of %" PRIu64 " components", text,
                    end->part->count);
    end->n = end->instances.n * end->parts.n;
    if (!failed(g) && end->n > PAIRS_MAX)
        place_error(g->r->err, place, "means more than %" PRIu64 " components", PAIRS_MAX);
}

// An end of an edge of the whole, or inside index `index` of `instance`.
static void read_end(struct reading *g, const struct place *place, const struct instance *instance,
                     struct end *end)
{
    struct keys keys = {0};
    struct end_text text = {0};
    *end = (struct end){.instance = instance, .instances = {.n = 1, .step = 1}};
    if (!read_object(g->r, place)) {
        if (!failed(g))
            place_error(g->r->err, place, "is required");
        return;
    }
    if (instance != NULL)
        read_params(g->r, place, &keys, ROWS(device_end_rows), &text);
    else
        read_params(g->r, place, &keys, ROWS(instance_end_rows), &text);
    keys_check(g->r, place, &keys);
    if (failed(g))
        return;
    if (instance != NULL && text.device != NULL && text.device[0] != '\0')
        place_error(g->r->err, place, "leads into a device inside a device, which is not read");
    size_t n = instance == NULL ? strcspn(text.instance, "[") : 0;
    for (size_t i = 0; i < g->n_instances && instance == NULL; i++)
        if (is_named(text.instance, n, g->instances[i].name))
            end->instance = &g->instances[i];
    if (end->instance == NULL)
        place_error(g->r->err, place, "\"%.60s\" is no instance", text.instance);
    else if (instance == NULL && !take_slice(text.instance, end->instance->count, &end->instances))
        place_error(g->r->err, place, "\"%.60s\" is not a slice of %" PRIu64 " instances",
                    text.instance, end->instance->count);
    if (!failed(g))
        find_part(g, place, text.component, end);
}

/* ---- edges ---- */

// Component `k` of an end, and the node that it is or is part of.
static uint64_t component_at(const struct end *end, uint64_t k, uint32_t *node)
{
    const struct device *device = end->instance->device;
    uint64_t i = end->instances.first + k / end->parts.n * end->instances.step,
             c = end->part->offset + end->parts.first + k % end->parts.n * end->parts.step;
    *node =
        (uint32_t)(end->instance->first_node + i * device->n_nodes + (device->has_ranks ? c : 0));
    return end->instance->first + i * device->n_components + c;
}

// A pair of components has one link, the first one that is given.
static void join(struct reading *g, const struct place *place, const struct end ends[2], uint64_t a,
                 uint64_t b, const struct component_link *link)
{
    struct component_link new = *link;
    uint64_t one = component_at(&ends[0], a, &new.ends[0]),
             other = component_at(&ends[1], b, &new.ends[1]);
    if (new.ends[0] == new.ends[1]) // the inside of a switch
        return;
    size_t *known = table_pair(&g->pairs, one < other ? one : other, one < other ? other : one);
    if (*known > 0)
        return;
    *known = 1;
    if (g->graph.n_links == LINKS_MAX) {
        place_error(g->r->err, place, "the file has more than %" PRIu64 " links", LINKS_MAX);
        return;
    }
    if (g->graph.n_links == g->cap)
        g->graph.links = memory_grow(g->graph.links, &g->cap, sizeof *g->graph.links);
    g->graph.links[g->graph.n_links++] = new;
}

// Read an edge: between instances, or for every index of `instance` inside it.
static void read_edge(struct reading *g, const struct place *owner, const struct place *place,
                      const struct instance *instance)
{
    struct keys keys = {.names = {"ep1", "ep2"}, .n = 2};
    struct edge_text text = {0};
    struct component_link link;
    struct end ends[2];
    if (!read_object(g->r, place))
        return;
    read_params(g->r, place, &keys, ROWS(edge_rows), &text);
    keys_check(g->r, place, &keys);
    for (int e = 0; e < 2 && !failed(g); e++) {
        struct place end = place_key(place, e == 0 ? "ep1" : "ep2");
        read_end(g, &end, instance, &ends[e]);
    }
    if (!failed(g))
        infragraph_link_find(g->r, owner, text.link, place, &link, &g->transfers);
    if (failed(g))
        return;
    bool all = strcmp(text.scheme, "many2many") == 0;
    uint64_t least = ends[0].n < ends[1].n ? ends[0].n : ends[1].n,
             pairs = all ? ends[0].n * ends[1].n : least;
    if (!all && strcmp(text.scheme, "one2one") != 0)
        place_error(g->r->err, place, "scheme \"%.40s\" is not one2one or many2many", text.scheme);
    uint64_t copies = instance != NULL ? instance->count : 1;
    if (pairs > PAIRS_MAX || pairs * copies > PAIRS_MAX - g->n_pairs)
        place_error(g->r->err, place, "the edges join more than %" PRIu64 " pairs", PAIRS_MAX);
    else
        g->n_pairs += pairs * copies;
    for (uint64_t c = 0; c < copies && !failed(g); c++) {
        if (instance != NULL)
            ends[0].instances.first = ends[1].instances.first = c;
        for (uint64_t k = 0; k < pairs && !failed(g); k++)
            join(g, place, ends, all ? k / ends[1].n : k, all ? k % ends[1].n : k, &link);
    }
}

static void read_edges(struct reading *g, const struct place *owner,
                       const struct instance *instance)
{
    struct place edges = place_key(owner, "edges");
    if (edges.json == NULL || !read_list(g->r, &edges))
        return;
    for (size_t i = 0; i < json_array_size(edges.json) && !failed(g); i++) {
        struct place item = place_item(&edges, i);
        read_edge(g, owner, &item, instance);
    }
}

// The inside of the servers; that of a switch has no links of its own.
static void read_insides(struct reading *g, const struct place *devices)
{
    for (size_t i = 0; i < g->n_instances && !failed(g); i++) {
        struct place device = place_item(devices, (size_t)(g->instances[i].device - g->devices));
        if (g->instances[i].device->has_ranks)
            read_edges(g, &device, &g->instances[i]);
    }
}

/* ---- the whole ---- */

static void read_all(struct reading *g, const struct place *root)
{
    struct keys keys = {.names = {"name", "description", "devices", "links", "instances", "edges"},
                        .n = 6};
    struct place devices = place_key(root, "devices"), instances = place_key(root, "instances");
    if (!read_object(g->r, root))
        return;
    keys_check(g->r, root, &keys);
    if (devices.json == NULL || instances.json == NULL)
        place_error(g->r->err, root, "has no list `devices` or `instances`");
    if (failed(g) || !read_list(g->r, &devices) || !read_list(g->r, &instances))
        return;
    g->devices = memory_zeroed(json_array_size(devices.json) + 1, sizeof *g->devices);
    g->instances = memory_zeroed(json_array_size(instances.json) + 1, sizeof *g->instances);
    for (size_t i = 0; i < json_array_size(devices.json) && !failed(g); i++) {
        struct place item = place_item(&devices, i);
        read_device(g, &item);
    }
    for (size_t i = 0; i < json_array_size(instances.json) && !failed(g); i++) {
        struct place item = place_item(&instances, i);
        read_instance(g, &item);
    }
    if (failed(g))
        return;
    set_kinds(g);
    read_insides(g, &devices);
    if (!failed(g))
        read_edges(g, root, NULL);
}

void infragraph_read(struct reader *r, const struct place *file, const struct link_spec *link,
                     struct graph_params *params)
{
    struct reading g = {.r = r};
    struct place root = place_key(file, "infrastructure");
    if (root.json != NULL && json_object_get(file->json, "annotations") != NULL)
        place_warn(r->err, file, "annotations are not read: ranks are the xpus in their order");
    read_all(&g, root.json != NULL ? &root : file);
    if (!failed(&g) && !component_graph_links(&g.graph, link, params))
        place_error(r->err, file, "there are too many links or switches");
    if (!failed(&g) && params->hosts == 0)
        place_error(r->err, file, "has no xpu: ranks are the components of choice xpu");
    if (!failed(&g) && g.transfers)
        place_warn(r->err, file,
                   "rates in transfers a second are not read: these links have that of the "
                   "dimension's `link`");
    for (size_t d = 0; d < g.n_devices; d++)
        free(g.devices[d].parts);
    free(g.devices);
    free(g.instances);
    free(g.graph.kinds);
    free(g.graph.links);
    table_free(&g.pairs);
}
