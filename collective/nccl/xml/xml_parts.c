// SPDX-License-Identifier: MIT
#include "collective/nccl/xml/xml_parts.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

#define REQUIRED INT64_MIN // in place of a default

/* ---- attributes ---- */

struct element {
    const char *name, **attributes;
    char *error; // XML_PART_ERROR bytes; "" = none so far
};

__attribute__((format(printf, 2, 3))) static void say(struct element *e, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    // Later errors often follow from the first one.
    if (e->error[0] == '\0')
        vsnprintf(e->error, XML_PART_ERROR, format, args);
    va_end(args);
}

// The text of an attribute, or NULL.
static const char *text_of(const struct element *e, const char *name)
{
    for (const char **at = e->attributes; *at != NULL; at += 2)
        if (strcmp(at[0], name) == 0)
            return at[1];
    return NULL;
}

static const char *required_text(struct element *e, const char *name)
{
    const char *text = text_of(e, name);
    if (text == NULL)
        say(e, "<%s> has no %s", e->name, name);
    return text != NULL ? text : "";
}

static void copy_text(struct element *e, const char *name, char text[XML_NAME])
{
    const char *given = required_text(e, name);
    for (const char *c = given; *c != '\0'; c++)
        if ((unsigned char)*c < ' ' || c - given >= XML_NAME - 1)
            say(e, "%s is longer than %d bytes, or has control characters", name, XML_NAME - 1);
    if (e->error[0] == '\0')
        strcpy(text, given);
}

// The number of an attribute from `least` to `most`; where it is missing, `otherwise`.
static int64_t number_of(struct element *e, const char *name, int64_t otherwise, int64_t least,
                         int64_t most)
{
    const char *text = text_of(e, name);
    char *end;
    if (text == NULL) {
        if (otherwise == REQUIRED)
            say(e, "<%s> has no %s", e->name, name);
        return otherwise == REQUIRED ? least : otherwise;
    }
    errno = 0;
    long long value = strtoll(text, &end, 10);
    // strtoll() would also accept leading blanks and a plus sign.
    bool digits =
        text[0] == '-' ? text[1] >= '0' && text[1] <= '9' : text[0] >= '0' && text[0] <= '9';
    if (digits && *end == '\0' && errno == 0 && value >= least && value <= most)
        return value;
    say(e, "%s=\"%.40s\" is no number from %lld to %lld", name, text, (long long)least,
        (long long)most);
    return least;
}

// The index of an attribute's word among `words`, whose list ends with NULL.
static uint32_t word_of(struct element *e, const char *name, const char *otherwise,
                        const char *const *words)
{
    const char *text = otherwise != NULL ? text_of(e, name) : required_text(e, name);
    char all[80] = "";
    if (text == NULL)
        text = otherwise;
    for (uint32_t i = 0; words[i] != NULL; i++) {
        if (strcmp(text, words[i]) == 0)
            return i;
        strcat(strcat(all, i > 0 ? ", " : ""), words[i]);
    }
    say(e, "%s=\"%.40s\" is none of %s", name, text, all);
    return 0;
}

/* ---- elements ---- */

static void add_algo(struct xml_parts *p, struct element *e, uint32_t line)
{
    static const char *const protocols[] = {"LL", "LL128", "Simple", NULL};
    struct xml_algorithm *a = &p->algo;
    copy_text(e, "name", a->name);
    copy_text(e, "coll", a->coll);
    a->protocol = (enum nccl_protocol)word_of(e, "proto", NULL, protocols);
    a->n_gpus = (uint32_t)number_of(e, "ngpus", REQUIRED, 1, XML_GPUS_MAX);
    a->n_chunks = (uint32_t)number_of(e, "nchunksperloop", REQUIRED, 1, XML_CHUNKS_MAX);
    a->n_channels = (uint32_t)number_of(e, "nchannels", REQUIRED, 1, XML_CHANNELS_MAX);
    a->min_bytes = (uint64_t)number_of(e, "minBytes", 0, 0, INT64_MAX);
    a->max_bytes = (uint64_t)number_of(e, "maxBytes", 0, 0, INT64_MAX);
    a->line = line;
}

