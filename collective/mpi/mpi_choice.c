// SPDX-License-Identifier: MIT
// The algorithms by name, and which one coll_tuned chooses (coll_tuned_decision_fixed.c, 4.1.4).
//
// Its rules are lists of limits by the size of the communicator. Algorithms that are not here count
// as the nearest one: "nonoverlapping" as recursive doubling, "linear_sync" and "bruck" as linear,
// "two_proc" as pairwise; all of broadcast as binomial.
#include <stddef.h>

#include "collective/mpi/mpi.h"

/* ---- steps ---- */

// The steps of each algorithm (ompi/mca/coll/base/coll_base_allreduce.c, _alltoall.c, _bcast.c).

#define LEFT(rank, n) (((rank) + (n)-1) % (n))
#define RIGHT(rank, n) (((rank) + 1) % (n))

static const struct mpi_step nothing = {
    .receives = MPI_NONE, .awaits = MPI_NONE, .sends_to = MPI_NONE, .awaits_after = MPI_NONE};

static uint64_t elements(const struct mpi_shape *s)
{
    return (s->bytes + MPI_ELEMENT - 1) / MPI_ELEMENT;
}

// MPI_Sendrecv: post the receive, send, wait until the message has left, wait for the receive.
static struct mpi_step exchange(uint32_t to, uint32_t there, uint64_t bytes, uint32_t from,
                                uint32_t number)
{
    struct mpi_step step = nothing;
    step.receives = step.awaits_after = number;
    step.from = from;
    step.sends_to = to;
    step.sends = there;
    step.sends_bytes = bytes;
    step.finishes_sends = true;
    return step;
}

static struct mpi_step send_step(uint32_t to, uint32_t there, uint64_t bytes)
{
    struct mpi_step step = nothing;
    step.sends_to = to;
    step.sends = there;
    step.sends_bytes = bytes;
    step.finishes_sends = true;
    return step;
}

static struct mpi_step receive_step(uint32_t from, uint32_t number)
{
    struct mpi_step step = nothing;
    step.receives = step.awaits_after = number;
    step.from = from;
    return step;
}

/* ---- rings ---- */

// Bytes of part `i` of `n` parts: the first ones have an element more.
static uint64_t part_bytes(uint64_t count, uint64_t n, uint64_t i)
{
    return (count / n + (i < count % n)) * MPI_ELEMENT;
}

// Of a ring, plain or segmented.
// Segments of each block, at most MPI_PHASES_MOST: COLL_BASE_COMPUTED_SEGCOUNT and what follows it;
// 1 = a plain ring.
static uint32_t mpi_ring_phases(const struct mpi_shape *s)
{
    uint64_t count = elements(s), n = s->ranks, segment = s->segment_bytes / MPI_ELEMENT;
    if (s->algorithm != MPI_SEGMENTED_RING || segment == 0 || count < n * segment)
        return 1;
    uint64_t phases = count / (n * segment), left = count % (n * segment);
    phases += left >= n && left > n * segment / 2;
    return phases < MPI_PHASES_MOST ? (uint32_t)phases : MPI_PHASES_MOST;
}

static uint32_t mpi_ring_steps(const struct mpi_shape *s)
{
    return mpi_ring_phases(s) * s->ranks + s->ranks - 1;
}

static uint32_t mpi_ring_receives(const struct mpi_shape *s)
{
    return (mpi_ring_phases(s) + 1) * (s->ranks - 1);
}

static uint64_t ring_bytes(const struct mpi_shape *s, uint64_t block, uint32_t phase)
{
    uint64_t count = part_bytes(elements(s), s->ranks, block) / MPI_ELEMENT;
    return part_bytes(count, mpi_ring_phases(s), phase);
}

// Step `k` of n in a phase: a receive is posted before the one before it is awaited, and what has
// come is added and sent on; the last step only awaits.
static struct mpi_step ring_reduce_step(const struct mpi_shape *s, uint32_t rank, uint32_t phase,
                                        uint32_t k)
{
    struct mpi_step step = nothing;
    uint32_t n = s->ranks, first = phase * (n - 1);
    uint64_t block = (rank + n - k) % n;
    step.copies = phase == 0 && k == 0;
    if (k > 0) {
        step.awaits = first + k - 1;
        step.adds_bytes = ring_bytes(s, block, phase);
    }
    if (k == n - 1)
        return step;
    step.receives = first + k;
    step.from = LEFT(rank, n);
    step.sends_to = RIGHT(rank, n);
    step.sends = first + k;
    step.sends_bytes = ring_bytes(s, block, phase);
    step.finishes_sends = true;
    return step;
}

