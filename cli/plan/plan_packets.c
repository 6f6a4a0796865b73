// SPDX-License-Identifier: MIT
#include "cli/plan/plan_packets.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/plan/cluster.h"
#include "cli/plan/known.h"
#include "cli/plan/plan_search.h"
#include "cli/results/folder.h"
#include "cli/runs/hybrid_look.h"
#include "cli/runs/simulate.h"
#include "cli/terminal/ends.h"
#include "cli/terminal/memory_guard.h"
#include "cli/terminal/pool_progress.h"
#include "cli/terminal/signals.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "report/study/point_hash.h"
#include "report/study/worker_pool.h"
#include "workload/llm/llm_spec.h"

/* ---- layout scenario ---- */

// A scenario that trains by a layout, on a smaller job: the same groups and the same sizes of
// messages, with fewer layers, micro-batches and data replicas.

static uint64_t ranks_of(const struct llm_params *p)
{
    uint64_t ranks = 1;
    for (unsigned d = 0; d < LLM_DEGREES; d++)
        ranks *= p->degrees[d];
    return ranks;
}

static void set(json_t *job, const char *key, uint64_t value)
{
    json_object_set_new(job, key, json_integer((json_int_t)value));
}

static void write_job(json_t *job, const struct llm_params *p)
{
    static const char *const not_kept[] = {"placement", "ranks", "mapping", "stride"};
    for (size_t i = 0; i < sizeof not_kept / sizeof *not_kept; i++)
        json_object_del(job, not_kept[i]);
    for (unsigned d = 0; d < LLM_DEGREES; d++)
        set(job, llm_degree_names[d], p->degrees[d]);
    set(job, "layers", p->layers);
    set(job, "global_batch", p->global_batch);
    set(job, "micro_batch", p->micro_batch);
    set(job, "virtual_stages", p->virtual_stages);
    set(job, "iterations", p->iterations);
    json_object_set_new(job, "tables_as_layers", json_boolean(p->tables_as_layers));
    set(job, "zero", p->zero);
    json_object_set_new(job, "schedule", json_string(pipeline_schedules[p->schedule]));
    json_object_set_new(job, "recompute", json_string(recompute_names[p->recompute]));
}

static struct shrunk scenario_of_params(const struct cluster *m, const struct llm_params *p,
                                        struct err *err)
{
    struct shrunk s = {.params = *p, .gpus = (uint32_t)ranks_of(p)};
    s.scenario = cluster_grown(m, s.gpus, err);
    if (s.scenario == NULL)
        return s;
    write_job(draft_job(s.scenario), p);
    return s;
}

// Replicas that fill whole servers, two of them if there are so many.
static uint64_t replicas_of(const struct cluster *m, const struct llm_params *p)
{
    uint64_t most = p->degrees[LLM_DATA], others = ranks_of(p) / most;
    for (uint64_t data = most < 2 ? most : 2; data < most; data++) {
        uint64_t ranks = others * data;
        if ((ranks % m->server == 0 || m->server == 1) && ranks > m->server)
            return data;
    }
    return most;
}

static uint64_t lesser(uint64_t a, uint64_t b) { return a < b ? a : b; }

// Layers of jobs with experts are whole periods from one layer with experts to the next. Returns a
// scenario that is NULL after an error.
static struct shrunk layout_shrunk(const struct cluster *m, const struct plan_layout *layout,
                                   enum shrinking shrinking, struct err *err)
{
    struct llm_params p = layout->params;
    bool most = shrinking == SHRINK_MOST, tables = p.tables_as_layers;
    uint64_t stages = p.degrees[LLM_PIPELINE], period = p.experts > 0 ? p.moe_every : 1,
             micro_batches =
                 p.global_batch / (p.degrees[LLM_DATA] * p.degrees[LLM_EXPERT] * p.micro_batch),
             least = most ? stages : 2 * stages;
    least = least < (most ? 2 : 4) ? (most ? 2 : 4) : least;
    if (shrinking >= SHRINK_REPLICAS)
        p.degrees[LLM_DATA] = replicas_of(m, &p);
    if (shrinking >= SHRINK_LAYERS)
        p.layers = lesser(p.layers, stages * p.virtual_stages * period * (most && !tables ? 1 : 4) -
                                        (tables ? 2 : 0));
    if (shrinking >= SHRINK_MICRO_BATCHES)
        micro_batches = lesser(micro_batches, least);
    p.global_batch = micro_batches * p.degrees[LLM_DATA] * p.degrees[LLM_EXPERT] * p.micro_batch;
    p.iterations = 1;
    return scenario_of_params(m, &p, err);
}

/* ---- packets ---- */

struct task {
    struct planned *plan;
    struct collwire_scenario *scenario;
    char hash[POINT_HASH];
};

