// SPDX-License-Identifier: MIT
// Nodes of traces become nodes of a program.
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "workload/chakra/set_internal.h"

#define PRIORITY_MOST 1000000 // as in programs; larger ones are this

static int32_t priority_of(int64_t priority)
{
    return (int32_t)(priority > PRIORITY_MOST    ? PRIORITY_MOST
                     : priority < -PRIORITY_MOST ? -PRIORITY_MOST
                                                 : priority);
}

#define TAKES_MAX_NS UINT64_C(100000000000000) // 100000 s, as in scenarios
#define BYTES_MAX UINT64_C(1000000000000000)   // 1 PB

struct conversion {
    struct trace_set *set;
    uint32_t rank;
    const struct trace *trace;
    const struct trace_node *from;
    const char *path;
    struct err *err;
};

#define FAIL(c, ...) trace_error((c)->trace, (c)->from, (c)->path, (c)->err, __VA_ARGS__)

/* ---- numbers of texts and tags ---- */

uint32_t trace_word(struct trace_words *words, const char *text)
{
    for (uint32_t i = words->n; i-- > 0;)
        if (strcmp(words->items[i], text) == 0)
            return i;
    if (words->n == words->cap)
        words->items = memory_grow(words->items, &words->cap, sizeof *words->items);
    words->items[words->n] = memory_text(text);
    return words->n++;
}

static uint64_t mix(uint64_t x) // finalizer of MurmurHash3
{
    x = (x ^ x >> 33) * UINT64_C(0xff51afd7ed558ccd);
    x = (x ^ x >> 33) * UINT64_C(0xc4ceb9fe1a85ec53);
    return x ^ x >> 33;
}

static uint32_t *tag_slot(struct trace_set *set, uint64_t tag, uint64_t bytes)
{
    for (size_t at = mix(tag * UINT64_C(0x9e3779b97f4a7c15) ^ bytes);; at++) {
        uint32_t *slot = &set->tag_table[at & (set->tag_slots - 1)];
        if (*slot == 0 || (set->tags[*slot - 1].tag == tag && set->tags[*slot - 1].bytes == bytes))
            return slot;
    }
}

static void tag_table_grow(struct trace_set *set)
{
    free(set->tag_table);
    set->tag_slots = set->tag_slots > 0 ? 2 * set->tag_slots : 64;
    set->tag_table = memory_zeroed(set->tag_slots, sizeof *set->tag_table);
    for (uint32_t i = 0; i < set->n_tags; i++)
        *tag_slot(set, set->tags[i].tag, set->tags[i].bytes) = i + 1;
}

uint32_t trace_tag_number(struct trace_set *set, uint64_t tag, uint64_t bytes)
{
    if (2 * (size_t)set->n_tags >= set->tag_slots)
        tag_table_grow(set);
    uint32_t *slot = tag_slot(set, tag, bytes);
    if (*slot == 0) {
        if (set->n_tags == set->cap_tags)
            set->tags = memory_grow(set->tags, &set->cap_tags, sizeof *set->tags);
        set->tags[set->n_tags++] = (struct trace_tag){tag, bytes};
        *slot = set->n_tags;
    }
    return *slot - 1;
}

/* ---- attributes ---- */

// Read an attribute that the node must have, from 0 to `max`.
static int number_need(const struct conversion *c, enum trace_attribute attribute, uint64_t max,
                       uint64_t *number)
{
    int64_t value = c->from->number[attribute];
    if (!trace_has(c->from, attribute))
        return FAIL(c, "a %s needs the attribute %s", trace_type_names[c->from->type],
                    trace_attribute_names[attribute]);
    if (value < 0 || (uint64_t)value > max)
        return FAIL(c, "%s %" PRId64 " must be from 0 to %" PRIu64,
                    trace_attribute_names[attribute], value, max);
    *number = (uint64_t)value;
    return 0;
}

