// SPDX-License-Identifier: MIT
// A rank's loop is walked through as it runs (workload/training/training_loop.h): computations and
// the nanosecond between two parts follow each other in one chain; a collective is issued behind
// the chain and is awaited, with the layer's update delay, by the next node of the chain after a
// wait.
#include "config/export_training.h"

#include <stdlib.h>

#include "collective/algorithm/grid.h"
#include "engine/base/memory.h"
#include "workload/nodes/node_list.h"

#define URGENT (INT32_MAX / 2) // above the number of any collective

struct walked {
    const struct training_settings *s;
    struct node_list *list;
    uint32_t rank, n_ranks;
    double slower; // factor of the rank's computations
    uint64_t next_id;
    int32_t issued;
    uint64_t *after; // of the next node of the chain
    size_t n_after, cap_after;
    uint64_t **open; // [slot] delays behind collectives that have not been awaited
    size_t *n_open, *cap_open;
};

/* ---- what a trace cannot express ---- */

static bool used(const struct training_spec *spec, enum coll_op op)
{
    for (size_t i = 0; i < spec->n_layers; i++)
        for (int part = 0; part < TRAINING_PARTS; part++)
            if (spec->layers[i].parts[part].op == (int)op)
                return true;
    return false;
}

static bool can_be_said(const struct training_settings *s, struct err *err)
{
    size_t errors = err->n_errors;
    for (int op = 0; op < COLL_OPS; op++)
        if (s->schedule.n_dims > 1 && !s->schedule.flat[op] && used(&s->training, (enum coll_op)op))
            err_add(err, "workload",
                    "%s runs dimension by dimension: collectives of traces are over all ranks at "
                    "once, by one algorithm",
                    coll_op_name((enum coll_op)op));
    if (s->schedule.library != NULL)
        err_add(err, "workload.library", "has no place in a trace");
    if (s->params.compute_jitter > 0)
        err_add(err, "workload.compute_jitter", "has no place in a trace, whose times are fixed");
    if (s->input.p.from != NULL && s->input.p.from[0] != '\0')
        err_add(err, "workload.input", "has no place in a trace");
    return err->n_errors == errors;
}

/* ---- nodes ---- */

static void append(uint64_t **list, size_t *n, size_t *cap, uint64_t id)
{
    if (*n == *cap)
        *list = memory_grow(*list, cap, sizeof **list);
    (*list)[(*n)++] = id;
}

// Add a node behind the chain; the chain goes on from it if `continues`.
static uint64_t add(struct walked *w, struct node node, bool continues)
{
    node.id = w->next_id++;
    node.after = w->after;
    node.n_after = (uint32_t)w->n_after;
    node_list_add(w->list, w->rank, &node);
    if (continues) {
        w->n_after = 0;
        append(&w->after, &w->n_after, &w->cap_after, node.id);
    }
    return node.id;
}

static void compute(struct walked *w, uint32_t slot)
{
    ps_t takes = training_compute_ps(w->s, slot);
    // A factor of 1 leaves the integer time as it is.
    if (w->slower < 1 || w->slower > 1)
        takes = (ps_t)((double)takes * w->slower + 0.5);
    if (takes > 0)
        add(w,
            (struct node){.kind = NODE_COMPUTE,
                          .stream = NODE_COMPUTE_STREAM,
                          .takes_ps = takes,
                          .layer = slot / TRAINING_PARTS + 1},
            true);
}

static void wait_for(struct walked *w, ps_t takes)
{
    add(w, (struct node){.kind = NODE_WAIT, .stream = NODE_NO_STREAM, .takes_ps = takes}, true);
}

static struct node collective_of(struct walked *w, uint32_t slot, bool urgent)
{
    struct comm_request request = training_request(w->s, slot);
    struct node node = {.kind = NODE_COLLECTIVE,
                        .stream = NODE_NO_STREAM,
                        .op = request.op,
                        .bytes = request.bytes,
                        .dims = 1,
                        .layer = slot / TRAINING_PARTS + 1,
                        .priority = w->s->schedule.newest_first ? ++w->issued : 0};
    uint64_t *bytes = training_rank_bytes(w->s, slot);
    if (bytes != NULL)
        node.uneven = node_list_vectors(
            w->list, bytes, w->n_ranks,
            w->s->training.layers[slot / TRAINING_PARTS].parts[slot % TRAINING_PARTS].of_receiver);
    free(bytes);
    if (urgent)
        node.priority += URGENT;
    return node;
}

