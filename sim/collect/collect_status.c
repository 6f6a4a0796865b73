// SPDX-License-Identifier: MIT
// Whether a run has completed, and why it has not.
#include "sim/collect/collect_internal.h"

// Returns kind, node and time of the event that did not return.
static char *left_event(const struct sim *sim)
{
    // In the order of the kinds in the key of an event (engine/event_queue.h).
    static const char *const kinds[] = {"a departure", "a pause", "an arrival", "a timer"};
    char at[UNIT_TEXT], name[GRAPH_NAME] = "";
    uint64_t key = sim->fabric.engine.now_key;
    uint32_t node = event_node(key);
    // An event that belongs to no node, such as a sample, has a number beyond the nodes of the
    // graph.
    if (node < sim->fabric.graph.n_nodes)
        graph_node_name(&sim->fabric.graph, node, name);
    return text_format("%s%s%s at %s", kinds[event_kind(key)], name[0] != '\0' ? " of " : "", name,
                       format_time(sim->fabric.engine.now_ps, at));
}

// The limit that has ended a run which is not completed.
static enum run_limit limit_of(const struct sim *sim)
{
    switch (sim->end) {
    case LOOP_WALL_LIMIT:
    case LOOP_MEMORY_LIMIT:
        return LIMIT_MACHINE;
    case LOOP_EVENT_LIMIT:
        return LIMIT_WORK;
    default:
        return sim->fabric.engine.now_ps == sim->spec->limits.sim_time_ps ? LIMIT_WORK : LIMIT_NONE;
    }
}

void collect_status(const struct sim *sim, struct result *r)
{
    const struct limits_spec *limits = &sim->spec->limits;
    char buf[UNIT_TEXT];
    // The order of the branches is from causes to effects. A lost process or a deadlock, for
    // example, also lets messages fail or the run stall, and is the better explanation of the two.
    r->status = RUN_INCOMPLETE;
    if (sim->end == LOOP_INTERRUPTED)
        r->status = RUN_INTERRUPTED;
    else if (sim->end == LOOP_APART) // process 0 has the run's status
        r->status = RUN_COMPLETED;
    else if (sim->lost_process > 0)
        r->reason = text_format("process %u does not answer any more; these are the results of the "
                                "part of the network of process 0",
                                sim->lost_process - 1);
    else if (sim->fabric.policy_failure)
        r->reason = text_format("%s", sim->fabric.policy_failure);
    else if (sim->end == LOOP_WALL_LIMIT)
        r->reason = text_format("wall clock limit of %g s reached", limits->wall_s);
    else if (sim->end == LOOP_STUCK) {
        char *event = left_event(sim);
        r->reason =
            text_format("an event has not returned for long (%s): please report it with the "
                        "scenario and seed; these are the results within that event",
                        event);
        free(event);
    } else if (sim->end == LOOP_EVENT_LIMIT)
        r->reason = text_format("limit of %llu events reached", (unsigned long long)limits->events);
    else if (sim->end == LOOP_MEMORY_LIMIT)
        r->reason = text_format("out of memory: see limits.memory");
    else if (sim->workload.failure)
        r->reason = text_format("%s", sim->workload.failure);
    else if (captures_failure(sim->captures))
        r->reason = text_format("%s", captures_failure(sim->captures));
    else if (r->n_deadlock > 0)
        r->reason = text_format("deadlock: %zu paused ports wait for each other, first %s",
                                r->n_deadlock, r->deadlock[0]);
    else if (sim->delivery.records.failed > 0)
        r->reason = text_format("%llu message%s failed: retry limit exceeded",
                                (unsigned long long)sim->delivery.records.failed,
                                sim->delivery.records.failed > 1 ? "s" : "");
    else if (workload_done(&sim->workload))
        r->status = RUN_COMPLETED;
    else if (sim->stalled)
        r->reason = text_format("stalled: no payload byte delivered for %s",
                                human_time(limits->stall_ps, buf));
    else if (sim->spec->duration_ps <= limits->sim_time_ps && !sim->idle &&
             sim->fabric.engine.now_ps == sim->spec->duration_ps)
        r->status = RUN_COMPLETED; // the planned horizon
    else if (sim->fabric.engine.now_ps == limits->sim_time_ps)
        r->reason =
            text_format("simulated time limit of %s reached", human_time(limits->sim_time_ps, buf));
    else if (sim->fabric.engine.now_ps == SIM_LONGEST_PS)
        r->reason =
            text_format("the longest simulated time, %s, reached", human_time(SIM_LONGEST_PS, buf));
    else
        r->reason = text_format("stalled: nothing is left to happen, but the work is not done");
    r->limit = r->status == RUN_COMPLETED ? LIMIT_NONE : limit_of(sim);
}
