// SPDX-License-Identifier: MIT
// Reduction inside the network: aggregators in the switches add what their children send, and the
// root's result comes back down the tree, copied at every aggregator.
//
// The vector is cut into segments. A rank sends segment j to its aggregator in step j, and waits in
// step j + W - 1 for the result of segment j, where W is the window: the segments for which the
// aggregators have room. An aggregator that has segment j of all its children sends the sum to its
// parent; the root sends it to its children. So with p ranks
//   all_reduce      every rank sends n bytes and receives n
//   reduce          every rank sends n, the root of the operation receives n
//   broadcast       the root sends n, the others receive n
//   reduce_scatter  every rank sends n and receives its n/p
//   all_gather      every rank sends its n/p and receives the other ranks' parts
//   barrier         one message without bytes each way
// A rank that contributes nothing to a segment, or receives nothing of it, sends or receives a
// message without bytes instead: a rank may send segment j + W when it has the answer to segment j,
// so these messages hand on the places in the buffers. The segments of reduce_scatter and
// all_gather do not cross the borders of the ranks' parts.
//
// Every hop is a message of a reliable transport, so a loss is recovered on its hop. An aggregator
// adds a segment when all of it has arrived from all children.
// Not modelled: additions of packets before their message is complete (streaming aggregation),
// multicast by replication of a packet (an aggregator sends a copy for each child, over a link that
// is as fast as all ports of its switch together), the numeric formats that a switch can add.
// Sources: Graham et al., COMHPC 2016 (SHARP); Klenk et al., ISCA 2020 (reductions by the NVLink
// switch); Sapio et al., NSDI 2021 (SwitchML: slots, and their shadow copies).
#include "collective/algorithm/algorithm_settings.h"
#include "collective/algorithm/collective.h"
#include "collective/algorithm/reduction.h"

#define SEGMENT_BYTES 16384 // where there are no settings
#define SEGMENTS_MAX (UINT64_C(1) << 19)

#define FIELD(name) offsetof(struct coll_in_network_params, name)
static const struct param in_network_params[] = {
    PARAM_ROW("reduction_segment", BYTES, FIELD(segment_bytes), .def = "16KiB", .min = "64B",
              .max = "1GB",
              .help = "in_network: bytes that an aggregator adds and passes on at once"),
    PARAM_ROW("reduction_trees", COUNT, FIELD(trees), .def = "auto", .min = "1", .max = "64",
              .can_auto = true,
              .help = "in_network: aggregation trees that segments take in turn; auto = one in "
                      "each plane"),
};

static bool in_network_supports(const struct coll_shape *shape, const char **why)
{
    if (!coll_shape_valid(shape, why))
        return false;
    switch (shape->op) {
    case COLL_ALL_TO_ALL:
    case COLL_GATHER:
    case COLL_SCATTER:
    case COLL_SEND_RECV:
        *why = "nothing is added or copied in this operation";
        return false;
    default:
        break;
    }
    if (coll_reduction_segments(shape).n <= SEGMENTS_MAX)
        return true;
    *why = "the vector has more than 524288 segments";
    return false;
}

/* ---- segments ---- */

// Number of parts of the vector whose borders no segment crosses.
static uint32_t parts(const struct coll_shape *shape)
{
    bool parted = shape->op == COLL_REDUCE_SCATTER || shape->op == COLL_ALL_GATHER;
    return parted ? shape->ranks : 1;
}

// Segments of each part.
static uint64_t pieces(const struct coll_shape *shape)
{
    const struct coll_in_network_params *p = shape->params;
    uint64_t segment = p ? p->segment_bytes : SEGMENT_BYTES, n = parts(shape);
    uint64_t part = shape->bytes / n + (shape->bytes % n > 0);
    uint64_t whole = part / segment + (part % segment > 0);
    // An operation without bytes still has one segment, since its messages carry the
    // synchronization.
    return shape->op == COLL_BARRIER || whole == 0 ? 1 : whole;
}

struct coll_segments coll_reduction_segments(const struct coll_shape *shape)
{
    uint64_t n = parts(shape), each = pieces(shape), window = SEGMENTS_MAX;
    const struct coll_reduction *r = shape->reduction;
    uint64_t part = shape->op == COLL_BARRIER ? 0 : shape->bytes / n + (shape->bytes % n > 0);
    struct coll_segments s = {.n = n * each, .largest_bytes = part / each + (part % each > 0)};
    if (r && s.largest_bytes > 0)
        // Each tree has aggregators with buffers of their own, and segments alternate between the
        // trees, so the windows of the trees add up.
        window = r->n_trees * (r->buffer_bytes / coll_slot_bytes(s.largest_bytes));
    window = window > 0 ? window : 1;
    s.window = window < s.n ? window : s.n;
    return s;
}