static struct mpi_step mpi_ring_step(const struct mpi_shape *s, uint32_t rank, uint32_t i)
{
    uint32_t n = s->ranks, phases = mpi_ring_phases(s);
    if (i < phases * n)
        return ring_reduce_step(s, rank, i / n, i % n);
    uint32_t k = i - phases * n, number = phases * (n - 1) + k;
    uint64_t block = (rank + 1 + n - k) % n;
    return exchange(RIGHT(rank, n), number, part_bytes(elements(s), n, block), LEFT(rank, n),
                    number);
}

/* ---- recursive doubling ---- */

static uint32_t log_of(uint32_t n)
{
    uint32_t log = 0;
    while (n >> (log + 1) > 0)
        log++;
    return log;
}

// The processes beyond a power of two fold into neighbours: of the first 2 * extra the even (or the
// odd) ones sit out.
struct folded {
    uint32_t extra, log;
    bool pair, out; // among the first 2 * extra; sits out
    uint32_t number;
};

static struct folded folded_of(const struct mpi_shape *s, uint32_t rank, uint32_t out)
{
    struct folded f = {.log = log_of(s->ranks)};
    f.extra = s->ranks - (1u << f.log);
    f.pair = rank < 2 * f.extra;
    f.out = f.pair && rank % 2 == out;
    f.number = f.pair ? rank / 2 : rank - f.extra;
    return f;
}

static uint32_t unfold(const struct folded *f, uint32_t number, uint32_t out)
{
    return number < f->extra ? 2 * number + 1 - out : number + f->extra;
}

static uint32_t mpi_doubling_steps(const struct mpi_shape *s) { return log_of(s->ranks) + 2; }

// Receives: 0 of the fold, 1 + step of exchanges, then that of the result.
static struct mpi_step mpi_doubling_step(const struct mpi_shape *s, uint32_t rank, uint32_t i)
{
    struct folded f = folded_of(s, rank, 0);
    uint64_t bytes = elements(s) * MPI_ELEMENT;
    struct mpi_step step = nothing;
    if (i == 0 && f.out)
        step = send_step(rank + 1, 0, bytes);
    else if (i == 0 && f.pair)
        step = receive_step(rank - 1, 0);
    else if (i == f.log + 1 && f.out)
        return receive_step(rank + 1, i);
    else if (i == f.log + 1 && f.pair)
        return send_step(rank - 1, i, bytes);
    else if (i >= 1 && i <= f.log && !f.out) {
        uint32_t peer = unfold(&f, f.number ^ 1u << (i - 1), 0);
        step = exchange(peer, i, bytes, peer, i);
    }
    step.copies = i == 0;
    step.adds_after_bytes = step.awaits_after == MPI_NONE ? 0 : bytes;
    return step;
}

/* ---- Rabenseifner ---- */

// The window of elements that a process has after `steps` halvings, in order of distance 1, 2, 4.
static uint64_t window_of(const struct mpi_shape *s, uint32_t number, uint32_t steps)
{
    uint64_t size = elements(s);
    for (uint32_t i = 0; i < steps; i++)
        size = number >> i & 1 ? size - size / 2 : size / 2;
    return size * MPI_ELEMENT;
}

static uint32_t mpi_rabenseifner_steps(const struct mpi_shape *s)
{
    return 2 * log_of(s->ranks) + 3;
}

// A pair folds: halves are exchanged and added, and the odd one gives its half to the even one.
static struct mpi_step fold_step(const struct mpi_shape *s, uint32_t rank, uint32_t i)
{
    uint64_t count = elements(s), left = count / 2 * MPI_ELEMENT,
             right = (count - count / 2) * MPI_ELEMENT;
    bool odd = rank % 2 != 0;
    if (i == 0) {
        struct mpi_step step = odd ? exchange(rank - 1, 0, left, rank - 1, 0)
                                   : exchange(rank + 1, 0, right, rank + 1, 0);
        step.adds_after_bytes = odd ? right : left;
        return step;
    }
    return odd ? send_step(rank - 1, 1, right) : receive_step(rank + 1, 1);
}

// Receives: 0 and 1 of the fold, 2 + step of the exchanges, then that of the result.
static struct mpi_step mpi_rabenseifner_step(const struct mpi_shape *s, uint32_t rank, uint32_t i)
{
    struct folded f = folded_of(s, rank, 1);
    uint32_t last = 2 * f.log + 2, k = i - 2;
    struct mpi_step step = nothing;
    if (i < 2 && f.pair)
        step = fold_step(s, rank, i);
    else if (i == last && f.pair)
        step =
            f.out ? receive_step(rank - 1, i) : send_step(rank + 1, i, elements(s) * MPI_ELEMENT);
    else if (i >= 2 && i < last && !f.out) {
        bool gathers = k >= f.log;
        uint32_t level = gathers ? 2 * f.log - 1 - k : k;
        uint32_t peer_number = f.number ^ 1u << level;
        uint32_t peer = unfold(&f, peer_number, 1);
        uint64_t own = window_of(s, f.number, level + 1);
        // what the peer keeps of the common window
        uint64_t other = window_of(s, f.number ^ 1u << level, level + 1);
        step = exchange(peer, i, gathers ? own : other, peer, i);
        step.adds_after_bytes = gathers ? 0 : own;
    }
    step.copies = i == 0;
    return step;
}

