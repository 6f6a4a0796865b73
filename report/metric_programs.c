// SPDX-License-Identifier: MIT
// The metrics of programs and of ranks: `programs` and `ranks` of metrics.json.
#include <math.h>

#include "report/json_writer.h"
#include "report/metric_parts.h"
#include "report/metric_table.h"

static ps_t exposed(const void *record)
{
    const struct program_result *p = record;
    return p->total_ps < 0 ? -1 : p->total_ps - p->compute_ps;
}

static ps_t rank_exposed(const void *record)
{
    const struct rank_result *r = record;
    return r->finish_ps < 0 ? -1 : r->finish_ps - r->compute_ps;
}

static double exposed_share(const void *record)
{
    const struct program_result *p = record;
    return p->total_ps <= 0 ? (double)NAN
                            : (double)(p->total_ps - p->compute_ps) / (double)p->total_ps;
}

static double gpu_hours(const void *record)
{
    const struct program_result *p = record;
    return metric_gpu_hours(p->total_ps, p->ranks);
}

static void write_shrunk(struct json_writer *w, const void *record)
{
    const char *shrunk = ((const struct program_result *)record)->shrunk;
    if (shrunk && *shrunk != '\0')
        json_writer_text(w, shrunk);
}

static bool tokens_known(const void *record)
{
    return ((const struct program_result *)record)->tokens_per_s >= 0;
}

static bool samples_known(const void *record)
{
    return ((const struct program_result *)record)->samples_per_s >= 0;
}

static bool mfu_known(const void *record)
{
    return ((const struct program_result *)record)->mfu >= 0;
}

static bool is_projected(const void *record)
{
    return ((const struct program_result *)record)->projected_ps >= 0;
}

static ps_t projected_communication(const void *record)
{
    const struct program_result *p = record;
    return p->projected_ps < 0 ? -1 : p->projected_ps - p->projected_compute_ps;
}

// One less the error, as the Oracle study counts it.
static double accuracy(const void *record)
{
    const struct program_result *p = record;
    if (p->projected_ps < 0 || p->total_ps <= 0)
        return (double)NAN;
    return 1 - fabs((double)(p->projected_ps - p->total_ps)) / (double)p->total_ps;
}

static bool bubble_known(const void *record)
{
    return ((const struct program_result *)record)->bubble >= 0;
}

static bool swaps(const void *record) { return ((const struct program_result *)record)->swap.any; }

static const struct metric use_rows[] = {
    {"name", METRIC_WORDS, "what communication is for", TEXT(idle_result, name)},
    {"exposed_ns", METRIC_NS,
     "the compute stream was idle because of it, after all peers had done their part",
     TIME(idle_result, exposed_ps)},
    {"waiting_ns", METRIC_NS,
     "the compute stream was idle because of it, until the last peer had sent its message or "
     "begun the collective",
     TIME(idle_result, waiting_ps)},
    {"bytes", METRIC_BYTES, "sent, or copied between tiers of memory", INTEGER(idle_result, bytes)},
};
static METRIC_TABLE(use_table, use_rows);

static const struct metric layer_rows[] = {
    {"name", METRIC_WORDS, "of the layer", TEXT(idle_result, name)},
    {"compute_ns", METRIC_NS, "computing, mean over ranks", TIME(idle_result, compute_ps)},
    {"exposed_ns", METRIC_NS, "idle for its communication, mean over ranks",
     TIME(idle_result, exposed_ps)},
    {"waiting_ns", METRIC_NS, "idle until its peers had done their part, mean over ranks",
     TIME(idle_result, waiting_ps)},
};
static METRIC_TABLE(layer_table, layer_rows);

static const struct metric rank_rows[] = {
    {"job", METRIC_WORDS, "index in `workload`", INTEGER(rank_result, job)},
    {"rank", METRIC_WORDS, "of the network", INTEGER(rank_result, rank)},
    {"finish_ns", METRIC_NS, "its end, after the job's start", TIME(rank_result, finish_ps)},
    {"compute_ns", METRIC_NS, "computing, on the compute stream", TIME(rank_result, compute_ps)},
    {"exposed_comm_ns", METRIC_NS, "finish_ns - compute_ns", .type = METRIC_TIME,
     .time = rank_exposed},
    {"late_ns", METRIC_NS, "of programs: time for which others waited because it was the last peer",
     TIME(rank_result, blamed_ps)},
    {"uses", METRIC_WORDS, "of programs: what its compute stream was idle for, and what it sent",
     LIST(rank_result, uses, n_uses, use_table)},
};
METRIC_TABLE(rank_table, rank_rows);