static void add_gpu(struct xml_parts *p, struct element *e, uint32_t line)
{
    static const char *const chunks[] = {"i_chunks", "o_chunks", "s_chunks"};
    if (p->n_gpus == p->cap_gpus)
        p->gpus = memory_grow(p->gpus, &p->cap_gpus, sizeof *p->gpus);
    struct gpu_part *g = &p->gpus[p->n_gpus];
    *g = (struct gpu_part){.first_block = (uint32_t)p->n_blocks, .line = line};
    g->id = (uint32_t)number_of(e, "id", REQUIRED, 0, (int64_t)p->algo.n_gpus - 1);
    // Where the file does not state the size of a buffer, its steps may use any chunk.
    for (unsigned i = 0; i < 3; i++)
        g->chunks[i] = (uint32_t)number_of(e, chunks[i], XML_CHUNKS_MAX, 0, XML_CHUNKS_MAX);
    if (p->n_gpus++ == p->algo.n_gpus)
        say(e, "ngpus is %u, and there are more GPUs", p->algo.n_gpus);
}

static uint32_t peer_of(struct xml_parts *p, struct element *e, const char *name)
{
    // -1, as in the files of MSCCL, means that there is no peer.
    int64_t peer = number_of(e, name, -1, -1, (int64_t)p->algo.n_gpus - 1);
    if (peer == p->gpus[p->n_gpus - 1].id)
        say(e, "%s=\"%lld\" is the GPU itself", name, (long long)peer);
    return peer < 0 ? XML_NONE : (uint32_t)peer;
}

static void add_block(struct xml_parts *p, struct element *e, uint32_t line)
{
    struct gpu_part *g = &p->gpus[p->n_gpus - 1];
    if (p->n_blocks == p->cap_blocks)
        p->blocks = memory_grow(p->blocks, &p->cap_blocks, sizeof *p->blocks);
    struct xml_block *b = &p->blocks[p->n_blocks];
    *b = (struct xml_block){.gpu = g->id, .first_step = (uint32_t)p->n_steps, .line = line};
    b->id = (uint32_t)number_of(e, "id", REQUIRED, 0, XML_BLOCKS_MAX - 1);
    b->send = peer_of(p, e, "send");
    b->receive = peer_of(p, e, "recv");
    // A block without peers copies and reduces within its GPU, and needs no channel.
    bool local = b->send == XML_NONE && b->receive == XML_NONE;
    int64_t channel = number_of(e, "chan", local ? -1 : REQUIRED, local ? -1 : 0,
                                (int64_t)p->algo.n_channels - 1);
    b->channel = channel < 0 ? 0 : (uint32_t)channel;
    if (g->n_blocks++ == XML_BLOCKS_MAX || p->n_blocks++ == XML_ALL_BLOCKS_MAX)
        say(e, "there are more than %u thread blocks of a GPU, or %u of all", XML_BLOCKS_MAX,
            XML_ALL_BLOCKS_MAX);
    // Reductions of two blocks are never joined.
    p->reduction.known = false;
}

// The buffer and the place in it, which must be inside if the step uses it.
static uint32_t place_of(struct xml_parts *p, struct element *e, const char *buffer,
                         const char *offset, bool used, uint32_t *place)
{
    static const char *const buffers[] = {"i", "o", "s", NULL};
    uint32_t chunks, which = word_of(e, buffer, "i", buffers);
    int64_t at = number_of(e, offset, -1, -1, XML_CHUNKS_MAX);
    chunks = p->gpus[p->n_gpus - 1].chunks[which];
    if (used && at >= chunks)
        say(e, "%s=\"%lld\" is outside of buffer %s, which has %u chunks", offset, (long long)at,
            buffers[which], chunks);
    *place = (uint32_t)at;
    return which;
}