// The rank whose part of the vector a segment belongs to; in a rooted operation, the root.
static uint32_t owner_of(const struct coll_shape *shape, uint64_t segment)
{
    // The parts of reduce_scatter and all_gather are those of the ranks in their order; other
    // operations have only part 0, which belongs to no rank.
    return coll_op_rooted(shape->op) ? shape->root : (uint32_t)(segment / pieces(shape));
}

static struct coll_send segment_send(const struct coll_shape *shape, uint64_t segment)
{
    uint64_t each = pieces(shape);
    struct coll_shape whole = {.ranks = parts(shape), .bytes = shape->bytes};
    uint32_t part = (uint32_t)(segment / each), piece = (uint32_t)(segment % each);
    uint64_t first = coll_segment(&whole, part);
    // Each part is cut into pieces by the rule that cuts a vector into the
    // segments of ranks, so piece sizes differ by at most one byte.
    struct coll_shape cut = {.ranks = (uint32_t)each,
                             .bytes = coll_segment(&whole, part + 1) - first};
    uint64_t offset = first + coll_segment(&cut, piece);
    struct coll_send send = {.src_offset = offset, .dst_offset = offset};
    if (shape->op != COLL_BARRIER)
        send.bytes = first + coll_segment(&cut, piece + 1) - offset;
    return send;
}

/* ---- trees ---- */

static bool below(const struct coll_tree *tree, uint32_t rank, uint32_t node)
{
    while (rank != node && rank != COLL_NO_PARENT)
        rank = tree->parent[rank];
    return rank == node;
}

// True if a node has something to contribute to a segment, or its subtree is to receive the result.
static bool contributes(const struct coll_shape *shape, const struct coll_tree *tree, uint32_t node,
                        uint64_t segment)
{
    // Only the owner of the segment has data to spread; all other subtrees pass on a message
    // without bytes that keeps the windows in step.
    if (shape->op == COLL_BROADCAST || shape->op == COLL_ALL_GATHER)
        return below(tree, owner_of(shape, segment), node);
    return true;
}

// True if a node or a rank below it is to have the result of a segment.
static bool receives(const struct coll_shape *shape, const struct coll_tree *tree, uint32_t node,
                     uint64_t segment)
{
    // Only the owner keeps the sum, so bytes flow down one branch of the tree.
    if (shape->op == COLL_REDUCE || shape->op == COLL_REDUCE_SCATTER)
        return below(tree, owner_of(shape, segment), node);
    if (shape->op == COLL_BROADCAST || shape->op == COLL_ALL_GATHER)
        return node != owner_of(shape, segment); // the sender has it already
    return true;
}

static const struct coll_place *place_of(const struct coll_shape *shape, uint32_t member)
{
    return &shape->reduction->places[member - shape->ranks];
}

static uint32_t member_of(const struct coll_shape *shape, const struct coll_tree *tree,
                          uint32_t node, bool down)
{
    // Each aggregator is two members of the program: one that adds on the way up, the next one that
    // copies on the way down.
    return node < shape->ranks ? node : tree->first_member + 2 * (node - shape->ranks) + down;
}

// Number of segments that go through a tree.
static uint64_t share_of(const struct coll_shape *shape, uint32_t tree)
{
    uint64_t n = coll_reduction_segments(shape).n, trees = shape->reduction->n_trees;
    // Segments alternate between the trees; the first trees carry the remainder.
    return n / trees + (tree < n % trees);
}

static uint32_t n_children(const struct coll_shape *shape, const struct coll_place *place)
{
    const struct coll_tree *tree = &shape->reduction->trees[place->tree];
    uint32_t a = place->node - shape->ranks;
    return tree->first[a + 1] - tree->first[a];
}

static bool is_root(const struct coll_shape *shape, const struct coll_place *place)
{
    return place->node == shape->ranks;
}

/* ---- the program ---- */

static uint32_t in_network_members(const struct coll_shape *shape)
{
    return shape->reduction ? shape->reduction->n_members : shape->ranks;
}

static uint32_t in_network_steps(const struct coll_shape *shape)
{
    struct coll_segments s = coll_reduction_segments(shape);
    return shape->ranks == 1 ? 0 : (uint32_t)(s.n + s.window - 1);
}

