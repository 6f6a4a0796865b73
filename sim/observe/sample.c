// SPDX-License-Identifier: MIT
// Time series: the state is read every `report.sample`, after all other events of the same time.
// Sampling changes no state, so the results are the same without it.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "sim/fabric/port_patterns.h"
#include "sim/observe/sample_internal.h"

struct series_line *sampler_line(struct sampler *s, enum series_kind kind, char *key,
                                 const char *field)
{
    struct series *series = &s->series;
    size_t n = series->n_lines[kind];
    if ((n & (n - 1)) == 0)
        series->lines[kind] =
            memory_resize(series->lines[kind], n ? 2 * n : 1, sizeof **series->lines);
    struct series_line *line = &series->lines[kind][series->n_lines[kind]++];
    *line = (struct series_line){
        .key = key, .field = field ? memory_text(field) : NULL, .first = series->n_samples};
    line->values = memory_zeroed(s->cap_samples, sizeof *line->values);
    return line;
}

static void add_port(void *ctx, uint32_t port)
{
    struct sampler *s = ctx;
    for (size_t i = 0; i < s->n_ports; i++)
        if (s->ports[i] == port)
            return;
    s->ports = memory_resize(s->ports, s->n_ports + 1, sizeof *s->ports);
    s->ports[s->n_ports++] = port;
}

static size_t count_names(const char *const *names)
{
    size_t n = 0;
    while (names && names[n] && n < OBSERVE_MAX)
        n++;
    return n;
}

size_t sampler_observed(const struct sender *s)
{
    return count_names(s->cc->ops->observed) + count_names(s->dim->ops->observed);
}

const char *sampler_observed_name(const struct sender *s, size_t i)
{
    size_t n = count_names(s->cc->ops->observed);
    return i < n ? s->cc->ops->observed[i] : s->dim->ops->observed[i - n];
}

static void observe(const struct sender *s, double values[2 * OBSERVE_MAX])
{
    if (s->cc->ops->observe)
        s->cc->ops->observe(s->cc, values, OBSERVE_MAX);
    if (s->dim->ops->observe)
        s->dim->ops->observe(s, values + count_names(s->cc->ops->observed));
}

// Number of lines that the flows opened since the last sample will add.
static size_t coming_lines(const struct sampler *s)
{
    size_t n = 0;
    for (uint32_t i = s->n_sampled; !s->closed && i < own_flows(s); i++)
        n += 2 + sampler_observed(sender_of(s, handle_of(s, i)));
    return n;
}

// Add lines for new flows. Their keys are set at the end, when the flows are numbered.
static void add_flows(struct sampler *s)
{
    for (; !s->closed && s->n_sampled < own_flows(s); s->n_sampled++) {
        const struct sender *sender = sender_of(s, handle_of(s, s->n_sampled));
        sampler_line(s, SERIES_RATE, NULL, NULL);
        sampler_line(s, SERIES_CWND, NULL, NULL);
        for (size_t i = 0; i < sampler_observed(sender); i++)
            sampler_line(s, SERIES_OBSERVE, NULL, sampler_observed_name(sender, i));
    }
}

// Number of value lists of flows with those to come, of all processes: each has those of its own
// flows.
static size_t flow_lists(const struct sampler *s)
{
    const struct series *series = &s->series;
    uint64_t n = series->n_lines[SERIES_RATE] + series->n_lines[SERIES_CWND] +
                 series->n_lines[SERIES_OBSERVE] + coming_lines(s);
    if (s->sum.add)
        s->sum.add(s->sum.ctx, &n);
    return (size_t)n;
}

// Of ports. The list of times counts too, so that a series without lines is bounded as well.
static size_t port_lists(const struct sampler *s)
{
    return 1 + s->series.n_lines[SERIES_QUEUE] + s->series.n_lines[SERIES_PAUSED];
}

static void resize_lines(struct sampler *s, size_t cap_samples)
{
    s->cap_samples = cap_samples;
    for (int kind = 0; kind < SERIES_KINDS; kind++)
        for (size_t i = 0; i < s->series.n_lines[kind]; i++) {
            struct series_line *line = &s->series.lines[kind][i];
            line->values = memory_resize(line->values, cap_samples, sizeof *line->values);
        }
}

