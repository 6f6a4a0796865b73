// SPDX-License-Identifier: MIT
// Builds a simulation that is ready to run from a spec.
#include <stdio.h>
#include <stdlib.h>

#include "engine/base/memory.h"
#include "engine/base/rng.h"
#include "sim/advice/advice.h"
#include "sim/collect/collect.h"
#include "sim/hybrid/hybrid.h"
#include "sim/simulation.h"

static ps_t *random_starts(const struct sim *sim, enum rng_use use, ps_t most_ps)
{
    uint32_t n = sim->fabric.graph.n_ranks;
    ps_t *starts = memory_zeroed(n, sizeof *starts);
    // Each rank has a random stream of its own, so that its start does not change if ranks are
    // added.
    for (uint32_t r = 0; most_ps > 0 && r < n; r++) {
        struct rng rng = rng_init(sim->spec->seed, use, r);
        starts[r] = (ps_t)rng_below(&rng, (uint64_t)most_ps + 1);
    }
    return starts;
}

static double bandwidth(void *ctx, uint32_t src, uint32_t dst)
{
    return delivery_bandwidth(&((const struct sim *)ctx)->delivery, src, dst);
}

static const struct coll_reduction *reduce(void *ctx, const struct comm_reduce_request *request)
{
    return fabric_reduce(&((struct sim *)ctx)->fabric, request);
}

static void build_workload(struct sim *sim)
{
    const struct spec *spec = sim->spec;
    struct workload *w = &sim->workload;
    bool noise = spec_has_noise(spec);
    ps_t jitter_ps = spec->dims[0].transport.start_jitter_ps;
    sim->start_jitter_ps = random_starts(sim, RNG_JITTER, jitter_ps);
    // A given jitter takes the place of the random starts of the noise; ranks would be delayed
    // twice.
    if (noise && jitter_ps == 0 && spec->noise.start_ps > 0)
        sim->start_noise_ps = random_starts(sim, RNG_NOISE_START, spec->noise.start_ps);
    w->engine = &sim->fabric.engine;
    w->path_book = &sim->delivery.path_book;
    delivery_connect(&sim->delivery, workload_client(w));
    w->transfer = sim->delivery.entry;
    w->cores = sim->fabric.cores;
    w->computes = spec->host.given && spec->host.compute;
    w->n_ranks = sim->fabric.graph.n_ranks;
    w->start_jitter_ps = sim->start_jitter_ps;
    w->start_noise_ps = sim->start_noise_ps;
    if (noise)
        w->noise = spec->noise.step;
    w->seed = spec->seed;
    w->bandwidth = bandwidth;
    w->reduce = reduce;
    w->network_ctx = sim;
    w->timeline_ranks = spec->report.timeline ? (uint32_t)spec->report.timeline_ranks : 0;
    workload_init(w, spec->jobs, spec->n_jobs);
}

static void build_rooms(struct sim *sim, struct err *err)
{
    struct fabric *fabric = &sim->fabric;
    size_t errors = err->n_errors;
    if (!fabric_is_analytical(fabric))
        fabric_build(fabric, err);
    ideals_init(&sim->ideals, fabric);
    fabric_reductions_init(fabric);
    build_workload(sim);
    // Groups reserve their aggregators while the workload is built, so buffers are divided after
    // it.
    fabric_reductions_settle(fabric, err);
    if (err->n_errors == errors)
        fabric_circuits_start(fabric, err);
    sim->sampler = sampler_start(fabric, err);
    parallel_init(&sim->parallel, &sim->delivery, &sim->workload);
}

struct sim *sim_new(const struct spec *spec, struct err *err)
{
    struct sim *sim = memory_zeroed(1, sizeof *sim);
    size_t errors = err->n_errors;
    sim->spec = spec;
    fabric_init(&sim->fabric, spec, err);
    delivery_init(&sim->delivery, &sim->fabric, &sim->ideals);
    if (err->n_errors == errors) // without a valid network nothing else can be built
        build_rooms(sim, err);
    if (err->n_errors == errors)
        return sim;
    sim_free(sim);
    return NULL;
}

