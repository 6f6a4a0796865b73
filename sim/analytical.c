// SPDX-License-Identifier: MIT
// A simulation over the network in closed form: no packets, ports, switches or queue pairs.
#include <stdlib.h>

#include "engine/memory.h"
#include "sim/sim_internal.h"

_Static_assert(SPEC_MAX_DIMS <= COLL_MAX_DIMS, "every dimension has a place");

static struct flow_record record_of(const struct analytical_message *m)
{
    return (struct flow_record){.id = m->id,
                                .bytes = m->bytes,
                                .job = m->job,
                                .src = m->src,
                                .dst = m->dst,
                                .start_ps = m->posted_ps,
                                .fct_ps = -1,
                                .delivered_ps = -1,
                                .ideal_ps = m->takes_ps,
                                .status = MESSAGE_RUNNING};
}

static void on_ended(void *ctx, const struct analytical_message *m)
{
    struct flow_record record = record_of(m);
    record.delivered_bytes = m->bytes;
    const struct sim *sim = ctx;
    record.fct_ps = record.delivered_ps = record.life_ps[PATH_NETWORK] =
        sim->engine.now_ps - m->posted_ps;
    record.status = MESSAGE_DONE;
    sim_keep_record(ctx, &record);
}

static void on_running(void *ctx, const struct analytical_message *m)
{
    struct flow_record record = record_of(m);
    sim_keep_record(ctx, &record);
}

void sim_analytical_running(struct sim *sim) { analytical_each(&sim->analytical, sim, on_running); }

void sim_analytical_init(struct sim *sim)
{
    struct analytical *a = &sim->analytical;
    *a = (struct analytical){.engine = &sim->engine,
                             .path_book = &sim->path_book,
                             .n_dims = sim->spec->n_dims,
                             .links = sim->spec->route == ANALYTICAL_LINKS,
                             .first_dim = sim->spec->route == ANALYTICAL_FIRST_DIM,
                             .last_dim = sim->spec->route == ANALYTICAL_LAST_DIM,
                             .client = workload_client(&sim->workload),
                             .ended = on_ended,
                             .ended_ctx = sim};
    for (uint32_t d = 0; d < a->n_dims; d++) {
        const struct dim_spec *dim = &sim->spec->dims[d];
        SIM_ASSERT(&sim->engine, d, dim->kind->shape != SHAPE_OTHER);
        double bps = (double)dim->links[0].rate_bps;
        if (sim->spec->route == ANALYTICAL_ALL_DIMS || sim->spec->route == ANALYTICAL_LAST_DIM)
            bps *= (double)dim->kind->width(dim->params, dim->size);
        a->dims[d] = (struct analytical_dim){.shape = dim->kind->shape,
                                             .size = dim->size,
                                             .latency_ps = link_delay_ps(&dim->links[0]),
                                             .bytes_per_ns = bps / 8e9};
    }
}

static void describe_pair(FILE *out, const struct analytical *a, uint32_t src, uint32_t dst)
{
    char time[UNIT_TEXT];
    fprintf(out, "rank%u -> rank%u: %u hops; 1 MB takes %s\n", src, dst,
            analytical_hops(a, src, dst),
            human_time(analytical_message_ps(a, src, dst, 1000000), time));
}

void sim_analytical_describe(const struct sim *sim, FILE *out)
{
    const struct analytical *a = &sim->analytical;
    uint32_t n = sim->graph.n_ranks, stride = 1;
    char latency[UNIT_TEXT], rate[UNIT_TEXT];
    fprintf(out, "%u ranks, messages in closed form\n", n);
    for (uint32_t d = 0; d < a->n_dims; stride *= a->dims[d++].size) {
        fprintf(out, "dimension %u: %s of %u, a link %s, a message %s\n", d,
                sim->spec->dims[d].kind->name, a->dims[d].size,
                human_time(a->dims[d].latency_ps, latency),
                human_rate(a->dims[d].bytes_per_ns * 8e9, rate));
        if (a->dims[d].size > 1)
            describe_pair(out, a, 0, stride);
    }
}
