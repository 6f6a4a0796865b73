// SPDX-License-Identifier: MIT
// collwire plan: the layouts of a job that fit into the memory of so many GPUs, the fastest first.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plan/plan_command.h"
#include "cli/plan/plan_packets.h"
#include "cli/terminal/ends.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"

/* ---- print ---- */

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

// `plans`: n of one number of GPUs or several, the fastest of each first.
static void plans_print(FILE *out, const struct planned *plans, size_t n)
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

static json_t *plans_json(const struct planned *plans, size_t n)
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

/* ---- plan command ---- */

#define GPUS_MOST 1048576
#define BUDGET_HOPS 1e9
#define SHOWN 10 // layouts of a number of GPUs, unless --best says otherwise

struct planning {
    const struct options *options;
    const struct options *given; // with the settings that change the scenario
    struct cluster cluster;
    struct llm_params job;
    uint64_t capacity_bytes;
    uint64_t first, last; // numbers of GPUs
    double within;        // share above the fastest; 0 = all
    double budget_hops;
    struct plan_found *found; // [n_found] for each number of GPUs
    size_t n_found;
    size_t part, parts; // of the runs
    struct planned *plans;
    size_t n, cap;
};

/* ---- options ---- */

// "64", or "64..1024": 64, 128, .., 1024.
static int read_gpus(struct planning *p, struct err *err)
{
    const char *text = p->options->gpus;
    const char *dots = text != NULL ? strstr(text, "..") : NULL;
    char low[32];
    if (text == NULL)
        return err_add(err, "--gpus", "is required: N, or A..B for A, 2 A, 4 A, .. up to B");
    snprintf(low, sizeof low, "%.*s", dots != NULL ? (int)(dots - text) : 31, text);
    bool good = parse_count(low, &p->first) == 0 &&
                parse_count(dots != NULL ? dots + 2 : low, &p->last) == 0;
    if (!good || p->first < 1 || p->last < p->first || p->last > GPUS_MOST)
        return err_add(err, "--gpus", "\"%s\" is not N or A..B, from 1 to %d", text, GPUS_MOST);
    return 0;
}

static int read_number(const char *option, const char *text, const char *end_with, double most,
                       double *number, struct err *err)
{
    char *end;
    if (text == NULL)
        return 0;
    double value = strtod(text, &end);
    if (end == text || (*end != '\0' && strcmp(end, end_with) != 0) || !(value >= 0) ||
        value > most)
        return err_add(err, option, "\"%s\" is not a number from 0 to %g", text, most);
    *number = value;
    return 0;
}

static int read_options(struct planning *p, struct err *err)
{
    int status = read_gpus(p, err);
    p->budget_hops = BUDGET_HOPS;
    status |= read_number("--within", p->options->within, "%", 1000, &p->within, err);
    status |=
        read_number("--packets-budget", p->options->packets_budget, "", 1e15, &p->budget_hops, err);
    p->within /= 100;
    size_t errors = err->n_errors;
    options_shard(p->options, &p->part, &p->parts, err);
    if (p->options->format == FORMAT_CSV)
        err_add(err, "--format", "plan has no csv");
    if (p->parts > 1 && p->options->out == NULL)
        err_add(err, "--shard", "needs --out, where the parts keep their runs");
    return err->n_errors > errors ? -1 : status;
}

/* ---- one number of GPUs ---- */

static int say_none(const struct planning *p, uint32_t gpus, const struct plan_found *found,
                    struct err *err)
{
    char needs[UNIT_TEXT], has[UNIT_TEXT];
    if (found->legal == 0)
        return err_add(err, "--gpus",
                       "no degrees multiply to %u and divide the job's %llu heads, %llu layers and "
                       "batch of %llu",
                       gpus, (unsigned long long)p->job.heads, (unsigned long long)p->job.layers,
                       (unsigned long long)p->job.global_batch);
    // The least number of GPUs that does, by doubling.
    struct plan_question q = {.job = p->job, .gpus = gpus, .capacity_bytes = p->capacity_bytes};
    struct plan_found more = {0};
    while (more.n == 0 && q.gpus <= GPUS_MOST / 2) {
        free(more.layouts);
        q.gpus *= 2;
        if (cluster_network(&p->cluster, q.gpus, &q.network, err) != 0)
            return -1;
        plan_search(&q, &more);
    }
    bool any = more.n > 0;
    free(more.layouts);
    human_bytes(found->least_bytes, needs);
    human_bytes(p->capacity_bytes, has);
    if (any)
        return err_add(
            err, "--gpus",
            "no layout fits on %u: the leanest needs %s a GPU, which has %s; %u GPUs are "
            "the least, by doubling, with one that fits",
            gpus, needs, has, q.gpus);
    return err_add(err, "--gpus", "no layout fits on %u: the leanest needs %s a GPU, which has %s",
                   gpus, needs, has);
}

