// SPDX-License-Identifier: MIT
// Causes in jobs: a slow GPU, and other jobs on the same network.
#include <string.h>

#include "cli/diagnose/cause_kind.h"

static const double factors[] = {1.2, 1.5, 2, 3};

static bool is_training(const struct facts *f)
{
    const char *kind = json_string_value(json_object_get(fact_job(f), "kind"));
    return kind && strcmp(kind, "training") == 0;
}

static void straggler(const struct facts *f, const char *at, double factor, FILE *words, FILE *set)
{
    (void)f;
    fprintf(words, "the GPU of %s computes %.3g times as long", at, factor);
    fprintf(set, "workload[0].stragglers=[{\"rank\":%s,\"factor\":%.3g}]\n", at + strlen("rank"),
            factor);
}

#define OTHER "workload[+]={\"kind\":\"flows\",\"name\":\"other\",\"flows\":["
#define FLOW "{\"src\":%u,\"dst\":%u,\"bytes\":\"%.0fB\"}"

static bool can_have_another(const struct facts *f)
{
    return f->line_bps > 0 && f->time_ns > 0 && f->n_ranks > 2;
}

static const double durations[] = {0.3, 1, 3}; // in times of the healthy run

// Another job sends to a rank at the rate of its link: "rank3", from far away, or "rank0->rank3".
static void hot_job(const struct facts *f, const char *at, double share, FILE *words, FILE *set)
{
    uint32_t src = 0, dst = 0;
    if (sscanf(at, "rank%u->rank%u", &src, &dst) != 2) {
        sscanf(at, "rank%u", &dst);
        src = (dst + f->n_ranks / 2) % f->n_ranks;
    }
    fprintf(words, "another job sends from rank%u to rank%u for %.0f us", src, dst,
            share * f->time_ns / 1e3);
    fprintf(set, OTHER FLOW "]}\n", src, dst, share * f->time_ns * 1e-9 * f->line_bps / 8);
}

static const struct cause_kind rows[] = {
    {.name = "straggler",
     .next = "run the same computation on each GPU alone, and read its clocks",
     .places = AT_RANKS,
     STRENGTHS(factors),
     .none = 1,
     .finer = true,
     .may = is_training,
     .form = straggler},
    {.name = "hot_job",
     .next = "look for other jobs, and read the bytes of the rank's port while the job stands",
     .places = AT_RANKS,
     STRENGTHS(durations),
     .finer = true,
     .may = can_have_another,
     .sources = true,
     .form = hot_job},
};

struct kind_rows kinds_of_jobs(void)
{
    return (struct kind_rows){rows, sizeof rows / sizeof *rows};
}

const struct cause_kind cause_two = {.name = "two",
                                     .next = "mend the first of the two, and measure again"};
