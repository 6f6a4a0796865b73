// SPDX-License-Identifier: MIT
// An all-reduce along one of two binary trees, which the chunks of a rank use in turn. All ranks
// but the root are the positions 1 to n - 1 of a complete tree in order (n = 2^k); the root, the
// last or the first rank, has its top as the only child. The whole vector goes up, is added at
// every node, and comes down again. A rank ends when it has sent it to its children, or, at a
// leaf, received it.
#include "collective/stream_internal.h"

enum tree_state {
    TREE_BEGIN,
    TREE_TWO_CHILDREN, // waits for two messages of children
    TREE_ONE_CHILD,
    TREE_UP,     // adds, or prepares; then sends to its parent
    TREE_PARENT, // waits for the parent's message
    TREE_DOWN,   // prepares to send to the children
    TREE_END,
};
#define ADDED_ONCE 16 // of an inner node: the first of two sums is done

struct place {
    bool root, leaf;
    uint32_t parent, child[2];
};

static struct place place_of(const struct stream *s)
{
    const struct stepper *step = &s->step;
    uint32_t first = stream_phase(s)->tree == 0 ? 0 : 1; // member of position 1
    uint32_t root = first == 0 ? step->n - 1 : 0, top = step->n / 2;
    if (step->index == root)
        return (struct place){.root = true, .child = {top - 1 + first}};
    // The lowest bit of a position that is set gives its level: leaves are odd. The next higher bit
    // shows whether the parent comes before or after it.
    uint32_t position = step->index + 1 - first, bit = position & (~position + 1);
    uint32_t parent = (position & 2 * bit) != 0 ? position - bit : position + bit;
    return (struct place){
        .leaf = bit == 1,
        .parent = position == top ? root : parent - 1 + first,
        .child = {position - bit / 2 - 1 + first, position + bit / 2 - 1 + first}};
}

static void exchange_up(struct stream *s, const struct place *place, ps_t now)
{
    uint64_t bytes = stream_phase(s)->bytes;
    s->step.state = (s->step.state & ADDED_ONCE) | TREE_PARENT;
    stream_send(s, place->parent, bytes, now);
    stream_receive(s, place->parent, bytes);
}

static void prepare(struct stream *s, unsigned state, bool adds)
{
    s->step.state = (s->step.state & ADDED_ONCE) | state;
    stream_wait(s, STREAM_DELAYED, stream_delay_ps(s, stream_phase(s)->bytes, adds));
}

static bool leaf_run(struct stream *s, const struct place *place, ps_t now)
{
    switch (s->step.state) {
    case TREE_BEGIN:
        prepare(s, TREE_UP, false);
        return false;
    case TREE_UP:
        exchange_up(s, place, now);
        return false;
    case TREE_PARENT:
        prepare(s, TREE_END, false);
        return false;
    default:
        return true;
    }
}

static bool root_run(struct stream *s, const struct place *place, ps_t now)
{
    uint64_t bytes = stream_phase(s)->bytes;
    switch (s->step.state) {
    case TREE_BEGIN:
        s->step.state = TREE_ONE_CHILD;
        stream_receive(s, place->child[0], bytes);
        return false;
    case TREE_ONE_CHILD:
        prepare(s, TREE_DOWN, true);
        return false;
    default:
        stream_send(s, place->child[0], bytes, now);
        return true;
    }
}

static bool inner_run(struct stream *s, const struct place *place, enum stream_event event,
                      ps_t now)
{
    unsigned state = s->step.state & (ADDED_ONCE - 1);
    uint64_t bytes = stream_phase(s)->bytes;
    bool received = event == STREAM_RECEIVED, once = (s->step.state & ADDED_ONCE) != 0;
    if (state == TREE_BEGIN) {
        s->step.state = TREE_TWO_CHILDREN;
        stream_receive(s, place->child[0], bytes);
        stream_receive(s, place->child[1], bytes);
    } else if (state == TREE_TWO_CHILDREN && received) {
        prepare(s, TREE_ONE_CHILD, true);
    } else if (state == TREE_ONE_CHILD && received) {
        prepare(s, TREE_UP, true);
    } else if (!once && event == STREAM_DELAYED) {
        s->step.state |= ADDED_ONCE;
    } else if (state == TREE_UP) {
        exchange_up(s, place, now);
    } else if (state == TREE_PARENT && received) {
        prepare(s, TREE_DOWN, true);
    } else if (state == TREE_DOWN) {
        stream_send(s, place->child[0], bytes, now);
        stream_send(s, place->child[1], bytes, now);
        return true;
    }
    return false;
}

bool stream_tree_run(struct stream *s, enum stream_event event, ps_t now)
{
    struct place place = place_of(s);
    return place.root   ? root_run(s, &place, now)
           : place.leaf ? leaf_run(s, &place, now)
                        : inner_run(s, &place, event, now);
}