struct running {
    struct packets *packets;
    struct task *tasks;
    size_t n;
    json_t *known; // hash -> ps
    struct pool_line line;
    int kept;  // the file of results; -1 = none
    bool lost; // a result could not be kept
};

/* ---- results of before ---- */

static char *file_of(const struct packets *p)
{
    return p->parts == 1 ? text_format("%s/packets.jsonl", p->folder)
                         : text_format("%s/packets-%zu-of-%zu.jsonl", p->folder, p->part, p->parts);
}

// The results of earlier commands, and of other parts, from a folder that is made if it is missing.
static int read_known(struct running *r, struct err *err)
{
    const char *folder = r->packets->folder;
    size_t existed;
    if (folder_make(folder, &existed) != 0)
        return err_add(err, "--out", "%s: %s", folder, strerror(errno));
    known_read(r->known, folder);
    return 0;
}

// Open the file of results before anything runs, so that none is lost. A symbolic link is not
// followed, since results would be appended to whatever file it names.
static int open_results(struct running *r, struct err *err)
{
    struct stat about;
    char *name = file_of(r->packets);
    int status = 0;
    r->kept = open(name, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0666);
    if (r->kept < 0)
        status = err_add(err, "--out", "%s: %s", name,
                         errno == ELOOP ? "it is a symbolic link, which is not followed"
                                        : strerror(errno));
    else if (fstat(r->kept, &about) != 0 || !S_ISREG(about.st_mode))
        status = err_add(err, "--out", "%s: it is not a regular file", name);
    free(name);
    return status;
}

// Append a result. Without room the run goes on, with one message and another exit code.
static void keep(struct running *r, const struct task *t, double ps)
{
    struct stat before;
    if (r->kept < 0 || r->lost)
        return;
    char *row = text_format("{\"hash\": \"%s\", \"ps\": %.0f}\n", t->hash, ps);
    ssize_t length = (ssize_t)strlen(row);
    bool known = fstat(r->kept, &before) == 0;
    errno = 0;
    ssize_t written = write(r->kept, row, (size_t)length);
    int reason = written < 0 ? errno : ENOSPC;
    free(row);
    if (written == length)
        return;
    if (written > 0 && known && ftruncate(r->kept, before.st_size) != 0)
        reason = errno; // the next command ignores the incomplete line
    r->lost = true;
    pool_line_clear(&r->line);
    char *name = file_of(r->packets);
    fprintf(stderr, "collwire: %s: results cannot be kept from now on: %s\n", name,
            strerror(reason));
    free(name);
}

/* ---- the worker ---- */

static double total_ps(const char *metrics)
{
    json_t *all = json_loads(metrics, 0, NULL);
    const json_t *program = json_array_get(json_object_get(all, "programs"), 0);
    const char *status = json_string_value(json_object_get(all, "status"));
    double ns = json_number_value(json_object_get(program, "total_ns"));
    bool whole = status != NULL && strcmp(status, "completed") == 0;
    json_decref(all);
    return whole ? 1e3 * ns : 0;
}

static void work(void *ctx, size_t task, int to_parent)
{
    const struct running *r = ctx;
    char text[64];
    signals_keep();
    memory_share(r->packets->options->jobs);
    struct simulated run = simulate_in_memory(r->tasks[task].scenario, false, 1);
    int n = snprintf(text, sizeof text, "%.0f", run.metrics != NULL ? total_ps(run.metrics) : 0);
    _exit(write(to_parent, text, (size_t)n) == n ? EXIT_DONE : EXIT_NOT_COMPLETED);
}

/* ---- the parent ---- */

static void on_ended(void *ctx, const struct pool_end *end)
{
    struct running *r = ctx;
    struct task *t = &r->tasks[end->task];
    double ps = end->code == EXIT_DONE ? strtod(end->bytes, NULL) : 0;
    char *failure = end->signal != SIGTERM ? pool_failure(end) : NULL;
    if (ps > 0) {
        t->plan->ps = ps;
        keep(r, t, ps);
    } else if (failure != NULL) {
        pool_line_clear(&r->line);
        fprintf(stderr, "collwire: a run of the plan: %s; its layout stays in closed form\n",
                failure);
    }
    free(failure);
}

static void on_progress(void *ctx, const struct pool_progress *p)
{
    pool_line_show(&((struct running *)ctx)->line, p);
}

// The network of a large job takes long to build, and its run would be far beyond any budget.
#define WHOLE_GPUS_MOST 512

// True if the packet-hops of a run are within the budget: as estimated, or on a hybrid network as a
// trial of the run's first events shows.
static bool is_within(const struct packets *p, const struct collwire_scenario *scenario,
                      const struct collwire_cost *cost)
{
    struct hybrid_look look;
    if (cost->packet_hops <= p->budget_hops)
        return true;
    return scenario_spec(scenario_of(scenario))->network == NETWORK_HYBRID &&
           hybrid_look(p->options, scenario, cost, &look) && look.packet_hops <= p->budget_hops;
}

