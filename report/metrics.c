// SPDX-License-Identifier: MIT
// metrics.json and run.json by jansson. Reals are printed with 10 digits: enough, and the same
// everywhere.
#include "report/metrics.h"

#include <jansson.h>

#include "report/series.h"
#include "report/training.h"

static const char *const status_words[] = {"completed", "incomplete", "interrupted"};
static const char *const flow_words[] = {"running", "completed", "failed"};

static json_t *ns(ps_t ps) { return ps < 0 ? json_null() : json_integer(ns_of_ps(ps)); }
static json_t *count(uint64_t n) { return json_integer((json_int_t)n); }
static json_t *whole(double x) { return json_integer((json_int_t)(x + 0.5)); }

static void put(json_t *object, const char *key, json_t *value)
{
    json_object_set_new(object, key, value);
}

static json_t *texts(char *const *list, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, json_string(list[i]));
    return array;
}

static json_t *flow_json(const struct flow_record *f)
{
    json_t *o = json_object();
    double seconds = (double)f->fct_ps / (double)PS_PER_S;
    put(o, "id", count(f->id));
    put(o, "job", count(f->job));
    put(o, "qp", count(f->qp));
    put(o, "src", count(f->src));
    put(o, "dst", count(f->dst));
    put(o, "bytes", count(f->bytes));
    put(o, "start_ns", ns(f->start_ps));
    put(o, "fct_ns", ns(f->fct_ps));
    put(o, "delivered_ns", ns(f->delivered_ps));
    put(o, "ideal_ns", ns(f->ideal_ps));
    put(o, "slowdown",
        f->fct_ps <= 0 ? json_null() : json_real((double)f->fct_ps / (double)f->ideal_ps));
    put(o, "delivered_bytes", count(f->delivered_bytes));
    put(o, "goodput_bps", f->fct_ps <= 0 ? json_null() : whole((double)f->bytes * 8 / seconds));
    put(o, "packets", count(f->packets));
    put(o, "retransmitted_packets", count(f->retransmitted));
    put(o, "cnps", count(f->cnps));
    put(o, "timeouts", count(f->timeouts));
    put(o, "status", json_string(flow_words[f->status]));
    return o;
}

static json_t *stats_json(const struct stats *s, bool ratio, bool empty)
{
    const struct {
        const char *key;
        double value;
    } values[] = {{"min", s->min}, {"mean", s->mean}, {"p50", s->p50},
                  {"p95", s->p95}, {"p99", s->p99},   {"max", s->max}};
    json_t *o = json_object();
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        put(o, values[i].key,
            empty   ? json_null()
            : ratio ? json_real(values[i].value)
                    : whole(values[i].value));
    return o;
}

static json_t *summary_json(const struct flows_summary *s)
{
    json_t *o = json_object();
    bool none = s->count == s->failed + s->running;
    put(o, "count", count(s->count));
    put(o, "failed", count(s->failed));
    put(o, "running", count(s->running));
    put(o, "bytes", count(s->bytes));
    put(o, "fct_ns", stats_json(&s->fct_ns, false, none));
    put(o, "slowdown", stats_json(&s->slowdown, true, none));
    put(o, "jain", none ? json_null() : json_real(s->jain));
    return o;
}

static json_t *phases_json(const struct collective_result *c)
{
    json_t *phases = json_array();
    for (uint32_t i = 0; i < c->n_phases; i++) {
        const struct phase_result *p = &c->phases[i];
        json_t *phase = json_object();
        put(phase, "dim", count(p->dim));
        put(phase, "op", json_string(p->op));
        put(phase, "algorithm", json_string(p->algorithm));
        put(phase, "start_ns", ns(p->start_ps));
        put(phase, "end_ns", ns(p->end_ps));
        put(phase, "bytes", count(p->bytes));
        put(phase, "messages", count(p->messages));
        put(phase, "queueing_ns", ns(p->queueing_ps));
        put(phase, "network_ns", ns(p->network_ps));
        json_array_append_new(phases, phase);
    }
    return phases;
}

static json_t *collective_dims_json(const struct collective_result *c)
{
    json_t *dims = json_array();
    for (uint32_t d = 0; d < c->n_dims; d++) {
        json_t *dim = json_object();
        put(dim, "bytes", count(c->dims[d].bytes));
        put(dim, "busy", json_real(c->dims[d].busy));
        json_array_append_new(dims, dim);
    }
    return dims;
}

