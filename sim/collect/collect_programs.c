// SPDX-License-Identifier: MIT
// Makes the results of programs, and of the ranks of programs and training jobs.
#include <stdlib.h>

#include "engine/base/memory.h"
#include "sim/collect/collect_internal.h"
#include "workload/nodes/node_run.h"
#include "workload/training/training_job.h"

#define LATE_NAMED 8

// Rounds to the nearest picosecond, in integers.
static ps_t mean_ps(ps_sum_t sum, uint32_t n) { return (ps_t)((2 * sum + n) / (2 * (ps_sum_t)n)); }

static struct rank_result *ranks_add(struct result *r, uint32_t n)
{
    struct rank_result *added;
    r->ranks = memory_resize(r->ranks, r->n_ranks + n, sizeof *r->ranks);
    added = &r->ranks[r->n_ranks];
    r->n_ranks += n;
    return added;
}

static ps_t since(ps_t end, ps_t start) { return end == PS_NEVER ? -1 : end - start; }

/* ---- programs ---- */

static void collect_rank(const struct node_run *run, uint32_t rank, struct rank_result *out)
{
    const struct rank_account *account = &run->account.ranks[rank];
    uint32_t n = run->program->n_uses;
    *out = (struct rank_result){.job = run->job->index,
                                .rank = job_rank(run->job->spec, rank),
                                .finish_ps = since(account->end_ps, run->job->spec->start_ps),
                                .compute_ps = account->compute_ps,
                                .blamed_ps = run->account.blamed_ps[rank],
                                .uses = memory_zeroed(n, sizeof *out->uses),
                                .n_uses = n};
    for (uint32_t u = 0; u < n; u++)
        out->uses[u] = (struct idle_result){.name = run->program->uses[u],
                                            .exposed_ps = account->uses[u].exposed_ps,
                                            .waiting_ps = account->uses[u].waiting_ps,
                                            .bytes = account->sent_bytes[u]};
}

// Time that the ranks of a pipeline were idle because another stage had not sent yet, and after
// their own end, as a share of their time.
static double bubble_of(const struct node_run *run, const struct rank_result *ranks, ps_t total)
{
    uint32_t use = run->program->idle_use, n = run->job->n_ranks;
    double idle = 0;
    if (use >= run->program->n_uses || total <= 0)
        return -1;
    for (uint32_t i = 0; i < n; i++)
        idle += (double)(ranks[i].uses[use].waiting_ps + total - ranks[i].finish_ps);
    return idle / ((double)total * n);
}