// The largest job of a plan within the budget; NULL without one, or after an error.
static struct collwire_scenario *largest_within(const struct packets *p, struct planned *plan,
                                                struct err *err)
{
    size_t errors = err->n_errors;
    unsigned shrinking = plan->gpus > WHOLE_GPUS_MOST ? SHRINK_REPLICAS : SHRINK_NOTHING;
    for (; shrinking < SHRINKINGS && err->n_errors == errors; shrinking++) {
        struct shrunk s = layout_shrunk(p->cluster, plan->layout, (enum shrinking)shrinking, err);
        if (s.scenario == NULL)
            return NULL;
        struct collwire_scenario *scenario =
            scenario_of_json(p->options, s.scenario, p->cluster->draft.folder, err);
        struct collwire_cost cost = {.packet_hops = INFINITY};
        struct collwire_sim *sim = scenario != NULL ? simulation_build(scenario, &cost, err) : NULL;
        bool fits = sim != NULL && is_within(p, scenario, &cost);
        struct llm_spec spec = llm_spec_of(&s.params);
        json_decref(s.scenario);
        collwire_sim_free(sim);
        plan->hops = cost.packet_hops;
        plan->whole = shrinking == SHRINK_NOTHING;
        plan->closed_ps = iteration_time(&spec, &plan->network).total;
        if (fits)
            return scenario;
        collwire_scenario_free(scenario);
    }
    return NULL;
}

// The ranks of a layout may need paths that the network has not.
static void note_refusal(struct planned *plan, struct err *refused)
{
    for (size_t i = 0; i < refused->n_items && plan->impossible == NULL; i++)
        if (!refused->items[i].warning)
            plan->impossible = memory_text(refused->items[i].text);
    err_free(refused);
}

// A task for a plan, unless it is impossible, its result is known, too many packets would be
// needed, or it is of another part.
static void prepare(struct running *r, size_t i)
{
    const struct packets *p = r->packets;
    struct planned *plan = &p->plans[i];
    struct task *t = &r->tasks[r->n];
    struct err refused = {0};
    *t = (struct task){.plan = plan, .scenario = largest_within(p, plan, &refused)};
    note_refusal(plan, &refused);
    if (t->scenario == NULL)
        return;
    point_hash(collwire_scenario_json(t->scenario), p->cluster->draft.folder, collwire_version(),
               t->hash);
    plan->ps = json_number_value(json_object_get(r->known, t->hash));
    if (plan->ps > 0 || i % p->parts != p->part - 1)
        collwire_scenario_free(t->scenario);
    else
        r->n++;
}

static int all_impossible(const struct packets *p, struct err *err)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->plans[i].impossible == NULL)
            return 0;
    return p->n == 0 ? 0
                     : err_add(err, NULL, "no layout can run on this network: %s",
                               p->plans[0].impossible);
}

static void free_tasks(struct running *r)
{
    for (size_t i = 0; i < r->n; i++)
        collwire_scenario_free(r->tasks[i].scenario);
    free(r->tasks);
    json_decref(r->known);
}

int packets_run(struct packets *p, struct err *err)
{
    struct running r = {.packets = p,
                        .tasks = memory_zeroed(p->n + 1, sizeof *r.tasks),
                        .known = json_object(),
                        .kept = -1,
                        .line = {.noun = "runs"}};
    struct pool_ops ops = {.ctx = &r,
                           .work = work,
                           .ended = on_ended,
                           .progress = progress_wanted(p->options) ? on_progress : NULL,
                           .progress_s = POOL_PROGRESS_S,
                           .death_signal = SIGTERM};
    int status = 0;
    if (p->folder != NULL)
        status = read_known(&r, err);
    for (size_t i = 0; i < p->n && status == 0; i++)
        prepare(&r, i);
    if (status == 0)
        status = all_impossible(p, err);
    if (status == 0 && r.n > 0 && p->folder != NULL)
        status = open_results(&r, err);
    if (status == 0 && r.n > 0)
        status = ends_pool(&ops, r.n, p->options->jobs);
    pool_line_clear(&r.line);
    for (size_t i = 0; i < p->n; i++) {
        struct planned *plan = &p->plans[i];
        plan->time_ps = plan->layout->time.total;
        if (plan->ps > 0)
            plan->time_ps *= plan->ps / plan->closed_ps;
    }
    if (r.kept >= 0 && close(r.kept) != 0 && !r.lost) {
        fprintf(stderr, "collwire: %s: results cannot be kept: %s\n", p->folder, strerror(errno));
        r.lost = true;
    }
    free_tasks(&r);
    return status == 0 && r.lost ? 1 : status;
}
