// SPDX-License-Identifier: MIT
// Runs a simulation to its end: horizon, limits, the stall rule, progress.
#define _GNU_SOURCE // RUSAGE_THREAD

#include <sys/resource.h>

#include "engine/base/clock.h"
#include "engine/base/rng.h"
#include "sim/gather.h"
#include "sim/simulation.h"
#include "transport/nic/adapter.h"

struct running {
    struct sim *sim;
    const struct sim_watch *watch;
};

// Sums over the shards of this process, or over the undivided simulation.
struct sums {
    uint64_t delivered_bytes, packet_hops;
    ps_t last_delivery_ps;
    uint32_t n_rto_armed, n_watchdogs_armed;
    bool adapters_busy;
};

static struct sums sums_of(const struct sim *sim)
{
    ps_t now = sim->fabric.engine.now_ps;
    struct sums s = {.adapters_busy = adapters_busy(&sim->fabric.hosts, now)};
    uint32_t n = sim->fabric.shards ? sim->fabric.shards->n_own : 1;
    for (uint32_t i = 0; i < n; i++) {
        const struct hosts *hosts =
            sim->fabric.shards ? &sim->fabric.shard_hosts[i] : &sim->fabric.hosts;
        s.delivered_bytes += hosts->counters.delivered_bytes;
        s.packet_hops += hosts->net ? hosts->net->packet_hops : 0;
        s.n_rto_armed += hosts->n_rto_armed;
        if (hosts->last_delivery_ps > s.last_delivery_ps)
            s.last_delivery_ps = hosts->last_delivery_ps;
        s.n_watchdogs_armed += sim->fabric.shards ? sim->fabric.shard_switches[i].n_watchdogs_armed
                                                  : sim->fabric.switches.n_watchdogs_armed;
    }
    return s;
}

// Add those of the other processes, but for what only progress shows.
static void sum_up(const struct sim *sim, struct sums *sums)
{
    uint64_t armed[] = {sums->n_rto_armed, sums->n_watchdogs_armed, sums->adapters_busy};
    shards_sum(sim->fabric.shards, armed, 3);
    sums->n_rto_armed = (uint32_t)armed[0];
    sums->n_watchdogs_armed = (uint32_t)armed[1];
    sums->adapters_busy = armed[2] > 0;
    sums->last_delivery_ps = shards_latest(sim->fabric.shards, sums->last_delivery_ps);
}

// True if a pending event will make progress without a packet: a start, a retransmission, a
// watchdog. In closed form every pending event makes progress.
static bool progress_pending(const struct sim *sim, const struct sums *sums)
{
    return fabric_is_analytical(&sim->fabric) || tally_sum(&sim->workload.starts_pending) > 0 ||
           delivery_pending(&sim->delivery) || sums->adapters_busy || sums->n_rto_armed > 0 ||
           sums->n_watchdogs_armed > 0;
}

// The stall check: the run has stalled if the last delivery is limits.stall_ps ago and no pending
// event will make progress. Otherwise the check is repeated when that could be true.
static void on_stall(struct engine *e, struct sim_timer *timer, int revents)
{
    (void)revents;
    struct sim *sim = timer->data;
    sim->fabric.housekeeping--;
    network_catch_up(&sim->fabric.net, e->now_ps); // a transmission may have started a timer
    // Only timers that do no work for a job are left, so nothing can happen any more.
    if (fabric_only_housekeeping(&sim->fabric)) {
        sim->idle = true;
        engine_stop(e);
        return;
    }
    if (!fabric_is_analytical(
            &sim->fabric)) // a departure that is due may arm a retransmission timer
        network_catch_up(&sim->fabric.net, e->now_ps);
    ps_t stall = sim->spec->limits.stall_ps;
    struct sums sums = sums_of(sim);
    sum_up(sim, &sums);
    // As long as progress is pending, the time without delivery has not begun.
    ps_t last = progress_pending(sim, &sums) ? e->now_ps : sums.last_delivery_ps;
    if (e->now_ps - last >= stall) {
        sim->stalled = true;
        engine_stop(e);
        return;
    }
    sim->fabric.housekeeping++;
    sim_timer_start(e, timer, last + stall);
}

static void on_progress(void *ctx)
{
    struct running *run = ctx;
    struct sim *sim = run->sim;
    if (!run->watch || !run->watch->progress)
        return;
    double total = (double)sim->workload.total_bytes;
    struct sums sums = sums_of(sim);
    double delivered = (double)(sums.delivered_bytes + sim->delivery.analytical.delivered_bytes);
    struct sim_progress p = {.done = total > 0 ? delivered / total : 0,
                             .now_ps = sim->fabric.engine.now_ps,
                             .packet_hops = sums.packet_hops,
                             .events = sim->fabric.engine.events};
    // With a given duration the run ends then, however much is delivered.
    if (sim->spec->duration_ps != PS_NEVER) {
        double by_time = (double)sim->fabric.engine.now_ps / (double)sim->spec->duration_ps;
        p.done = by_time > p.done ? by_time : p.done;
    }
    run->watch->progress(run->watch->ctx, &p);
}

static void on_batch(void *ctx) { captures_advance(((struct running *)ctx)->sim->captures); }

