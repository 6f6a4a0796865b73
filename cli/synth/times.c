// SPDX-License-Identifier: MIT
#include "cli/synth/times.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collective/algorithm/grid.h"
#include "engine/base/memory.h"

#define RESTS_MAX 16384 // kept of an operation, drawn evenly from all that it has
#define DEALT_LEAST 4   // ranks of a class that deal their rests among each other

struct observed { // a rank of the set
    uint64_t shape;
    float *ps; // [n] times in the order of nodes
    size_t n, cap;
    uint32_t cls;
    double speed;
};

struct rests { // of an operation
    uint64_t operation, seen;
    float *value;
    size_t n, cap;
};

struct synth_class {
    uint64_t shape;
    double *base_ps;     // [n]
    uint32_t *rests;     // [n] index into synth_times.rests
    uint64_t *operation; // [n]
    size_t n;
    uint32_t n_ranks;
    float *dealt; // [n * n_ranks] the rests of each computation; NULL = of fewer than DEALT_LEAST
};

struct synth_times {
    struct observed *ranks; // [n_ranks]
    uint32_t n_ranks;
    struct synth_class *classes;
    size_t n_classes, cap_classes;
    struct rests *rests;
    size_t n_rests;
};

/* ---- reading ---- */

struct reading {
    struct synth_times *t;
    const struct node_program *p;
    uint64_t *operation; // of the rank's times
    size_t cap;
};

static uint64_t mixed(uint64_t hash, uint64_t with) { return hash_mix(hash * 31 + with + 1); }

static uint64_t text_hash(const char *text)
{
    uint64_t hash = 0;
    for (; text != NULL && *text != '\0'; text++)
        hash = mixed(hash, (unsigned char)*text);
    return hash;
}

// Computations are of one operation if they have a name, a layer, a stream and a magnitude (half an
// octave) in common.
static uint64_t operation_of(const struct node *node)
{
    uint64_t hash = mixed(node->kind, node->stream);
    hash = mixed(mixed(hash, node->layer), text_hash(node->name));
    return mixed(hash, (uint64_t)(2 * log2((double)node->takes_ps)));
}

// Adds a node to the shape of its rank: everything but times, sizes and ranks.
static uint64_t shape_with(const struct node_program *p, uint64_t shape, const struct node *node)
{
    shape = mixed(mixed(shape, node->kind), node->stream);
    shape = mixed(mixed(mixed(shape, node->use), node->layer), text_hash(node->name));
    shape = mixed(shape, synth_timed(node));
    if (node->kind == NODE_COLLECTIVE)
        shape = mixed(mixed(shape, node->op), coll_ranks(&p->groups[node->group].schedule));
    for (uint32_t i = 0; i < node->n_after; i++)
        shape = mixed(shape, node->id - node->after[i]);
    return shape;
}

static void read_node(struct reading *read, uint32_t rank, const struct node *node)
{
    struct observed *r = &read->t->ranks[rank];
    r->shape = shape_with(read->p, r->shape, node);
    if (!synth_timed(node))
        return;
    if (r->n == r->cap)
        r->ps = memory_grow(r->ps, &r->cap, sizeof *r->ps);
    if (r->n == read->cap)
        read->operation = memory_grow(read->operation, &read->cap, sizeof *read->operation);
    read->operation[r->n] = operation_of(node);
    r->ps[r->n++] = (float)node->takes_ps;
}

static void class_find(struct reading *read, struct observed *r)
{
    struct synth_times *t = read->t;
    size_t c = 0;
    while (c < t->n_classes && (t->classes[c].shape != r->shape || t->classes[c].n != r->n))
        c++;
    r->cls = (uint32_t)c;
    if (c < t->n_classes)
        return;
    if (c == t->cap_classes)
        t->classes = memory_grow(t->classes, &t->cap_classes, sizeof *t->classes);
    struct synth_class *made = &t->classes[t->n_classes++];
    *made = (struct synth_class){.shape = r->shape,
                                 .n = r->n,
                                 .base_ps = memory_zeroed(r->n + 1, sizeof *made->base_ps),
                                 .rests = memory_zeroed(r->n + 1, sizeof *made->rests),
                                 .operation = memory_zeroed(r->n + 1, sizeof(uint64_t))};
    if (r->n > 0)
        memcpy(made->operation, read->operation, r->n * sizeof *made->operation);
}

static int read_all(struct synth_times *t, const struct node_program *p, struct err *err)
{
    struct reading read = {.t = t, .p = p};
    void *cursor = p->source->open(p->self);
    int got = 0;
    for (uint32_t rank = 0; rank < p->n_ranks && got >= 0; rank++) {
        struct node node = {0};
        while ((got = p->source->next(cursor, rank, &node, err)) > 0)
            read_node(&read, rank, &node);
        class_find(&read, &t->ranks[rank]);
    }
    p->source->close(cursor);
    free(read.operation);
    return got;
}

/* ---- bases and speeds ---- */