void sim_free(struct sim *sim)
{
    if (!sim)
        return;
    sampler_free(sim->sampler);
    workload_free(&sim->workload);
    delivery_free(&sim->delivery);
    ideals_free(&sim->ideals);
    fabric_free(&sim->fabric);
    captures_free(sim->captures);
    free(sim->start_jitter_ps);
    free(sim->start_noise_ps);
    free(sim);
}

void sim_set_plain(struct sim *sim)
{
    engine_shape(&sim->fabric.engine, 0, 0);
    network_set_reference(&sim->fabric.net);
}

void sim_set_threads(struct sim *sim, uint32_t n) { sim->parallel.threads = n; }

void sim_set_tiles(struct sim *sim, uint32_t n) { sim->parallel.tiles = n; }

void sim_set_together(struct sim *sim) { sim->parallel.always_together = true; }

void sim_set_check(struct sim *sim, uint32_t windows, ps_t span_ps)
{
    hybrid_check(sim->delivery.hybrid, windows, span_ps);
}

int sim_set_processes(struct sim *sim, const struct collwire_processes *processes, struct err *err)
{
    sim->parallel.processes = processes && processes->n > 1 ? processes : NULL;
    if (sim->parallel.processes && sim->delivery.hybrid) { // process 0 runs it, the others wait
        if (processes->rank == 0)
            sim->parallel.processes = NULL;
        return 0;
    }
    if (!sim->parallel.processes || parallel_check(&sim->parallel) == 0)
        return 0;
    err_add(err, "processes", "%u of them cannot simulate this: %s", processes->n,
            sim->parallel.why);
    return -1;
}

void sim_explain_threads(struct sim *sim, const char *why)
{
    snprintf(sim->parallel.why, sizeof sim->parallel.why, "%s", why);
}

bool sim_is_apart(const struct sim *sim, char why[SIM_WHY])
{
    const struct shards *p = sim->fabric.shards;
    if (sim->end != LOOP_APART)
        return false;
    const struct shards_counts *c = &p->counts;
    snprintf(
        why, SIM_WHY,
        "%u processes took longer than one would, with %.1f events of each in a window; so one "
        "began again after %.2g s",
        p->processes->n, (double)c->events / (double)c->windows, sim->wall_s);
    return true;
}

bool sim_failed_in_parts(const struct sim *sim)
{
    return sim->fabric.shards && sim->workload.failure && sim->end == LOOP_DONE;
}

void sim_packets_free(struct sim *sim) { network_free_packets(&sim->fabric.net); }

char *sim_place_names(const struct sim *sim) { return fabric_place_names(&sim->fabric); }

/* ---- captures ---- */

int sim_check_captures(const struct sim *sim, struct err *err)
{
    return captures_check(&sim->fabric, err);
}

int sim_open_captures(struct sim *sim, const struct capture_output *to, struct err *err)
{
    size_t errors = err->n_errors;
    const struct collwire_processes *processes = sim->parallel.processes;
    struct capture_output output = *to;
    // Process 0 writes the files; the others send it their packets at the end.
    if (processes && processes->rank > 0)
        output.folder = NULL;
    sim->captures = captures_open(&sim->delivery, &output, err);
    return err->n_errors == errors ? 0 : -1;
}

int sim_close_captures(struct sim *sim, struct err *err)
{
    return captures_close(sim->captures, err);
}

bool sim_capture_failed(const struct sim *sim, size_t c)
{
    return captures_failed(sim->captures, c);
}

int sim_write_qpmap(const struct sim *sim, const char *path, struct err *err)
{
    return captures_write_qpmap(&sim->fabric, path, err);
}

struct advice *sim_advice(const struct sim *sim)
{
    return advice_new(&sim->fabric, &sim->workload);
}

/* ---- results ---- */

struct result *sim_result(struct sim *sim) { return collect(sim); }