// The same for an attribute with a default.
static int number_or(const struct conversion *c, enum trace_attribute attribute, uint64_t max,
                     uint64_t none, uint64_t *number)
{
    *number = none;
    return trace_has(c->from, attribute) ? number_need(c, attribute, max, number) : 0;
}

static int takes(const struct conversion *c, struct node *node)
{
    uint64_t us = c->from->duration_us;
    if (us > TAKES_MAX_NS / 1000)
        return FAIL(c, "a duration of %" PRIu64 " us is more than 100000 s", us);
    node->takes_ps = (ps_t)us * 1000 * PS_PER_NS;
    if (us == 0 && c->set->rules.astra)
        node->takes_ps = PS_PER_NS;
    return 0;
}

/* ---- kinds of nodes ---- */

static int roofline(const struct conversion *c, struct node *node)
{
    const struct trace_rules *rules = &c->set->rules;
    uint64_t ops, bytes;
    bool measured = trace_has(c->from, TRACE_NUM_OPS) && trace_has(c->from, TRACE_TENSOR_SIZE);
    if (!measured && c->set->unmeasured)
        return -1; // all traces of a set are alike in this: one error is enough
    c->set->unmeasured |= !measured;
    if (!measured)
        return FAIL(c,
                    "a %s lacks num_ops or tensor_size, which %s computations take their "
                    "duration. Other nodes may lack them too",
                    trace_type_names[c->from->type],
                    rules->astra ? "`roofline-enabled` 1 of the system needs; with 0"
                                 : "`peak_tflops` needs; without it");
    int result = number_need(c, TRACE_NUM_OPS, INT64_MAX, &ops);
    if (number_need(c, TRACE_TENSOR_SIZE, INT64_MAX, &bytes) != 0 || result != 0)
        return -1;
    if (bytes == 0)
        node->kind = NODE_EMPTY;
    if (bytes == 0 || ops == 0)
        return 0;
    double reached = rules->memory_bytes * ((double)ops / (double)bytes);
    double ns = (double)ops / fmin(reached, rules->peak_ops) * 1e9;
    if (!(ns <= (double)TAKES_MAX_NS))
        return FAIL(c, "%" PRIu64 " operations take more than 100000 s", ops);
    node->takes_ps = (ps_t)ns * PS_PER_NS;
    return 0;
}

static int convert_compute(const struct conversion *c, struct node *node)
{
    node->kind = NODE_COMPUTE;
    node->stream = NODE_COMPUTE_STREAM;
    return c->set->rules.roofline ? roofline(c, node) : takes(c, node);
}

// Convert the launch of a kernel (also of a communication), or any other work of the CPU.
static int convert_cpu(const struct conversion *c, struct node *node)
{
    node->kind = NODE_WAIT;
    node->stream = NODE_CPU_STREAM;
    return takes(c, node);
}

static int convert_memory(const struct conversion *c, struct node *node)
{
    const struct trace_rules *rules = &c->set->rules;
    uint64_t bytes;
    node->kind = NODE_WAIT;
    if (!rules->astra && node->stream == NODE_COMM_STREAM)
        node->stream = NODE_COPY_STREAM;
    if (!rules->remote)
        return FAIL(c, "a %s needs a remote memory (remote_memory)",
                    trace_type_names[c->from->type]);
    if (number_need(c, TRACE_TENSOR_SIZE, BYTES_MAX, &bytes) != 0)
        return -1;
    double ns = (double)bytes / rules->remote_bytes;
    if (!(ns <= (double)TAKES_MAX_NS))
        return FAIL(c, "%" PRIu64 " bytes take more than 100000 s", bytes);
    node->takes_ps = rules->remote_latency_ps + (ps_t)ns * PS_PER_NS;
    if (rules->remote_share > 1)
        node->shared = 1 + c->rank / rules->remote_share;
    return 0;
}