/* ---- all-to-all ---- */

static uint32_t mpi_linear_steps(const struct mpi_shape *s) { return 2 * (s->ranks - 1) + 1; }

// All receives, all sends in the other order, then a wait for all.
static struct mpi_step mpi_linear_step(const struct mpi_shape *s, uint32_t rank, uint32_t i)
{
    uint32_t n = s->ranks, k = i < n - 1 ? i : i - (n - 1);
    struct mpi_step step = nothing;
    if (i < n - 1) {
        step.receives = k;
        step.from = (rank + 1 + k) % n;
        step.copies = i == 0;
    } else if (i < 2 * (n - 1)) {
        step.sends_to = (rank + n - 1 - k) % n;
        step.sends = k; // this process is the (k + 1)-th after the receiver
        step.sends_bytes = elements(s) * MPI_ELEMENT;
    } else {
        step.finishes_sends = true;
        step.awaits_after = MPI_ALL;
    }
    return step;
}

static uint32_t mpi_pairwise_steps(const struct mpi_shape *s) { return s->ranks; }

static struct mpi_step mpi_pairwise_step(const struct mpi_shape *s, uint32_t rank, uint32_t i)
{
    uint32_t n = s->ranks;
    struct mpi_step step = nothing;
    if (i + 1 < n)
        return exchange((rank + i + 1) % n, i, elements(s) * MPI_ELEMENT, (rank + n - i - 1) % n,
                        i);
    step.copies = true; // its own part comes last
    return step;
}

/* ---- broadcast ---- */

static uint32_t mpi_binomial_steps(const struct mpi_shape *s)
{
    return log_of(s->ranks > 1 ? s->ranks - 1 : 1) + 3;
}

// The receive, a message to each child, then a wait for all of them (topo_build_bmtree).
static struct mpi_step mpi_binomial_step(const struct mpi_shape *s, uint32_t rank, uint32_t i)
{
    uint32_t n = s->ranks, at = (rank + n - s->root) % n, log = at > 0 ? log_of(at) : 0,
             last = mpi_binomial_steps(s) - 1;
    struct mpi_step step = nothing;
    if (i == 0)
        return at > 0 ? receive_step((at - (1u << log) + s->root) % n, 0) : nothing;
    if (i == last) {
        step.finishes_sends = true;
        return step;
    }
    uint32_t child = at | 1u << (i - 1);
    if ((at > 0 && i - 1 <= log) || child >= n)
        return nothing;
    step.sends_to = (child + s->root) % n;
    step.sends = 0;
    step.sends_bytes = elements(s) * MPI_ELEMENT;
    return step;
}

/* ---- choice ---- */

struct algorithm {
    const char *name;
    unsigned operations; // bit set
    uint32_t (*steps)(const struct mpi_shape *s);
    struct mpi_step (*step)(const struct mpi_shape *s, uint32_t rank, uint32_t i);
};

#define REDUCES (1u << MPI_ALL_REDUCE | 1u << MPI_BARRIER)
static const struct algorithm algorithms[MPI_ALGORITHMS] = {
    [MPI_AUTO] = {"auto", ~0u, NULL, NULL},
    [MPI_RING] = {"ring", 1u << MPI_ALL_REDUCE, mpi_ring_steps, mpi_ring_step},
    [MPI_SEGMENTED_RING] = {"segmented_ring", 1u << MPI_ALL_REDUCE, mpi_ring_steps, mpi_ring_step},
    [MPI_RECURSIVE_DOUBLING] = {"recursive_doubling", REDUCES, mpi_doubling_steps,
                                mpi_doubling_step},
    [MPI_RABENSEIFNER] = {"rabenseifner", 1u << MPI_ALL_REDUCE, mpi_rabenseifner_steps,
                          mpi_rabenseifner_step},
    [MPI_LINEAR] = {"linear", 1u << MPI_ALL_TO_ALL, mpi_linear_steps, mpi_linear_step},
    [MPI_PAIRWISE] = {"pairwise", 1u << MPI_ALL_TO_ALL, mpi_pairwise_steps, mpi_pairwise_step},
    [MPI_BINOMIAL] = {"binomial", 1u << MPI_BROADCAST, mpi_binomial_steps, mpi_binomial_step},
};

const char *mpi_algorithm_name(enum mpi_algorithm algorithm) { return algorithms[algorithm].name; }

bool mpi_algorithm_is_of(enum mpi_algorithm algorithm, enum mpi_operation op)
{
    return algorithms[algorithm].operations >> op & 1;
}

