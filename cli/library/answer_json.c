// SPDX-License-Identifier: MIT
// One object, with the words of a scenario.
#include <stdlib.h>

#include "cli/library/answer_tell.h"
#include "engine/base/memory.h"

/* ---- the communicator ---- */

static json_t *rings_json(const struct answer *a)
{
    json_t *rings = json_array();
    uint32_t *ranks = memory_zeroed(a->comm.ranks, sizeof *ranks);
    for (uint32_t channel = 0; channel < a->comm.layout.channels.all; channel++) {
        json_t *ring = json_array();
        answer_ring(a, channel, ranks);
        for (uint32_t i = 0; i < a->comm.ranks; i++)
            json_array_append_new(ring, json_integer(ranks[i]));
        json_array_append_new(rings, ring);
    }
    free(ranks);
    return rings;
}

static json_t *tree_json(const struct answer *a, uint32_t channel)
{
    json_t *tree = json_array();
    for (uint32_t rank = 0; rank < a->comm.ranks; rank++) {
        struct nccl_tree_links links = nccl_layout_tree(&a->comm.layout, channel, rank);
        json_t *down = json_array();
        for (int i = 0; i < 3; i++)
            if (links.down[i] != NCCL_NONE)
                json_array_append_new(down, json_integer(links.down[i]));
        json_array_append_new(
            tree, json_pack("{s:i, s:i, s:o}", "rank", (int)rank, "up", links.up, "down", down));
    }
    return tree;
}

static json_t *trees_json(const struct answer *a)
{
    json_t *trees = json_array();
    for (uint32_t channel = 0; channel < a->comm.layout.channels.all; channel++)
        json_array_append_new(trees, tree_json(a, channel));
    return trees;
}

static json_t *heads_json(const struct answer *a)
{
    json_t *heads = json_array();
    uint32_t n = a->comm.layout.channels.nvls > 0 ? nccl_layout_nvls_heads(&a->comm.layout) : 0;
    uint32_t *ranks = memory_zeroed(a->comm.ranks, sizeof *ranks);
    for (uint32_t h = 0; h < n; h++) {
        json_t *head = json_array();
        uint32_t servers = answer_heads(a, h, ranks);
        for (uint32_t i = 0; i < servers; i++)
            json_array_append_new(head, json_integer(ranks[i]));
        json_array_append_new(heads, head);
    }
    free(ranks);
    return heads;
}

static json_t *counts_json(const struct answer *a)
{
    const struct nccl_channels *c = &a->comm.layout.channels;
    return json_pack("{s:i, s:i, s:i, s:i}", "coll", (int)c->all, "nvls", (int)c->nvls, "p2p",
                     (int)c->p2p, "p2p_per_peer", (int)c->p2p_per_peer);
}

/* ---- costs and choices ---- */

static json_t *costs_json(const struct answer *a)
{
    json_t *costs = json_array();
    for (int i = 0; i < NCCL_ALGORITHMS; i++)
        for (int k = 0; k < NCCL_PROTOCOLS; k++) {
            enum nccl_algorithm algorithm = (enum nccl_algorithm)i;
            enum nccl_protocol protocol = (enum nccl_protocol)k;
            const struct nccl_cost *cost = &a->comm.model.costs[a->function][i][k];
            if (!answer_possible(a, a->function, algorithm, protocol))
                continue;
            json_array_append_new(costs, json_pack("{s:s, s:s, s:s, s:f, s:f, s:i}", "algo",
                                                   executor_algorithm_word(algorithm), "name",
                                                   nccl_algorithm_name(algorithm), "proto",
                                                   executor_protocol_word(protocol), "latency_us",
                                                   cost->latency_us, "bandwidth_GBps", cost->bw,
                                                   "threads", (int)a->comm.model.threads[i][k]));
        }
    return costs;
}

static json_t *choice_json(const struct answer *a, uint64_t bytes)
{
    struct nccl_operation o = answer_choice(a, bytes);
    const struct nccl_choice *c = &o.choice;
    return json_pack("{s:I, s:s, s:s, s:i, s:i, s:i, s:f, s:I}", "bytes", (json_int_t)bytes, "algo",
                     executor_algorithm_word(c->algorithm), "proto",
                     executor_protocol_word(c->protocol), "channels", (int)c->channels,
                     "channels_used", (int)c->split.channels, "threads", (int)c->threads, "time_us",
                     c->cost_us, "chunk_bytes", (json_int_t)o.first.chunk_bytes);
}

