// SPDX-License-Identifier: MIT
// Ranks differ by their pipeline stage, and by their place among experts of different popularity.
#include "workload/llm/llm_memory.h"

#include <stdio.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"

static bool uneven(const struct llm_program *p)
{
    return p->loads != NULL && (p->spec.p.skew > 0 || p->spec.p.capacity > 0);
}

// The rows of the experts at a place, by layer; NULL = even.
static double *rows_of(const struct llm_program *p, uint32_t place)
{
    if (!uneven(p))
        return NULL;
    double *rows = memory_zeroed(p->spec.p.layers, sizeof *rows);
    for (uint32_t l = 0; l < p->spec.p.layers; l++)
        rows[l] = p->loads[l].tokens != NULL ? p->loads[l].tokens[place] : 0;
    return rows;
}

static void name_pass(const struct pipeline *p, struct pipeline_pass pass, char what[MEMORY_WHEN])
{
    int n = snprintf(what, MEMORY_WHEN, "%s pass of micro-batch %u",
                     pass.backward ? "backward" : "forward", pass.micro_batch);
    if (p->chunks > 1)
        snprintf(what + n, MEMORY_WHEN - (size_t)n, ", chunk %u", pass.chunk);
}

static struct memory_class class_of(const struct llm_program *p, uint32_t stage, uint32_t place,
                                    uint32_t ranks, const double *rows)
{
    const struct transformer_training *t = &p->spec.training;
    const struct pipeline *pipeline = &t->layout.pipeline;
    struct transformer_peak peak = transformer_peak(t, stage, rows);
    struct memory_class out = {.rank = llm_neighbour(&p->layout, 0, LLM_PIPELINE, stage),
                               .ranks = ranks,
                               .footprint = peak.footprint};
    out.rank = llm_neighbour(&p->layout, out.rank, LLM_EXPERT, place);
    name_pass(pipeline, pipeline_pass_at(pipeline, stage, peak.pass), out.when);
    return out;
}

// Passes of an iteration of the fullest class.
static void add_steps(const struct llm_program *p, struct memory_need *need)
{
    uint32_t rank = need->classes[need->fullest].rank;
    double *rows = rows_of(p, llm_coordinate(&p->layout, rank, LLM_EXPERT));
    struct transformer_walk walk = transformer_walk_begin(
        &p->spec.training, llm_coordinate(&p->layout, rank, LLM_PIPELINE), rows);
    struct pipeline_pass pass;
    struct footprint within;
    char what[MEMORY_WHEN];
    do {
        if (!transformer_walk_next(&walk, &pass, &within))
            break;
        name_pass(&p->spec.training.layout.pipeline, pass, what);
    } while (memory_need_step(need, what, &within));
    free(rows);
}

// The GPU with least memory among the ranks at a stage and place.
static const struct device *device_of(const struct llm_program *p, uint32_t stage, uint32_t place)
{
    const struct device *least = NULL;
    for (uint32_t rank = 0; rank < p->layout.n_ranks && p->gpus.n > 0; rank++) {
        const struct llm_gpu *gpu = llm_gpu_of(&p->gpus, rank);
        const struct device *own = &devices[gpu != NULL ? gpu->spec.p.gpu : p->spec.p.gpu];
        if (llm_coordinate(&p->layout, rank, LLM_PIPELINE) == stage &&
            (!uneven(p) || llm_coordinate(&p->layout, rank, LLM_EXPERT) == place) &&
            (least == NULL || own->memory_bytes < least->memory_bytes))
            least = own;
    }
    return least != NULL ? least : &devices[p->spec.p.gpu];
}

// The class with least room, of a job with several GPUs: its device, and index.
struct tightest {
    int64_t room;
    size_t index;
    const struct device *device;
};

static void note_room(const struct memory_need *need, const struct device *device,
                      struct tightest *t)
{
    const struct footprint *f = &need->classes[need->n_classes - 1].footprint;
    int64_t room = (int64_t)device->memory_bytes - (int64_t)footprint_total(f);
    if (t->device == NULL || room < t->room)
        *t = (struct tightest){room, need->n_classes - 1, device};
}

