// SPDX-License-Identifier: MIT
// The results of a run: plain data for the formatters in report/. Times are in ps; -1 = null.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/text.h"
#include "engine/units.h"
#include "net/critical_path.h"
#include "net/drop.h"

enum run_status { RUN_COMPLETED, RUN_INCOMPLETE, RUN_INTERRUPTED };

struct flow_record {
    uint64_t id, bytes, delivered_bytes, packets, retransmitted;
    uint32_t job, qp, src, dst, cnps, timeouts;
    ps_t start_ps, fct_ps, delivered_ps, ideal_ps;
    ps_t life_ps[PATH_CAUSES]; // from the post to the delivery, by cause; all 0 = not delivered
    uint8_t status;            // enum message_status: 0 running, 1 done, 2 failed
};

struct stats {
    double min, mean, p50, p95, p99, max;
};

struct flows_summary {
    uint64_t count, failed, running, bytes;
    struct stats fct_ns, slowdown;
    double jain; // of goodput
};

// Clear-to-send admission.
struct admission_result {
    uint64_t pieces, held, grants;
    ps_t waited_ps; // by the pieces that were held
};

// A cause at one place of a critical path.
struct critical_place {
    char *at;            // output port, flow or rank
    uint8_t kind, cause; // enum path_place_kind, enum path_cause
    uint32_t index;      // of the port or rank; of a flow its number in the results
    ps_t ps;
};

// Where the time of something went: the parts add up to total_ps.
struct critical_result {
    bool known;
    ps_t total_ps;
    ps_t parts[PATH_CAUSES];
    struct critical_place *places; // the largest first
    size_t n_places;
};

// All work of a part of a layer on the critical path of a training job or a program.
struct critical_layer {
    const char *name;
    uint32_t layer;
    uint8_t part;     // enum training_part; of a program a use, or the number of uses for computing
    const char *word; // of the part
    ps_t compute_ps, comm_ps;
};

// A cause that cost time, which has a sentence among the explanations.
enum reason_kind {
    REASON_CUTS,
    REASON_WINDOW,
    REASON_TIMEOUTS,
    REASON_PATHS,
    REASON_PFC,
    REASON_VICTIMS,
    REASON_PLANES,
    REASON_LAYERS,
    REASON_STRAGGLER,
    REASON_NIC,
    REASON_ACK_DELAY
};
struct reason_result {
    uint8_t kind; // enum reason_kind
    double weight;
    ps_t saving_ps;       // -1 = not known
    const char *sentence; // one of `explain`
};

enum slowest_kind {
    SLOWEST_FLOW,
    SLOWEST_COLLECTIVE,
    SLOWEST_TRAINING,
    SLOWEST_PROGRAM,
    SLOWEST_JOB
};

// What ended last in a job.
struct slowest_result {
    uint8_t kind; // enum slowest_kind
    char *name;
    uint32_t job, rank; // rank: that ended last; for a flow its receiver
    ps_t begin_ps, end_ps;
    struct critical_result critical;
    struct critical_layer *layers; // the largest first
    size_t n_layers;
};

// All phases of one operation along one dimension, over all chunks.
struct phase_result {
    uint32_t dim; // among the collective's dimensions; n_dims = all ranks at once
    const char *op, *algorithm;
    uint64_t bytes, messages;
    ps_t start_ps, end_ps; // -1 = not reached
    // mean over ranks and chunks of the time for which a phase was ready and its dimension busy
    ps_t queueing_ps;
    ps_t network_ps; // mean over messages from post to last byte; -1 = there were none
};

// A dimension of a collective.
struct dim_result {
    uint64_t bytes;
    double busy; // share of the collective's time in which it was in use, mean over groups
};

struct collective_result {
    uint32_t job, ranks;
    const char *name, *op;
    char *algorithm; // "ring", or "ring+halving_doubling" for several dimensions
    uint64_t bytes;
    ps_t start_ps, end_ps, ideal_ps; // -1 = unknown
    double algbw_bps, busbw_bps, efficiency;
    struct critical_result critical;
    struct phase_result *phases;
    struct dim_result *dims;
    uint32_t n_phases, n_dims;
};

// A part of a layer: times per rank, summed over all passes, mean over ranks.
struct training_part_result {
    ps_t compute_ps, exposed_ps;
    // Sum over the part's collectives of the time from first start to last end and the update
    // delay.
    ps_t comm_ps;
    ps_t queueing_ps, network_ps; // means over all phases, as in phase_result
    ps_t critical_ps;             // its communication on the job's critical path
    uint64_t collectives;
};

// Means of the phases that have the same place in their chunk's order, over all collectives of a
// layer. A collective whose chunks have fewer phases counts with 0.
struct training_delay {
    double queueing_ps, network_ps; // as in phase_result
};

struct training_layer_result {
    const char *name;
    struct training_part_result parts[3]; // fwd, ig, wg
    struct training_delay *delays;        // [place]
    size_t n_delays;                      // 0 = no collective has ended
};