// A collective and the update delay behind it; neither where it spans no dimension.
static void issue(struct walked *w, uint32_t slot, bool urgent)
{
    const struct training_layer *layer = &w->s->training.layers[slot / TRAINING_PARTS];
    if (layer->parts[slot % TRAINING_PARTS].op == TRAINING_NO_OP ||
        training_request(w->s, slot).dims == 0)
        return;
    uint64_t end = add(w, collective_of(w, slot, urgent), false), behind = end;
    ps_t delay = (ps_t)layer->update_delay_ns * PS_PER_NS;
    if (delay > 0) {
        // The delay follows the collective, and not the chain.
        uint64_t *after = w->after;
        size_t n_after = w->n_after;
        w->after = &behind;
        w->n_after = 1;
        end = add(w, (struct node){.kind = NODE_WAIT, .stream = NODE_NO_STREAM, .takes_ps = delay},
                  false);
        w->after = after;
        w->n_after = n_after;
    }
    append(&w->open[slot], &w->n_open[slot], &w->cap_open[slot], end);
}

static void await(struct walked *w, uint32_t slot)
{
    for (size_t i = 0; i < w->n_open[slot]; i++)
        append(&w->after, &w->n_after, &w->cap_after, w->open[slot][i]);
    w->n_open[slot] = 0;
}

static void walk_rank(struct walked *w)
{
    struct training_walk walk = {0};
    for (;;) {
        struct loop_action action = training_next(&w->s->training, w->s->params.iterations, &walk);
        uint32_t slot = action.layer * TRAINING_PARTS + action.part;
        switch (action.verb) {
        case LOOP_COMPUTE:
            compute(w, slot);
            break;
        case LOOP_ISSUE:
            issue(w, slot, action.urgent);
            break;
        case LOOP_WAIT:
            await(w, slot);
            break;
        case LOOP_STEP:
            wait_for(w, PS_PER_NS);
            break;
        case LOOP_END:
            return;
        }
    }
}

/* ---- the program ---- */

static double slower(const struct training_settings *s, uint32_t rank)
{
    for (size_t i = 0; i < s->n_stragglers; i++)
        if (s->stragglers[i].rank == rank)
            return s->stragglers[i].factor;
    return 1;
}

static void make_rank(const struct training_settings *s, struct node_list *list, uint32_t rank,
                      uint32_t n_ranks)
{
    size_t n_slots = s->training.n_layers * TRAINING_PARTS;
    struct walked w = {.s = s,
                       .list = list,
                       .rank = rank,
                       .n_ranks = n_ranks,
                       .slower = slower(s, rank),
                       .open = memory_zeroed(n_slots, sizeof *w.open),
                       .n_open = memory_zeroed(n_slots, sizeof *w.n_open),
                       .cap_open = memory_zeroed(n_slots, sizeof *w.cap_open)};
    walk_rank(&w);
    if (w.next_id == 0) // a trace has at least one node
        add(&w, (struct node){.kind = NODE_EMPTY, .stream = NODE_NO_STREAM}, true);
    for (size_t i = 0; i < n_slots; i++)
        free(w.open[i]);
    free(w.open);
    free(w.n_open);
    free(w.cap_open);
    free(w.after);
}

bool export_training_make(const struct training_settings *s, uint32_t n_ranks,
                          struct node_program *program, struct err *err)
{
    if (!can_be_said(s, err))
        return false;
    struct node_list *list = node_list_new(n_ranks);
    for (uint32_t r = 0; r < n_ranks; r++)
        make_rank(s, list, r, n_ranks);
    *program = (struct node_program){.source = &node_list_source,
                                     .self = list,
                                     .n_ranks = n_ranks,
                                     .groups = memory_zeroed(1, sizeof *program->groups),
                                     .n_groups = 1,
                                     .uses = memory_zeroed(1, sizeof *program->uses),
                                     .n_uses = 1,
                                     .layers = memory_zeroed(s->training.n_layers, sizeof(char *)),
                                     .n_layers = (uint32_t)s->training.n_layers,
                                     .idle_use = 1,
                                     .in_order = true};
    program->groups[0] =
        (struct node_group){.name = memory_text("all"), .schedule = s->schedule, .inner = 1};
    program->uses[0] = memory_text("training");
    for (size_t i = 0; i < s->training.n_layers; i++)
        program->layers[i] = memory_text(s->training.layers[i].name);
    return true;
}

void export_training_schedule(const struct training_settings *s, json_t *job)
{
    json_t *algorithm = json_object();
    for (int op = 0; op < COLL_OPS; op++) {
        uint32_t dim = s->schedule.n_dims > 1 ? s->schedule.n_dims : 0;
        const struct coll_algorithm *a = s->schedule.choice[op][dim].algorithm;
        if (a != NULL && used(&s->training, (enum coll_op)op))
            json_object_set_new(algorithm, coll_op_name((enum coll_op)op), json_string(a->name));
    }
    json_object_del(job, "system");
    json_object_set_new(job, "algorithm", algorithm);
    json_object_set_new(job, "chunks", json_integer((json_int_t)s->schedule.chunks));
    json_object_set_new(job, "active_chunks", json_integer((json_int_t)s->schedule.active_chunks));
}