static int convert_message(const struct conversion *c, struct node *node)
{
    bool sends = c->from->type == TRACE_SEND;
    uint64_t own = c->rank, peer, tag = 0, bytes = 0;
    node->kind = sends ? NODE_SEND : NODE_RECV;
    node->stream = sends ? (uint8_t)(NODE_COMM_STREAM + c->set->rules.streams - 1) : NODE_NO_STREAM;
    int result = number_need(c, sends ? TRACE_COMM_DST : TRACE_COMM_SRC, UINT32_MAX, &peer);
    if (number_or(c, sends ? TRACE_COMM_SRC : TRACE_COMM_DST, UINT32_MAX, own, &own) != 0 ||
        number_need(c, TRACE_COMM_SIZE, BYTES_MAX, &bytes) != 0 ||
        number_need(c, TRACE_COMM_TAG, UINT32_MAX, &tag) != 0 || result != 0)
        return -1;
    if (own != c->rank)
        return FAIL(c, "%s is rank %" PRIu64 " in the trace of rank %u",
                    sends ? "comm_src" : "comm_dst", own, c->rank);
    if (peer >= c->set->n_ranks)
        return FAIL(c, "rank %" PRIu64 " is not one of %u", peer, c->set->n_ranks);
    if (peer == own)
        return FAIL(c, "rank %" PRIu64 " sends a message to itself", own);
    node->peer = (uint32_t)peer;
    node->bytes = bytes;
    node->tag = trace_tag_number(c->set, tag, bytes);
    return 0;
}

// The node's communicator and dimensions.
static int convert_group(const struct conversion *c, struct node *node)
{
    struct trace_set *set = c->set;
    const char *name = c->from->pg_name;
    bool exists;
    const struct trace_group *group = trace_groups_find(&set->groups, name, c->rank, &exists);
    if (!exists)
        return FAIL(c, "communicator \"%s\" is not defined: comm_groups names the groups", name);
    if (group == NULL)
        return FAIL(c, "rank %u is not in its communicator \"%s\"", c->rank, name);
    node->group = (uint32_t)(group - set->groups.items);
    node->dims = UINT32_MAX;
    if (node->group == 0 && set->rules.astra)
        node->dims = c->from->dims;
    return 0;
}

// Number of ranks that the collective joins.
static uint64_t span_of(const struct trace_set *set, const struct node *node)
{
    uint64_t span = 1;
    if (node->group > 0)
        return set->groups.items[node->group].n;
    for (uint32_t d = 0; d < set->rules.n_dims; d++)
        if ((node->dims & set->rules.op_dims[node->op] & UINT32_C(1) << d) != 0)
            span *= set->rules.dim_size[d];
    return span;
}

static int convert_collective(const struct conversion *c, struct node *node)
{
    static const enum coll_op ops[] = {
        [TRACE_ALL_REDUCE] = COLL_ALL_REDUCE,
        [TRACE_REDUCE] = COLL_REDUCE,
        [TRACE_ALL_GATHER] = COLL_ALL_GATHER,
        [TRACE_GATHER] = COLL_GATHER,
        [TRACE_SCATTER] = COLL_SCATTER,
        [TRACE_BROADCAST] = COLL_BROADCAST,
        [TRACE_ALL_TO_ALL] = COLL_ALL_TO_ALL,
        [TRACE_REDUCE_SCATTER] = COLL_REDUCE_SCATTER,
        [TRACE_REDUCE_SCATTER_BLOCK] = COLL_REDUCE_SCATTER,
        [TRACE_BARRIER] = COLL_BARRIER,
    };
    const struct trace_rules *rules = &c->set->rules;
    uint64_t type, root, span;
    node->kind = NODE_COLLECTIVE;
    if (number_need(c, TRACE_COMM_TYPE, UINT32_MAX, &type) != 0 || convert_group(c, node) != 0)
        return -1;
    if (type >= TRACE_COLLS)
        return FAIL(c, "comm_type %" PRIu64 " is not a collective", type);
    node->stream = (uint8_t)(NODE_COMM_STREAM + node->group % rules->streams);
    node->op = ops[type];
    if (rules->astra && type == TRACE_BROADCAST) {
        node->kind = NODE_WAIT;
        return takes(c, node);
    }
    if (rules->astra && node->op > COLL_ALL_TO_ALL)
        return FAIL(c, "ASTRA-sim has no %s: use the rules \"gpu\"", trace_coll_names[type]);
    if (type == TRACE_BARRIER)
        return 0;
    if ((rules->over_all >> node->op & 1) != 0)
        node->dims = UINT32_MAX;
    span = span_of(c->set, node);
    uint64_t factor = type == TRACE_ALL_GATHER || type == TRACE_GATHER ? span : 1;
    if (number_need(c, TRACE_COMM_SIZE, BYTES_MAX, &node->bytes) != 0 ||
        number_or(c, TRACE_ROOT, span - 1, 0, &root) != 0)
        return -1;
    if (node->bytes > BYTES_MAX / factor)
        return FAIL(c, "all parts together have more than 1 PB");
    node->bytes *= factor;
    node->root = (uint32_t)root;
    if (!rules->astra && trace_has(c->from, TRACE_COMM_PRIORITY)) {
        int64_t priority = c->from->number[TRACE_COMM_PRIORITY];
        node->priority = priority_of(priority);
    }
    return 0;
}

