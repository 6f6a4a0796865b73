// SPDX-License-Identifier: MIT
// Delivery of messages in closed form: no packets, ports, switches or queue pairs.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "sim/delivery/delivery_internal.h"

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
    const struct delivery *delivery = ctx;
    record.fct_ps = record.delivered_ps = record.life_ps[PATH_NETWORK] =
        delivery->fabric->engine.now_ps - m->posted_ps;
    record.status = MESSAGE_DONE;
    records_keep(ctx, &record);
}

static void on_running(void *ctx, const struct analytical_message *m)
{
    struct flow_record record = record_of(m);
    records_keep(ctx, &record);
}

void analytical_running(struct delivery *delivery)
{
    analytical_each(&delivery->analytical, delivery, on_running);
}

void analytical_init(struct delivery *delivery, struct transfer_client client)
{
    struct analytical *a = &delivery->analytical;
    *a = (struct analytical){.engine = &delivery->fabric->engine,
                             .path_book = &delivery->path_book,
                             .n_dims = delivery->fabric->spec->n_dims,
                             .links = delivery->fabric->spec->route == ANALYTICAL_LINKS,
                             .first_dim = delivery->fabric->spec->route == ANALYTICAL_FIRST_DIM,
                             .last_dim = delivery->fabric->spec->route == ANALYTICAL_LAST_DIM,
                             .client = client,
                             .ended = on_ended,
                             .ended_ctx = delivery};
    for (uint32_t d = 0; d < a->n_dims; d++) {
        const struct dim_spec *dim = &delivery->fabric->spec->dims[d];
        SIM_ASSERT(&delivery->fabric->engine, d, dim->kind->shape != SHAPE_OTHER);
        double bps = (double)dim->links[0].rate_bps;
        // These rules let a message use all links of a rank in the dimension; the others give it
        // one link.
        if (delivery->fabric->spec->route == ANALYTICAL_ALL_DIMS ||
            delivery->fabric->spec->route == ANALYTICAL_LAST_DIM)
            bps *= (double)dim->kind->width(dim->params, dim->size);
        a->dims[d] = (struct analytical_dim){.shape = dim->kind->shape,
                                             .size = dim->size,
                                             .latency_ps = link_delay_ps(&dim->links[0]),
                                             .trunk_ps = link_delay_ps(&dim->links[1]),
                                             .kind = dim->kind,
                                             .params = dim->params,
                                             .bytes_per_ns = bps / 8e9};
    }
    delivery->entry = analytical_transfer(a);
}

static void describe_pair(FILE *out, const struct analytical *a, uint32_t src, uint32_t dst)
{
    char time[UNIT_TEXT];
    fprintf(out, "rank%u -> rank%u: %u hops; 1 MB takes %s\n", src, dst,
            analytical_hops(a, src, dst),
            human_time(analytical_message_ps(a, src, dst, 1000000), time));
}

void analytical_describe(const struct delivery *delivery, FILE *out)
{
    const struct analytical *a = &delivery->analytical;
    uint32_t n = delivery->fabric->graph.n_ranks, stride = 1;
    char latency[UNIT_TEXT], rate[UNIT_TEXT];
    fprintf(out, "%u ranks, messages in closed form\n", n);
    for (uint32_t d = 0; d < a->n_dims; stride *= a->dims[d++].size) {
        fprintf(out, "dimension %u: %s of %u, a link %s, a message %s\n", d,
                delivery->fabric->spec->dims[d].kind->name, a->dims[d].size,
                human_time(a->dims[d].latency_ps, latency),
                human_rate(a->dims[d].bytes_per_ns * 8e9, rate));
        if (a->dims[d].size > 1)
            describe_pair(out, a, 0, stride);
    }
}
