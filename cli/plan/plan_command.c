// SPDX-License-Identifier: MIT
// collwire plan: the layouts of a job that fit into the memory of so many GPUs, the fastest first.
#include "cli/plan/plan.h"

#include <stdlib.h>
#include <string.h>

#include "cli/plan/print.h"
#include "cli/terminal/ends.h"
#include "engine/base/memory.h"
#include "engine/base/units.h"

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

int command_plan(const struct options *given)
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
