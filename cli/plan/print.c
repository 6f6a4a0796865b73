// SPDX-License-Identifier: MIT
#include "cli/plan/print.h"

#include <math.h>
#include <stdlib.h>

#include "engine/base/text.h"

static double tokens_per_s(const struct planned *p)
{
    const struct llm_params *x = &p->layout->params;
    return (double)x->global_batch * (double)x->sequence / (p->time_ps / 1e12);
}

static const char *by_of(const struct planned *p)
{
    return !(p->ps > 0) ? "closed_form" : p->whole ? "packets" : "packets-shrunk";
}

// Parts of an iteration in the words of a sentence.
struct part {
    const char *name;
    double ps;
};
#define PARTS 8

static void parts_of(const struct iteration_time *t, struct part parts[PARTS])
{
    const struct part all[PARTS] = {{"computing", t->compute},
                                    {"tensor exchanges", t->tensor},
                                    {"context exchanges", t->context},
                                    {"expert exchanges", t->expert},
                                    {"the pipeline's bubble", t->bubble},
                                    {"messages between stages", t->boundary},
                                    {"gradients and parameters", t->data},
                                    {"the optimizer", t->optimizer}};
    for (unsigned i = 0; i < PARTS; i++)
        parts[i] = all[i];
}

static void layout_text(const struct llm_params *p, char text[128])
{
    const uint64_t *d = p->degrees;
    int n = snprintf(text, 128, "tensor %llu, pipeline %llu, data %llu",
                     (unsigned long long)d[LLM_TENSOR], (unsigned long long)d[LLM_PIPELINE],
                     (unsigned long long)d[LLM_DATA]);
    if (d[LLM_EXPERT] > 1)
        n +=
            snprintf(text + n, 128 - (size_t)n, ", expert %llu", (unsigned long long)d[LLM_EXPERT]);
    if (d[LLM_CONTEXT] > 1)
        snprintf(text + n, 128 - (size_t)n, ", context %llu", (unsigned long long)d[LLM_CONTEXT]);
}

// Where the second loses most, and where it gains.
static void print_why(FILE *out, const struct planned *first, const struct planned *second)
{
    struct part a[PARTS], b[PARTS];
    unsigned worst = 0, best = 0;
    char one[128], two[128];
    parts_of(&first->layout->time, a);
    parts_of(&second->layout->time, b);
    for (unsigned i = 1; i < PARTS; i++) {
        worst = b[i].ps - a[i].ps > b[worst].ps - a[worst].ps ? i : worst;
        best = b[i].ps - a[i].ps < b[best].ps - a[best].ps ? i : best;
    }
    layout_text(&first->layout->params, one);
    layout_text(&second->layout->params, two);
    fprintf(out,
            "%u GPUs: %s is faster than %s: in closed form the second spends %.3g ms more on %s",
            first->gpus, one, two, (b[worst].ps - a[worst].ps) / 1e9, a[worst].name);
    if (b[best].ps < a[best].ps)
        fprintf(out, " and %.3g ms less on %s", (a[best].ps - b[best].ps) / 1e9, a[best].name);
    fputs(".\n", out);
}

static void print_row(FILE *out, const struct planned *p)
{
    const struct llm_params *x = &p->layout->params;
    const struct iteration_time *t = &p->layout->time;
    double exposed = t->total - t->compute - t->optimizer;
    fprintf(out,
            "%6u %4llu %4llu %5llu %4llu %4llu %3llu %3llu %3llu %-9s %10.4g %10.4g %8.1f %8.1f "
            "%-14s\n",
            p->gpus, (unsigned long long)x->degrees[LLM_TENSOR],
            (unsigned long long)x->degrees[LLM_PIPELINE], (unsigned long long)x->degrees[LLM_DATA],
            (unsigned long long)x->degrees[LLM_EXPERT], (unsigned long long)x->degrees[LLM_CONTEXT],
            (unsigned long long)x->virtual_stages, (unsigned long long)x->micro_batch,
            (unsigned long long)x->zero, recompute_names[x->recompute], p->time_ps / 1e12,
            tokens_per_s(p), (double)p->layout->memory_bytes / 1e9, 100 * exposed / t->total,
            by_of(p));
}

void plans_print(FILE *out, const struct planned *plans, size_t n)
{
    fprintf(out, "%6s %4s %4s %5s %4s %4s %3s %3s %3s %-9s %10s %10s %8s %8s %-14s\n", "GPUs", "tp",
            "pp", "dp", "ep", "cp", "vs", "mb", "z", "recompute", "time_s", "tokens/s", "mem_GB",
            "exposed%", "by");
    for (size_t i = 0; i < n; i++)
        print_row(out, &plans[i]);
    for (size_t i = 0; i + 1 < n; i++)
        if ((i == 0 || plans[i - 1].gpus != plans[i].gpus) && plans[i + 1].gpus == plans[i].gpus)
            print_why(out, &plans[i], &plans[i + 1]);
}

json_t *plans_json(const struct planned *plans, size_t n)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        const struct planned *p = &plans[i];
        const struct llm_params *x = &p->layout->params;
        const struct iteration_time *t = &p->layout->time;
        json_t *row = json_pack(
            "{s:i, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:s, s:f, s:f, s:f, s:s}", "gpus",
            (int)p->gpus, "tensor", (json_int_t)x->degrees[LLM_TENSOR], "pipeline",
            (json_int_t)x->degrees[LLM_PIPELINE], "data", (json_int_t)x->degrees[LLM_DATA],
            "expert", (json_int_t)x->degrees[LLM_EXPERT], "context",
            (json_int_t)x->degrees[LLM_CONTEXT], "virtual_stages", (json_int_t)x->virtual_stages,
            "zero", (json_int_t)x->zero, "micro_batch", (json_int_t)x->micro_batch, "recompute",
            recompute_names[x->recompute], "time_ns", round(p->time_ps / 1e3), "memory_bytes",
            (double)p->layout->memory_bytes, "tokens_per_s", tokens_per_s(p), "by", by_of(p));
        json_object_set_new(row, "closed_form",
                            json_pack("{s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "total_ns",
                                      t->total / 1e3, "compute_ns", t->compute / 1e3, "tensor_ns",
                                      t->tensor / 1e3, "context_ns", t->context / 1e3, "expert_ns",
                                      t->expert / 1e3, "bubble_ns", t->bubble / 1e3, "boundary_ns",
                                      t->boundary / 1e3, "data_ns", t->data / 1e3, "optimizer_ns",
                                      t->optimizer / 1e3));
        if (p->ps > 0)
            json_object_set_new(row, "run",
                                json_pack("{s:f, s:f}", "packets_ns", p->ps / 1e3, "closed_form_ns",
                                          p->closed_ps / 1e3));
        json_array_append_new(list, row);
    }
    return list;
}