static json_t *exchange_json(const struct answer *a, uint64_t bytes)
{
    struct nccl_p2p p2p = answer_p2p(a);
    struct nccl_p2p_split s =
        nccl_p2p_split(&p2p, bytes / a->comm.ranks, a->comm.settings.p2p_chunk_bytes);
    return json_pack("{s:I, s:i, s:i, s:I, s:I}", "bytes", (json_int_t)bytes, "channels",
                     (int)p2p.channels.p2p, "parts", (int)s.parts, "part_bytes",
                     (json_int_t)s.part_bytes, "chunk_bytes", (json_int_t)s.chunk_bytes);
}

static json_t *rounds_json(const struct answer *a)
{
    struct nccl_p2p p2p = answer_p2p(a);
    struct nccl_round *rounds = memory_zeroed(a->comm.ranks, sizeof *rounds);
    json_t *list = json_array();
    nccl_p2p_rounds(&p2p, 0, rounds);
    for (uint32_t i = 0; i < a->comm.ranks; i++)
        json_array_append_new(list,
                              json_pack("{s:i, s:i, s:i}", "to", (int)rounds[i].to, "from",
                                        (int)rounds[i].from, "channel", (int)rounds[i].channel));
    free(rounds);
    return list;
}

// The choice for the size; without one those for all sizes, and the keys of the last one.
static void add_choices(json_t *root, const struct answer *a)
{
    json_t *choices = json_array();
    for (uint64_t bytes = 0; answer_next_size(a, &bytes);)
        json_array_append_new(choices,
                              a->has_function ? choice_json(a, bytes) : exchange_json(a, bytes));
    json_object_update(root, json_array_get(choices, json_array_size(choices) - 1));
    if (a->query->bytes > 0)
        json_decref(choices);
    else
        json_object_set_new(root, "choices", choices);
}

/* ---- a comparison ---- */

static void add_sentences(json_t *list, const struct log_sentences *s)
{
    for (size_t i = 0; i < s->n; i++) {
        json_t *text = json_string(s->list[i]);
        json_array_append_new(list, text != NULL ? text : json_string("(not UTF-8)"));
    }
}

static json_t *comparison_json(const struct log_comparison *c)
{
    json_t *compared = json_object(), *equal = json_object(), *differences = json_array(),
           *notes = json_array();
    add_sentences(differences, &c->scope);
    for (int k = 0; k < FACT_KINDS; k++) {
        const char *name = fact_kind_name((enum fact_kind)k);
        if (c->counts[k].compared == 0)
            continue;
        json_object_set_new(compared, name, json_integer((json_int_t)c->counts[k].compared));
        json_object_set_new(equal, name, json_integer((json_int_t)c->counts[k].equal));
        add_sentences(differences, &c->differences[k]);
    }
    add_sentences(notes, &c->reasons);
    return json_pack("{s:s?, s:s?, s:o, s:o, s:o, s:o}", "log", c->log->name, "nccl",
                     c->log->version, "compared", compared, "equal", equal, "differences",
                     differences, "notes", notes);
}

// Everything as JSON; `c` may be NULL.
json_t *answer_json(const struct answer *a, const struct log_comparison *c)
{
    const struct query *q = a->query;
    json_t *root = json_pack(
        "{s:s, s:s, s:s, s:I, s:i, s:s}", "machine", q->machine->name, "source", q->machine->source,
        q->settings.rccl ? "rccl" : "nccl", nccl_version_name(a->comm.settings.version), "nodes",
        (json_int_t)q->nodes, "ranks", (int)a->comm.ranks, "op", coll_op_name(q->op));
    add_choices(root, a);
    if (a->has_function)
        json_object_set_new(root, "note", json_string(answer_cost_note(a)));
    json_object_set_new(root, "counts", counts_json(a));
    if (a->has_function)
        json_object_set_new(root, "costs", costs_json(a));
    else
        json_object_set_new(root, "rounds", rounds_json(a));
    json_object_set_new(root, "rings", rings_json(a));
    json_object_set_new(root, "trees", trees_json(a));
    json_object_set_new(root, "nvls_heads", heads_json(a));
    if (c != NULL)
        json_object_set_new(root, "against", comparison_json(c));
    return root;
}
