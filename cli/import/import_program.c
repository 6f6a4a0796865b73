// SPDX-License-Identifier: MIT
// One line for the groups, one for each node.
#include "cli/import/import_program.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

#include "cli/import/match.h"
#include "engine/base/memory.h"

uint32_t recording_comm_streams(const struct recording *r)
{
    uint32_t most = 1;
    for (size_t i = 0; i < r->n_ranks; i++)
        if (r->ranks[i].n_comm_streams > most)
            most = r->ranks[i].n_comm_streams;
    return most;
}

static void put_groups(FILE *out, const struct recording *r)
{
    json_t *groups = json_object();
    for (size_t g = 0; g < r->n_groups; g++) {
        json_t *ranks = json_array();
        for (uint32_t m = 0; m < r->groups[g].size; m++)
            json_array_append_new(ranks, json_integer(r->groups[g].ranks[m]));
        if (r->groups[g].use[0] != '\0')
            ranks = json_pack("{s:o,s:s}", "ranks", ranks, "use", r->groups[g].use);
        json_object_set_new(groups, r->groups[g].name, ranks);
    }
    json_t *line = json_pack("{s:o}", "groups", groups);
    json_dumpf(line, out, JSON_COMPACT | JSON_PRESERVE_ORDER);
    fputc('\n', out);
    json_decref(line);
}

/* ---- nodes ---- */

struct put {
    FILE *out;
    const struct recording *r;
    const struct rank_recording *rank;
    uint32_t index;
    char **names;     // [group] as JSON strings
    int64_t delay_ns; // by which the rank begins after the first
};

// What each member receives, or sends, of an all-to-all with vectors of different sizes.
static void put_vectors(const struct put *p, const struct call *call)
{
    const struct recorded_group *group = &p->r->groups[call->group];
    fputs(",\"vectors\":{\"bytes\":[", p->out);
    for (uint32_t m = 0; m < group->size; m++)
        fprintf(p->out, "%s%" PRIu64, m > 0 ? "," : "",
                group->received[(size_t)call->number * group->size + m]);
    fprintf(p->out, "],\"of\":\"%s\"}", call->sent_only ? "senders" : "receivers");
}

static void put_call(const struct put *p, const struct call *call)
{
    const struct recorded_group *group = &p->r->groups[call->group];
    if (call->kind != CALL_COLLECTIVE) {
        bool send = call->kind == CALL_SEND;
        fprintf(p->out, "\"kind\":\"%s\",\"%s\":%u,\"tag\":%u", send ? "send" : "recv",
                send ? "to" : "from", call->peer, call->group);
        if (send)
            fprintf(p->out, ",\"bytes\":%" PRIu64, call->bytes > 0 ? call->bytes : 1);
        return;
    }
    uint64_t bytes = group->bytes[call->number];
    fprintf(p->out, "\"kind\":\"collective\",\"op\":\"%s\",\"group\":%s", coll_op_name(call->op),
            p->names[call->group]);
    if (call->op != COLL_BARRIER)
        fprintf(p->out, ",\"bytes\":%" PRIu64, bytes > 0 ? bytes : 1);
    if (coll_op_rooted(call->op) && call->root > 0)
        fprintf(p->out, ",\"root\":%u", call->root);
    if (group->uneven[call->number] && bytes > 0)
        put_vectors(p, call);
    if (call->measured_ns > 0)
        fprintf(p->out, ",\"measured\":\"%" PRId64 "ns\"", call->measured_ns);
}

static void put_after(const struct put *p, const struct trace_node *node, bool first)
{
    if (node->n_after == 0 && !first)
        return;
    fputs(",\"after\":[", p->out);
    for (uint32_t i = 0; i < node->n_after; i++)
        fprintf(p->out, "%s%u", i > 0 ? "," : "", p->rank->after[node->first_after + i]);
    if (node->n_after == 0)
        fprintf(p->out, "%zu", p->rank->n_nodes);
    fputc(']', p->out);
}

static void put_node(const struct put *p, uint32_t id, bool first)
{
    const struct trace_node *node = &p->rank->nodes[id];
    fprintf(p->out, "{\"rank\":%u,\"id\":%u,", p->index, id);
    if (node->kind == TRACE_CALL)
        put_call(p, &p->rank->calls[node->call]);
    else
        fprintf(p->out, "\"kind\":\"%s\",\"time\":\"%" PRId64 "ns\"",
                node->kind == TRACE_COMPUTE ? "compute" : "wait", node->takes_ns);
    if (node->stream == TRACE_STREAM_COMPUTE)
        fputs(",\"stream\":\"compute\"", p->out);
    else if (node->stream == TRACE_STREAM_NONE)
        fputs(",\"stream\":\"none\"", p->out);
    else
        fprintf(p->out, ",\"stream\":\"comm%u\"", (unsigned)node->stream - TRACE_STREAM_COMM);
    if (node->step >= 0)
        fprintf(p->out, ",\"layer\":\"step %" PRId64 "\"", p->rank->steps[node->step].number);
    put_after(p, node, first);
    fputs("}\n", p->out);
}

static void put_rank(const struct put *p)
{
    bool begun[256] = {0};
    if (p->delay_ns > 0) // a node of its own, before the first ones
        fprintf(p->out,
                "{\"rank\":%u,\"id\":%zu,\"kind\":\"wait\",\"time\":\"%" PRId64
                "ns\",\"stream\":\"none\"}\n",
                p->index, p->rank->n_nodes, p->delay_ns);
    for (uint32_t id = 0; id < p->rank->n_nodes; id++) {
        const struct trace_node *node = &p->rank->nodes[id];
        bool first = p->delay_ns > 0 && node->n_after == 0 &&
                     (node->stream == TRACE_STREAM_NONE || !begun[node->stream]);
        begun[node->stream] = true;
        put_node(p, id, first);
    }
}

// When the first event of any rank was, by the clock of the first rank.
static int64_t first_begin(const struct recording *r)
{
    int64_t begin = INT64_MAX;
    for (size_t i = 0; i < r->n_ranks; i++)
        if (r->ranks[i].begin_ns != TIME_UNKNOWN && r->ranks[i].offset_known &&
            r->ranks[i].begin_ns - r->ranks[i].offset_ns < begin)
            begin = r->ranks[i].begin_ns - r->ranks[i].offset_ns;
    return begin;
}

void recording_write(FILE *out, const void *recording)
{
    const struct recording *r = recording;
    struct put p = {.out = out, .r = r};
    int64_t begin = first_begin(r);
    put_groups(out, r);
    p.names = memory_zeroed(r->n_groups + 1, sizeof *p.names);
    for (size_t g = 0; g < r->n_groups; g++) {
        json_t *name = json_string(r->groups[g].name);
        p.names[g] = json_dumps(name, JSON_ENCODE_ANY);
        json_decref(name);
    }
    for (uint32_t i = 0; i < r->n_ranks; i++) {
        p.rank = &r->ranks[i];
        p.index = i;
        p.delay_ns = p.rank->begin_ns != TIME_UNKNOWN && p.rank->offset_known
                         ? p.rank->begin_ns - p.rank->offset_ns - begin
                         : 0;
        put_rank(&p);
    }
    for (size_t g = 0; g < r->n_groups; g++)
        free(p.names[g]);
    free(p.names);
}