// All phases of the collectives of one part of a layer, of one operation along one dimension.
struct training_phase_result {
    const char *layer, *part, *op, *algorithm;
    uint32_t dim; // n_dims of the job = all ranks at once
    uint64_t bytes, messages;
    ps_t queueing_ps, network_ps; // means as in phase_result
};

struct training_spread { // distribution over ranks
    ps_t p50, p99, max;
};

// An iteration; -1 = not finished.
struct training_pass_result {
    ps_t end_ps;      // end of its last rank, since the job's start
    ps_t duration_ps; // time since the end of the previous iteration
};

// Use of dimensions: for equal time steps the share of time in which the queues of a dimension were
// not empty, mean over groups.
struct training_use {
    uint32_t n_dims;
    bool spans_all; // the last dimension is a single group of all ranks
    ps_t step_ps;
    size_t n;      // number of steps from time 0
    double *share; // [step * n_dims + dim]
    double *mean;  // [dim] mean over the job's time
};

struct training_result {
    uint32_t job, ranks;
    const char *name, *parallelism;
    ps_t total_ps;   // from the job's start to the end of its last rank; -1 = not finished
    ps_t compute_ps; // mean over ranks
    struct training_pass_result *passes;
    uint64_t n_passes;
    struct training_layer_result *layers;
    size_t n_layers;
    struct training_phase_result *phases;
    size_t n_phases;
    struct training_spread rank_end; // end of each rank that has finished, since the job's start
    struct training_spread exposed;  // the same less the rank's compute time
    struct training_use use;
    double
        *chunk_ps; // [use.n_dims] mean time of a chunk's phase in a dimension; -1 = there were none
};

// What communication was for, or a layer: time of idle compute streams. Waiting: until the peers had done
// their part; exposed: from then on.
struct idle_result {
    const char *name;
    ps_t compute_ps; // of a layer
    ps_t exposed_ps, waiting_ps;
    uint64_t bytes; // sent; of a use
};

// A rank of a training job or a program.
struct rank_result {
    uint32_t job, rank; // rank: of the network
    ps_t finish_ps;     // since the job's start; -1 = it has not finished
    ps_t compute_ps;
    ps_t blamed_ps;           // waiting of others that it ended; of a program
    struct idle_result *uses; // of a program
    uint32_t n_uses;
};

struct program_result {
    uint32_t job, ranks;
    const char *name;
    ps_t total_ps;            // from the job's start to the end of its last rank; -1 = not finished
    ps_t compute_ps;          // mean over ranks
    ps_t early_ps;            // from the end of a rank to that of the last one, mean over ranks
    double bubble;            // share of ranks' time that a pipeline left idle; -1 = not known
    struct idle_result *uses; // means over ranks; bytes are sums
    struct idle_result *layers; // means over ranks
    struct rank_result *late;   // copies of the ranks that others waited for most, without uses
    uint32_t n_uses, n_layers, n_late;
};

// An interval of a rank's timeline. Slices of one lane do not overlap.
struct slice_result {
    uint32_t job, rank; // rank: of the network
    uint32_t lane;      // 0 = compute and wait; phases: (1 + dim) << SLICE_LANE_BITS and up
    ps_t begin_ps, end_ps;
    const char *layer, *part; // part: NULL for a phase
    const char *op;           // NULL except for a phase
    bool wait;
    uint32_t dim, chunk; // for a phase
    bool
        communicates; // on the critical path and in programs: the part communicated, else it computed
    const char *stream; // of a program's rank: "compute", "comm0"; else NULL
    uint32_t track;     // of a program's rank: number of the stream
};
#define SLICE_PATH UINT32_MAX // in place of a rank: the job's critical path
#define SLICE_COLLECTIVES                                                                          \
    (UINT32_MAX - 1) // in place of a rank: the collectives of a job without programs
#define SLICE_LANE_BITS 20

// Messages and end of one job. With one job the summary is that of the run.
struct server_result { // of the servers of a job
    uint64_t updates;
    struct stats staleness;
    uint64_t *counts; // [staleness] updates; the last has all beyond
    size_t n_counts;
};

struct job_result {
    uint32_t job;
    const char *name, *kind;
    unsigned status;                  // index of job_words (report/metric_jobs.c)
    ps_t start_ps, end_ps;            // end_ps: -1 = it has not ended
    uint64_t messages, failed, bytes; // posted
    struct stats fct_ns, slowdown;    // of completed messages
    bool any_completed;
    /* means over its collectives that have ended; 0 of them = unknown */
    uint64_t collectives;
    double collective_ns, busbw_bps, efficiency;
    const struct training_result *training; // where several jobs train, else NULL; borrowed
    struct server_result *servers;          // of a job with parameter servers, else NULL
};
enum job_status { JOB_RUNNING, JOB_COMPLETED, JOB_FAILED };