// Drop every other sample and double the step, so sample k remains at time k * step.
static void halve(struct sampler *s)
{
    struct series *series = &s->series;
    for (int kind = 0; kind < SERIES_KINDS; kind++)
        for (size_t i = 0; i < series->n_lines[kind]; i++) {
            struct series_line *line = &series->lines[kind][i];
            line->first = (line->first + 1) / 2;
            for (size_t k = line->first; 2 * k < series->n_samples; k++)
                line->values[k] = line->values[2 * k];
        }
    series->n_samples = (series->n_samples + 1) / 2;
    series->step_ps *= 2;
    size_t most = 2 * series->n_samples; // capacity that new lines will not need is freed
    resize_lines(s, most);
}

static void drop_lines(struct sampler *s, enum series_kind kind, size_t kept)
{
    struct series *series = &s->series;
    while (series->n_lines[kind] > kept) {
        struct series_line *line = &series->lines[kind][--series->n_lines[kind]];
        free(line->field);
        free(line->values);
    }
}

// Keep the lines of flows that begin before sample `end` only: those of the first flows, as lines
// are in the order in which flows were opened.
static void drop_flows(struct sampler *s, size_t end)
{
    size_t observed = 0;
    uint32_t kept = 0;
    while (kept < s->n_sampled && s->series.lines[SERIES_RATE][kept].first < end)
        observed += sampler_observed(sender_of(s, handle_of(s, kept++)));
    drop_lines(s, SERIES_RATE, kept);
    drop_lines(s, SERIES_CWND, kept);
    drop_lines(s, SERIES_OBSERVE, observed);
    s->n_sampled = kept;
}

// Make room for another sample. Which flows lose their lines depends on samples alone, so it is the
// same in one process and in several.
static void make_room(struct sampler *s)
{
    // The limit is one on all values together, so lines of flows leave before samples do.
    const struct series *series = &s->series;
    size_t ports = port_lists(s), flows = flow_lists(s), end = series->n_samples;
    size_t wanted = ports > SERIES_FLOW_LINES ? ports : SERIES_FLOW_LINES;
    if ((series->n_samples + 1) * (ports + flows) <= SERIES_MAX_VALUES)
        return;
    if (flows > wanted) {
        s->closed = true;
        flows = flow_lists(s);
    }
    for (; flows > wanted && (series->n_samples + 1) * (ports + flows) > SERIES_MAX_VALUES;
         end /= 2) {
        drop_flows(s, end);
        flows = flow_lists(s);
    }
    while (series->n_samples > 1 && (series->n_samples + 1) * (ports + flows) > SERIES_MAX_VALUES)
        halve(s);
}

#define SAMPLES_FIRST 64

static void grow(struct sampler *s)
{
    resize_lines(s, s->cap_samples ? 2 * s->cap_samples : SAMPLES_FIRST);
}

static void sample_flows(struct sampler *s, size_t at)
{
    struct series *series = &s->series;
    size_t observed = 0;
    for (uint32_t flow = 0; flow < s->n_sampled; flow++) {
        const struct sender *sender = sender_of(s, handle_of(s, flow));
        const struct cc *cc = sender->cc;
        double values[2 * OBSERVE_MAX] = {0};
        series->lines[SERIES_RATE][flow].values[at] = (double)cc->rate_bps;
        series->lines[SERIES_CWND][flow].values[at] =
            cc->cwnd_bytes == CC_UNLIMITED ? -1 : (double)cc->cwnd_bytes;
        observe(sender, values);
        for (size_t i = 0; i < sampler_observed(sender); i++)
            series->lines[SERIES_OBSERVE][observed++].values[at] = values[i];
    }
}

static void on_sample(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct sampler *s = timer->data;
    struct series *series = &s->series;
    // Limits of events must have the same effect with and without sampling.
    e->internal++; // this event does not count towards limits.events
    s->fabric->housekeeping--;
    network_catch_up(&s->fabric->net, e->now_ps);
    make_room(s);
    add_flows(s);
    // the time is between the samples that are kept
    if (e->now_ps != (ps_t)series->n_samples * series->step_ps) {
        s->fabric->housekeeping++;
        sim_timer_start(e, timer, (ps_t)series->n_samples * series->step_ps);
        return;
    }
    if (series->n_samples == s->cap_samples)
        grow(s);
    size_t at = series->n_samples;
    for (size_t i = 0; i < s->n_ports; i++) {
        uint32_t port = s->ports[i];
        series->lines[SERIES_QUEUE][i].values[at] = (double)s->fabric->net.ports[port].queued_bytes;
        series->lines[SERIES_PAUSED][i].values[at] = s->fabric->net.ports[port].paused != 0;
    }
    sample_flows(s, at);
    series->n_samples++;
    // After the last event of the model the series ends, and the run with it.
    if (fabric_only_housekeeping(s->fabric))
        return;
    s->fabric->housekeeping++;
    sim_timer_start(e, timer, (ps_t)series->n_samples * series->step_ps);
}

