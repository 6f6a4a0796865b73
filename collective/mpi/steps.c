// SPDX-License-Identifier: MIT
// The steps of each algorithm (ompi/mca/coll/base/coll_base_allreduce.c, _alltoall.c, _bcast.c).
#include "collective/mpi/mpi.h"

#include "collective/mpi/steps.h"

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

// Segments of each block, at most MPI_PHASES_MOST: COLL_BASE_COMPUTED_SEGCOUNT and what follows it;
// 1 = a plain ring.
uint32_t mpi_ring_phases(const struct mpi_shape *s)
{
    uint64_t count = elements(s), n = s->ranks, segment = s->segment_bytes / MPI_ELEMENT;
    if (s->algorithm != MPI_SEGMENTED_RING || segment == 0 || count < n * segment)
        return 1;
    uint64_t phases = count / (n * segment), left = count % (n * segment);
    phases += left >= n && left > n * segment / 2;
    return phases < MPI_PHASES_MOST ? (uint32_t)phases : MPI_PHASES_MOST;
}

uint32_t mpi_ring_steps(const struct mpi_shape *s)
{
    return mpi_ring_phases(s) * s->ranks + s->ranks - 1;
}

uint32_t mpi_ring_receives(const struct mpi_shape *s)
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

struct mpi_step mpi_ring_step(const struct mpi_shape *s, uint32_t rank, uint32_t i)
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

uint32_t mpi_doubling_steps(const struct mpi_shape *s) { return log_of(s->ranks) + 2; }

// Receives: 0 of the fold, 1 + step of exchanges, then that of the result.
struct mpi_step mpi_doubling_step(const struct mpi_shape *s, uint32_t rank, uint32_t i)
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

uint32_t mpi_rabenseifner_steps(const struct mpi_shape *s) { return 2 * log_of(s->ranks) + 3; }

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
struct mpi_step mpi_rabenseifner_step(const struct mpi_shape *s, uint32_t rank, uint32_t i)
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

uint32_t mpi_linear_steps(const struct mpi_shape *s) { return 2 * (s->ranks - 1) + 1; }

// All receives, all sends in the other order, then a wait for all.
struct mpi_step mpi_linear_step(const struct mpi_shape *s, uint32_t rank, uint32_t i)
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

uint32_t mpi_pairwise_steps(const struct mpi_shape *s) { return s->ranks; }

struct mpi_step mpi_pairwise_step(const struct mpi_shape *s, uint32_t rank, uint32_t i)
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

uint32_t mpi_binomial_steps(const struct mpi_shape *s)
{
    return log_of(s->ranks > 1 ? s->ranks - 1 : 1) + 3;
}

// The receive, a message to each child, then a wait for all of them (topo_build_bmtree).
struct mpi_step mpi_binomial_step(const struct mpi_shape *s, uint32_t rank, uint32_t i)
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
