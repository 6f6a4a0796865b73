// SPDX-License-Identifier: MIT
// Open MPI's algorithms: each message has its receive, processes never wait for each other without
// end, and what all-reduces add is the sum of all; volumes and choices.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "collective/mpi/mpi.h"
#include "engine/base/memory.h"

struct post { // a receive, and the message for it
    bool posted, sent;
    uint32_t from, sent_from;
    uint64_t bytes;
};

struct process {
    uint32_t step, place;
    uint64_t left; // messages that have not left
    bool over;
};

struct world {
    struct mpi_shape shape;
    uint32_t steps, receives;
    struct post *posts; // [rank * receives + number]
    struct process *processes;
};

static struct post *post_at(const struct world *w, uint32_t rank, uint32_t number)
{
    assert_true(number < w->receives);
    return &w->posts[rank * w->receives + number];
}

static bool has_come(const struct world *w, uint32_t rank, uint32_t number)
{
    if (number == MPI_NONE)
        return true;
    for (uint32_t i = 0; number == MPI_ALL && i < w->receives; i++)
        if (post_at(w, rank, i)->posted && !post_at(w, rank, i)->sent)
            return false;
    return number == MPI_ALL || post_at(w, rank, number)->sent;
}

// A message leaves its process when its receive is posted (rendezvous).
static bool all_left(const struct world *w, uint32_t rank)
{
    for (uint32_t i = 0; i < w->shape.ranks * w->receives; i++)
        if (w->posts[i].sent && w->posts[i].sent_from == rank && !w->posts[i].posted)
            return false;
    return true;
}

static void send(struct world *w, uint32_t rank, const struct mpi_step *s)
{
    struct post *p = post_at(w, s->sends_to, s->sends);
    assert_false(p->sent);
    p->sent = true;
    p->sent_from = rank;
    p->bytes = s->sends_bytes;
}

// Let a process go on by one place of its step. Returns false if it waits.
static bool moves(struct world *w, uint32_t rank)
{
    struct process *p = &w->processes[rank];
    if (p->over)
        return false;
    struct mpi_step s = mpi_step(&w->shape, rank, p->step);
    if (p->place == 0 && s.receives != MPI_NONE) {
        struct post *r = post_at(w, rank, s.receives);
        assert_false(r->posted);
        r->posted = true;
        r->from = s.from;
    } else if (p->place == 1 && !has_come(w, rank, s.awaits)) {
        return false;
    } else if (p->place == 2 && s.sends_to != MPI_NONE) {
        send(w, rank, &s);
    } else if (p->place == 3 && s.finishes_sends && !all_left(w, rank)) {
        return false;
    } else if (p->place == 4 && !has_come(w, rank, s.awaits_after)) {
        return false;
    }
    if (++p->place > 4) {
        p->place = 0;
        p->over = ++p->step == w->steps;
    }
    return true;
}

static struct world world_run(struct mpi_shape shape)
{
    struct world w = {.shape = shape, .steps = mpi_steps(&shape), .receives = mpi_receives(&shape)};
    w.posts = memory_zeroed((size_t)shape.ranks * w.receives, sizeof *w.posts);
    w.processes = memory_zeroed(shape.ranks, sizeof *w.processes);
    for (bool any = true; any;) {
        any = false;
        for (uint32_t r = 0; r < shape.ranks; r++)
            while (moves(&w, r))
                any = true;
    }
    return w;
}

static void world_free(struct world *w)
{
    free(w->posts);
    free(w->processes);
}

static struct mpi_shape shape_of(enum mpi_operation op, enum mpi_algorithm algorithm,
                                 uint32_t ranks, uint64_t bytes)
{
    return (struct mpi_shape){.op = op,
                              .algorithm = algorithm,
                              .ranks = ranks,
                              .root = ranks > 2 ? 2 : 0,
                              .bytes = bytes,
                              .segment_bytes = 1024};
}

static void test_complete(void **state)
{
    (void)state;
    static const uint64_t sizes[] = {7, 4096, 100000};
    for (unsigned a = MPI_RING; a < MPI_ALGORITHMS; a++)
        for (uint32_t n = 2; n < 18; n++)
            for (size_t b = 0; b < sizeof sizes / sizeof *sizes; b++) {
                struct world w =
                    world_run(shape_of(MPI_ALL_REDUCE, (enum mpi_algorithm)a, n, sizes[b]));
                for (uint32_t r = 0; r < n; r++)
                    assert_true(w.processes[r].over);
                for (uint32_t i = 0; i < n * w.receives; i++) {
                    assert_int_equal(w.posts[i].posted, w.posts[i].sent);
                    assert_int_equal(w.posts[i].from, w.posts[i].sent_from);
                }
                world_free(&w);
            }
}

