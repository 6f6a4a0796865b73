// SPDX-License-Identifier: MIT
// What a program sends in all depends on few things, and the groups of a phase differ by little.
#include "workload/volume.h"

uint64_t volume_of(const struct coll_schedule *s, const struct coll_phase *phase,
                   const struct coll_shape *shape, struct volume *kept)
{
    struct volume *slot = &kept[(shape->bytes + phase->dim * 7 + phase->op * 17) % VOLUMES_KEPT];
    if (slot->phase.bytes == shape->bytes && slot->phase.dim == phase->dim &&
        slot->phase.op == phase->op && slot->bytes > 0 && shape->uneven == NULL)
        return slot->bytes;
    *slot = (struct volume){{phase->dim, phase->op, shape->bytes}, 0};
    for (uint32_t r = 0; r < shape->ranks; r++)
        slot->bytes += coll_bytes_sent(s->choice[phase->op][phase->dim].algorithm, shape, r);
    return slot->bytes;
}