static json_t *collective_json(const struct collective_result *c)
{
    json_t *o = json_object();
    bool ended = c->end_ps >= 0;
    ps_t duration = ended ? c->end_ps - c->start_ps : -1;
    put(o, "job", count(c->job));
    put(o, "name", json_string(c->name));
    put(o, "op", json_string(c->op));
    put(o, "algorithm", json_string(c->algorithm));
    put(o, "ranks", count(c->ranks));
    put(o, "bytes", count(c->bytes));
    put(o, "start_ns", ns(c->start_ps));
    put(o, "end_ns", ns(c->end_ps));
    put(o, "duration_ns", ns(duration));
    put(o, "algbw_bps", ended ? whole(c->algbw_bps) : json_null());
    put(o, "busbw_bps", ended ? whole(c->busbw_bps) : json_null());
    put(o, "ideal_ns", ns(c->ideal_ps));
    put(o, "efficiency", ended && c->ideal_ps >= 0 ? json_real(c->efficiency) : json_null());
    put(o, "phases", phases_json(c));
    put(o, "dims", collective_dims_json(c));
    return o;
}

static json_t *pfc_json(const struct result *r)
{
    json_t *o = json_object(), *ports = json_array();
    for (size_t i = 0; i < r->n_pfc_ports; i++) {
        const struct pfc_port_result *p = &r->pfc_ports[i];
        json_t *port = json_object();
        put(port, "at", json_string(p->at));
        put(port, "class", count(p->cls));
        put(port, "pauses", count(p->pauses));
        put(port, "paused_ns", ns(p->paused_ps));
        json_array_append_new(ports, port);
    }
    put(o, "pause_frames", count(r->pause_frames));
    put(o, "resume_frames", count(r->resume_frames));
    put(o, "paused_ns", ns(r->paused_ps));
    put(o, "ports", ports);
    put(o, "watchdog_fired", count(r->watchdog_fired));
    put(o, "deadlock", r->n_deadlock ? texts(r->deadlock, r->n_deadlock) : json_null());
    return o;
}

static json_t *drops_json(const struct result *r)
{
    json_t *o = json_object(), *reasons = json_object(), *places = json_array();
    put(reasons, "headroom", count(r->drops_headroom));
    put(reasons, "lossy_threshold", count(r->drops_lossy));
    put(reasons, "no_route", count(r->drops_unroutable));
    put(reasons, "watchdog", count(r->drops_watchdog));
    put(reasons, "link_loss", count(r->drops_loss));
    put(reasons, "link_corruption", count(r->drops_corruption));
    put(reasons, "link_down", count(r->drops_down));
    for (size_t i = 0; i < r->n_ports; i++) {
        if (r->ports[i].dropped_packets == 0)
            continue;
        json_t *place = json_object();
        put(place, "at", json_string(r->ports[i].at));
        put(place, "packets", count(r->ports[i].dropped_packets));
        put(place, "bytes", count(r->ports[i].dropped_bytes));
        json_array_append_new(places, place);
    }
    put(o, "packets", count(r->dropped_packets));
    put(o, "bytes", count(r->dropped_bytes));
    put(o, "by_reason", reasons);
    put(o, "by_place", places);
    return o;
}

static json_t *changes_json(const struct result *r)
{
    json_t *list = json_array();
    for (size_t i = 0; i < r->n_changes; i++) {
        json_t *change = json_object();
        put(change, "t_ns", ns(r->changes[i].at_ps));
        put(change, "at", json_string(r->changes[i].at));
        put(change, "what", json_string(r->changes[i].what));
        json_array_append_new(list, change);
    }
    return list;
}

static json_t *queues_json(const struct result *r)
{
    json_t *o = json_object(), *switches = json_array(), *ports = json_array();
    for (size_t i = 0; i < r->n_switches; i++) {
        const struct switch_result *s = &r->switches[i];
        json_t *sw = json_object();
        put(sw, "at", json_string(s->at));
        put(sw, "max_bytes", count(s->max_queue_bytes));
        put(sw, "mean_bytes", whole(s->mean_queue_bytes));
        put(sw, "shared_bytes", count(s->shared_bytes));
        put(sw, "max_shared_used_bytes", count(s->max_buffer_bytes));
        put(sw, "max_ingress_bytes", count(s->max_ingress_bytes));
        put(sw, "max_headroom_bytes", count(s->max_headroom_bytes));
        put(sw, "headroom_limit_bytes", count(s->headroom_limit_bytes));
        json_array_append_new(switches, sw);
    }
    for (size_t i = 0; i < r->n_ports; i++) {
        const struct port_result *p = &r->ports[i];
        if (!p->from_switch)
            continue;
        json_t *port = json_object();
        put(port, "at", json_string(p->at));
        put(port, "max_bytes", count(p->max_queue_bytes));
        put(port, "mean_bytes", whole(p->mean_queue_bytes));
        put(port, "marked_packets", count(p->marked));
        json_array_append_new(ports, port);
    }
    put(o, "max_bytes", count(r->max_queue_bytes));
    put(o, "switches", switches);
    put(o, "ports", ports);
    return o;
}

