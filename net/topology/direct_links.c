// SPDX-License-Identifier: MIT
// Direct kinds: links between the ranks of a group, without switches. Packets for ranks further
// away pass the routers of the ranks in between (switch/router.c), on shortest paths.
//
// Routing is minimal and has no virtual channels, so the routers of a ring can wait for each
// other's buffers in a cycle. With PFC such a network may deadlock, as a real one would.
#include "net/topology/group.h"
#include "net/topology/kinds.h"

// A packet counts the routers it has crossed in 8 bits, so two ranks are at most 256 links apart.
#define MAX_DISTANCE 256
#define MAX_RING (2 * MAX_DISTANCE + 1)
#define MAX_MESH (MAX_DISTANCE + 1)
#define MAX_FULL 1024
#define MAX_DLN 4096
#define MAX_PORTS 4095 // ports of a rank

struct parallel_params {
    uint64_t parallel;
};

static const struct param parallel_params[] = {
    PARAM_ROW("parallel", COUNT, offsetof(struct parallel_params, parallel), .def = "1", .min = "1",
              .max = "64", .help = "links between two neighbours",
              .source = "Won et al., ISPASS 2023 (ASTRA-sim 2.0)"),
};

static uint64_t parallel_of(const void *params)
{
    return ((const struct parallel_params *)params)->parallel;
}

static void check_size(uint32_t size, uint32_t max, const char *path, struct err *err)
{
    if (size > max)
        err_add(err, path, "size %u exceeds the maximum %u of this kind", size, max);
}

static void check_ring(const void *params, uint32_t size, uint32_t ranks, const char *path,
                       struct err *err)
{
    (void)params, (void)ranks;
    check_size(size, MAX_RING, path, err);
}

static void check_mesh(const void *params, uint32_t size, uint32_t ranks, const char *path,
                       struct err *err)
{
    (void)params, (void)ranks;
    check_size(size, MAX_MESH, path, err);
}

static void check_full(const void *params, uint32_t size, uint32_t ranks, const char *path,
                       struct err *err)
{
    (void)ranks;
    check_size(size, MAX_FULL, path, err);
    if (size <= MAX_FULL && (size - 1) * parallel_of(params) > MAX_PORTS)
        err_add(err, path, "a rank would have %u links; the maximum is %d",
                (unsigned)((size - 1) * parallel_of(params)), MAX_PORTS);
}

static void check_dln(const void *params, uint32_t size, uint32_t ranks, const char *path,
                      struct err *err)
{
    (void)params, (void)ranks;
    check_size(size, MAX_DLN, path, err);
}

// Add the links from rank i to rank i + distance of one group, each link once, with or without
// wrap-around.
static void link_at(struct graph *g, uint32_t dim, const struct rank_group *group,
                    uint32_t distance, bool around, const struct link_spec *link)
{
    bool halfway = 2 * distance == group->size; // both directions lead to the same rank
    uint32_t n = around && !halfway ? group->size : group->size - distance;
    for (uint32_t i = 0; i < n; i++)
        graph_add_link(g, group_rank(group, i), group_rank(group, (i + distance) % group->size),
                       dim, link);
}

static void build_ring(struct graph *g, uint32_t dim, const void *params,
                       const struct link_spec *links)
{
    g->dim_direct[dim] = true;
    for (uint32_t k = 0; k < rank_groups(g, dim); k++) {
        struct rank_group group = rank_group_at(g, dim, k);
        for (uint64_t i = 0; group.size > 1 && i < parallel_of(params); i++)
            link_at(g, dim, &group, 1, true, &links[0]);
    }
}

// Number of links from a rank to its two neighbours, which are the same rank in a group of two.
static uint64_t ring_width(const void *params, uint32_t size)
{
    return parallel_of(params) * (size > 2 ? 2 : 1);
}

static void build_mesh(struct graph *g, uint32_t dim, const void *params,
                       const struct link_spec *links)
{
    (void)params;
    g->dim_direct[dim] = true;
    for (uint32_t k = 0; k < rank_groups(g, dim); k++) {
        struct rank_group group = rank_group_at(g, dim, k);
        link_at(g, dim, &group, 1, false, &links[0]);
    }
}

// No rank forwards, because all ranks are neighbours.
static void build_full(struct graph *g, uint32_t dim, const void *params,
                       const struct link_spec *links)
{
    for (uint32_t k = 0; k < rank_groups(g, dim); k++) {
        struct rank_group group = rank_group_at(g, dim, k);
        for (uint32_t distance = 1; distance < group.size; distance++)
            for (uint64_t i = 0; i < parallel_of(params); i++)
                link_at(g, dim, &group, distance, false, &links[0]);
    }
}

static uint64_t full_width(const void *params, uint32_t size)
{
    (void)size;
    return parallel_of(params);
}

// Links to the ranks at distances 1, 2, 4, ... below the size. A distance above half of the size is
// left out if its mirror image (size - distance) is also a power of two, which then has the same
// links.
static void build_dln(struct graph *g, uint32_t dim, const void *params,
                      const struct link_spec *links)
{
    (void)params;
    g->dim_direct[dim] = true;
    for (uint32_t k = 0; k < rank_groups(g, dim); k++) {
        struct rank_group group = rank_group_at(g, dim, k);
        for (uint32_t distance = 1; distance < group.size; distance *= 2) {
            uint32_t mirror = group.size - distance;
            bool power = (mirror & (mirror - 1)) == 0;
            if (!(power && mirror < distance))
                link_at(g, dim, &group, distance, true, &links[0]);
        }
    }
}

const struct topology_kind topology_ring = {
    .direct = true,
    .name = "ring",
    .doc = "direct: a ring of each group of ranks; the ranks forward. Two or three dimensions of "
           "rings are a torus",
    .source =
        "Dally & Towles, Principles and Practices of Interconnection Networks, 2004, chapter 5",
    .params = parallel_params,
    .n_params = sizeof parallel_params / sizeof *parallel_params,
    .params_bytes = sizeof(struct parallel_params),
    .shape = SHAPE_RING,
    .width = ring_width,
    .check = check_ring,
    .build = build_ring,
};

const struct topology_kind topology_mesh = {
    .direct = true,
    .name = "mesh",
    .doc = "direct: a line of each group of ranks, a ring without the link that closes it; the "
           "ranks forward. Two or three dimensions of lines are a grid",
    .source =
        "Dally & Towles, Principles and Practices of Interconnection Networks, 2004, chapter 5",
    .check = check_mesh,
    .build = build_mesh,
};

const struct topology_kind topology_fully_connected = {
    .direct = true,
    .name = "fully_connected",
    .doc = "direct: a link between every two ranks of a group",
    .source = "Won et al., ISPASS 2023 (ASTRA-sim 2.0)",
    .params = parallel_params,
    .n_params = sizeof parallel_params / sizeof *parallel_params,
    .params_bytes = sizeof(struct parallel_params),
    .shape = SHAPE_FULLY_CONNECTED,
    .width = full_width,
    .check = check_full,
    .build = build_full,
};

const struct topology_kind topology_dln = {
    .direct = true,
    .name = "dln",
    .doc = "direct: a distributed loop network, links to the ranks 1, 2, 4, .. further and "
           "back; the ranks forward",
    .source = "Bermond, Comellas & Hsu, JPDC 1995 (survey of distributed loop networks)",
    .check = check_dln,
    .build = build_dln,
};