uint32_t mpi_steps(const struct mpi_shape *shape)
{
    return algorithms[shape->algorithm].steps(shape);
}

struct mpi_step mpi_step(const struct mpi_shape *shape, uint32_t rank, uint32_t i)
{
    return algorithms[shape->algorithm].step(shape, rank, i);
}

uint32_t mpi_receives(const struct mpi_shape *shape)
{
    bool ring = shape->algorithm == MPI_RING || shape->algorithm == MPI_SEGMENTED_RING;
    return ring ? mpi_ring_receives(shape) : mpi_steps(shape);
}

/* ---- rules ---- */

// For communicators below `ranks`: from `bytes` on this algorithm.
struct rule {
    uint32_t ranks;
    uint64_t bytes;
    enum mpi_algorithm algorithm;
};
#define ANY UINT32_MAX
#define RD MPI_RECURSIVE_DOUBLING
#define RAB MPI_RABENSEIFNER
#define SEG MPI_SEGMENTED_RING
static const struct rule reduce_rules[] = {
    {4, 0, MPI_RING},     {4, 8, RD},      {4, 4096, MPI_RING}, {4, 8192, RD},
    {4, 16384, MPI_RING}, {4, 65536, SEG}, {4, 262144, RAB},    {8, 0, MPI_RING},
    {8, 16, RD},          {8, 8192, RAB},  {16, 0, RD},         {16, 8192, RAB},
    {32, 0, SEG},         {32, 64, RD},    {32, 4096, RAB},     {64, 0, SEG},
    {64, 128, RAB},       {128, 0, RD},    {128, 262144, RAB},  {256, 0, RD},
    {256, 262144, RAB},   {512, 0, RD},    {512, 4096, RAB},    {2048, 0, RD},
    {2048, 16384, RAB},   {4096, 0, RD},   {4096, 2048, SEG},   {4096, 4096, RD},
    {4096, 16384, RAB},   {ANY, 0, RD},    {ANY, 2048, SEG},    {ANY, 16384, RD},
    {ANY, 32768, RAB},
};
#define LIN MPI_LINEAR
#define PAIR MPI_PAIRWISE
static const struct rule exchange_rules[] = {
    {3, 0, PAIR},        {3, 32768, LIN},   {3, 262144, PAIR},    {8, 0, LIN},
    {8, 524288, PAIR},   {8, 1048576, LIN}, {64, 0, LIN},         {128, 0, LIN},
    {128, 262144, PAIR}, {256, 0, LIN},     {256, 262144, PAIR},  {512, 0, LIN},
    {512, 32768, PAIR},  {1024, 0, LIN},    {1024, 262144, PAIR}, {ANY, 0, LIN},
};

static enum mpi_algorithm by_rules(const struct rule *rules, size_t n, uint32_t ranks,
                                   uint64_t bytes)
{
    enum mpi_algorithm chosen = rules[0].algorithm;
    uint32_t row = 0; // the smallest limit above `ranks`
    for (size_t i = 0; i < n && row == 0; i++)
        row = ranks < rules[i].ranks || rules[i].ranks == ANY ? rules[i].ranks : 0;
    for (size_t i = 0; i < n; i++)
        if (rules[i].ranks == row && bytes >= rules[i].bytes)
            chosen = rules[i].algorithm;
    return chosen;
}
#define BY_RULES(rules, ranks, bytes) by_rules(rules, sizeof rules / sizeof *rules, ranks, bytes)

enum mpi_algorithm mpi_choice(enum mpi_operation op, uint32_t ranks, uint64_t bytes)
{
    switch (op) {
    case MPI_ALL_REDUCE:
        return BY_RULES(reduce_rules, ranks, bytes);
    case MPI_ALL_TO_ALL:
        return BY_RULES(exchange_rules, ranks, bytes);
    case MPI_BARRIER:
        return MPI_RECURSIVE_DOUBLING;
    default:
        return MPI_BINOMIAL;
    }
}

struct mpi_shape mpi_shape_of(const struct mpi_settings *s, enum mpi_operation op, uint32_t ranks,
                              uint32_t root, uint64_t bytes)
{
    struct mpi_shape shape = {.op = op, .ranks = ranks, .root = root, .bytes = bytes};
    if (op == MPI_ALL_TO_ALL)
        shape.bytes = bytes / ranks;
    if (op == MPI_BARRIER)
        shape.bytes = 0;
    bool own = mpi_algorithm_is_of((enum mpi_algorithm)s->algorithm, op);
    shape.algorithm = s->algorithm == MPI_AUTO || !own ? mpi_choice(op, ranks, shape.bytes)
                                                       : (enum mpi_algorithm)s->algorithm;
    shape.segment_bytes = s->segment_bytes;
    return shape;
}
