// SPDX-License-Identifier: MIT
// The run of the healthy network, and what it decides for all other runs: noise of hosts, a limit
// of simulated time, and the hybrid network where that gives the same time in fewer packet-hops.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diagnose/diagnose.h"
#include "cli/runs/simulate.h"
#include "cli/terminal/ends.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"

#define STEP_NOISE "200ns" // mean delay of a rank before a step, on a quiet host
#define TOO_LONG 4.0       // times the longer one of the measured and the healthy time
#define SLOWER 5.0         // times the healthy time, where no time was measured
#define MANY_HOPS 2e6      // packet-hops of a run, from which the hybrid network is tried
#define LARGE_HOPS 12e6    // of sizes that packets would take too long for
#define HYBRID_ERROR 0.02  // of the job's time, that it may have
#define HYBRID_SHARE 0.5   // of the packet-hops, that it may need

int healthy_failed(struct err *err)
{
    return err_add(err, "scenario", "the healthy network did not run to its end");
}

static json_t *run_draft(struct diagnosis *d, double *packet_hops, struct err *err)
{
    struct collwire_scenario *scenario =
        scenario_of_json(d->options, d->fit.draft.json, d->fit.draft.folder, err);
    if (!scenario)
        return NULL;
    struct simulated made = simulate_in_memory(scenario, d->options->plain, 1);
    json_t *metrics = made.metrics ? json_loads(made.metrics, 0, NULL) : NULL;
    *packet_hops = made.packet_hops;
    simulated_free(&made);
    simulate_forget();
    collwire_scenario_free(scenario);
    if (made.code == EXIT_INTERRUPTED)
        ends_note();
    else if (!metrics)
        healthy_failed(err);
    return metrics;
}

// Real hosts are never in step; where the scenario does not say by how much, a little of it shows
// how far values differ between runs.
static void add_noise(struct diagnosis *d, struct err *err)
{
    if (!json_object_get(d->fit.draft.json, "noise"))
        draft_set(&d->fit.draft, "noise.step.mean", STEP_NOISE, err);
}

static double job_ns(const json_t *metrics)
{
    return json_number_value(json_at_path(metrics, "jobs[0].time_ns"));
}

// Take the hybrid network for all runs if it gives the healthy one in fewer packet-hops. Returns
// its results in place of those of packets.
static json_t *run_hybrid(struct diagnosis *d, json_t *metrics, double packet_hops)
{
    double hops = 0;
    struct err unsaid = {0};
    draft_set(&d->fit.draft, "network", "hybrid", &unsaid);
    json_t *other = run_draft(d, &hops, &unsaid);
    bool same = other && hops < HYBRID_SHARE * packet_hops &&
                fabs(job_ns(other) / job_ns(metrics) - 1) < HYBRID_ERROR;
    err_free(&unsaid);
    if (!same)
        json_object_del(d->fit.draft.json, "network");
    json_decref(same ? metrics : other);
    return same ? other : metrics;
}

static int check_places(const struct diagnosis *d, struct err *err)
{
    int status = 0;
    for (size_t i = 0; i < d->measured; i++) {
        const struct observed_value *v = &d->fit.measured.list[i];
        bool sized = v->job && *v->job == '.' && !json_object_get(fact_job(&d->facts), "bytes");
        if (!sized && (v->job || !isnan(observed_predict(v, d->facts.metrics))))
            continue;
        char *where = v->line > 0 ? text_format("line %u", v->line) : memory_text("MEASURED");
        status = err_add(err, where, "the results have no %s %s", v->quantity, v->place);
        free(where);
    }
    return status;
}

int healthy_run(struct diagnosis *d, struct err *err)
{
    double packet_hops;
    add_noise(d, err);
    json_t *metrics = run_draft(d, &packet_hops, err);
    if (!metrics)
        return -1;
    if (packet_hops > LARGE_HOPS && d->files.large) {
        json_decref(metrics);
        return err_add(
            err, "MEASURED",
            "the sizes of the tables are too large to be simulated in short time, on the "
            "hybrid network too (%.3g million packet-hops a run): give rows of smaller "
            "sizes",
            packet_hops / 1e6);
    }
    if (packet_hops > MANY_HOPS && !json_object_get(d->fit.draft.json, "network"))
        metrics = run_hybrid(d, metrics, packet_hops);
    facts_make(&d->facts, metrics, d->fit.draft.json, &d->fit.measured);
    d->facts.environment = d->files.environment;
    return check_places(d, err);
}

// The longest time of a value among the seeds of the healthy network, in ns.
static double healthy_ns(const struct diagnosis *d, size_t value)
{
    const struct fit_point *healthy = d->list[0].point;
    double longest = 0;
    for (uint64_t s = 0; s < healthy->seeds; s++)
        longest = fmax(longest, fit_value(&d->fit, healthy, d->fit.first_seed + 1 + s, value));
    return longest;
}

// A run that takes several times as long as the healthy ones and the measured one is wrong already,
// and ends there. Where no time of the job was measured, that of other sizes says by how much it
// may have been longer.
void limit_runs(struct diagnosis *d)
{
    double longest = d->facts.time_ns, slower = 0;
    struct err unsaid = {0};
    ps_t ack_ps = 0; // which TCP's receivers hold back from a message that counts as done
    parse_time(fact_text(&d->facts, "transport.delayed_ack.timeout"), &ack_ps);
    double ack_ns = (double)ack_ps / (double)PS_PER_NS;
    if (json_at_path(d->fit.draft.json, "limits.sim_time"))
        return;
    for (size_t i = 0; i < d->measured + d->later; i++) {
        struct observed_value *v = &d->fit.measured.list[i];
        if (strcmp(v->quantity, "time") != 0)
            continue;
        double healthy = healthy_ns(d, i), both = fmax(healthy, v->value);
        slower = fmax(slower, healthy > 0 ? both / healthy : 1);
        if (v->job)
            v->limit_ns = TOO_LONG * both + ack_ns;
        else
            longest = fmax(longest, both);
    }
    longest = fmax(longest, d->facts.time_ns * (slower > 0 ? slower : SLOWER));
    char *limit = text_format("%.0fns", TOO_LONG * longest + ack_ns);
    draft_set(&d->fit.draft, "limits.sim_time", limit, &unsaid);
    fit_keep_in(&d->fit, KEPT_RUNS, &unsaid); // those of another limit are others
    err_free(&unsaid);
    free(limit);
    d->limited = true;
}
