// SPDX-License-Identifier: MIT
// For each of its steps a rank counts the unfinished steps that the step depends on.
#include "workload/step_graph.h"

#include <stdlib.h>

#include "engine/memory.h"
#include "engine/text.h"
#include "workload/workload.h"

// a step enters only one list and only once, so the capacity is the number of steps
struct ready_list {
    uint32_t *steps;
    uint32_t first, end;
};

struct rank_state {
    uint32_t *left;       // [step] number of unfinished steps that it depends on
    bool *ended;          // [step]
    uint32_t *first_next; // [step + 1] into `next`
    uint32_t *next;       // steps that depend on it
    struct ready_list timed, others;
    uint32_t n_open, n_left; // started and not ended; not ended
    bool computing;
};

struct graph_program {
    struct job_run *job;
    const struct step_graph *graph;
    struct rank_state *ranks;
};

static bool takes_time(const struct graph_step *s)
{
    return s->step.kind == STEP_COMPUTE || s->step.kind == STEP_DELAY;
}

static void ready_add(struct rank_state *state, const struct graph_rank *rank, uint32_t step)
{
    struct ready_list *list = takes_time(&rank->steps[step]) ? &state->timed : &state->others;
    list->steps[list->end++] = step;
}

// Invert the lists of dependencies: for each step, find the steps that depend on it.
static void init_rank(struct rank_state *state, const struct graph_rank *rank)
{
    uint32_t n = rank->n;
    *state = (struct rank_state){.left = memory_zeroed(n, sizeof(uint32_t)),
                                 .ended = memory_zeroed(n, sizeof(bool)),
                                 .first_next = memory_zeroed(n + 1, sizeof(uint32_t)),
                                 .timed.steps = memory_zeroed(n, sizeof(uint32_t)),
                                 .others.steps = memory_zeroed(n, sizeof(uint32_t)),
                                 .n_left = n};
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < rank->steps[i].n_after; k++)
            state->first_next[rank->steps[i].after[k] + 1]++;
    for (uint32_t i = 0; i < n; i++)
        state->first_next[i + 1] += state->first_next[i];
    state->next = memory_zeroed(state->first_next[n], sizeof(uint32_t));
    uint32_t *filled = memory_zeroed(n, sizeof *filled);
    for (uint32_t i = 0; i < n; i++) {
        state->left[i] = rank->steps[i].n_after;
        if (state->left[i] == 0)
            ready_add(state, rank, i);
        for (uint32_t k = 0; k < rank->steps[i].n_after; k++) {
            uint32_t before = rank->steps[i].after[k];
            state->next[state->first_next[before] + filled[before]++] = i;
        }
    }
    free(filled);
}

void *step_graph_new(struct job_run *job)
{
    struct graph_program *p = memory_zeroed(1, sizeof *p);
    p->job = job;
    p->graph = job->spec->settings;
    for (uint32_t g = 0; g < p->graph->n_groups; g++)
        job_group_new(job, p->graph->groups[g].ranks, &p->graph->groups[g].schedule);
    p->ranks = memory_zeroed(job->n_ranks, sizeof *p->ranks);
    for (uint32_t r = 0; r < job->n_ranks; r++)
        init_rank(&p->ranks[r], &p->graph->ranks[r]);
    return p;
}

static void graph_free(void *self)
{
    struct graph_program *p = self;
    for (uint32_t r = 0; r < p->job->n_ranks; r++) {
        free(p->ranks[r].left);
        free(p->ranks[r].ended);
        free(p->ranks[r].first_next);
        free(p->ranks[r].next);
        free(p->ranks[r].timed.steps);
        free(p->ranks[r].others.steps);
    }
    free(p->ranks);
    free(p);
}

static enum program_state graph_next(void *self, uint32_t rank, ps_t now, struct step *step)
{
    struct graph_program *p = self;
    struct rank_state *state = &p->ranks[rank];
    struct ready_list *list = NULL;
    (void)now;
    if (state->others.first < state->others.end)
        list = &state->others;
    else if (state->timed.first < state->timed.end && !state->computing)
        list = &state->timed;
    if (list == NULL)
        return state->n_left == 0 ? PROGRAM_END : PROGRAM_WAIT;
    uint32_t id = list->steps[list->first++];
    state->computing = state->computing || list == &state->timed;
    state->n_open++;
    *step = p->graph->ranks[rank].steps[id].step;
    step->id = id;
    return PROGRAM_STEP;
}

static void graph_done(void *self, uint32_t rank, uint32_t id, ps_t now)
{
    struct graph_program *p = self;
    struct rank_state *state = &p->ranks[rank];
    (void)now;
    state->ended[id] = true;
    state->n_open--;
    state->n_left--;
    if (takes_time(&p->graph->ranks[rank].steps[id]))
        state->computing = false;
    for (uint32_t k = state->first_next[id]; k < state->first_next[id + 1]; k++)
        if (--state->left[state->next[k]] == 0)
            ready_add(state, &p->graph->ranks[rank], state->next[k]);
}

// Bytes of a collective are counted by the first member of its group only.
static uint64_t graph_bytes(const void *self)
{
    const struct graph_program *p = self;
    uint64_t sum = 0;
    for (uint32_t r = 0; r < p->job->n_ranks; r++)
        for (uint32_t i = 0; i < p->graph->ranks[r].n; i++) {
            const struct step *step = &p->graph->ranks[r].steps[i].step;
            if (step->kind == STEP_SEND)
                sum += step->bytes;
            if (step->kind != STEP_COLLECTIVE)
                continue;
            const uint32_t *ranks = p->graph->groups[step->group].ranks;
            if (r == (ranks != NULL ? ranks[0] : 0))
                sum += comm_bytes(job_group_comm(p->job, step->group), step->request);
        }
    return sum;
}

/* ---- what a rank waits for ---- */

static char *step_text(const struct graph_program *p, uint32_t rank, uint32_t id)
{
    const struct step *step = &p->graph->ranks[rank].steps[id].step;
    switch (step->kind) {
    case STEP_SEND:
        return text_format("its message to rank %u with tag %u to be acknowledged", step->peer,
                           step->tag);
    case STEP_RECV:
        return text_format("a message from rank %u with tag %u", step->peer, step->tag);
    case STEP_COLLECTIVE:
        return text_format("collective %s of group %u", step->request->name, step->group);
    default:
        return text_format("the end of a computation");
    }
}

// Describe the first started step that has not ended. If there is none, the program has a cycle of
// dependencies: describe the first step that waits for another one.
static char *graph_waits(const void *self, uint32_t rank)
{
    const struct graph_program *p = self;
    const struct rank_state *state = &p->ranks[rank];
    const struct graph_rank *steps = &p->graph->ranks[rank];
    const char *job = p->job->spec->name;
    for (uint32_t id = 0; id < steps->n && state->n_open > 0; id++)
        if (state->left[id] == 0 && !state->ended[id]) {
            char *what = step_text(p, rank, id);
            char *text =
                text_format("job %s: rank %u waits in step %u for %s", job, rank, id, what);
            free(what);
            return text;
        }
    for (uint32_t id = 0; id < steps->n; id++)
        for (uint32_t k = 0; k < steps->steps[id].n_after; k++)
            if (!state->ended[steps->steps[id].after[k]])
                return text_format(
                    "job %s: rank %u never begins step %u: it is after step %u, which "
                    "has not ended",
                    job, rank, id, steps->steps[id].after[k]);
    return NULL;
}

const struct program_ops step_graph_program = {
    .next = graph_next,
    .done = graph_done,
    .bytes = graph_bytes,
    .waits = graph_waits,
    .free = graph_free,
};
