// SPDX-License-Identifier: MIT
// Facts that follow from a spec alone.
#include "sim/spec/spec.h"

#include <stdio.h>

#include "workload/flows.h"
#include "workload/gpu_memory/need.h"

const char *spec_policy_names(const struct spec *spec, char *buf, size_t room)
{
    const struct dim_spec *dim = &spec->dims[spec->n_dims - 1];
    size_t used = 0;
    for (uint32_t t = 0; t < dim->n_stacks && used < room; t++)
        used += (size_t)snprintf(buf + used, room - used, "%s%s", t > 0 ? "+" : "",
                                 dim->stacks[t].cc->name);
    return buf;
}

bool spec_has_noise(const struct spec *spec) { return spec->network != NETWORK_ANALYTICAL; }

uint32_t spec_ranks(const struct spec *spec)
{
    uint32_t ranks = 1;
    for (uint32_t d = 0; d < spec->n_dims; d++)
        ranks *= spec->dims[d].size;
    return ranks;
}

uint64_t spec_memory_bytes(const struct spec *spec, const struct memory_need *need)
{
    if (spec->memory.capacity_bytes != PARAM_AUTO)
        return spec->memory.capacity_bytes;
    if (need->device != NULL)
        return need->device->memory_bytes;
    return spec->memory.machine != NULL ? spec->memory.machine->memory_bytes : 0;
}

bool spec_has_measured(const struct spec *spec)
{
    bool measured = false;
    for (size_t j = 0; j < spec->n_jobs; j++)
        measured |= job_is_measured(&spec->jobs[j]);
    return measured;
}

bool spec_has_programs(const struct spec *spec)
{
    bool any = false;
    for (size_t j = 0; j < spec->n_jobs; j++)
        any |= spec->jobs[j].kind->nodes != NULL;
    return any;
}