// MSCCL makes reductions into the same place together.
static void note_reduction(struct xml_parts *p, struct element *e, struct xml_step *s)
{
    bool src_used = s->type == XML_SEND || s->type == XML_RECEIVE_REDUCE_SEND ||
                    s->type == XML_RECEIVE_REDUCE_COPY_SEND || s->type == XML_COPY ||
                    s->type == XML_REDUCE;
    bool dst_used = s->type == XML_RECEIVE || s->type == XML_RECEIVE_COPY_SEND ||
                    s->type == XML_RECEIVE_REDUCE_COPY_SEND || s->type == XML_COPY ||
                    s->type == XML_REDUCE;
    uint32_t place, from, src = place_of(p, e, "srcbuf", "srcoff", src_used, &from),
                          dst = place_of(p, e, "dstbuf", "dstoff", dst_used, &place);
    bool reduces = s->type == XML_REDUCE, awaited = number_of(e, "hasdep", 0, 0, 1) != 0;
    // A reduction joins the one before it if both have the same source buffer and add to the same
    // place, and if no block has to wait between the two.
    s->joined = reduces && p->reduction.known && s->after_block == XML_NONE &&
                src == p->reduction.src && dst == p->reduction.dst && place == p->reduction.place;
    p->reduction.known = reduces && !awaited;
    p->reduction.src = src;
    p->reduction.dst = dst;
    p->reduction.place = place;
}

static void add_step(struct xml_parts *p, struct element *e, uint32_t line)
{
    static const char *const types[] = {"s",    "r",   "rcs", "rrs", "rrc",
                                        "rrcs", "cpy", "re",  "nop", NULL};
    struct xml_block *b = &p->blocks[p->n_blocks - 1];
    if (p->n_steps == p->cap_steps)
        p->steps = memory_grow(p->steps, &p->cap_steps, sizeof *p->steps);
    struct xml_step *s = &p->steps[p->n_steps];
    int64_t number = number_of(e, "s", b->n_steps, 0, XML_STEPS_MAX);
    *s = (struct xml_step){.type = (uint8_t)word_of(e, "type", NULL, types), .line = line};
    s->count = (uint32_t)number_of(e, "cnt", 1, s->type == XML_NOP ? 0 : 1, XML_COUNT_MAX);
    int64_t after = number_of(e, "depid", -1, -1, XML_BLOCKS_MAX - 1),
            after_step = number_of(e, "deps", -1, -1, XML_STEPS_MAX);
    s->after_block = s->after_step = XML_NONE;
    if (after >= 0) {
        s->after_block = (uint32_t)after;
        // A missing step, -1, becomes a number that no step has, which the check of the algorithm
        // reports.
        s->after_step = (uint32_t)after_step;
    }
    note_reduction(p, e, s);
    if (number != b->n_steps)
        say(e, "the step has number %lld where %u is next", (long long)number, b->n_steps);
    if (xml_sends(s) && b->send == XML_NONE)
        say(e, "step %lld sends, but thread block %u has no GPU to send to", (long long)number,
            b->id);
    if (xml_receives(s) && b->receive == XML_NONE)
        say(e, "step %lld receives, but thread block %u has no GPU to receive from",
            (long long)number, b->id);
    b->n_steps++;
    if (p->n_steps++ == XML_STEPS_MAX)
        say(e, "there are more than %u steps", XML_STEPS_MAX);
}

void xml_parts_add(struct xml_parts *p, enum xml_element element, const char **attributes,
                   uint32_t line, char error[XML_PART_ERROR])
{
    static const struct {
        const char *name;
        void (*add)(struct xml_parts *p, struct element *e, uint32_t line);
    } elements[] = {{"algo", add_algo}, {"gpu", add_gpu}, {"tb", add_block}, {"step", add_step}};
    struct element e = {elements[element].name, attributes, error};
    elements[element].add(p, &e, line);
}

void xml_parts_free(struct xml_parts *p)
{
    free(p->gpus);
    free(p->blocks);
    free(p->steps);
}

/* ---- sorting ---- */

