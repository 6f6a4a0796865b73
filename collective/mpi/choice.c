// SPDX-License-Identifier: MIT
// The algorithms by name, and which one coll_tuned chooses (coll_tuned_decision_fixed.c, 4.1.4).
//
// Its rules are lists of limits by the size of the communicator. Algorithms that are not here count
// as the nearest one: "nonoverlapping" as recursive doubling, "linear_sync" and "bruck" as linear,
// "two_proc" as pairwise; all of broadcast as binomial.
#include "collective/mpi/mpi.h"
#include "collective/mpi/steps.h"

#include <stddef.h>

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
