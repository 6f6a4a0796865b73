// SPDX-License-Identifier: MIT
// The nodes of a rank are sorted by id; the search for a cycle is Kahn's.
#include "workload/nodes/node_check.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "collective/algorithm/grid.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

struct checked_node {
    uint64_t id;
    uint32_t left;        // dependencies that have not ended
    uint32_t first, last; // its range in `before`, until they are inverted
    uint32_t next;        // first of its entries in `links` + 1
    uint8_t kind, stream;
};

struct link {
    uint32_t node, next;
};

struct channel_end { // a send or a receive
    uint32_t src, dst, tag, rank;
    uint64_t node, bytes;
    bool sends, ordered;
};

struct issued { // a collective of a member, in the order of the source
    uint32_t group, number, rank, op, root, dims;
    int32_t priority;
    uint64_t node, bytes;
    const struct coll_uneven *uneven;
};

struct check {
    const struct node_program *p;
    const char *path;
    struct err *err;
    uint32_t n_errors;
    /* nodes of the present rank */
    struct checked_node *nodes;
    size_t n, cap;
    uint64_t *before;
    size_t n_before, cap_before;
    /* of all ranks */
    struct channel_end *ends;
    size_t n_ends, cap_ends;
    struct issued *issued;
    size_t n_issued, cap_issued;
    uint32_t *numbers; // [group] collectives of the present rank
    bool **members;    // [group] set of ranks; NULL = all
};

__attribute__((format(printf, 2, 3))) static void add(struct check *c, const char *format, ...)
{
    if (c->n_errors++ >= NODE_CHECK_ERRORS)
        return;
    va_list args;
    char text[512];
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    err_add(c->err, c->path, "%s", text);
}

// For the format %llu, whose type differs from uint64_t on some platforms.
static unsigned long long wide(uint64_t value) { return value; }

/* ---- reading a rank ---- */

static void check_peer(struct check *c, uint32_t rank, const struct node *node)
{
    const char *word = node->kind == NODE_SEND ? "sends to" : "receives from";
    if (node->peer >= c->p->n_ranks)
        add(c, "rank %u, node %llu: %s rank %u, but the job has %u ranks", rank, wide(node->id),
            word, node->peer, c->p->n_ranks);
    else if (node->peer == rank)
        add(c, "rank %u, node %llu: %s itself", rank, wide(node->id), word);
    if (c->n_ends == c->cap_ends)
        c->ends = memory_grow(c->ends, &c->cap_ends, sizeof *c->ends);
    bool sends = node->kind == NODE_SEND;
    c->ends[c->n_ends++] = (struct channel_end){.src = sends ? rank : node->peer,
                                                .dst = sends ? node->peer : rank,
                                                .tag = node->tag,
                                                .rank = rank,
                                                .node = node->id,
                                                .bytes = node->bytes,
                                                .sends = sends,
                                                .ordered = node->order > 0};
}

static void check_collective(struct check *c, uint32_t rank, const struct node *node)
{
    if (node->group >= c->p->n_groups) {
        add(c, "rank %u, node %llu: group %u is not defined", rank, wide(node->id), node->group);
        return;
    }
    if (c->members[node->group] != NULL && !c->members[node->group][rank]) {
        add(c, "rank %u, node %llu: the rank is not in group %s", rank, wide(node->id),
            c->p->groups[node->group].name);
        return;
    }
    if (c->n_issued == c->cap_issued)
        c->issued = memory_grow(c->issued, &c->cap_issued, sizeof *c->issued);
    c->issued[c->n_issued++] = (struct issued){.group = node->group,
                                               .number = c->numbers[node->group]++,
                                               .rank = rank,
                                               .op = node->op,
                                               .root = node->root,
                                               .dims = node->dims,
                                               .node = node->id,
                                               .bytes = node->bytes,
                                               .priority = node->priority,
                                               .uneven = node->uneven};
}