static int compare_floats(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

static double median(float *list, size_t n)
{
    qsort(list, n, sizeof *list, compare_floats);
    return n % 2 == 1 ? (double)list[n / 2] : ((double)list[n / 2 - 1] + (double)list[n / 2]) / 2;
}

// The ranks of a class; returns their number.
static uint32_t members_of(const struct synth_times *t, uint32_t c, uint32_t *members)
{
    uint32_t n = 0;
    for (uint32_t r = 0; r < t->n_ranks; r++)
        if (t->ranks[r].cls == c)
            members[n++] = r;
    return n;
}

static void fit_speeds(struct synth_times *t, const struct synth_class *class,
                       const uint32_t *members)
{
    double sum = 0;
    for (size_t i = 0; i < class->n; i++)
        sum += class->base_ps[i];
    for (uint32_t m = 0; m < class->n_ranks; m++) {
        struct observed *rank = &t->ranks[members[m]];
        double own = 0;
        for (size_t i = 0; i < class->n; i++)
            own += (double)rank->ps[i];
        rank->speed = sum > 0 ? own / sum : 1;
    }
}

static float rest_of(const struct synth_class *class, const struct observed *rank, size_t i)
{
    return (float)((double)rank->ps[i] / (class->base_ps[i] * rank->speed));
}

static void fit_class(struct synth_times *t, uint32_t c, uint32_t *members, float *list)
{
    struct synth_class *class = &t->classes[c];
    uint32_t n = class->n_ranks = members_of(t, c, members);
    for (size_t i = 0; i < class->n; i++) {
        for (uint32_t m = 0; m < n; m++)
            list[m] = t->ranks[members[m]].ps[i];
        class->base_ps[i] = median(list, n);
    }
    fit_speeds(t, class, members);
    if (n < DEALT_LEAST || class->n == 0)
        return;
    class->dealt = memory_bytes(class->n * n * sizeof *class->dealt);
    for (size_t i = 0; i < class->n; i++)
        for (uint32_t m = 0; m < n; m++)
            class->dealt[i * n + m] = rest_of(class, &t->ranks[members[m]], i);
}

static void fit_classes(struct synth_times *t)
{
    uint32_t *members = memory_zeroed(t->n_ranks, sizeof *members);
    float *list = memory_zeroed(t->n_ranks, sizeof *list);
    for (uint32_t c = 0; c < t->n_classes; c++)
        fit_class(t, c, members, list);
    free(members);
    free(list);
}

/* ---- rests ---- */

static int compare_numbers(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static void list_operations(struct synth_times *t)
{
    size_t n = 0, distinct = 0;
    for (size_t c = 0; c < t->n_classes; c++)
        n += t->classes[c].n;
    uint64_t *all = memory_zeroed(n + 1, sizeof *all);
    n = 0;
    for (size_t c = 0; c < t->n_classes; c++)
        for (size_t i = 0; i < t->classes[c].n; i++)
            all[n++] = t->classes[c].operation[i];
    qsort(all, n, sizeof *all, compare_numbers);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || all[i] != all[i - 1])
            all[distinct++] = all[i];
    t->rests = memory_zeroed(distinct + 1, sizeof *t->rests);
    t->n_rests = distinct;
    for (size_t i = 0; i < distinct; i++)
        t->rests[i].operation = all[i];
    free(all);
}

static uint32_t operation_index(const struct synth_times *t, uint64_t operation)
{
    size_t low = 0, high = t->n_rests;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        *(t->rests[middle].operation <= operation ? &low : &high) = middle;
    }
    return (uint32_t)low;
}

// Keeps each of the values seen with the same chance (Vitter, 1985, algorithm R).
static void rest_add(struct rests *rests, float value, struct rng *rng)
{
    rests->seen++;
    if (rests->n < RESTS_MAX) {
        if (rests->n == rests->cap)
            rests->value = memory_grow(rests->value, &rests->cap, sizeof *rests->value);
        rests->value[rests->n++] = value;
        return;
    }
    uint64_t at = rng_below(rng, rests->seen);
    if (at < RESTS_MAX)
        rests->value[at] = value;
}

static void fit_rests(struct synth_times *t)
{
    struct rng rng = rng_init(0, RNG_SYNTH, 0);
    list_operations(t);
    for (size_t c = 0; c < t->n_classes; c++)
        for (size_t i = 0; i < t->classes[c].n; i++)
            t->classes[c].rests[i] = operation_index(t, t->classes[c].operation[i]);
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        const struct observed *rank = &t->ranks[r];
        const struct synth_class *class = &t->classes[rank->cls];
        for (size_t i = 0; i < class->n && class->dealt == NULL; i++)
            rest_add(&t->rests[class->rests[i]], rest_of(class, rank, i), &rng);
    }
}

