// SPDX-License-Identifier: MIT
// The results of a run: plain data for the formatters in report/. Times are in ps; -1 = null.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/text.h"
#include "engine/base/units.h"
#include "net/drop.h"
#include "sim/result/flow_record.h"
#include "sim/result/jobs.h"
#include "sim/result/result_critical.h"
#include "sim/result/result_network.h"
#include "sim/result/result_series.h"
#include "sim/result/run.h"

#define RESULT_WAITING_MAX 20 // limit of the messages and ports reported as waiting

enum run_status { RUN_COMPLETED, RUN_INCOMPLETE, RUN_INTERRUPTED };
// What has ended an incomplete run: no limit, one of the scenario's work (events, simulated time),
// or one of the machine (memory, wall time).
enum run_limit { LIMIT_NONE, LIMIT_WORK, LIMIT_MACHINE };

struct result {
    const char *name;
    char policy[256]; // or policies, joined by "+"
    uint64_t seed;
    enum run_status status;
    char *reason; // why the run is incomplete
    enum run_limit limit;
    char **waiting; // sentences about ranks, messages and ports that wait
    size_t n_waiting;
    ps_t sim_time_ps;
    struct flow_record *flows;
    size_t n_flows;
    bool flows_complete; // false: there are more messages than report.flows_max
    struct flows_summary summary;
    struct measured_summary measured; // of the messages in `flows`
    struct collective_result *collectives;
    size_t n_collectives;
    bool collectives_complete; // false: there are more collectives than report.collectives_max
    struct training_result *trainings;
    size_t n_trainings;
    struct measured_collectives measured_collectives;
    struct against_result against;
    struct program_result *programs;
    size_t n_programs;
    struct rank_result *ranks; // of training jobs and programs, by job and rank
    size_t n_ranks;
    struct memory_result memory;
    struct slowest_result *slowest; // [job] that has ended, in order
    size_t n_slowest;
    const struct slowest_result *last; // of the job that ended last; NULL = none has ended
    struct job_result *jobs;           // [n_jobs] in the order of the scenario
    size_t n_jobs;
    struct slice_result *slices; // the timeline, by job, rank and lane
    size_t n_slices;
    bool timeline; // a timeline was requested
    bool timeline_cut;
    /* fabric */
    uint64_t pause_frames, resume_frames, max_queue_bytes;
    ps_t paused_ps;
    struct pfc_port_result *pfc_ports;
    size_t n_pfc_ports;
    struct transport_counters *tcp; // of TCP connections
    size_t n_tcp;                   // 0 = the scenario has none
    struct transport_counters *uec;
    size_t n_uec;                 // 0 = the scenario has none
    struct hybrid_result *hybrid; // NULL = the network is not hybrid
    struct admission_result *admission;
    size_t n_admission; // 0 = messages are not admitted by their receivers
    uint64_t marked_packets, markable_packets, cnps;
    uint64_t cc_cuts; // number of times a policy lowered a rate or a window
    uint64_t dropped_packets, dropped_bytes;
    uint64_t drops[DROP_REASONS]; // [reason] packets
    uint64_t trimmed_packets, trimmed_bytes, trimmed_last_hop;
    uint64_t retried_packets, retries; // of links; attempts that were lost
    ps_t retry_ps;
    struct pfc_port_result *credit_ports; // ports that have waited for credit
    size_t n_credit_ports;
    uint64_t credit_waits;
    ps_t credit_waited_ps;
    char **deadlock; // the ports of a cycle of dependencies, in order
    size_t n_deadlock;
    uint64_t lost_pfc_frames; // PFC frames among the lost ones
    uint64_t watchdog_fired;
    const struct link_change *changes; // changes of links and routes; owned by the simulation
    size_t n_changes;
    uint64_t naks, timeouts, retransmitted;
    struct port_result *ports;
    size_t n_ports;
    struct switch_result *switches;
    size_t n_switches;
    struct nic_result *nics;
    size_t n_nics; // 0 = all are ideal
    struct aggregator_result *aggregators;
    size_t n_aggregators;
    char **explain; // sentences, the most important first
    double *explain_weights;
    struct reason_result *reasons; // the most important first
    size_t n_reasons;
    size_t n_explain;
    struct series *series; // NULL = not requested
    /* machine */
    double wall_s, cpu_s;
    struct threads_result threads;
    uint64_t memory_limit_bytes; // the limit that applied to the run
    uint64_t events, packet_hops;
    uint64_t peak_rss_bytes; // up to the writing of run.json, the last file
    struct capture_result *captures;
    size_t n_captures;
    struct plugin_result *plugins;
    size_t n_plugins;
};

void result_free(struct result *r);