static void take(struct check *c, uint32_t rank, const struct node *node)
{
    // All nodes of a rank are kept until its last one, since a node may depend on one that comes
    // later.
    if (c->n == c->cap)
        c->nodes = memory_grow(c->nodes, &c->cap, sizeof *c->nodes);
    while (c->n_before + node->n_after > c->cap_before)
        c->before = memory_grow(c->before, &c->cap_before, sizeof *c->before);
    if (node->n_after > 0)
        memcpy(&c->before[c->n_before], node->after, node->n_after * sizeof *c->before);
    c->nodes[c->n++] = (struct checked_node){.id = node->id,
                                             .first = (uint32_t)c->n_before,
                                             .last = (uint32_t)(c->n_before + node->n_after),
                                             .kind = node->kind,
                                             .stream = node->stream};
    c->n_before += node->n_after;
    if (node->kind == NODE_SEND || node->kind == NODE_RECV)
        check_peer(c, rank, node);
    else if (node->kind == NODE_COLLECTIVE)
        check_collective(c, rank, node);
}

/* ---- dependencies of a rank ---- */

struct by_id {
    uint64_t id;
    uint32_t node;
};

static int compare_ids(const void *a, const void *b)
{
    const struct by_id *x = a, *y = b;
    if (x->id != y->id)
        return x->id < y->id ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static const struct by_id *find(const struct by_id *sorted, size_t n, uint64_t id)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (sorted[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && sorted[low].id == id ? &sorted[low] : NULL;
}

static void link_add(struct check *c, struct link *links, uint32_t *n, uint32_t before,
                     uint32_t node)
{
    links[*n] = (struct link){node, c->nodes[before].next};
    c->nodes[before].next = ++*n;
    c->nodes[node].left++;
}

// A node that is never reached and that another such node leads to, repeatedly, ends in the cycle.
static void report_cycle(struct check *c, const struct link *links, uint32_t rank)
{
    uint32_t *from = memory_zeroed(c->n, sizeof *from); // some unreached node before it, + 1
    bool *seen = memory_zeroed(c->n, sizeof *seen);
    uint32_t at = UINT32_MAX;
    for (uint32_t i = 0; i < c->n; i++) {
        if (c->nodes[i].left == 0)
            continue;
        at = at == UINT32_MAX ? i : at;
        for (uint32_t l = c->nodes[i].next; l > 0; l = links[l - 1].next)
            from[links[l - 1].node] = i + 1;
    }
    // Each unreached node has an unreached node before it, so going backwards for long enough leads
    // into a cycle. A longest path without repetition ends there.
    for (; !seen[at]; at = from[at] - 1)
        seen[at] = true;
    struct text text = {0};
    FILE *out = text_open(&text);
    uint32_t start = at;
    // Eight nodes suffice to find the mistake; cycles of real traces may have thousands.
    for (unsigned n = 0; n == 0 || (at != start && n < 8); n++, at = from[at] - 1)
        fprintf(out, "%llu after ", wide(c->nodes[at].id));
    fprintf(out, at == start ? "%llu" : "... %llu", wide(c->nodes[start].id));
    char *cycle = text_close(out, &text);
    add(c, "rank %u: its nodes wait for each other in a cycle: %s%s", rank, cycle,
        c->p->in_order ? " (streams run in order)" : "");
    free(cycle);
    free(from);
    free(seen);
}

static void check_cycles(struct check *c, const struct link *links, uint32_t rank)
{
    // Topological sort by Kahn's algorithm: a node enters the queue when all of its dependencies
    // have entered it. A node that never enters depends on a cycle.
    uint32_t *queue = memory_zeroed(c->n + 1, sizeof *queue), n = 0;
    for (uint32_t i = 0; i < c->n; i++)
        if (c->nodes[i].left == 0)
            queue[n++] = i;
    for (uint32_t at = 0; at < n; at++)
        for (uint32_t l = c->nodes[queue[at]].next; l > 0; l = links[l - 1].next)
            if (--c->nodes[links[l - 1].node].left == 0)
                queue[n++] = links[l - 1].node;
    free(queue);
    if (n < c->n)
        report_cycle(c, links, rank);
}

// Link every node to those after it: by its dependencies, and by the order of its stream.
static bool link_all(struct check *c, const struct by_id *sorted, struct link *links, uint32_t rank)
{
    uint32_t n = 0, last[NODE_STREAMS_MAX] = {0};
    bool good = true;
    for (uint32_t i = 0; i < c->n; i++) {
        struct checked_node *node = &c->nodes[i];
        for (uint32_t k = node->first; k < node->last; k++) {
            const struct by_id *before = find(sorted, c->n, c->before[k]);
            if (before == NULL)
                add(c, "rank %u, node %llu: is after node %llu, which does not exist", rank,
                    wide(node->id), wide(c->before[k]));
            else
                link_add(c, links, &n, before->node, i);
            good = good && before != NULL;
        }
        if (!c->p->in_order || node->stream >= NODE_STREAMS_MAX)
            continue;
        if (last[node->stream] > 0)
            link_add(c, links, &n, last[node->stream] - 1, i);
        last[node->stream] = i + 1;
    }
    return good;
}

static void check_rank(struct check *c, uint32_t rank)
{
    struct by_id *sorted = memory_zeroed(c->n + 1, sizeof *sorted);
    struct link *links = memory_zeroed(c->n_before + c->n + 1, sizeof *links);
    uint32_t errors = c->n_errors;
    for (uint32_t i = 0; i < c->n; i++)
        sorted[i] = (struct by_id){c->nodes[i].id, i};
    qsort(sorted, c->n, sizeof *sorted, compare_ids);
    for (size_t i = 1; i < c->n; i++)
        if (sorted[i].id == sorted[i - 1].id)
            add(c, "rank %u: two nodes have the id %llu", rank, wide(sorted[i].id));
    // With missing or repeated ids the graph is not the one that the user meant, and a cycle in it
    // would be a second message about the same mistake.
    if (link_all(c, sorted, links, rank) && c->n_errors == errors)
        check_cycles(c, links, rank);
    free(sorted);
    free(links);
}

/* ---- between ranks ---- */

static int compare_ends(const void *a, const void *b)
{
    const struct channel_end *x = a, *y = b;
    if (x->src != y->src)
        return x->src < y->src ? -1 : 1;
    if (x->dst != y->dst)
        return x->dst < y->dst ? -1 : 1;
    if (x->tag != y->tag)
        return x->tag < y->tag ? -1 : 1;
    // The sends of a channel come before its receives, as check_sizes() needs them.
    if (x->sends != y->sends)
        return x->sends ? -1 : 1;
    return (x->node > y->node) - (x->node < y->node);
}

static bool same_channel(const struct channel_end *a, const struct channel_end *b)
{
    return a->src == b->src && a->dst == b->dst && a->tag == b->tag;
}

// The sends, then as many receives, of a channel whose k-th ones match: their sizes must be equal.
static void check_sizes(struct check *c, const struct channel_end *ends, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct channel_end *send = &ends[i], *receive = &ends[n + i];
        // Only where the program states the order of both is it known before the run which receive
        // takes which send.
        if (send->ordered && receive->ordered && send->bytes != receive->bytes)
            add(c,
                "rank %u, node %llu: receives %llu bytes, but the message that it matches, node "
                "%llu of rank %u, has %llu",
                receive->rank, wide(receive->node), wide(receive->bytes), wide(send->node),
                send->rank, wide(send->bytes));
    }
}

static void check_channels(struct check *c)
{
    if (c->n_ends > 0)
        qsort(c->ends, c->n_ends, sizeof *c->ends, compare_ends);
    for (size_t i = 0, end; i < c->n_ends; i = end) {
        size_t sends = 0;
        for (end = i; end < c->n_ends && same_channel(&c->ends[i], &c->ends[end]); end++)
            sends += c->ends[end].sends;
        size_t receives = end - i - sends;
        if (sends == receives) {
            check_sizes(c, &c->ends[i], sends);
            continue;
        }
        // The first message that has no partner: behind as many pairs as the other side has.
        const struct channel_end *extra =
            sends > receives ? &c->ends[i + receives] : &c->ends[i + sends + sends];
        add(c,
            "rank %u, node %llu: no %s with tag %u matches it: rank %u sends %zu such messages "
            "to rank %u, which receives %zu",
            extra->rank, wide(extra->node), extra->sends ? "receive" : "send", extra->tag,
            extra->src, sends, extra->dst, receives);
    }
}

static int compare_issued(const void *a, const void *b)
{
    const struct issued *x = a, *y = b;
    if (x->group != y->group)
        return x->group < y->group ? -1 : 1;
    if (x->number != y->number)
        return x->number < y->number ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static char *issued_text(const struct issued *x)
{
    return text_format("%s of %llu bytes%s, root %u, priority %d",
                       coll_op_name((enum coll_op)x->op), wide(x->bytes),
                       x->uneven != NULL ? " and vectors of its own" : "", x->root, x->priority);
}

// The collectives of one number in one group: all members have it, and it is the same.
static void check_number(struct check *c, const struct issued *first, size_t n)
{
    const struct node_group *group = &c->p->groups[first->group];
    uint32_t size = coll_ranks(&group->schedule);
    for (size_t i = 1; i < n; i++) {
        const struct issued *other = &first[i];
        if (other->op == first->op && other->bytes == first->bytes && other->root == first->root &&
            other->dims == first->dims && other->priority == first->priority &&
            other->uneven == first->uneven)
            continue;
        char *a = issued_text(first), *b = issued_text(other);
        add(c,
            "group %s: collective %u is node %llu of rank %u, %s, but node %llu of rank %u, %s%s",
            group->name, first->number, wide(first->node), first->rank, a, wide(other->node),
            other->rank, b, strcmp(a, b) == 0 ? ": other vectors" : "");
        free(a);
        free(b);
        return;
    }
    if (n < size)
        add(c, "group %s: collective %u (node %llu of rank %u) is issued by %zu of %u members",
            group->name, first->number, wide(first->node), first->rank, n, size);
}

static void check_groups(struct check *c)
{
    uint32_t faulty = UINT32_MAX; // one error for a group is enough: later numbers are shifted
    if (c->n_issued > 0)
        qsort(c->issued, c->n_issued, sizeof *c->issued, compare_issued);
    for (size_t i = 0, end; i < c->n_issued; i = end) {
        for (end = i; end < c->n_issued && c->issued[end].group == c->issued[i].group &&
                      c->issued[end].number == c->issued[i].number;)
            end++;
        uint32_t errors = c->n_errors;
        if (c->issued[i].group != faulty)
            check_number(c, &c->issued[i], end - i);
        if (c->n_errors > errors)
            faulty = c->issued[i].group;
    }
}

/* ---- the program ---- */

static void members_init(struct check *c)
{
    c->members = memory_zeroed(c->p->n_groups, sizeof *c->members);
    for (uint32_t g = 0; g < c->p->n_groups; g++) {
        const struct node_group *group = &c->p->groups[g];
        uint32_t n = coll_ranks(&group->schedule);
        if (group->ranks == NULL)
            continue;
        c->members[g] = memory_zeroed(c->p->n_ranks, sizeof **c->members);
        for (uint32_t m = 0; m < n; m++)
            c->members[g][group->ranks[m]] = true;
    }
}

static void check_free(struct check *c)
{
    for (uint32_t g = 0; g < c->p->n_groups; g++)
        free(c->members[g]);
    free(c->members);
    free(c->numbers);
    free(c->nodes);
    free(c->before);
    free(c->ends);
    free(c->issued);
}

int node_program_check(const struct node_program *p, const char *path, struct err *err)
{
    struct check c = {.p = p, .path = path, .err = err};
    void *cursor = p->source->open(p->self);
    size_t errors = err->n_errors;
    members_init(&c);
    c.numbers = memory_zeroed(p->n_groups, sizeof *c.numbers);
    for (uint32_t r = 0; r < p->n_ranks && c.n_errors < NODE_CHECK_ERRORS; r++) {
        struct node node = {0};
        int got;
        c.n = c.n_before = 0;
        memset(c.numbers, 0, p->n_groups * sizeof *c.numbers);
        while ((got = p->source->next(cursor, r, &node, err)) > 0)
            take(&c, r, &node);
        if (got < 0)
            break;
        check_rank(&c, r);
    }
    // Messages and collectives are compared between ranks only if each rank is sound: a rank that
    // is missing nodes would be reported again by all of its partners.
    if (err->n_errors == errors) {
        check_channels(&c);
        check_groups(&c);
    }
    p->source->close(cursor);
    check_free(&c);
    return err->n_errors == errors ? 0 : -1;
}