static json_t *links_json(const struct result *r)
{
    json_t *links = json_array();
    for (size_t i = 0; i < r->n_ports; i++) {
        json_t *link = json_object();
        put(link, "at", json_string(r->ports[i].at));
        put(link, "bytes", count(r->ports[i].bytes));
        put(link, "packets", count(r->ports[i].packets));
        put(link, "utilization", json_real(r->ports[i].utilization));
        json_array_append_new(links, link);
    }
    return links;
}

static json_t *ecn_json(const struct result *r)
{
    json_t *o = json_object();
    put(o, "marked_packets", count(r->marked_packets));
    put(o, "marked_share",
        json_real(r->markable_packets ? (double)r->marked_packets / (double)r->markable_packets
                                      : 0.));
    return o;
}

static char *dump(json_t *root)
{
    char *text = json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(10));
    json_decref(root);
    return text;
}

static void put_flows(json_t *o, const struct result *r)
{
    json_t *flows = json_array();
    for (size_t i = 0; r->flows_complete && i < r->n_flows; i++)
        json_array_append_new(flows, flow_json(&r->flows[i]));
    put(o, "flows", flows);
    put(o, "flows_summary", summary_json(&r->summary));
    json_t *collectives = json_array();
    for (size_t i = 0; i < r->n_collectives; i++)
        json_array_append_new(collectives, collective_json(&r->collectives[i]));
    put(o, "collectives", collectives);
}

char *metrics_json(const struct result *r, const char *scenario)
{
    json_t *o = json_object();
    put(o, "schema", json_string(METRICS_SCHEMA));
    put(o, "name", json_string(r->name));
    put(o, "seed", count(r->seed));
    put(o, "status", json_string(status_words[r->status]));
    put(o, "reason", r->reason ? json_string(r->reason) : json_null());
    put(o, "waiting", texts(r->waiting, r->n_waiting));
    put(o, "sim_time_ns", ns(r->sim_time_ps));
    put_flows(o, r);
    put(o, "training", trainings_json(r));
    put(o, "pfc", pfc_json(r));
    put(o, "ecn", ecn_json(r));
    put(o, "cnps", count(r->cnps));
    put(o, "cc_cuts", count(r->cc_cuts));
    put(o, "drops", drops_json(r));
    json_t *recovery = json_object();
    put(recovery, "naks", count(r->naks));
    put(recovery, "timeouts", count(r->timeouts));
    put(recovery, "retransmitted_packets", count(r->retransmitted));
    put(o, "recovery", recovery);
    put(o, "link_changes", changes_json(r));
    put(o, "queues", queues_json(r));
    put(o, "links", links_json(r));
    put(o, "explain", texts(r->explain, r->n_explain));
    if (r->series)
        put(o, "series", series_json(r));
    json_t *resolved = json_loads(scenario, 0, NULL);
    put(o, "scenario", resolved ? resolved : json_null());
    return dump(o);
}

char *run_json(const struct result *r, const char *version)
{
    json_t *o = json_object(), *captures = json_array();
    double cpu = r->cpu_s > 0 ? r->cpu_s : 1e-9;
    json_t *versions = json_object();
    put(versions, "collwire", json_string(version));
    put(versions, "compiler", json_string(__VERSION__));
    put(versions, "jansson", json_string(JANSSON_VERSION));
    put(o, "versions", versions);
    put(o, "wall_s", json_real(r->wall_s));
    put(o, "cpu_s", json_real(r->cpu_s));
    put(o, "events", count(r->events));
    put(o, "events_per_s", whole((double)r->events / cpu));
    put(o, "packet_hops", count(r->packet_hops));
    put(o, "packet_hops_per_s", whole((double)r->packet_hops / cpu));
    put(o, "peak_rss_bytes", count(r->peak_rss_bytes));
    put(o, "memory_limit_bytes", count(r->memory_limit_bytes));
    for (size_t i = 0; i < r->n_captures; i++) {
        json_t *capture = json_object();
        put(capture, "file", json_string(r->captures[i].file));
        put(capture, "packets", count(r->captures[i].packets));
        json_array_append_new(captures, capture);
    }
    put(o, "captures", captures);
    return dump(o);
}