// Writes to order[id] the index of the GPU that has this id. Returns false if an id is missing or
// occurs twice.
static bool gpus_by_id(const struct xml_parts *p, uint32_t *order, struct xml_error *error)
{
    for (uint32_t id = 0; id < p->algo.n_gpus; id++)
        order[id] = XML_NONE;
    for (uint32_t g = 0; g < p->n_gpus; g++) {
        error->line = p->gpus[g].line;
        if (order[p->gpus[g].id] != XML_NONE) {
            snprintf(error->text, sizeof error->text, "GPU %u stands there twice", p->gpus[g].id);
            return false;
        }
        order[p->gpus[g].id] = g;
    }
    for (uint32_t id = 0; id < p->algo.n_gpus; id++)
        if (order[id] == XML_NONE) {
            error->line = p->algo.line;
            snprintf(error->text, sizeof error->text, "GPU %u of %u is missing", id,
                     p->algo.n_gpus);
            return false;
        }
    return true;
}

// Copies each block of a GPU to the place of its id. Returns false if an id occurs twice, or is not
// below the number of blocks.
static bool place_blocks(const struct xml_parts *p, const struct gpu_part *g,
                         struct xml_block *blocks, struct xml_error *error)
{
    // No element is on line 0, so it marks a place without a block.
    for (uint32_t i = 0; i < g->n_blocks; i++)
        blocks[i].line = 0;
    for (uint32_t i = 0; i < g->n_blocks; i++) {
        const struct xml_block *b = &p->blocks[g->first_block + i];
        bool taken = b->id < g->n_blocks && blocks[b->id].line > 0;
        if (b->id < g->n_blocks && !taken) {
            blocks[b->id] = *b;
            continue;
        }
        error->line = b->line;
        if (taken)
            snprintf(error->text, sizeof error->text, "GPU %u has thread block %u twice", g->id,
                     b->id);
        else
            snprintf(error->text, sizeof error->text,
                     "thread block %u of GPU %u: its %u thread blocks must be numbered from 0",
                     b->id, g->id, g->n_blocks);
        return false;
    }
    return true;
}

static bool sort_parts(const struct xml_parts *p, const uint32_t *order, struct xml_algorithm *a,
                       struct xml_error *error)
{
    uint32_t blocks = 0, steps = 0;
    for (uint32_t id = 0; id < a->n_gpus; id++) {
        const struct gpu_part *g = &p->gpus[order[id]];
        a->gpus[id] = (struct xml_gpu){blocks, g->n_blocks};
        if (!place_blocks(p, g, &a->blocks[blocks], error))
            return false;
        for (uint32_t end = blocks + g->n_blocks; blocks < end; blocks++) {
            struct xml_block *b = &a->blocks[blocks];
            if (b->n_steps > 0)
                memcpy(&a->steps[steps], &p->steps[b->first_step], b->n_steps * sizeof *p->steps);
            b->first_step = steps;
            steps += b->n_steps;
        }
        a->most_blocks = g->n_blocks > a->most_blocks ? g->n_blocks : a->most_blocks;
    }
    return true;
}

struct xml_algorithm *xml_parts_sorted(const struct xml_parts *p, struct xml_error *error)
{
    if (p->algo.n_gpus == 0) {
        *error = (struct xml_error){1, "there is no algorithm"};
        return NULL;
    }
    struct xml_algorithm *a =
        xml_algorithm_new(p->algo.n_gpus, (uint32_t)p->n_blocks, (uint32_t)p->n_steps);
    memcpy(a->name, p->algo.name, sizeof a->name);
    memcpy(a->coll, p->algo.coll, sizeof a->coll);
    a->protocol = p->algo.protocol;
    a->n_channels = p->algo.n_channels;
    a->n_chunks = p->algo.n_chunks;
    a->min_bytes = p->algo.min_bytes;
    a->max_bytes = p->algo.max_bytes;
    a->line = p->algo.line;
    a->place = "line";
    uint32_t *order = memory_zeroed(p->algo.n_gpus, sizeof *order);
    bool good = gpus_by_id(p, order, error) && sort_parts(p, order, a, error);
    free(order);
    if (good)
        return a;
    free(a);
    return NULL;
}