// The memory pools of packets cannot be moved, so the run ends before they are full.
static bool memory_low(void *ctx)
{
    const struct running *run = ctx;
    return network_pools_low(&run->sim->fabric.net) ||
           (run->watch && run->watch->memory_low && run->watch->memory_low(run->watch->ctx));
}

static double cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_THREAD, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
           1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

/* ---- a watchdog ---- */

static uint64_t pulse_of(const struct engine *e)
{
    // The hash keeps changes of two shards from cancelling out in the sum.
    return hash_mix((uint64_t)e->now_ps ^ hash_mix(e->now_key));
}

uint64_t sim_pulse(const struct sim *sim)
{
    const struct shards *shards = sim->fabric.shards ? sim->fabric.shards : NULL;
    uint64_t pulse = pulse_of(&sim->fabric.engine);
    for (uint32_t i = 0; shards && i < shards->n; i++)
        pulse += pulse_of(shards->engines[i]);
    return pulse;
}

bool sim_overdue(const struct sim *sim)
{
    double limit_s = sim->spec->limits.wall_s;
    return limit_s > 0 && sim->began_s > 0 && monotonic_s() - sim->began_s > limit_s;
}

bool sim_divided(const struct sim *sim) { return sim->fabric.shards && sim->fabric.shards->n > 1; }

void sim_leave(struct sim *sim, bool interrupted)
{
    sim->end = interrupted ? LOOP_INTERRUPTED : sim_overdue(sim) ? LOOP_WALL_LIMIT : LOOP_STUCK;
    sim->left = true;
    sim->wall_s = monotonic_s() - sim->began_s;
    sim->cpu_s = cpu_seconds() - sim->began_cpu_s;
    parallel_unite(&sim->parallel);
    workload_settle(&sim->workload);
}

void sim_cancel(struct sim *sim) { atomic_store(&sim->requests.end, true); }

void sim_report_progress(struct sim *sim) { atomic_store(&sim->requests.progress, true); }

/* ---- parts ---- */

static void add_up(void *ctx, uint64_t *number) { shards_sum(ctx, number, 1); }

static void hand_over(void *ctx, struct parcel *p, ps_t done_ps)
{
    captures_hand_over(p, ctx, done_ps);
}

// The network has been divided.
static void divided(struct sim *sim)
{
    struct shards *p = sim->fabric.shards;
    if (sim->captures)
        captures_shard(sim->captures);
    if (!p->processes)
        return;
    if (sim->sampler)
        sampler_set_sum(sim->sampler, &(struct sampler_sum){add_up, p});
    if (sim->captures)
        p->report = (struct process_report){hand_over, sim->captures};
}

void sim_run(struct sim *sim, const struct sim_watch *watch)
{
    const struct limits_spec *limits = &sim->spec->limits;
    struct running run = {sim, watch};
    if (sim->parallel.processes && sim->delivery.hybrid) { // another process runs it
        sim->end = LOOP_APART;
        return;
    }
    ps_t end =
        sim->spec->duration_ps < limits->sim_time_ps ? sim->spec->duration_ps : limits->sim_time_ps;
    end = end < SIM_LONGEST_PS ? end : SIM_LONGEST_PS;
    sim->fabric.engine.horizon_ps = end;
    if (limits->stall_ps != PS_NEVER) {
        sim_timer_init(&sim->fabric.engine, &sim->stall, sim->fabric.graph.n_nodes, on_stall, sim);
        sim_timer_start(&sim->fabric.engine, &sim->stall, limits->stall_ps);
        sim->fabric.housekeeping++;
    }
    struct loop_limits loop = {.progress_s = watch ? watch->progress_s : 0,
                               .wall_s = limits->wall_s,
                               .events = limits->events,
                               .pace_ps = watch ? watch->pace_ps : 0};
    struct loop_hooks hooks = {.ctx = &run,
                               .progress = on_progress,
                               .batch = sim->captures ? on_batch : NULL,
                               .memory_low = memory_low,
                               .requests = &sim->requests};
    if (sim->parallel.threads > 1 && loop.pace_ps > 0)
        sim_explain_threads(sim, "a paced run has one thread");
    else if (loop.pace_ps == 0 && parallel_shard(&sim->parallel))
        divided(sim);
    sim->began_cpu_s = cpu_seconds();
    sim->began_s = monotonic_s();
    if (!workload_done(&sim->workload))
        sim->end = loop_run(&sim->fabric.engine, &loop, &hooks);
    sim->cpu_s = cpu_seconds() - sim->began_cpu_s;
    sim->wall_s = monotonic_s() - sim->began_s;
    // Events are pending, so the horizon has ended the run. The run then lasted until the horizon,
    // and not only until its last event.
    if (sim->end == LOOP_DONE && !sim->fabric.engine.stopped && fabric_pending(&sim->fabric) > 0)
        sim->fabric.engine.now_ps = end;
    // Departures up to the end of the run that no event has computed yet.
    network_catch_up(&sim->fabric.net, sim->fabric.engine.now_ps);
    sim->cpu_s += parallel_unite(&sim->parallel);
    // After the loss of a process the others cannot be gathered: all of them take part in that.
    sim->lost_process = sim->end == LOOP_LOST ? sim->fabric.shards->lost : sim_gather(sim);
    workload_settle(&sim->workload);
}
