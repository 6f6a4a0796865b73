// SPDX-License-Identifier: MIT
#include "cli/synth/synth.h"

#include <math.h>
#include <nettle/sha2.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"

/* ---- hidden name ---- */

#define HIDDEN_NAME 16

#define BYTES 6

// Write "n" and 12 hexadecimal digits of SHA-256 of the seed and the name. Who knows the seed can
// test a guess of the name.
static void hidden_name(uint64_t seed, const char *name, char hidden[HIDDEN_NAME])
{
    struct sha256_ctx sha;
    uint8_t key[8], digest[SHA256_DIGEST_SIZE];
    for (unsigned i = 0; i < sizeof key; i++)
        key[i] = (uint8_t)(seed >> 8 * i);
    sha256_init(&sha);
    sha256_update(&sha, sizeof key, key);
    sha256_update(&sha, strlen(name), (const uint8_t *)name);
    sha256_digest(&sha, sizeof digest, digest);
    hidden[0] = 'n';
    text_hex(digest, BYTES, hidden + 1);
}

/* ---- made source ---- */

// A rank that runs its program again has a node between two runs, behind all nodes that nothing is
// after; nodes that are after nothing are behind it.

struct made_source {
    const struct node_program *from;
    struct synth_survey survey;
    struct synth_growth growth;
    struct synth_times *times;
    struct synth_wish wish;
    struct synth_seat *seat; // [rank]
};

struct made_rank {
    uint32_t copy;
    bool begun;
    struct synth_draw draw;
    uint64_t *ends; // [n_ends] nodes of the source that no other is after
    size_t n_ends;
};

struct made_cursor {
    const struct made_source *s;
    void **inner; // [replica * (repeat + 1) + copy] over the source; the last looks for ends
    struct made_rank *ranks;
    uint64_t *after;
    size_t cap_after;
    char name[HIDDEN_NAME];
};

/* ---- opening ---- */

static size_t n_inner(const struct made_source *s)
{
    return (size_t)s->growth.n_replicas * (s->wish.repeat + 1);
}

static void *made_open(const void *self)
{
    const struct made_source *s = self;
    struct made_cursor *c = memory_zeroed(1, sizeof *c);
    c->s = s;
    c->ranks = memory_zeroed(s->growth.n_ranks, sizeof *c->ranks);
    c->inner = memory_zeroed(n_inner(s), sizeof *c->inner);
    return c;
}

static void made_close(void *cursor)
{
    struct made_cursor *c = cursor;
    for (size_t i = 0; i < n_inner(c->s); i++)
        if (c->inner[i] != NULL)
            c->s->from->source->close(c->inner[i]);
    for (uint32_t r = 0; r < c->s->growth.n_ranks; r++)
        free(c->ranks[r].ends);
    free(c->inner);
    free(c->ranks);
    free(c->after);
    free(c);
}

// Read the next node of the source's rank that `rank` is like.
static int inner_next(struct made_cursor *c, uint32_t rank, uint32_t copy, struct node *node,
                      struct err *err)
{
    const struct made_source *s = c->s;
    uint32_t replica = rank / s->growth.per_replica;
    void **inner = &c->inner[(size_t)replica * (s->wish.repeat + 1) + copy];
    if (*inner == NULL)
        *inner = s->from->source->open(s->from->self);
    return s->from->source->next(*inner, s->growth.source[rank], node, err);
}

/* ---- between two runs ---- */

static uint64_t id_of(const struct made_source *s, uint32_t copy, uint64_t id)
{
    return copy * (s->survey.largest_id + 2) + id;
}

static void append(uint64_t **list, size_t *n, size_t *cap, uint64_t value)
{
    if (*n == *cap)
        *list = memory_grow(*list, cap, sizeof **list);
    (*list)[(*n)++] = value;
}

