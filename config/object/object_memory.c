// SPDX-License-Identifier: MIT
// `memory`: what a GPU has, and whether a job that needs more is refused.
//
// What a job needs is computed by its kind (docs/memory.md). Where the capacity is not known
// nothing is refused: a training job names no GPU, so it has that of the scenario's machine, if
// any.
#include <stdlib.h>
#include <string.h>

#include "collective/nccl/nccl_machine.h"
#include "config/object/objects.h"
#include "config/object/scenario_parts.h"
#include "engine/base/text.h"
#include "engine/text/object.h"
#include "engine/text/read.h"
#include "workload/gpu_memory/need.h"

#define FIELD(name) offsetof(struct memory_spec, name)

static const char *const fits[] = {"error", "warn", "off", NULL};

static const struct param memory_params[] = {
    PARAM_ROW("fit", ENUM, FIELD(fit), .def = "error", .choices = fits,
              .help =
                  "a job that needs more memory than a GPU has: refused, run with a warning, or "
                  "run"),
    PARAM_ROW("capacity", BYTES, FIELD(capacity_bytes), .def = "auto", .min = "1MB",
              .can_auto = true,
              .help = "memory of a GPU; auto = of the GPU that the job names, else of the machine, "
                      "else not known",
              .source = "data sheets; decimal: 80 GB are 80e9 bytes"),
    PARAM_ROW("reserve", BYTES, FIELD(reserve_bytes), .def = "0B",
              .help = "of this, what the driver, communication libraries and fragmentation take"),
};
static const size_t n_memory_params = sizeof memory_params / sizeof *memory_params;

// The GPUs of machines by name; NULL = not known, or several sizes were sold.
static const struct device *machine_device(const struct nccl_machine *machine)
{
    static const struct {
        const char *machine;
        enum device_name device;
    } known[] = {{"dgx2", DEVICE_V100},          {"dgx_a100", DEVICE_A100},
                 {"1gpu_a100_100", DEVICE_A100}, {"dgx_h100", DEVICE_H100},
                 {"1gpu_h100_400", DEVICE_H100}, {"hgx_h100_200", DEVICE_H100},
                 {"dgx_b200", DEVICE_B200},      {"mi300x", DEVICE_MI300X}};
    for (size_t i = 0; machine != NULL && i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].machine, machine->name) == 0)
            return &devices[known[i].device];
    return NULL;
}

static const char *const largest_texts[] = {[FOOTPRINT_WEIGHTS] = "most are weights",
                                            [FOOTPRINT_GRADIENTS] = "most are gradients",
                                            [FOOTPRINT_OPTIMIZER] = "most are optimizer states",
                                            [FOOTPRINT_ACTIVATIONS] = "most are activations",
                                            [FOOTPRINT_TEMPORARY] = "most is freed within a pass",
                                            [FOOTPRINT_COMMUNICATION] =
                                                "most are buffers of exchanges"};

// The name of what has the memory.
static const char *holder(const struct spec *spec, const struct memory_need *need)
{
    if (spec->memory.capacity_bytes != PARAM_AUTO)
        return "a GPU";
    return need->device != NULL ? need->device->title : spec->memory.machine->title;
}

static char *sentence(const struct spec *spec, const struct job_spec *job,
                      const struct memory_need *need, uint64_t capacity, uint64_t usable)
{
    const struct footprint *most = memory_need_most(need);
    char total[UNIT_TEXT], has[UNIT_TEXT], reserve[UNIT_TEXT];
    char *kinds = memory_kinds_text(most), *lever = job->kind->memory_lever(job, usable);
    bool reserved = spec->memory.reserve_bytes > 0;
    char *text = text_format(
        "needs %s%s a GPU (%s), %s has %s%s%s: %s, %s", need->at_least ? "at least " : "",
        human_bytes(footprint_total(most), total), kinds, holder(spec, need),
        memory_capacity_text(capacity, has), reserved ? ", less a reserve of " : "",
        reserved ? memory_capacity_text(spec->memory.reserve_bytes, reserve) : "",
        largest_texts[footprint_largest(most)], lever);
    free(kinds);
    free(lever);
    return text;
}

static void check_job(struct reader *r, const struct place *place, const struct job_spec *job)
{
    const struct spec *spec = &r->scenario->spec;
    const struct memory_need *need =
        job->kind != NULL && job->kind->memory != NULL ? job->kind->memory(job) : NULL;
    uint64_t capacity = need != NULL ? spec_memory_bytes(spec, need) : 0;
    uint64_t reserve = spec->memory.reserve_bytes;
    // A reserve of more than the capacity leaves nothing, which must not become a negative number.
    uint64_t usable = capacity > reserve ? capacity - reserve : 0;
    if (capacity == 0 || footprint_total(memory_need_most(need)) <= usable)
        return;
    char *text = sentence(spec, job, need, capacity, usable);
    if (spec->memory.fit == MEMORY_FIT_ERROR)
        place_error(r->err, place, "%s (`memory.fit` warn runs it all the same)", text);
    else
        place_warn(r->err, place, "%s", text);
    free(text);
}

static void memory_finish(struct reader *r, const struct place *place, void *value)
{
    const struct memory_spec *memory = value;
    struct place reserve = place_key(place, "reserve");
    if (memory->capacity_bytes != PARAM_AUTO && memory->reserve_bytes >= memory->capacity_bytes)
        place_error(r->err, &reserve, "leaves nothing of `capacity`");
}

// Each job is checked alone: which of them are in memory at one time is not known before the run.
void memory_check(struct reader *r, const struct place *root)
{
    struct scenario *s = r->scenario;
    struct memory_spec *memory = &s->spec.memory;
    struct place workload = place_key(root, "workload");
    memory->machine = machine_device(s->spec.machine);
    if (memory->capacity_bytes != PARAM_AUTO && memory->reserve_bytes >= memory->capacity_bytes)
        return;
    for (size_t j = 0; j < s->spec.n_jobs && memory->fit != MEMORY_FIT_OFF; j++) {
        struct place item = place_item(&workload, j);
        const struct place *place = s->jobs_listed ? &item : &workload;
        char path[PLACE_TEXT];
        // where a key of the job is wrong, its default has taken its place: of another GPU, say
        if (!err_below(r->err, place_text(place, path)))
            check_job(r, place, &s->spec.jobs[j]);
    }
}

// Left out where it has no meaning: no job is of a kind whose memory is known.
static json_t *memory_write(const struct scenario *s, const void *value)
{
    bool any = json_object_get(s->root, "memory") != NULL;
    for (size_t j = 0; j < s->spec.n_jobs; j++)
        any |= s->spec.jobs[j].kind->memory != NULL;
    return any ? params_json(memory_params, n_memory_params, value) : NULL;
}

extern const struct object memory_object;
const struct object memory_object = {
    .key = "memory",
    .doc = "memory of a GPU, and jobs that need more of it",
    .source = "docs/memory.md",
    .stage = STAGE_SETTINGS, // jobs that plan for the memory are read later
    .params = memory_params,
    .n_params = &n_memory_params,
    .offset = offsetof(struct scenario, spec.memory),
    .finish = memory_finish,
    .write = memory_write,
};