// Add the ports at the places that the scenario names, or all of switches.
static void add_ports(struct sampler *s, struct err *err)
{
    const struct report_spec *report = &s->fabric->spec->report;
    const struct graph *g = &s->fabric->graph;
    for (size_t i = 0; i < report->n_sample_at; i++) {
        char path[64];
        snprintf(path, sizeof path, "report.sample_at[%zu]", i);
        if (port_patterns_match(g, report->sample_at[i], add_port, s) == 0)
            port_patterns_unknown(g, report->sample_at[i], path, err);
    }
    for (uint32_t p = 0; report->n_sample_at == 0 && p < g->n_ports; p++)
        if (switch_of_port(&s->fabric->switches, p))
            add_port(s, p);
}

struct sampler *sampler_start(struct fabric *fabric, struct err *err)
{
    const struct report_spec *report = &fabric->spec->report;
    const struct graph *g = &fabric->graph;
    if (report->sample_ps == 0)
        return NULL;
    struct sampler *s = memory_zeroed(1, sizeof *s);
    s->fabric = fabric;
    s->series.step_ps = s->series.asked_ps = report->sample_ps;
    add_ports(s, err);
    grow(s);
    for (size_t i = 0; i < s->n_ports; i++) {
        char name[2 * GRAPH_NAME];
        graph_port_name(g, s->ports[i], name);
        sampler_line(s, SERIES_QUEUE, memory_text(name), NULL);
        sampler_line(s, SERIES_PAUSED, memory_text(name), NULL);
    }
    sim_timer_init(&fabric->engine, &s->timer, g->n_nodes, on_sample, s);
    sim_timer_start(&fabric->engine, &s->timer, 0);
    fabric->housekeeping++;
    return s;
}

/* ---- the end ---- */

// Sort the lines of a kind, which are in the order of handles, by the numbers of flows: the lines
// of `flow` begin at first[flow].
static void order_lines(struct sampler *s, enum series_kind kind, const size_t *first)
{
    struct series *series = &s->series;
    size_t n = series->n_lines[kind], at = 0;
    struct series_line *ordered = memory_zeroed(n, sizeof *ordered);
    for (uint32_t number = 0; number < s->fabric->hosts.flows.n; number++) {
        uint32_t flow = s->fabric->flow_order[number];
        for (size_t i = first[flow]; i < first[flow + 1]; i++) {
            ordered[at] = series->lines[kind][i];
            ordered[at++].key = text_format("%u", number);
        }
    }
    free(series->lines[kind]);
    series->lines[kind] = ordered;
}

struct series *sampler_series(struct sampler *s)
{
    if (!s)
        return NULL;
    uint32_t n = s->fabric->hosts.flows.n;
    size_t *one = memory_zeroed(n + 1, sizeof *one),
           *several = memory_zeroed(n + 1, sizeof *several);
    size_t foreign = 0;
    for (uint32_t flow = 0; flow < n; flow++) {
        bool sampled = flow < s->n_sampled; // false: opened after the last sample
        if (foreign < s->n_foreign && s->foreign[foreign] == flow) {
            sampled = true;
            foreign++;
        }
        s->series.n_left_out += s->closed && !sampled;
        one[flow + 1] = one[flow] + sampled;
        several[flow + 1] = several[flow] + (sampled ? sampler_observed(sender_of(s, flow)) : 0);
    }
    s->series.n_flows = n;
    order_lines(s, SERIES_RATE, one);
    order_lines(s, SERIES_CWND, one);
    order_lines(s, SERIES_OBSERVE, several);
    free(one);
    free(several);
    return &s->series;
}

void sampler_free(struct sampler *s)
{
    if (!s)
        return;
    for (int kind = 0; kind < SERIES_KINDS; kind++) {
        for (size_t i = 0; i < s->series.n_lines[kind]; i++) {
            free(s->series.lines[kind][i].key);
            free(s->series.lines[kind][i].field);
            free(s->series.lines[kind][i].values);
        }
        free(s->series.lines[kind]);
    }
    free(s->ports);
    free(s->foreign);
    free(s);
}