struct pfc_port_result {
    char *at; // the paused port
    unsigned cls;
    uint64_t pauses;
    ps_t paused_ps;
};

struct port_result {
    char *at;
    bool from_switch;
    uint64_t bytes, packets, max_queue_bytes, marked, dropped_packets, dropped_bytes;
    uint64_t trimmed_packets, trimmed_bytes, retried_packets, retries;
    ps_t retry_ps;
    double utilization, mean_queue_bytes;
};

// A link that failed or was repaired, or an update of all routes.
struct link_change {
    ps_t at_ps;
    const char *at, *what;
};

struct switch_result {
    char *at;
    uint64_t max_queue_bytes, max_buffer_bytes, max_headroom_bytes;
    uint64_t max_ingress_bytes; // of lossless classes if there are any
    double alpha;               // alpha of that ingress's class
    uint64_t shared_bytes, headroom_limit_bytes;
    double mean_queue_bytes;
};

// A NIC that is not ideal. [0] sends, [1] receives.
struct nic_result {
    char *at; // its rank
    uint32_t dim;
    uint64_t max_held_bytes, pauses, dropped_packets, qp_lookups[2], qp_misses[2];
    double busy_share[2], bus_share[2]; // of the time, its pipeline and its bus
    double missed_share[2];             // its pipeline waited for contexts
};

struct aggregator_result { // in a switch
    char *at;
    uint64_t buffer_bytes, max_bytes, reduced_bytes;
};

struct series_line {
    char *key;   // port pattern or flow
    char *field; // for SERIES_OBSERVE the name of the value, else NULL
    double *values;
    size_t first; // sample at which the line begins; earlier values are null
};

enum series_kind {
    SERIES_QUEUE,
    SERIES_RATE,
    SERIES_CWND,
    SERIES_PAUSED,
    SERIES_OBSERVE,
    SERIES_KINDS
};

struct series {
    ps_t step_ps;
    size_t n_samples;
    struct series_line *lines[SERIES_KINDS];
    size_t n_lines[SERIES_KINDS];
};

struct capture_result {
    const char *file;
    uint64_t packets;
    ps_t trigger_ps; // -1 = there is no trigger, or its event did not happen
};

// A plugin whose policies the run could use; the texts are borrowed.
struct plugin_result {
    const char *file, *sha256;
};

// Counts over all connections of Ultra Ethernet (transport/transport.h).
struct uec_result {
    uint64_t retransmitted, nacks, timeouts, spurious, grants, requests, ack_requests, probes;
};

// Counts over all TCP connections (transport/transport.h).
struct tcp_result {
    uint64_t connections, retransmitted, fast_retransmits, timeouts, loss_probes, window_probes,
        duplicate_acks, spurious, resets;
};

// How a run was shared out among threads (engine/partition.h).
struct threads_result {
    uint32_t used; // 1 = the simulation had one part
    const char
        *note; // why there were fewer than wanted, or what the parts cost; NULL = nothing to say
    /* of several threads */
    uint64_t windows;
    ps_t lookahead_ps;
    double events_per_window, parallel; // parallel: share of the windows that all threads processed
    double waiting;                     // share of their time in which threads waited for others
    double imbalance;   // events of the busiest part by those of the mean part, in them
    uint64_t crossings; // packets that went from one part to another
};

// What was skipped because it repeats.
struct skip_result {
    bool tried;         // the scenario asks for it
    uint64_t stretches; // times that a period was found
    uint64_t periods;   // repetitions that were skipped, of all of them
    ps_t skipped_ps;    // simulated time of these
    uint64_t hops;      // of packets in these
    uint64_t candidates, snapshots;
    const char *note; // why not more; NULL = nothing to say
};

struct result {
    const char *name;
    char policy[256]; // or policies, joined by "+"
    uint64_t seed;
    struct skip_result skipped;
    enum run_status status;
    char *reason;   // why the run is incomplete
    char **waiting; // which ranks, messages and ports wait for what
    size_t n_waiting;
    ps_t sim_time_ps;
    struct flow_record *flows;
    size_t n_flows;
    bool flows_complete; // false: there are more messages than report.flows_max
    struct flows_summary summary;
    struct collective_result *collectives;
    size_t n_collectives;
    bool collectives_complete; // false: there are more collectives than report.collectives_max
    struct training_result *trainings;
    size_t n_trainings;
    struct program_result *programs;
    size_t n_programs;
    struct rank_result *ranks; // of training jobs and programs, by job and rank
    size_t n_ranks;
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
    struct tcp_result *tcp; // of TCP connections
    size_t n_tcp;           // 0 = the scenario has none
    struct uec_result *uec;
    size_t n_uec; // 0 = the scenario has none
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
    uint64_t events, packet_hops, peak_rss_bytes;
    struct capture_result *captures;
    size_t n_captures;
    struct plugin_result *plugins;
    size_t n_plugins;
};

void result_free(struct result *r);