/* ---- our own attributes ---- */

// The vectors of an all-to-all, which all ranks share.
static const struct coll_uneven *uneven_of(struct trace_set *set, const struct trace_node *from)
{
    bool of_receiver = from->number[TRACE_OF_RECEIVER] != 0;
    uint64_t hash = mix(from->n_uneven * 2 + of_receiver);
    for (size_t i = 0; i < from->n_uneven; i++)
        hash = mix(hash ^ from->uneven[i]);
    for (size_t i = set->n_uneven; i-- > 0;) {
        const struct trace_uneven *u = &set->uneven[i];
        if (u->hash == hash && u->n == from->n_uneven && u->vectors->of_receiver == of_receiver &&
            memcmp(u->vectors->bytes, from->uneven, u->n * sizeof *from->uneven) == 0)
            return u->vectors;
    }
    if (set->n_uneven == set->cap_uneven)
        set->uneven = memory_grow(set->uneven, &set->cap_uneven, sizeof *set->uneven);
    uint64_t *bytes = memory_bytes(from->n_uneven * sizeof *bytes);
    struct coll_uneven *vectors = memory_zeroed(1, sizeof *vectors);
    memcpy(bytes, from->uneven, from->n_uneven * sizeof *bytes);
    *vectors = (struct coll_uneven){bytes, of_receiver};
    set->uneven[set->n_uneven++] = (struct trace_uneven){vectors, hash, from->n_uneven};
    return vectors;
}

static int convert_uneven(const struct conversion *c, struct node *node)
{
    const struct trace_node *from = c->from;
    if (node->op != COLL_ALL_TO_ALL || from->n_uneven != c->set->groups.items[node->group].n)
        return FAIL(c, "collwire_uneven lists %zu vectors of a group of %u ranks", from->n_uneven,
                    c->set->groups.items[node->group].n);
    for (size_t i = 0; i < from->n_uneven; i++)
        if (from->uneven[i] > BYTES_MAX)
            return FAIL(c, "collwire_uneven: a vector has more than 1 PB");
    node->uneven = uneven_of(c->set, from);
    return 0;
}

