// SPDX-License-Identifier: MIT
// Time series of one run in several processes: each process samples its own ports and flows.
#include "engine/base/memory.h"
#include "sim/observe/sample_internal.h"

void sampler_set_sum(struct sampler *s, const struct sampler_sum *sum)
{
    if (s)
        s->sum = *sum;
}

static void hand_over_line(struct parcel *p, struct sampler *s, struct series_line *line)
{
    PARCEL(p, line->first);
    parcel_value(p, line->values, s->series.n_samples * sizeof *line->values);
}

static void hand_over_ports(struct parcel *p, struct sampler *s)
{
    const struct network *net = &s->fabric->net;
    for (uint32_t i = 0; i < s->n_ports; i++) {
        // When reading, the other process states which ports are its own.
        bool owned = !p->reads && shards_owns(s->fabric->shards, net->ports[s->ports[i]].node);
        PARCEL(p, owned);
        if (!owned)
            continue;
        hand_over_line(p, s, &s->series.lines[SERIES_QUEUE][i]);
        hand_over_line(p, s, &s->series.lines[SERIES_PAUSED][i]);
    }
}

static void read_flow(struct parcel *p, struct sampler *s, uint32_t flow)
{
    const struct sender *sender = sender_of(s, flow);
    if (s->n_foreign == s->cap_foreign)
        s->foreign = memory_grow(s->foreign, &s->cap_foreign, sizeof *s->foreign);
    s->foreign[s->n_foreign++] = flow;
    hand_over_line(p, s, sampler_line(s, SERIES_RATE, NULL, NULL));
    hand_over_line(p, s, sampler_line(s, SERIES_CWND, NULL, NULL));
    for (size_t i = 0; i < sampler_observed(sender); i++)
        hand_over_line(p, s,
                       sampler_line(s, SERIES_OBSERVE, NULL, sampler_observed_name(sender, i)));
}

void sampler_hand_over(struct parcel *p, struct sampler *s, uint32_t first)
{
    if (!s)
        return;
    size_t observed = 0;
    hand_over_ports(p, s);
    uint32_t n = parcel_number(p, s->n_sampled);
    for (uint32_t i = 0; i < n && !p->torn; i++) {
        // Process 0 appends the flows of the others to its own, with lines of their own.
        if (p->reads) {
            read_flow(p, s, first + i);
            continue;
        }
        hand_over_line(p, s, &s->series.lines[SERIES_RATE][i]);
        hand_over_line(p, s, &s->series.lines[SERIES_CWND][i]);
        for (size_t k = sampler_observed(sender_of(s, handle_of(s, i))); k > 0; k--)
            hand_over_line(p, s, &s->series.lines[SERIES_OBSERVE][observed++]);
    }
}
