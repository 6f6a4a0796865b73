// SPDX-License-Identifier: MIT
#include "cli/runs/hybrid_look.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/trials/trials.h"

#define EVENTS "400000" // a tenth of a second to a second
#define MESSAGE_S 2e-6  // of one core for a message in closed form (docs/hybrid.md)

// The beginning of the scenario on the hybrid network.
static struct collwire_scenario *on_hybrid(const struct options *o,
                                           const struct collwire_scenario *scenario)
{
    struct err err = {0};
    struct options sets = {0};
    trial_settings(&sets);
    options_set(&sets, "network", "hybrid");
    options_set(&sets, "limits.events", EVENTS);
    struct collwire_scenario *made = collwire_scenario_parse(
        collwire_scenario_json(scenario), scenario_dir(scenario_of(scenario)), sets.sets,
        sets.n_sets, o->policies, messages_of(&err));
    free(sets.sets);
    err_free(&err);
    return made;
}

static bool read_look(const char *text, struct hybrid_look *look)
{
    json_t *metrics = text ? json_loads(text, 0, NULL) : NULL;
    const json_t *share = json_object_get(json_object_get(metrics, "hybrid"), "quiet_share");
    *look = (struct hybrid_look){
        .quiet_share = json_number_value(share),
        .until_ns = json_number_value(json_object_get(metrics, "sim_time_ns")),
    };
    const json_t *summary = json_object_get(metrics, "flows_summary");
    look->messages = json_number_value(json_object_get(summary, "count"));
    look->payload_bytes = json_number_value(json_object_get(summary, "bytes"));
    // A run that completes within a trial takes no time.
    const char *status = json_string_value(json_object_get(metrics, "status"));
    bool known = share && look->payload_bytes > 0 && status && strcmp(status, "completed") != 0;
    json_decref(metrics);
    return known;
}

bool hybrid_look(const struct options *o, const struct collwire_scenario *scenario,
                 const struct collwire_cost *cost, struct hybrid_look *look)
{
    if (cost->packet_hops < LOOK_FROM_HOPS)
        return false;
    struct collwire_scenario *hybrid = on_hybrid(o, scenario);
    if (!hybrid)
        return false;
    struct simulated made = simulate_in_memory(hybrid, false, 1);
    bool known = read_look(made.metrics, look);
    simulated_free(&made);
    collwire_scenario_free(hybrid);
    if (!known)
        return false;
    look->packet_hops = (1 - look->quiet_share) * cost->packet_hops;
    look->packets_s = cost->hops_s > cost->wall_s ? cost->hops_s : cost->wall_s;
    look->wall_s =
        cost->hops_s * look->packet_hops / cost->packet_hops +
        MESSAGE_S * look->quiet_share * look->messages * cost->payload_bytes / look->payload_bytes;
    return true;
}
