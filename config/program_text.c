// SPDX-License-Identifier: MIT
// One line for the groups, one for each node.
#include "config/program_text.h"

#include <jansson.h>
#include <stdlib.h>

#include "collective/algorithm/grid.h"
#include "engine/base/text.h"

static void put(FILE *out, json_t *line)
{
    json_dumpf(line, out, JSON_COMPACT | JSON_PRESERVE_ORDER);
    fputc('\n', out);
    json_decref(line);
}

static void set_text(json_t *object, const char *key, char *text)
{
    json_object_set_new(object, key, json_string(text));
    free(text);
}

static void put_groups(FILE *out, const struct node_program *p)
{
    json_t *groups = json_object();
    for (uint32_t g = 0; g < p->n_groups; g++) {
        const struct node_group *group = &p->groups[g];
        if (group->ranks == NULL)
            continue; // "all"
        json_t *ranks = json_array();
        for (uint32_t m = 0; m < coll_ranks(&group->schedule); m++)
            json_array_append_new(ranks, json_integer(group->ranks[m]));
        json_object_set_new(groups, group->name, ranks);
    }
    put(out, json_pack("{s:o}", "groups", groups));
}

static void set_stream(json_t *line, const struct node *node, unsigned *comm_streams)
{
    unsigned comm = node->stream - (unsigned)NODE_COMM_STREAM + 1; // of its kind, counted from 1
    json_object_set_new(line, "stream", json_string(node_stream_name(node->stream)));
    if (node->stream != NODE_NO_STREAM && node->stream >= NODE_COMM_STREAM && comm > *comm_streams)
        *comm_streams = comm;
}

static void set_vectors(json_t *line, const struct coll_uneven *uneven, uint32_t n)
{
    json_t *bytes = json_array();
    for (uint32_t m = 0; m < n; m++)
        json_array_append_new(bytes, json_integer((json_int_t)uneven->bytes[m]));
    json_object_set_new(line, "vectors",
                        json_pack("{s:o,s:s}", "bytes", bytes, "of",
                                  uneven->of_receiver ? "receivers" : "senders"));
}

static void set_collective(json_t *line, const struct node_program *p, const struct node *node)
{
    const struct node_group *group = &p->groups[node->group];
    json_object_set_new(line, "op", json_string(coll_op_name(node->op)));
    json_object_set_new(line, "bytes", json_integer((json_int_t)node->bytes));
    if (group->ranks != NULL)
        json_object_set_new(line, "group", json_string(group->name));
    if (coll_op_rooted(node->op))
        json_object_set_new(line, "root", json_integer(node->root));
    if (node->uneven != NULL)
        set_vectors(line, node->uneven, coll_ranks(&group->schedule));
    if (node->measured_ps > 0)
        set_text(line, "measured", text_format("%lldps", (long long)node->measured_ps));
}

static void set_kind(json_t *line, const struct node_program *p, const struct node *node)
{
    static const char *const kinds[] = {[NODE_COMPUTE] = "compute",
                                        [NODE_WAIT] = "wait",
                                        [NODE_SEND] = "send",
                                        [NODE_RECV] = "recv",
                                        [NODE_COLLECTIVE] = "collective",
                                        [NODE_EMPTY] = "join",
                                        [NODE_COPY] = "copy"};
    bool message = node->kind == NODE_SEND || node->kind == NODE_RECV;
    json_object_set_new(line, "kind", json_string(kinds[node->kind]));
    if (node->takes_ps > 0)
        set_text(line, "time", text_format("%lldps", (long long)node->takes_ps));
    if (message) {
        json_object_set_new(line, node->kind == NODE_SEND ? "to" : "from",
                            json_integer(node->peer));
        json_object_set_new(line, "tag", json_integer(node->tag));
    }
    if (node->kind == NODE_COPY) {
        json_object_set_new(line, "from", json_string(p->tiers->items[node->from].name));
        json_object_set_new(line, "to", json_string(p->tiers->items[node->to].name));
    }
    if (node->kind == NODE_SEND || node->kind == NODE_COPY)
        json_object_set_new(line, "bytes", json_integer((json_int_t)node->bytes));
    if (node->kind == NODE_COLLECTIVE)
        set_collective(line, p, node);
    if ((message || node->kind == NODE_COLLECTIVE || node->kind == NODE_COPY) &&
        node->use < p->n_uses)
        json_object_set_new(line, "use", json_string(p->uses[node->use]));
}

static void put_node(FILE *out, const struct node_program *p, uint32_t rank,
                     const struct node *node, unsigned *comm_streams)
{
    json_t *line = json_pack("{s:i,s:I}", "rank", rank, "id", (json_int_t)node->id);
    json_t *after = json_array();
    set_kind(line, p, node);
    if (node->name != NULL)
        json_object_set_new(line, "name", json_string(node->name));
    if (node->layer > 0)
        json_object_set_new(line, "layer", json_string(p->layers[node->layer - 1]));
    set_stream(line, node, comm_streams);
    if (node->priority != 0)
        json_object_set_new(line, "priority", json_integer(node->priority));
    for (uint32_t i = 0; i < node->n_after; i++)
        json_array_append_new(after, json_integer((json_int_t)node->after[i]));
    if (node->n_after > 0)
        json_object_set(line, "after", after);
    json_decref(after);
    put(out, line);
}

int program_write(FILE *out, const struct node_program *p, unsigned *comm_streams, struct err *err)
{
    void *cursor = p->source->open(p->self);
    int got = 0;
    *comm_streams = 1;
    put_groups(out, p);
    for (uint32_t r = 0; r < p->n_ranks && got >= 0; r++) {
        struct node node = {0};
        while ((got = p->source->next(cursor, r, &node, err)) > 0)
            put_node(out, p, r, &node, comm_streams);
    }
    p->source->close(cursor);
    return got;
}