struct synth_times *synth_times_fit(const struct node_program *p, struct err *err)
{
    struct synth_times *t = memory_zeroed(1, sizeof *t);
    t->n_ranks = p->n_ranks;
    t->ranks = memory_zeroed(p->n_ranks, sizeof *t->ranks);
    if (read_all(t, p, err) != 0) {
        synth_times_free(t);
        return NULL;
    }
    fit_classes(t);
    fit_rests(t);
    for (uint32_t r = 0; r < t->n_ranks; r++) {
        free(t->ranks[r].ps);
        t->ranks[r].ps = NULL;
    }
    return t;
}

void synth_times_free(struct synth_times *t)
{
    if (t == NULL)
        return;
    for (uint32_t r = 0; r < t->n_ranks; r++)
        free(t->ranks[r].ps);
    for (size_t c = 0; c < t->n_classes; c++) {
        free(t->classes[c].base_ps);
        free(t->classes[c].rests);
        free(t->classes[c].operation);
        free(t->classes[c].dealt);
    }
    for (size_t i = 0; i < t->n_rests; i++)
        free(t->rests[i].value);
    free(t->classes);
    free(t->rests);
    free(t->ranks);
    free(t);
}

uint32_t synth_times_classes(const struct synth_times *t) { return (uint32_t)t->n_classes; }

/* ---- drawing ---- */

enum stream { STREAM_BASES = 1, STREAM_RESTS, STREAM_SPEEDS };

static struct rng stream_of(uint64_t seed, enum stream stream, uint32_t a, uint32_t b)
{
    return rng_init(seed, RNG_SYNTH, (uint32_t)mixed(mixed(stream, a), b));
}

// The places of the new ranks of a class in its random order, and its speeds by place: each as
// often as any other.
static void deal_class(const struct synth_times *t, uint32_t c, const uint32_t *source, uint32_t n,
                       uint64_t seed, struct synth_seat *seat)
{
    uint32_t *order = memory_zeroed(n + 1, sizeof *order), members = 0, k = 0, known = 0;
    double *speeds = memory_zeroed(t->n_ranks, sizeof *speeds);
    struct rng rng = stream_of(seed, STREAM_SPEEDS, c, 0);
    for (uint32_t r = 0; r < t->n_ranks; r++)
        if (t->ranks[r].cls == c)
            speeds[known++] = t->ranks[r].speed;
    for (uint32_t r = 0; r < n; r++)
        members += t->ranks[source[r]].cls == c;
    rng_permutation(&rng, order, members);
    for (uint32_t r = 0; r < n; r++)
        if (t->ranks[source[r]].cls == c) {
            uint32_t place = order[k++];
            seat[r] = (struct synth_seat){place, speeds[(uint64_t)place * known / members]};
        }
    free(order);
    free(speeds);
}

struct synth_seat *synth_seats(const struct synth_times *t, const uint32_t *source, uint32_t n,
                               uint64_t seed)
{
    struct synth_seat *seat = memory_zeroed(n, sizeof *seat);
    for (uint32_t c = 0; c < t->n_classes; c++)
        deal_class(t, c, source, n, seed, seat);
    return seat;
}

// The rest that a place gets of a computation: the class's, in an order that is drawn for each
// computation, the same for all of its ranks (place -> factor * place + first modulo the ranks).
static double dealt_rest(const struct synth_class *class, size_t i, uint32_t place, struct rng *rng)
{
    uint32_t n = class->n_ranks, first = (uint32_t)rng_below(rng, n),
             factor = 1 + (uint32_t)rng_below(rng, n);
    while (common_divisor(factor, n) != 1)
        factor++;
    return (double)class->dealt[i * n + ((uint64_t)factor * place + first) % n];
}

// The next time but for the scale.
static double draw(struct synth_draw *d)
{
    const struct synth_class *class = &d->times->classes[d->cls];
    size_t i = d->next++;
    double base = class->base_ps[i] * (1 + SYNTH_BLUR * (2 * rng_unit(&d->bases) - 1));
    if (class->dealt != NULL)
        return base * dealt_rest(class, i, d->place, &d->bases);
    const struct rests *rests = &d->times->rests[class->rests[i]];
    return base * (double)rests->value[rng_below(&d->rests, rests->n)];
}

struct synth_draw synth_draw_of(const struct synth_times *t, uint64_t seed, uint32_t source,
                                uint32_t rank, uint32_t copy, struct synth_seat seat)
{
    uint32_t cls = t->ranks[source].cls;
    const struct synth_class *class = &t->classes[cls];
    struct synth_draw d = {.times = t,
                           .cls = cls,
                           .place = seat.place,
                           .scale = 1,
                           .bases = stream_of(seed, STREAM_BASES, cls, copy),
                           .rests = stream_of(seed, STREAM_RESTS, rank, copy)};
    struct synth_draw trial = d;
    double bases = 0, drawn = 0;
    for (size_t i = 0; i < class->n; i++) {
        bases += class->base_ps[i];
        drawn += draw(&trial);
    }
    d.scale = drawn > 0 ? seat.speed * bases / drawn : seat.speed;
    return d;
}

double synth_draw_next(struct synth_draw *d) { return d->scale * draw(d); }