static const struct metric late_rows[] = {
    {"rank", METRIC_WORDS, "of the network", INTEGER(rank_result, rank)},
    {"late_ns", METRIC_NS, "time for which others waited because it was the last peer",
     TIME(rank_result, blamed_ps)},
};
static METRIC_TABLE(late_table, late_rows);

static const struct metric program_rows[] = {
    {"job", METRIC_WORDS, "index in `workload`", INTEGER(program_result, job)},
    {"name", METRIC_WORDS, "of the job", TEXT(program_result, name)},
    {"ranks", METRIC_COUNT, "ranks of the job", INTEGER(program_result, ranks)},
    {"shrunk", METRIC_WORDS,
     "only of a job that `collwire shrink` has made smaller: what it leaves out. tokens_per_s, "
     "samples_per_s, mfu and gpu_hours are those of the shrunk job; the whole one runs in seconds "
     "with `network: analytical`",
     .type = METRIC_CUSTOM, .write = write_shrunk},
    {"total_ns", METRIC_NS, "from the job's start to the end of its last rank",
     TIME(program_result, total_ps)},
    {"compute_ns", METRIC_NS, "computing, mean over ranks", TIME(program_result, compute_ps)},
    {"exposed_comm_ns", METRIC_NS,
     "total_ns - compute_ns: communication and waiting that computing did not hide",
     .type = METRIC_TIME, .time = exposed},
    {"exposed_share", METRIC_RATIO, "exposed_comm_ns by total_ns", .type = METRIC_REAL,
     .real = exposed_share},
    {"tokens_per_s", METRIC_COUNT, "tokens of all iterations by total_ns; null = no tokens",
     REAL(program_result, tokens_per_s), .known = tokens_known},
    {"samples_per_s", METRIC_COUNT, "samples of all iterations by total_ns; null = not known",
     REAL(program_result, samples_per_s), .known = samples_known},
    {"mfu", METRIC_RATIO,
     "model FLOPs utilization: operations of the model without recomputation, by those of all "
     "GPUs at their peak in total_ns; null = not known",
     REAL(program_result, mfu), .known = mfu_known},
    {"gpu_hours", METRIC_HOURS, "ranks times total_ns", .type = METRIC_REAL, .real = gpu_hours},
    {"early_ns", METRIC_NS, "from the end of a rank to that of the last one, mean over ranks",
     TIME(program_result, early_ps)},
    {"bubble_share", METRIC_RATIO,
     "share of the ranks' time that a pipeline left idle: until another stage had sent, and "
     "after a rank's end; null = no communication is of use \"pipeline\"",
     REAL(program_result, bubble), .known = bubble_known},
    {"projected_ns", METRIC_NS,
     "the closed form of the job's way to divide the work: computing and communicating one after "
     "the other, alone on the network; null = the kind has none",
     TIME(program_result, projected_ps), .known = is_projected},
    {"projected_compute_ns", METRIC_NS, "its part of computing",
     TIME(program_result, projected_compute_ps), .known = is_projected},
    {"projected_communication_ns", METRIC_NS, "its part of communicating", .type = METRIC_TIME,
     .time = projected_communication, .known = is_projected},
    {"projection_accuracy", METRIC_RATIO, "1 - |projected_ns - total_ns| / total_ns",
     .type = METRIC_REAL, .real = accuracy, .known = is_projected},
    {"projected_memory_bytes", METRIC_BYTES, "of a rank, in closed form",
     REAL(program_result, projected_bytes), .known = is_projected},
    {"projected_ranks", METRIC_COUNT, "the most that the job's way to divide the work can use",
     REAL(program_result, projected_ranks), .known = is_projected},
    {"kept_layers", METRIC_COUNT,
     "layers whose outputs stay on the GPU; null, as in the next three rows = the job is not out "
     "of core",
     INTEGER(program_result, swap.kept), .known = swaps},
    {"swapped_layers", METRIC_COUNT, "layers whose outputs go to the host and come back",
     INTEGER(program_result, swap.swapped), .known = swaps},
    {"recomputed_layers", METRIC_COUNT, "layers whose outputs are computed again",
     INTEGER(program_result, swap.recomputed), .known = swaps},
    {"recomputed_ns", METRIC_NS, "computing again, of a rank",
     TIME(program_result, swap.recomputed_ps), .known = swaps},
    {"uses", METRIC_WORDS, "what compute streams were idle for: means over ranks; bytes are sums",
     LIST(program_result, uses, n_uses, use_table)},
    {"layers", METRIC_WORDS, "in the order of the program",
     LIST(program_result, layers, n_layers, layer_table)},
    {"late", METRIC_WORDS, "the ranks that others waited for most",
     LIST(program_result, late, n_late, late_table)},
};
METRIC_TABLE(program_table, program_rows);