static int compare_ids(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

// Collect the nodes of a rank that no other is after.
static int find_ends(struct made_cursor *c, uint32_t rank, struct err *err)
{
    struct made_rank *r = &c->ranks[rank];
    uint64_t *needed = NULL;
    size_t n = 0, cap = 0, n_needed = 0, cap_needed = 0;
    struct node node;
    int got;
    while ((got = inner_next(c, rank, c->s->wish.repeat, &node, err)) > 0) {
        append(&r->ends, &n, &cap, node.id);
        for (uint32_t i = 0; i < node.n_after; i++)
            append(&needed, &n_needed, &cap_needed, node.after[i]);
    }
    if (n_needed > 0)
        qsort(needed, n_needed, sizeof *needed, compare_ids);
    for (size_t i = 0; i < n; i++)
        if (n_needed == 0 ||
            bsearch(&r->ends[i], needed, n_needed, sizeof *needed, compare_ids) == NULL)
            r->ends[r->n_ends++] = r->ends[i];
    free(needed);
    return got;
}

// The node behind all nodes of run `copy` of a rank.
static int join_make(struct made_cursor *c, uint32_t rank, uint32_t copy, struct node *node,
                     struct err *err)
{
    const struct made_source *s = c->s;
    const struct made_rank *r = &c->ranks[rank];
    size_t n = 0;
    if (copy == 0 && find_ends(c, rank, err) != 0)
        return -1;
    for (size_t i = 0; i < r->n_ends; i++)
        append(&c->after, &n, &c->cap_after, id_of(s, copy, r->ends[i]));
    *node = (struct node){.id = id_of(s, copy, s->survey.largest_id + 1),
                          .after = c->after,
                          .n_after = (uint32_t)n,
                          .kind = NODE_EMPTY,
                          .stream = NODE_NO_STREAM};
    return 1;
}

/* ---- nodes ---- */

// What a scaled time (1e6 s) or size must not exceed.
#define TIME_MOST_PS 1e18
#define BYTES_MOST 1e15

static int too_large(struct err *err)
{
    return err_add(err, "--scale", "makes a time above 1,000,000 s, or a size above 1 PB");
}

static int scale_bytes(uint64_t *bytes, double by, struct err *err)
{
    double to = *bytes > 0 ? fmax(1, round((double)*bytes * by)) : 0;
    if (to > BYTES_MOST && by > 1)
        return too_large(err);
    if (by < 1 || by > 1)
        *bytes = (uint64_t)to;
    return 0;
}

static int draw_time(struct made_rank *r, double by, struct node *node, struct err *err)
{
    double takes_ps = synth_draw_next(&r->draw) * by;
    if (takes_ps > TIME_MOST_PS)
        return too_large(err);
    node->takes_ps = (ps_t)fmax(1, takes_ps + 0.5);
    return 0;
}

static int set_peer(const struct made_source *s, uint32_t rank, struct node *node, struct err *err)
{
    uint32_t place = s->growth.place[node->peer];
    if (place == UINT32_MAX)
        return err_add(err, "--ranks", "rank %u has messages with rank %u, which is left out",
                       s->growth.source[rank], node->peer);
    node->peer = rank / s->growth.per_replica * s->growth.per_replica + place;
    node->order = 0;
    return scale_bytes(&node->bytes, s->wish.scale.activations, err);
}

static int set_group(const struct made_source *s, uint32_t rank, struct node *node, struct err *err)
{
    const struct synth_growth *g = &s->growth;
    bool grows = g->grows[node->group], weights = grows && node->op != COLL_ALL_TO_ALL;
    double by = weights ? s->wish.scale.weights : s->wish.scale.activations;
    node->measured_ps = 0; // of the source's network
    if (coll_op_rooted(node->op))
        node->root = synth_growth_root(g, &s->from->groups[node->group], node->root);
    if (node->root == UINT32_MAX)
        return err_add(err, "--ranks", "the root of a %s of group %s is left out",
                       coll_op_name(node->op), s->from->groups[node->group].name);
    if (by != 1 || (grows && g->n_ranks != g->of_source))
        node->uneven = NULL; // its size is then the same for all members
    node->group = g->number[rank / g->per_replica * g->n_source_groups + node->group];
    return scale_bytes(&node->bytes, by, err);
}

static void set_after(struct made_cursor *c, uint32_t copy, struct node *node)
{
    const struct made_source *s = c->s;
    size_t n = 0;
    for (uint32_t i = 0; i < node->n_after; i++)
        append(&c->after, &n, &c->cap_after, id_of(s, copy, node->after[i]));
    if (n == 0 && copy > 0)
        append(&c->after, &n, &c->cap_after, id_of(s, copy - 1, s->survey.largest_id + 1));
    node->id = id_of(s, copy, node->id);
    node->after = c->after;
    node->n_after = (uint32_t)n;
}

static int change(struct made_cursor *c, uint32_t rank, struct node *node, struct err *err)
{
    const struct made_source *s = c->s;
    struct made_rank *r = &c->ranks[rank];
    set_after(c, r->copy, node);
    if (synth_timed(node) && draw_time(r, s->wish.scale.time, node, err) != 0)
        return -1;
    if (node->name != NULL) {
        hidden_name(s->wish.seed, node->name, c->name);
        node->name = c->name;
    }
    if (node->kind == NODE_COLLECTIVE)
        return set_group(s, rank, node, err);
    if (node->kind == NODE_COPY)
        return scale_bytes(&node->bytes, s->wish.scale.activations, err);
    return node->kind == NODE_SEND || node->kind == NODE_RECV ? set_peer(s, rank, node, err) : 0;
}

static int made_next(void *cursor, uint32_t rank, struct node *node, struct err *err)
{
    struct made_cursor *c = cursor;
    const struct made_source *s = c->s;
    struct made_rank *r = &c->ranks[rank];
    if (r->copy == s->wish.repeat)
        return 0;
    if (!r->begun)
        r->draw = synth_draw_of(s->times, s->wish.seed, s->growth.source[rank], rank, r->copy,
                                s->seat[rank]);
    r->begun = true;
    int got = inner_next(c, rank, r->copy, node, err);
    if (got > 0)
        return change(c, rank, node, err) == 0 ? 1 : -1;
    if (got < 0)
        return got;
    r->begun = false;
    if (++r->copy == s->wish.repeat)
        return 0;
    return join_make(c, rank, r->copy - 1, node, err);
}

static void made_free(void *self)
{
    struct made_source *s = self;
    synth_survey_free(&s->survey);
    synth_growth_free(&s->growth);
    synth_times_free(s->times);
    free(s->seat);
    free(s);
}

// `self` is a struct made_source.
static const struct node_source_ops made_source_ops = {
    .open = made_open, .next = made_next, .close = made_close, .free = made_free};

/* ---- synth ---- */

static void copy_names(struct node_program *made, const struct node_program *from, uint64_t seed)
{
    char name[HIDDEN_NAME];
    made->uses = memory_zeroed(from->n_uses + 1, sizeof *made->uses);
    made->layers = memory_zeroed(from->n_layers + 1, sizeof *made->layers);
    for (uint32_t u = 0; u < from->n_uses; u++)
        made->uses[made->n_uses++] = memory_text(from->uses[u]);
    for (uint32_t l = 0; l < from->n_layers; l++) {
        hidden_name(seed, from->layers[l], name);
        made->layers[made->n_layers++] = memory_text(name);
    }
}

int synth_make(struct node_program *made, const struct node_program *from,
               const struct synth_wish *wish, struct err *err)
{
    struct made_source *s = memory_zeroed(1, sizeof *s);
    *s = (struct made_source){.from = from, .wish = *wish};
    *made = (struct node_program){.source = &made_source_ops,
                                  .self = s,
                                  .in_order = from->in_order,
                                  .tiers = from->tiers,
                                  .stream_name = from->stream_name,
                                  .idle_use = from->idle_use};
    copy_names(made, from, wish->seed);
    if (synth_survey_read(&s->survey, from, err) != 0 ||
        synth_grow(&s->growth, made, from, &s->survey, wish->n_ranks, wish->grow, err) != 0)
        return -1;
    if (s->survey.largest_id > (uint64_t)INT64_MAX / wish->repeat - 2)
        return err_add(err, "--repeat", "numbers of nodes up to %llu leave no room for others",
                       (unsigned long long)s->survey.largest_id);
    s->times = synth_times_fit(from, err);
    if (s->times == NULL)
        return -1;
    s->seat = synth_seats(s->times, s->growth.source, s->growth.n_ranks, wish->seed);
    return 0;
}

uint32_t synth_classes(const struct node_program *made)
{
    return synth_times_classes(((const struct made_source *)made->self)->times);
}