static int convert_own(const struct conversion *c, struct node *node)
{
    const struct trace_node *from = c->from;
    uint64_t kind = node->kind, op = node->op, takes_ps = (uint64_t)node->takes_ps;
    uint64_t stream = node->stream, dims = node->dims, tag = UINT64_MAX;
    uint64_t shared = node->shared, measured_ps = 0;
    if (number_or(c, TRACE_KIND, NODE_EMPTY, kind, &kind) != 0 ||
        number_or(c, TRACE_OP, COLL_OPS - 1, op, &op) != 0 ||
        number_or(c, TRACE_TAKES_PS, TAKES_MAX_NS * PS_PER_NS, takes_ps, &takes_ps) != 0 ||
        number_or(c, TRACE_STREAM, NODE_NO_STREAM, stream, &stream) != 0 ||
        number_or(c, TRACE_NODE_DIMS, UINT32_MAX, dims, &dims) != 0 ||
        number_or(c, TRACE_TAG, UINT32_MAX, tag, &tag) != 0 ||
        number_or(c, TRACE_MEASURED_PS, TAKES_MAX_NS * PS_PER_NS, measured_ps, &measured_ps) != 0 ||
        number_or(c, TRACE_SHARED, c->set->n_ranks, shared, &shared) != 0 ||
        number_or(c, TRACE_BYTES, BYTES_MAX, node->bytes, &node->bytes) != 0)
        return -1;
    if (stream >= NODE_STREAMS_MAX && stream != NODE_NO_STREAM)
        return FAIL(c, "collwire_stream %" PRIu64 " must be below %d, or %d for none", stream,
                    NODE_STREAMS_MAX, NODE_NO_STREAM);
    static const uint64_t kinds[TRACE_TYPES] = {
        [TRACE_SEND] = NODE_SEND, [TRACE_RECV] = NODE_RECV, [TRACE_COLL] = NODE_COLLECTIVE};
    bool communicates = kind == NODE_SEND || kind == NODE_RECV || kind == NODE_COLLECTIVE;
    if (from->type >= TRACE_SEND ? kind != kinds[from->type] : communicates)
        return FAIL(c, "collwire_kind does not fit to its type");
    node->kind = (uint8_t)kind;
    node->op = (enum coll_op)op;
    node->takes_ps = (ps_t)takes_ps;
    node->measured_ps = (ps_t)measured_ps;
    node->stream = (uint8_t)stream;
    node->dims = (uint32_t)dims;
    node->shared = (uint32_t)shared;
    node->priority =
        trace_has(from, TRACE_PRIORITY) ? priority_of(from->number[TRACE_PRIORITY]) : 0;
    if (tag != UINT64_MAX) // messages match by their tags alone
        node->tag = trace_tag_number(c->set, tag, UINT64_MAX);
    if (from->use[0] != '\0')
        node->use = (uint16_t)trace_word(&c->set->uses, from->use);
    if (from->layer[0] != '\0')
        node->layer = trace_word(&c->set->layers, from->layer) + 1;
    return from->n_uneven > 0 ? convert_uneven(c, node) : 0;
}

int trace_convert(struct trace_set *set, uint32_t rank, const struct trace *t,
                  const struct trace_node *from, struct node *node, const char *path,
                  struct err *err)
{
    struct conversion c = {set, rank, t, from, path, err};
    int result = 0;
    *node = (struct node){.id = from->id,
                          .after = from->after,
                          .n_after = (uint32_t)from->n_after,
                          .kind = NODE_EMPTY,
                          .stream = NODE_COMM_STREAM,
                          .name = from->name[0] != '\0' ? from->name : NULL};
    bool cpu = trace_has(from, TRACE_IS_CPU_OP) && from->number[TRACE_IS_CPU_OP] != 0;
    if (cpu)
        node->stream = NODE_CPU_STREAM;
    switch (cpu && from->type >= TRACE_COMP ? TRACE_TYPES : from->type) {
    case TRACE_TYPES:
        result = convert_cpu(&c, node);
        break;
    case TRACE_COMP:
        result = convert_compute(&c, node);
        break;
    case TRACE_MEM_LOAD:
    case TRACE_MEM_STORE:
        result = convert_memory(&c, node);
        break;
    case TRACE_SEND:
    case TRACE_RECV:
        result = convert_message(&c, node);
        break;
    case TRACE_COLL:
        result = convert_collective(&c, node);
        break;
    default: // metadata and invalid nodes take no time
        break;
    }
    if (result == 0 && trace_has(from, TRACE_KIND))
        result = convert_own(&c, node);
    return result;
}
