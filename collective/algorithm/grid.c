// SPDX-License-Identifier: MIT
// Ranks are numbered from the innermost dimension: rank = sum of coordinate * product of the inner
// sizes.
#include "collective/algorithm/grid.h"

uint32_t coll_span(const struct coll_schedule *s, uint32_t dims)
{
    uint32_t n = 1;
    for (uint32_t d = 0; d < s->n_dims; d++)
        n *= dims >> d & 1 ? s->dim_size[d] : 1;
    return n;
}

uint32_t coll_ranks(const struct coll_schedule *s) { return coll_span(s, UINT32_MAX); }

static uint32_t stride_of(const struct coll_schedule *s, uint32_t dim)
{
    // The number after the last dimension stands for all ranks at once, whose members are numbered
    // as the ranks.
    return dim < s->n_dims ? coll_span(s, (UINT32_C(1) << dim) - 1) : 1;
}

uint32_t coll_group_size(const struct coll_schedule *s, uint32_t dim)
{
    return dim < s->n_dims ? s->dim_size[dim] : coll_ranks(s);
}

uint32_t coll_largest_group(const struct coll_schedule *s)
{
    uint32_t largest = 1;
    for (uint32_t d = 0; d < s->n_dims; d++)
        largest = s->dim_size[d] > largest ? s->dim_size[d] : largest;
    // A collective that is not divided by dimensions has a group of all ranks.
    for (unsigned op = 0; op < COLL_OPS; op++)
        largest = s->flat[op] ? coll_ranks(s) : largest;
    return largest;
}

uint32_t coll_n_groups(const struct coll_schedule *s, uint32_t dim)
{
    return coll_ranks(s) / coll_group_size(s, dim);
}

const struct coll_reduction *coll_reduction_of(const struct coll_schedule *s, uint32_t dim,
                                               uint32_t group)
{
    if (!s->reductions)
        return NULL;
    // Groups are numbered dimension by dimension in this table.
    for (uint32_t d = 0; d < dim; d++)
        group += coll_n_groups(s, d);
    return s->reductions[group];
}

uint32_t coll_group_of(const struct coll_schedule *s, uint32_t dim, uint32_t rank)
{
    uint32_t stride = stride_of(s, dim);
    // Groups of a dimension are numbered by the coordinates of all other dimensions: the outer
    // ones, then the inner ones.
    return rank / (stride * coll_group_size(s, dim)) * stride + rank % stride;
}

uint32_t coll_member_of(const struct coll_schedule *s, uint32_t dim, uint32_t rank)
{
    return rank / stride_of(s, dim) % coll_group_size(s, dim);
}

uint32_t coll_rank_of(const struct coll_schedule *s, uint32_t dim, uint32_t group, uint32_t member)
{
    uint32_t stride = stride_of(s, dim);
    return (group / stride * coll_group_size(s, dim) + member) * stride + group % stride;
}

// Segment `member` of `n` of a range.
static struct coll_range segment(struct coll_range r, uint32_t n, uint32_t member)
{
    struct coll_shape shape = {.ranks = n, .bytes = r.end - r.first};
    return (struct coll_range){r.first + coll_segment(&shape, member),
                               r.first + coll_segment(&shape, member + 1)};
}

// Collect the dimensions that have cut the chunk before phase `i`, the outermost cut first. Returns
// their number.
static uint32_t cuts_before(const struct coll_phase *phases, uint32_t n, uint32_t i,
                            uint8_t cuts[COLL_MAX_PHASES])
{
    uint32_t depth = 0;
    // Before an all-gather the chunk is already cut in all its dimensions. Its last phase undoes
    // the outermost cut, so the cuts are in the reverse order of the phases.
    if (phases[0].op == COLL_ALL_GATHER)
        for (uint32_t p = n; p-- > 0;)
            cuts[depth++] = phases[p].dim;
    // A reduce-scatter cuts what the cuts before have left; an all-gather joins the parts of the
    // innermost cut.
    for (uint32_t p = 0; p < i; p++) {
        if (phases[p].op == COLL_REDUCE_SCATTER)
            cuts[depth++] = phases[p].dim;
        else if (phases[p].op == COLL_ALL_GATHER)
            depth--;
    }
    // the phase itself joins the innermost cut
    return phases[i].op == COLL_ALL_GATHER ? depth - 1 : depth;
}

struct coll_range coll_phase_range(const struct coll_schedule *s, const struct coll_phase *phases,
                                   uint32_t n, uint32_t i, uint32_t group, struct coll_range chunk)
{
    uint8_t cuts[COLL_MAX_PHASES];
    uint32_t depth = cuts_before(phases, n, i, cuts);
    // all members of the group have the same cuts
    uint32_t rank = coll_rank_of(s, phases[i].dim, group, 0);
    for (uint32_t c = 0; c < depth; c++)
        chunk = segment(chunk, coll_group_size(s, cuts[c]), coll_member_of(s, cuts[c], rank));
    return chunk;
}