static int by_blame(const void *a, const void *b)
{
    const struct rank_result *x = a, *y = b;
    if (x->blamed_ps != y->blamed_ps)
        return x->blamed_ps < y->blamed_ps ? 1 : -1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

static void collect_late(const struct rank_result *ranks, uint32_t n, struct program_result *out)
{
    out->late = memory_zeroed(n, sizeof *out->late);
    for (uint32_t i = 0; i < n; i++) {
        if (ranks[i].blamed_ps == 0)
            continue;
        out->late[out->n_late] = ranks[i];
        // The list of uses remains with the rank's own result, which frees it.
        out->late[out->n_late++].uses = NULL;
    }
    if (out->n_late > 1)
        // The list is cut only after sorting, so that the ranks with the most blamed time remain.
        qsort(out->late, out->n_late, sizeof *out->late, by_blame);
    out->n_late = out->n_late < LATE_NAMED ? out->n_late : LATE_NAMED;
}

static void collect_sums(const struct node_run *run, const struct rank_result *ranks,
                         struct program_result *out)
{
    const struct node_program *p = run->program;
    uint32_t n = run->job->n_ranks;
    ps_sum_t compute = 0;
    for (uint32_t i = 0; i < n; i++)
        compute += ranks[i].compute_ps;
    out->compute_ps = mean_ps(compute, n);
    out->n_uses = p->n_uses;
    out->uses = memory_zeroed(p->n_uses, sizeof *out->uses);
    for (uint32_t u = 0; u < p->n_uses; u++) {
        ps_sum_t exposed = 0, waiting = 0;
        out->uses[u].name = p->uses[u];
        for (uint32_t i = 0; i < n; i++) {
            exposed += ranks[i].uses[u].exposed_ps;
            waiting += ranks[i].uses[u].waiting_ps;
            out->uses[u].bytes += ranks[i].uses[u].bytes;
        }
        out->uses[u].exposed_ps = mean_ps(exposed, n);
        out->uses[u].waiting_ps = mean_ps(waiting, n);
    }
    out->n_layers = p->n_layers;
    out->layers = memory_zeroed(p->n_layers, sizeof *out->layers);
    for (uint32_t l = 0; l < p->n_layers; l++)
        out->layers[l] =
            (struct idle_result){.name = p->layers[l],
                                 .compute_ps = mean_ps(run->account.layer_compute_ps[l + 1], n),
                                 .exposed_ps = mean_ps(run->account.layers[l + 1].exposed_ps, n),
                                 .waiting_ps = mean_ps(run->account.layers[l + 1].waiting_ps, n)};
}

// Rates and utilization of a job that has ended. MFU: the model's operations by what all ranks
// could do at their peak (Chowdhery et al., PaLM, 2022, appendix B).
static void collect_work(const struct job_run *job, struct program_result *out)
{
    const struct job_kind *kind = job->spec->kind;
    struct job_work work = kind->work ? kind->work(job->spec) : (struct job_work){0};
    double seconds = (double)out->total_ps / PS_PER_S;
    out->tokens_per_s = out->samples_per_s = out->mfu = -1;
    // A job that has not ended has no rates.
    if (seconds <= 0)
        return;
    if (work.tokens > 0)
        out->tokens_per_s = work.tokens / seconds;
    if (work.samples > 0)
        out->samples_per_s = work.samples / seconds;
    if (work.flops > 0 && work.peak_flops > 0)
        out->mfu = work.flops / (seconds * out->ranks * work.peak_flops);
}

static void collect_projection(const struct job_spec *job, struct program_result *out)
{
    out->projected_ps = out->projected_compute_ps = -1;
    if (job->kind->projection == NULL)
        return;
    struct job_projection p = job->kind->projection(job);
    out->projected_ps = (ps_t)(p.compute_ps + p.communication_ps + 0.5);
    out->projected_compute_ps = (ps_t)(p.compute_ps + 0.5);
    out->projected_bytes = p.memory_bytes;
    out->projected_ranks = p.most_ranks;
}

static void collect_swap(const struct job_spec *job, struct swap_result *out)
{
    struct job_swap swap;
    if (job->kind->swap == NULL || !job->kind->swap(job, &swap))
        return;
    *out = (struct swap_result){.any = true,
                                .weights = swap.weights,
                                .use = swap.use,
                                .kept = swap.kept,
                                .swapped = swap.swapped,
                                .recomputed = swap.recomputed,
                                .recomputed_ps = (ps_t)(swap.recomputed_ps + 0.5),
                                .faster_ps = (ps_t)(swap.faster_ps + 0.5),
                                .link_bps = swap.link_bps};
}

static void collect_program(const struct node_run *run, const struct rank_result *ranks,
                            struct program_result *out)
{
    uint32_t n = run->job->n_ranks;
    *out = (struct program_result){.job = run->job->index,
                                   .ranks = n,
                                   .name = run->job->spec->name,
                                   .shrunk = run->job->spec->shrunk,
                                   .bubble = -1};
    // The time of a program is that of its last rank, so one rank that has not ended leaves it
    // unknown.
    for (uint32_t i = 0; i < n && out->total_ps >= 0; i++)
        out->total_ps = ranks[i].finish_ps < 0               ? -1
                        : ranks[i].finish_ps > out->total_ps ? ranks[i].finish_ps
                                                             : out->total_ps;
    collect_sums(run, ranks, out);
    collect_projection(run->job->spec, out);
    collect_swap(run->job->spec, &out->swap);
    collect_late(ranks, n, out);
    ps_sum_t early = 0;
    for (uint32_t i = 0; i < n && out->total_ps >= 0; i++)
        early += out->total_ps - ranks[i].finish_ps;
    out->early_ps = mean_ps(early, n);
    out->bubble = bubble_of(run, ranks, out->total_ps);
    collect_work(run->job, out);
}

/* ---- training jobs ---- */

static void collect_training_ranks(const struct training_job *t, struct result *r)
{
    struct rank_result *ranks = ranks_add(r, t->n_ranks);
    for (uint32_t i = 0; i < t->n_ranks; i++)
        ranks[i] =
            (struct rank_result){.job = t->job->index,
                                 .rank = job_rank(t->job->spec, i),
                                 .finish_ps = since(t->rank_end_ps[i], t->job->spec->start_ps),
                                 .compute_ps = t->rank_compute_ps[i]};
}

void collect_programs(const struct sim *sim, struct result *r)
{
    const struct workload *w = &sim->workload;
    // All ranks are added first: the list may move when it grows, and the programs below point
    // into it.
    for (size_t j = 0; j < w->n_jobs; j++) {
        if (w->jobs[j].spec->kind->trains)
            collect_training_ranks(w->jobs[j].self, r);
        for (uint32_t i = 0; w->jobs[j].spec->kind->nodes && i < w->jobs[j].n_ranks; i++)
            collect_rank(w->jobs[j].self, i, ranks_add(r, 1));
    }
    // The ranks of a job follow those of the job before it, in the order of the loop above.
    const struct rank_result *ranks = r->ranks;
    for (size_t j = 0; j < w->n_jobs; j++) {
        bool program = w->jobs[j].spec->kind->nodes != NULL;
        if (program) {
            r->programs = memory_resize(r->programs, r->n_programs + 1, sizeof *r->programs);
            collect_program(w->jobs[j].self, ranks, &r->programs[r->n_programs++]);
        }
        if (program || w->jobs[j].spec->kind->trains)
            ranks += w->jobs[j].n_ranks;
    }
}