// Bytes that a process sends.
static uint64_t sent_by(const struct mpi_shape *s, uint32_t rank)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < mpi_steps(s); i++) {
        struct mpi_step step = mpi_step(s, rank, i);
        sum += step.sends_to != MPI_NONE ? step.sends_bytes : 0;
    }
    return sum;
}

static uint64_t added_by(const struct mpi_shape *s, uint32_t rank)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < mpi_steps(s); i++) {
        struct mpi_step step = mpi_step(s, rank, i);
        sum += step.adds_bytes + step.adds_after_bytes;
    }
    return sum;
}

#define MB 1048576u

// The volumes of the textbook (Thakur et al., 2005).
static void test_volumes(void **state)
{
    (void)state;
    struct mpi_shape ring = shape_of(MPI_ALL_REDUCE, MPI_RING, 8, MB),
                     doubling = shape_of(MPI_ALL_REDUCE, MPI_RECURSIVE_DOUBLING, 8, MB),
                     halving = shape_of(MPI_ALL_REDUCE, MPI_RABENSEIFNER, 8, MB);
    for (uint32_t r = 0; r < 8; r++) {
        assert_int_equal(sent_by(&ring, r), 2 * 7 * MB / 8);
        assert_int_equal(added_by(&ring, r), 7 * MB / 8);
        assert_int_equal(sent_by(&doubling, r), 3 * MB);
        assert_int_equal(added_by(&doubling, r), 3 * MB);
        assert_int_equal(sent_by(&halving, r), 2 * 7 * MB / 8);
        assert_int_equal(added_by(&halving, r), 7 * MB / 8);
    }
    struct mpi_shape linear = shape_of(MPI_ALL_TO_ALL, MPI_LINEAR, 8, MB),
                     pairs = shape_of(MPI_ALL_TO_ALL, MPI_PAIRWISE, 8, MB);
    assert_int_equal(sent_by(&linear, 3), 7 * MB);
    assert_int_equal(sent_by(&pairs, 3), 7 * MB);
}

// Without a segment size the segmented ring is a ring; with one it has as many phases as segments.
static void test_segments(void **state)
{
    (void)state;
    struct mpi_shape ring = shape_of(MPI_ALL_REDUCE, MPI_RING, 4, MB),
                     seg = shape_of(MPI_ALL_REDUCE, MPI_SEGMENTED_RING, 4, MB);
    seg.segment_bytes = 0;
    assert_int_equal(mpi_steps(&seg), mpi_steps(&ring));
    seg.segment_bytes = MB / 16; // four segments in each block
    assert_int_equal(mpi_steps(&seg), 4 * 4 + 3);
    assert_int_equal(mpi_step(&seg, 0, 0).sends_bytes, MB / 16);
    assert_int_equal(sent_by(&seg, 1), sent_by(&ring, 1));
}

static void test_choice(void **state)
{
    (void)state;
    assert_int_equal(mpi_choice(MPI_ALL_REDUCE, 2, 4), MPI_RING);
    assert_int_equal(mpi_choice(MPI_ALL_REDUCE, 2, 100000), MPI_SEGMENTED_RING);
    assert_int_equal(mpi_choice(MPI_ALL_REDUCE, 4, MB), MPI_RABENSEIFNER);
    assert_int_equal(mpi_choice(MPI_ALL_REDUCE, 8, 4096), MPI_RECURSIVE_DOUBLING);
    assert_int_equal(mpi_choice(MPI_ALL_REDUCE, 64, 200000), MPI_RECURSIVE_DOUBLING);
    assert_int_equal(mpi_choice(MPI_ALL_REDUCE, 5000, 20000), MPI_RECURSIVE_DOUBLING);
    assert_int_equal(mpi_choice(MPI_ALL_TO_ALL, 4, 600000), MPI_PAIRWISE);
    assert_int_equal(mpi_choice(MPI_ALL_TO_ALL, 8, MB), MPI_LINEAR);
    struct mpi_settings s = {.algorithm = MPI_PAIRWISE, .eager_bytes = 65480};
    assert_int_equal(mpi_shape_of(&s, MPI_ALL_TO_ALL, 8, 0, MB).algorithm, MPI_PAIRWISE);
    assert_int_equal(mpi_shape_of(&s, MPI_ALL_REDUCE, 8, 0, MB).algorithm, MPI_RABENSEIFNER);
    assert_int_equal(mpi_wire_bytes(&s, 65479), 65479 + 22);
    assert_int_equal(mpi_wire_bytes(&s, 65480), 65480 + 56);
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_complete),
        cmocka_unit_test(test_volumes),
        cmocka_unit_test(test_segments),
        cmocka_unit_test(test_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