// An aggregator receives the messages of its segment s in step s, and sends it in the next step.
static uint32_t in_network_member_steps(const struct coll_shape *shape, uint32_t member)
{
    if (member < shape->ranks)
        return in_network_steps(shape);
    const struct coll_place *place = place_of(shape, member);
    // The root sends the result from its member that adds, so nothing is left for its second
    // member.
    bool idle = shape->ranks == 1 || (place->down && is_root(shape, place));
    return idle ? 0 : (uint32_t)share_of(shape, place->tree) + 1;
}

static uint32_t in_network_n_sends(const struct coll_shape *shape, uint32_t member, uint32_t step)
{
    if (shape->ranks == 1)
        return 0;
    if (member < shape->ranks)
        return step < coll_reduction_segments(shape).n;
    const struct coll_place *place = place_of(shape, member);
    // No segment is complete in step 0: step s sends what step s - 1 has received.
    if (step == 0)
        return 0;
    // At the root the sum turns round and goes to all children; below it, each member has one
    // parent.
    return place->down || is_root(shape, place) ? n_children(shape, place) : 1;
}

static uint32_t in_network_n_recvs(const struct coll_shape *shape, uint32_t member, uint32_t step)
{
    if (shape->ranks == 1)
        return 0;
    // Step j + W - 1 waits for the result of segment j, so the first W - 1 steps wait for nothing:
    // they fill the window.
    if (member < shape->ranks)
        return step + 1 >= coll_reduction_segments(shape).window;
    const struct coll_place *place = place_of(shape, member);
    // The last step only sends the last segment.
    if (step >= share_of(shape, place->tree))
        return 0;
    return place->down ? 1 : n_children(shape, place);
}

static struct coll_send send_up(const struct coll_shape *shape, uint32_t tree_number, uint32_t node,
                                uint64_t segment)
{
    const struct coll_reduction *r = shape->reduction;
    const struct coll_tree *tree = &r->trees[tree_number];
    struct coll_send send = segment_send(shape, segment);
    send.peer = member_of(shape, tree, tree->parent[node], false);
    // An aggregator counts the segments of its own tree, of which every n_trees-th belongs to it.
    send.peer_step = (uint32_t)(segment / r->n_trees);
    send.bytes = contributes(shape, tree, node, segment) ? send.bytes : 0;
    send.reduce = shape->op != COLL_BROADCAST && shape->op != COLL_ALL_GATHER;
    return send;
}

static struct coll_send send_down(const struct coll_shape *shape, uint32_t tree_number,
                                  uint32_t child, uint64_t segment)
{
    const struct coll_reduction *r = shape->reduction;
    const struct coll_tree *tree = &r->trees[tree_number];
    struct coll_send send = segment_send(shape, segment);
    // A rank counts all segments and is W - 1 steps behind with results; an aggregator counts the
    // segments of its tree.
    uint64_t step = child < shape->ranks ? segment + coll_reduction_segments(shape).window - 1
                                         : segment / r->n_trees;
    send.peer = member_of(shape, tree, child, true);
    send.peer_step = (uint32_t)step;
    send.bytes = receives(shape, tree, child, segment) ? send.bytes : 0;
    return send;
}

static struct coll_send in_network_send(const struct coll_shape *shape, uint32_t member,
                                        uint32_t step, uint32_t k)
{
    const struct coll_reduction *r = shape->reduction;
    if (member < shape->ranks)
        return send_up(shape, step % r->n_trees, member, step);
    const struct coll_place *place = place_of(shape, member);
    const struct coll_tree *tree = &r->trees[place->tree];
    uint64_t segment = (uint64_t)(step - 1) * r->n_trees + place->tree;
    if (!place->down && !is_root(shape, place))
        return send_up(shape, place->tree, place->node, segment);
    uint32_t child = tree->children[tree->first[place->node - shape->ranks] + k];
    return send_down(shape, place->tree, child, segment);
}

extern const struct coll_algorithm coll_in_network;
const struct coll_algorithm coll_in_network = {
    .name = "in_network",
    .doc = "reduction and multicast by aggregators in the switches (switch.reduction); ring "
           "where they are missing",
    .source = "Graham et al., COMHPC 2016; Klenk et al., ISCA 2020",
    .astra = "inNetwork",
    .offloaded = true,
    .params = in_network_params,
    .n_params = sizeof in_network_params / sizeof *in_network_params,
    .params_bytes = sizeof(struct coll_in_network_params),
    .fallback = "ring",
    .supports = in_network_supports,
    .steps = in_network_steps,
    .n_sends = in_network_n_sends,
    .send = in_network_send,
    .n_recvs = in_network_n_recvs,
    .members = in_network_members,
    .member_steps = in_network_member_steps,
};