static int search(struct planning *p, uint32_t gpus, struct err *err)
{
    struct plan_question q = {.job = p->job, .gpus = gpus, .capacity_bytes = p->capacity_bytes};
    if (cluster_network(&p->cluster, gpus, &q.network, err) != 0)
        return -1;
    p->found = memory_resize(p->found, p->n_found + 1, sizeof *p->found);
    struct plan_found *found = &p->found[p->n_found++];
    plan_search(&q, found);
    if (found->n == 0)
        return say_none(p, gpus, found, err);
    if (p->options->format != FORMAT_JSON)
        printf("%u GPUs: %llu layouts are possible, %llu fit, with %zu different degrees.\n", gpus,
               (unsigned long long)found->legal, (unsigned long long)found->fit, found->n);
    uint64_t shown = p->options->best > 0 ? p->options->best : SHOWN;
    for (size_t i = 0; i < found->n && i < shown; i++) {
        double ratio = found->layouts[i].time.total / found->layouts[0].time.total;
        if (p->within > 0 && ratio > 1 + p->within)
            break;
        if (p->n == p->cap)
            p->plans = memory_grow(p->plans, &p->cap, sizeof *p->plans);
        p->plans[p->n++] = (struct planned){.gpus = gpus,
                                            .layout = &found->layouts[i],
                                            .network = q.network,
                                            .time_ps = found->layouts[i].time.total};
    }
    return 0;
}

/* ---- the command ---- */

static int by_gpus_and_time(const void *a, const void *b)
{
    const struct planned *x = a, *y = b;
    if (x->gpus != y->gpus)
        return x->gpus < y->gpus ? -1 : 1;
    return (x->time_ps > y->time_ps) - (x->time_ps < y->time_ps);
}

static void print(const struct planning *p)
{
    if (p->options->format == FORMAT_JSON) {
        json_t *root = json_pack("{s:o}", "plans", plans_json(p->plans, p->n));
        json_dumpf(root, stdout, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
        putchar('\n');
        json_decref(root);
        return;
    }
    if (p->cluster.joins && p->last > p->cluster.server)
        printf("Servers of %u GPUs, joined by %s.\n", p->cluster.server,
               p->cluster.fabric != NULL
                   ? "the fabric of --fabric"
                   : "a leaf_spine of one port of 400 Gbit/s a GPU without oversubscription (the "
                     "default; --fabric names another)");
    plans_print(stdout, p->plans, p->n);
}

static void leave_out_impossible(struct planning *p)
{
    size_t n = p->n, kept = 0;
    char *why = NULL;
    for (size_t i = 0; i < n; i++) {
        char *impossible = p->plans[i].impossible;
        if (impossible == NULL)
            p->plans[kept++] = p->plans[i];
        else if (why == NULL)
            why = impossible;
        else
            free(impossible);
    }
    p->n = kept;
    if (kept < n)
        fprintf(stderr, "collwire: %zu of the %zu layouts cannot run on this network: %s\n",
                n - kept, n, why);
    free(why);
}

static int plan(struct planning *p, const char *path, struct err *err)
{
    int status = read_options(p, err);
    if (cluster_read(&p->cluster, p->options, p->given, path, err) != 0 || status != 0 ||
        cluster_job(&p->cluster, &p->job, &p->capacity_bytes, err) != 0)
        return EXIT_BAD_USE;
    for (uint64_t gpus = p->first; gpus <= p->last && status == 0; gpus *= 2)
        status = search(p, (uint32_t)gpus, err);
    if (status != 0)
        return EXIT_BAD_USE;
    struct packets packets = {.options = p->options,
                              .cluster = &p->cluster,
                              .budget_hops = p->budget_hops,
                              .folder = p->options->out,
                              .part = p->part,
                              .parts = p->parts,
                              .plans = p->plans,
                              .n = p->n};
    if (p->budget_hops > 0)
        status = packets_run(&packets, err);
    if (status < 0)
        return EXIT_BAD_USE;
    ends_say(p->options->out != NULL
                 ? "layouts without a run are in closed form; the same command runs the rest"
                 : "layouts without a run are in closed form");
    leave_out_impossible(p);
    qsort(p->plans, p->n, sizeof *p->plans, by_gpus_and_time);
    print(p);
    return status == 0 ? EXIT_DONE : EXIT_NOT_COMPLETED;
}

static int command_plan(const struct options *given)
{
    struct err err = {0};
    struct options o = *given;
    struct planning p = {.options = &o, .given = given};
    o.n_sets = 0; // --set changes the given scenario only, not the layouts made from it
    const char *path = scenario_argument(&o);
    if (path == NULL)
        return EXIT_BAD_USE;
    options_jobs(&o);
    int code = plan(&p, path, &err);
    errors_print(&err);
    cluster_free(&p.cluster);
    for (size_t i = 0; i < p.n_found; i++)
        free(p.found[i].layouts);
    free(p.found);
    for (size_t i = 0; i < p.n; i++)
        free(p.plans[i].impossible);
    free(p.plans);
    return code;
}

/* ---- its row ---- */

static const char plan_text[] =
    "Finds the layouts (tensor, pipeline, data, expert and context degrees, micro-batch, virtual "
    "stages, ZeRO, recomputation) of a scenario's llm job that fit into the memory of so many "
    "GPUs, the fastest first: all of them in closed form, then the best ten of each number of "
    "GPUs over packets, on a job with the same messages but fewer layers, micro-batches and "
    "replicas, extrapolated by the closed form. The degrees that the job has are ignored.\n\n"
    "The outermost dimension of the topology grows with the number of GPUs. With --out, results of "
    "runs are kept there, and the same command goes on after an interruption.\n\n"
    "  collwire plan job.json --gpus 64\n"
    "  collwire plan job.json --gpus 64..1024 --within 10%\n"
    "  collwire plan job.json --gpus 1024 --packets-budget 0 --format json";

const struct command plan_command = {
    .name = "plan",
    .help = "the layouts of a job that fit so many GPUs, the fastest first",
    .args = "SCENARIO --gpus N|A..B",
    .text = plan_text,
    .run = command_plan,
    .completes = COMPLETE_FILES,
};
