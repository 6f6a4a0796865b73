// SPDX-License-Identifier: MIT
// The transports of a dimension together: the largest packets, and whose data a class carries.
#include <stdio.h>

#include "sim/sim_internal.h"

static uint32_t larger(uint32_t a, uint32_t b) { return a > b ? a : b; }

struct largest_packets sim_largest_packets(const struct sim *sim, uint32_t dim)
{
    struct largest_packets most = {0};
    for (uint32_t t = 0; t < sim->hosts.n_transports; t++) {
        const struct transport_dim *d = hosts_dim(&sim->hosts, dim, t);
        most.first_wire = larger(most.first_wire, d->first.wire);
        most.full_wire = larger(most.full_wire, d->full.wire);
        most.full_frame = larger(most.full_frame, d->full.frame);
        most.ack_wire = larger(most.ack_wire, d->ack.wire);
        most.frame =
            larger(most.frame, larger(d->first.frame, larger(d->full.frame, d->ack.frame)));
    }
    return most;
}

unsigned sim_job_class(const struct spec *spec, uint32_t dim, size_t job)
{
    uint64_t own = spec->dims[dim].stacks[spec->jobs[job].transport].transport.cls;
    return (unsigned)(own != PARAM_AUTO ? own : spec->jobs[job].cls);
}

// True if a job sends data of this class over transport number `t`.
static bool carries(const struct sim *sim, uint32_t dim, uint32_t t, unsigned cls)
{
    for (size_t j = 0; j < sim->spec->n_jobs; j++) {
        if (sim->spec->jobs[j].transport == t && sim_job_class(sim->spec, dim, j) == cls)
            return true;
    }
    return false;
}

const struct stack_spec *sim_stack_of_class(const struct sim *sim, uint32_t dim, unsigned cls)
{
    const struct dim_spec *spec = &sim->spec->dims[dim];
    const struct stack_spec *found = NULL;
    for (uint32_t t = 0; spec->n_stacks > 1 && t < spec->n_stacks; t++) {
        const struct stack_spec *stack = &spec->stacks[t];
        if (carries(sim, dim, t, cls) &&
            (!found || (!found->cc_preset->profile.ecn && stack->cc_preset->profile.ecn)))
            found = stack;
    }
    return found ? found : &spec->stacks[0];
}

const char *spec_policy_names(const struct spec *spec, char *buf, size_t room)
{
    const struct dim_spec *dim = &spec->dims[spec->n_dims - 1];
    size_t used = 0;
    for (uint32_t t = 0; t < dim->n_stacks && used < room; t++)
        used += (size_t)snprintf(buf + used, room - used, "%s%s", t > 0 ? "+" : "",
                                 dim->stacks[t].cc->name);
    return buf;
}
