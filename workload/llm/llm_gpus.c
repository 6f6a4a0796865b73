// SPDX-License-Identifier: MIT
#include "workload/llm/llm_gpus.h"

#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/text/schema_parts.h"

struct words {
    uint64_t from, to;
    double factor;
    int gpu;
};

#define AT(field) offsetof(struct words, field)
static const struct param rows[] = {
    PARAM_ROW("from", COUNT, AT(from), .help = "first rank of the job"),
    PARAM_ROW("to", COUNT, AT(to), .help = "last rank of the job"),
    PARAM_ROW("gpu", ENUM, AT(gpu), .choices = device_names, .def = "h100",
              .help = "its peak, memory bandwidth and memory", .source = "data sheets"),
    PARAM_ROW("factor", RATIO, AT(factor), .def = "1", .min = "0.01", .max = "100",
              .help = "on the times of its computations: 1.25 = clocks at 80 %"),
};
enum { N_ROWS = sizeof rows / sizeof *rows };

json_t *llm_gpus_schema(void) { return schema_list(schema_table(rows, N_ROWS)); }

// The job's parameters on another GPU: what the job gives in place of its own GPU's figures is not
// taken over.
static struct llm_spec spec_on(const struct llm_params *job, int gpu)
{
    struct llm_params p = *job;
    if (gpu != p.gpu) {
        p.gpu = gpu;
        p.peak_tflops = devices[gpu].peak_tflops;
        p.memory_gbps = devices[gpu].memory_gbps;
    }
    return llm_spec_of(&p);
}

static bool row_check(const struct llm_gpus *gpus, struct reader *r, const struct place *item,
                      const struct words *w, uint32_t ranks)
{
    if (w->to >= ranks)
        place_key_error(r->err, item, "to", "rank %llu of a job of %u ranks",
                        (unsigned long long)w->to, ranks);
    else if (w->from > w->to)
        place_key_error(r->err, item, "from", "is after `to`");
    else
        for (size_t i = 0; i < gpus->n; i++)
            if (w->from <= gpus->list[i].last && w->to >= gpus->list[i].first)
                return place_key_error(r->err, item, "from", "rank %llu has a GPU already",
                                       (unsigned long long)(w->from > gpus->list[i].first
                                                                ? w->from
                                                                : gpus->list[i].first)),
                       false;
    return w->to < ranks && w->from <= w->to;
}

void llm_gpus_read(struct llm_gpus *gpus, struct reader *r, const struct place *place,
                   const struct llm_params *job, uint32_t ranks)
{
    struct place at = place_key(place, "gpus");
    *gpus = (struct llm_gpus){0};
    if (at.json == NULL || !read_list(r, &at))
        return;
    gpus->list = memory_zeroed(json_array_size(at.json) + 1, sizeof *gpus->list);
    for (size_t i = 0; i < json_array_size(at.json); i++) {
        struct keys keys = {0};
        struct place item = place_item(&at, i);
        struct words w = {0};
        size_t errors = r->err->n_errors;
        if (!read_object(r, &item))
            continue;
        params_default(rows, N_ROWS, &w);
        read_params(r, &item, &keys, rows, N_ROWS, &w);
        keys_check(r, &item, &keys);
        if (r->err->n_errors == errors && row_check(gpus, r, &item, &w, ranks))
            gpus->list[gpus->n++] = (struct llm_gpu){.first = (uint32_t)w.from,
                                                     .last = (uint32_t)w.to,
                                                     .spec = spec_on(job, w.gpu),
                                                     .factor = w.factor};
    }
}

void llm_gpus_free(struct llm_gpus *gpus) { free(gpus->list); }

const struct llm_gpu *llm_gpu_of(const struct llm_gpus *gpus, uint32_t rank)
{
    for (size_t i = 0; i < gpus->n; i++)
        if (rank >= gpus->list[i].first && rank <= gpus->list[i].last)
            return &gpus->list[i];
    return NULL;
}

double llm_gpus_peak(const struct llm_gpus *gpus, const struct llm_params *job, uint32_t ranks)
{
    double sum = (double)ranks * job->peak_tflops;
    for (size_t i = 0; i < gpus->n; i++)
        sum += (gpus->list[i].spec.p.peak_tflops - job->peak_tflops) *
               (double)(gpus->list[i].last - gpus->list[i].first + 1);
    return 1e12 * sum / (double)ranks;
}