void llm_memory(const struct llm_program *program, struct memory_need *need)
{
    const struct llm_layout *layout = &program->layout;
    uint32_t stages = layout->size[LLM_PIPELINE],
             places = uneven(program) ? layout->size[LLM_EXPERT] : 1;
    struct tightest tightest = {.device = NULL};
    *need = (struct memory_need){.device = &devices[program->spec.p.gpu]};
    for (uint32_t place = 0; place < places; place++) {
        double *rows = rows_of(program, place);
        for (uint32_t stage = 0; stage < stages; stage++) {
            struct memory_class one =
                class_of(program, stage, place, layout->n_ranks / (stages * places), rows);
            memory_need_add(need, &one);
            if (program->gpus.n > 0)
                note_room(need, device_of(program, stage, place), &tightest);
        }
        free(rows);
    }
    if (tightest.device != NULL) {
        need->fullest = tightest.index;
        need->device = tightest.device;
    }
    add_steps(program, need);
}

/* ---- what would help ---- */

// The most that a rank needs when its training is changed, with evenly loaded experts where they
// were, else with the loads of the fullest class.
static uint64_t most_of(const struct llm_program *p, const struct memory_need *need,
                        const struct transformer_training *t)
{
    uint32_t rank = need->classes[need->fullest].rank;
    double *rows = rows_of(p, llm_coordinate(&p->layout, rank, LLM_EXPERT));
    uint64_t most = 0;
    for (uint32_t stage = 0; stage < t->layout.pipeline.stages; stage++) {
        struct transformer_peak peak = transformer_peak(t, stage, rows);
        uint64_t bytes = footprint_total(&peak.footprint);
        most = bytes > most ? bytes : most;
    }
    free(rows);
    return most;
}

// A setting of the job with a value beyond the present one.
struct lever {
    const char *setting;
    struct transformer_training changed;
};

#define LEVERS_MAX 4

// Levers of the states that take most: each ZeRO stage that shards them, and the next ones.
static size_t of_states(const struct transformer_training *t, enum footprint_kind kind,
                        struct lever *out)
{
    static const char *const settings[] = {"", "`zero` 1", "`zero` 2", "`zero` 3"};
    const struct transformer_layout *l = &t->layout;
    unsigned first = kind == FOOTPRINT_WEIGHTS ? 3 : kind == FOOTPRINT_GRADIENTS ? 2 : 1;
    size_t n = 0;
    first = l->zero >= first ? l->zero + 1 : first;
    for (unsigned zero = first; zero <= 3 && l->data * l->context * l->expert > 1; zero++) {
        out[n] = (struct lever){settings[zero], *t};
        out[n++].changed.layout.zero = zero;
    }
    return n;
}

static size_t of_activations(const struct transformer_training *t, struct lever *out)
{
    size_t n = 0;
    if (t->layout.recompute < RECOMPUTE_SELECTIVE) {
        out[n] = (struct lever){"`recompute` selective", *t};
        out[n++].changed.layout.recompute = RECOMPUTE_SELECTIVE;
    }
    if (t->layout.recompute < RECOMPUTE_FULL) {
        out[n] = (struct lever){"`recompute` full", *t};
        out[n++].changed.layout.recompute = RECOMPUTE_FULL;
    }
    if (t->layout.micro_batch > 1) {
        out[n] = (struct lever){"`micro_batch` 1", *t};
        out[n].changed.layout.micro_batch = 1;
        out[n].changed.layout.pipeline.micro_batches *= (uint32_t)t->layout.micro_batch;
        n++;
    }
    return n;
}

char *llm_memory_lever(const struct llm_program *program, const struct memory_need *need,
                       uint64_t free_bytes)
{
    const struct transformer_training *t = &program->spec.training;
    struct lever levers[LEVERS_MAX];
    char text[UNIT_TEXT];
    enum footprint_kind kind = footprint_largest(memory_need_most(need));
    bool states = kind <= FOOTPRINT_OPTIMIZER;
    size_t n = states ? of_states(t, kind, levers) : of_activations(t, levers), best = 0;
    uint64_t least = footprint_total(memory_need_most(need));
    const char *setting = NULL;
    for (; best < n && least > free_bytes; best++) {
        uint64_t bytes = most_of(program, need, &levers[best].changed);
        setting = bytes < least ? levers[best].setting : setting;
        least = bytes < least ? bytes : least;
    }
    if (setting == NULL)
        return text_format(states ? "a larger `tensor` or `pipeline` divides them"
                                  : "a larger `tensor` with `sequence_parallel`, or `context`, "
                                    "divides them");
    if (least > free_bytes)
        return text_format("%s would leave %s, and a larger `tensor` or `pipeline` divides it",
                           setting, human_bytes(least, text));
    return text_format("%s would leave %s", setting, human_bytes(least, text));
}
