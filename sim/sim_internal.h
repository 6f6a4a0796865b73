// SPDX-License-Identifier: MIT
// The internal structure of a simulation, shared by the files of this folder.
#pragma once

#include <stdio.h>

#include "analytical/analytical.h"
#include "engine/loop.h"
#include "net/network.h"
#include "sim/distribution.h"
#include "sim/sim.h"
#include "switch/switch.h"
#include "topology/routes.h"
#include "trace/capture.h"
#include "transport/host.h"
#include "workload/workload.h"

#define SIM_LONGEST_PS (PS_NEVER / 4) // 26 days: sums of times stay in range

#define SIM_WAITING_MAX 20 // limit of the messages and ports reported as waiting

// Sums over the finished messages posted by a rank. The sums of all ranks are added in rank order,
// since the sum of doubles depends on the order, and the order of simultaneous events of different
// ranks must not affect results.
struct rank_sums {
    double slowdown, goodput, goodput_square;
};

struct message_stats { // statistics of finished messages
    struct distribution fct_ns, slowdown;
    struct rank_sums *ranks; // [rank or aggregator]
};

// Statistics of the messages of one job, where there are several jobs.
struct job_stats {
    struct distribution fct_ns, slowdown;
    ps_sum_t slowdown_millionths; // an exact sum, so that it does not depend on the order
    uint64_t failed, running, bytes;
    ps_t end_ps; // of the last completed message
};

struct admission;
struct quality_timer;
struct captures;
struct circuits;
struct completions;
struct change_timer;
struct ledger;
struct ideal_paths;
struct reductions;
struct relay;
struct skip;
struct stripes;

// Limit of values in a series: when it is reached, every other sample is dropped and the step
// between samples doubles.
#define SERIES_MAX_VALUES ((size_t)2000000)

struct sampler {
    struct sim_timer timer;
    struct series series;
    uint32_t *ports; // ports that are sampled
    size_t n_ports;
    size_t cap_samples;
    uint32_t n_sampled; // number of flows that have lines
};

struct sim {
    const struct spec *spec;
    struct engine engine;
    struct graph graph;
    struct routes routes;
    struct routes first_routes; // the routes at the start of the run, saved when links first fail
    bool rerouted;
    struct network net;
    struct switches switches;
    struct hosts hosts;
    // Replaces net, switches and hosts if "network" is "analytical".
    struct analytical analytical;
    struct workload workload;
    struct path_book path_book;    // critical paths of messages and jobs
    struct transfer transfer;      // for messages between ranks that share a dimension
    struct transfer_client client; // of the upper layer; valid while the layers are being connected
    struct ledger *ledger;         // NULL if the network is analytical
    bool *nic_at; // [dimension * n_ends + rank] NICs that are not ideal; NULL = all are
    struct completions *completions; // between the ledger and its client
    struct stripes *stripes;         // NULL if no message is striped
    struct circuits *circuits;       // NULL if no dimension is a circuit switch
    struct admission *admission;     // NULL if every message is sent at once
    struct reductions *reductions;
    struct relay *relay;       // NULL if relaying is off, so such messages are errors
    struct ideal_paths *ideal; // for the packet network
    ps_t *start_jitter_ps;
    ps_t *start_noise_ps; // NULL = none
    /* ending */
    struct sim_timer stall;
    uint32_t housekeeping; // armed timers that do no work for a job: stall check, sampling
    bool stalled, idle;
    bool left;                   // within an event, by a watchdog
    double began_s, began_cpu_s; // of the run, by the clocks of sim/run.c
    enum loop_end end;
    /* collecting */
    struct flow_record *flows;
    size_t n_flows, cap_flows;
    size_t n_unlisted; // number of those beyond report.flows_max that did not complete
    struct message_stats stats;
    struct job_stats *job_stats; // [n_jobs]
    uint64_t failed, running;    // numbers of messages with these records
    uint32_t *flow_order;        // handles of flows in the order of their numbers in the results
    struct link_change *changes;
    size_t n_changes, cap_changes;
    struct change_timer *change_timers;
    size_t n_change_timers;
    struct quality_timer *quality_timers; // [dimension]; NULL = no quality is measured
    uint32_t *fault_ports;                // the ports of all faults, concatenated
    size_t n_fault_ports, cap_fault_ports;
    struct sampler *sampler;
    struct captures *captures; // NULL = not opened
    char *capture_failure; // set if a capture could not be written, which ends the run; else NULL
    struct loop_requests requests;
    struct sim_parts *parts; // sim/parts.h; NULL = the simulation runs on one thread
    uint32_t threads;        // wanted
    bool always_together;    // for tests: however few events a window has
    char why[200];           // why there are fewer, or what they cost
    struct cc_watch cc_watch;
    char *policy_failure; // set if a policy of a plugin broke its contract, which ends the run
    double wall_s, cpu_s;
    struct skip *skip; // sim/skip.h; NULL = everything is simulated
    bool skip_posts;   // it takes messages that are posted
    struct skip_result skipped;
    char skip_why[200]; // why not more was skipped
};

// Write the packets of all captures whose order is final; ends the run if a file cannot be written.
void sim_divide_captures(struct sim *sim); // the network has been divided
void sim_advance_captures(struct sim *sim);
void sim_free_captures(struct sim *sim);
struct capture_count sim_capture_count(const struct sim *sim, size_t c);
// number of link directions that it captures
uint32_t sim_capture_ports(const struct sim *sim, size_t c);
// bytes in its file of a packet whose frame has this length, about
uint64_t sim_capture_packet_bytes(const struct capture_spec *spec, uint64_t frame_bytes);
// The class of a job's data in a dimension: its transport's own, or the job's.
unsigned sim_job_class(const struct spec *spec, uint32_t dim, size_t job);
// The network of a node's part, and the hosts of a rank's part.
struct network *sim_net_of(struct sim *sim, uint32_t node);
struct hosts *sim_hosts_of(struct sim *sim, uint32_t rank);
bool sim_has_noise(const struct spec *spec);
static inline bool sim_is_analytical(const struct sim *sim)
{
    return sim->spec->network == NETWORK_ANALYTICAL;
}
void sim_ledger_init(struct sim *sim); // sets sim->transfer to the hosts', with records
void sim_ledger_set_client(struct sim *sim, struct transfer_client client);
void sim_ledger_free(struct sim *sim);
// The ranks that have the NIC of their dimension: after the routes, before paths are needed.
void sim_nics_find(struct sim *sim, struct err *err);
// Whether the NIC of a rank or an aggregator is as `nic` of the dimension says, not ideal.
static inline bool sim_has_nic(const struct sim *sim, uint32_t rank, uint32_t dim)
{
    const struct graph *g = &sim->graph;
    return sim->nic_at && rank < g->n_ranks &&
           sim->nic_at[dim * g->n_ends + graph_owner(g, rank, dim)];
}
void sim_adapters_init(struct sim *sim, struct err *err); // after the hosts
// Least time that a data packet from src to dst and its ACK spend in the NICs of their receivers.
ps_t sim_adapter_rtt_ps(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim,
                        uint32_t transport);
void sim_completions_init(struct sim *sim, struct transfer_client client);
bool sim_completions_pending(const struct sim *sim);
// Makes records of messages that their NICs have ended, but of which their senders do not know yet.
void sim_completions_running(struct sim *sim);
void sim_completions_free(struct sim *sim);
// Keep what collective each message belongs to, for the notes of packets. To be called before the
// run.
void sim_ledger_keep_origins(struct sim *sim);
void sim_ledger_running(struct sim *sim); // makes records of unfinished messages
uint64_t sim_ledger_messages(const struct sim *sim);
// A message by its token below the ledger, and the number of tokens.
struct ledger_message {
    uint32_t src, dst;
    uint64_t bytes;
    ps_t posted_ps;
};
struct ledger_message sim_ledger_message(const struct sim *sim, uint64_t token);
uint32_t sim_ledger_entries(const struct sim *sim);
// Pass deliveries at this rank to sim/skip.h.
#define LEDGER_WATCHES_NONE UINT32_MAX
#define LEDGER_WATCHES_ALL (UINT32_MAX - 1)
void sim_ledger_watch(struct sim *sim, uint32_t rank);
// Count a message that is posted in pieces; returns transfer_request.piece_of of all of them.
uint32_t sim_ledger_count(struct sim *sim, uint32_t src);
// Store and count a message that has finished or that the end of the run has cut off.
void sim_keep_record(struct sim *sim, const struct flow_record *record);
void sim_analytical_init(struct sim *sim);    // after the graph, before the workload
void sim_analytical_running(struct sim *sim); // makes records of unfinished messages
void sim_analytical_describe(const struct sim *sim, FILE *out);
uint32_t sim_joining_dim(void *ctx, const struct transfer_request *request); // ctx: the sim
// The dimension that a message of so many bytes takes, or GRAPH_NONE.
uint32_t sim_message_dim(const struct sim *sim, uint32_t src, uint32_t dst, uint64_t bytes);
// The same for a request, which may be a part of a message.
static inline uint32_t sim_request_dim(const struct sim *sim, const struct transfer_request *r)
{
    return r->of_dim > 0 ? r->of_dim - 1u : sim_message_dim(sim, r->src, r->dst, r->bytes);
}
bool sim_joined_by_circuit(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim);
void sim_circuits_init(struct sim *sim, struct err *err);  // after the routes
void sim_circuits_start(struct sim *sim, struct err *err); // after the network and the hosts
void sim_circuits_free(struct sim *sim);
void sim_explain_circuits(const struct sim *sim, struct result *r);
// The ports of a path between two ranks, including those that share a NIC with others; returns
// their number.
uint32_t sim_route(const struct sim *sim, const struct routes *r, uint32_t src, uint32_t dst,
                   uint32_t dim, uint32_t ports[ROUTE_MAX_HOPS]);
// The length from which every packet of the transport's class is marked at a port, also one that
// spares the last hop; UINT64_MAX = packets are not marked. Scale the limits of lossy queues and
// the ECN thresholds of a port of a switch to a share of what the scenario says; 1 = all.
void sim_scale_buffers(struct sim *sim, uint32_t port, double share);
uint64_t sim_marked_bytes(const struct sim *sim, uint32_t dim, uint32_t transport, uint32_t port);

struct transport_path sim_path(void *ctx, uint32_t src, uint32_t dst, uint32_t dim,
                               uint32_t transport, uint32_t stripe);
// The largest base RTT of a transport over all pairs of a dimension, and the pair with the most
// links between.
struct sim_longest {
    ps_t base_rtt_ps;
    uint32_t hops, src, dst;
};
struct sim_longest sim_longest_path(const struct sim *sim, uint32_t dim, uint32_t transport);
// Of the link behind a port: the latency of the switch at its end, which the link's delay includes,
// and the bytes after which a cut-through switch forwards a packet, 0 = all.
ps_t sim_latency_ps(const struct sim *sim, uint32_t port);
void sim_add_latencies(struct sim *sim); // to the links of the graph
uint32_t sim_header_bytes(const struct sim *sim, uint32_t port);
// The largest packets of all transports of a dimension; `frame` is the largest of any kind.
struct largest_packets {
    uint32_t first_wire, full_wire, full_frame, ack_wire, frame;
};
struct largest_packets sim_largest_packets(const struct sim *sim, uint32_t dim);
// The stack whose data a class carries in a dimension: of several, one whose policy expects ECN
// marks.
const struct stack_spec *sim_stack_of_class(const struct sim *sim, uint32_t dim, unsigned cls);
double sim_bandwidth(void *ctx, uint32_t src,
                     uint32_t dst); // ctx: the sim; bit/s over all ports towards dst
// The number of parts into which a message is striped over planes, at least 1 and at most its
// bytes.
#define SIM_STRIPES_MAX 64
uint32_t sim_stripes(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim,
                     uint32_t transport);
// The same, with the queue pairs of each plane over which the transport splits messages.
#define SIM_PARTS_MAX (SIM_STRIPES_MAX * 256)
uint32_t sim_parts(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim,
                   uint32_t transport);
// Reduce the `n` ports *port, which lead from node `src` to node `dst`, to the one that part `part`
// uses. Returns 1, or 0 if there is none.
uint32_t sim_stripe_port(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim,
                         uint32_t part, const uint16_t **port, uint32_t n);
// Add the record of a part to that of its message. Returns true if *record is then that of a
// complete message; *token is the message's.
bool sim_stripes_record(struct sim *sim, uint64_t *token, struct flow_record *record);
// Add the record of a part, which was posted later by `shift_ps`, to that of its message.
void sim_record_merge(struct flow_record *whole, struct flow_record *part, ps_t shift_ps);
// If messages are striped: replaces the transport's transfer and client.
void sim_stripes_init(struct sim *sim);
void sim_stripes_free(struct sim *sim);
// Clear-to-send admission, where a transport has it: between the workload and the stripes.
void sim_admission_init(
    struct sim *sim); // before the stripes: becomes the client of the lower layers
void sim_admission_attach(struct sim *sim); // after the stripes: takes the place of their transfer
void sim_admission_free(struct sim *sim);
// Add the record of a piece to that of its message. Returns true if *record is then that of a
// complete message.
bool sim_admission_record(struct sim *sim, uint64_t token, struct flow_record *record);
void sim_admission_running(struct sim *sim);       // makes records of messages that wait for slots
bool sim_admission_copying(const struct sim *sim); // a receiver copies a slot
// Counts; the parts of flows_summary are corrected for pieces.
void sim_admission_collect(const struct sim *sim, struct result *r);
void sim_explain_admission(const struct sim *sim, struct result *r);
// True if messages of so many bytes are cut into pieces.
bool sim_is_pieced(const struct transport_spec *t, uint64_t bytes);
void sim_collect_collectives(const struct sim *sim, struct result *r);
// Results of critical paths: of a collective's record, and of every job that has ended.
void sim_collect_critical(const struct sim *sim, const struct collective_record *record,
                          struct collective_result *c);
void sim_collect_slowest(const struct sim *sim, struct result *r);
void sim_collect_trainings(const struct sim *sim, struct result *r);
void sim_collect_programs(const struct sim *sim, struct result *r);
void sim_jobs_init(struct sim *sim);
void sim_jobs_free(struct sim *sim);
void sim_jobs_record(struct sim *sim, const struct flow_record *record);
void sim_collect_jobs(const struct sim *sim, struct result *r); // after collectives and trainings
void sim_collect_timeline(const struct sim *sim, struct result *r);
void sim_build_switches(struct sim *sim, struct err *err);
void sim_link_quality_init(struct sim *sim); // before the switches' nodes
const struct link_quality *sim_link_quality(const struct sim *sim, uint32_t dim); // NULL = none
// True if, in some dimension, a pause expires before the frame that refreshes it arrives.
bool sim_pauses_lapse(const struct sim *sim);
// The dimension whose settings switches.nodes[index] has; its name ("leaf0", "rank3:dim0").
uint32_t sim_switch_dim(const struct sim *sim, uint32_t index);
const char *sim_switch_name(const struct sim *sim, uint32_t index, char buf[GRAPH_NAME]);
enum int_mode sim_int_mode(const struct dim_spec *dim);
uint32_t sim_int_bytes(const struct dim_spec *dim, uint32_t transport);
uint8_t sim_classes_in_use(const struct sim *sim); // bit set
// Flow control by credits: in a dimension; the buffer behind an ingress port for each class; after
// hosts.
bool sim_uses_credits(const struct sim *sim, uint32_t dim);
// Bytes of a NIC's buffer that a lossless class needs at a port of a rank.
uint32_t sim_nic_headroom(const struct sim *sim, uint32_t port, uint32_t n_lossless);
uint32_t sim_credit_bytes(const struct sim *sim, uint32_t port);
void sim_credits_init(struct sim *sim, struct err *err);
bool sim_is_lossless(const struct switch_spec *sw, unsigned cls);
uint8_t sim_lossless(const struct sim *sim, uint32_t dim); // lossless classes among those in use
// True if switches of a dimension trim packets of a transport. Needs no network.
bool sim_trims(const struct spec *spec, uint32_t dim, uint32_t transport);
// Give a switch its trimming; after its buffer.
void sim_trimming_init(struct sim *sim, uint32_t index);
void sim_check_trimming(const struct sim *sim, struct err *err);
void sim_weights_init(struct sim *sim); // after sizes are known
// Returns true if all switches of a dimension have its limit of queues, or if one of them has it.
bool sim_queue_limit_everywhere(const struct queue_limit_spec *limit);
bool sim_queue_limit_at(const struct sim *sim, uint32_t index);
void sim_check_queue_limits(const struct sim *sim, struct err *err); // after all switches
void sim_buffer_init(struct sim *sim, uint32_t index, struct err *err);
void sim_slices_init(struct sim *sim, uint32_t index, struct err *err); // after trimming
void sim_check_headroom(const struct sim *sim, struct err *err);        // after all switches
void sim_telemetry_init(struct sim *sim, struct err *err);              // after network and routes
// The next rank on the way of a message from src to dst: dst if the two share a dimension.
uint32_t sim_relay_next(const struct graph *g, uint32_t src, uint32_t dst);
void sim_relay_init(struct sim *sim); // after the workload, before the transport
void sim_relay_free(struct sim *sim);
uint64_t sim_port_rate(const struct sim *sim, uint32_t port); // of its clock
void sim_faults_init(struct sim *sim, struct err *err);
void sim_faults_prepare(
    struct sim *sim); // make the faults of all ports that will have one       // after the network
// rebuilds the routes without links that are down
void sim_routes_build(struct sim *sim, struct err *err);
// routes of the network without faults: for ideals
const struct routes *sim_first_routes(const struct sim *sim);
void sim_routes_install(struct sim *sim); // into the switches
void sim_sampler_start(struct sim *sim);
// once, in the order of flows; NULL = none requested
struct series *sim_sampler_series(struct sim *sim);
void sim_sampler_free(struct sim *sim);
char *sim_pair_name(const struct sim *sim, uint32_t src,
                    uint32_t dst); // "rank0->rank1", to be freed
static inline uint32_t sim_peer_node(const struct sim *sim, uint32_t port)
{
    return sim->graph.ports[sim->graph.ports[port].peer].node;
}
bool sim_only_housekeeping(const struct sim *sim);
void sim_find_deadlock(const struct sim *sim, struct result *r);
void sim_explain(const struct sim *sim, struct result *r);
void sim_explain_tree(const struct sim *sim, struct result *r);
void sim_explain_nics(const struct sim *sim, struct result *r);
void sim_collect_nics(const struct sim *sim, struct result *r);
void sim_explain_fabric(const struct sim *sim, struct result *r);
bool sim_is_tcp(const struct transport_dim *dim); // flows of the dimension are TCP connections
bool sim_is_uec(const struct transport_dim *dim); // or those of Ultra Ethernet
void sim_explain_links(const struct sim *sim, struct result *r);
void sim_explain_switches(const struct sim *sim, struct result *r);
void sim_explain_tcp(const struct sim *sim, struct result *r);
void sim_explain_uec(struct result *r);
void sim_explain_collectives(const struct sim *sim, struct result *r);
void sim_explain_closed_form(const struct sim *sim, struct result *r);
// Queues that meet their limit before packets are marked (marks_order.c): warn, or explain.
void sim_check_marks_order(const struct sim *sim, struct err *err);
void sim_explain_marks_order(const struct sim *sim, struct result *r);
void sim_waiting_collectives(const struct sim *sim, struct result *r);
void sim_waiting(const struct sim *sim, struct result *r);
// Add a sentence, which the result then owns. The weight orders sentences: the share of the time
// that it explains, or one of these.
#define EXPLAIN_END 3       // why a run could not complete
#define EXPLAIN_TIME 2      // where the time went
#define EXPLAIN_LOSS 0.05   // what happened that may cost time
#define EXPLAIN_REASON 0.02 // why something did not happen
#define EXPLAIN_DETAIL 0.01
void result_explain(struct result *r, double weight, char *sentence);
// The same for a sentence about a cause that cost time. `saving_ps`: how much shorter the path
// could be without it; -1 = not known.
void result_reason(struct result *r, enum reason_kind kind, double weight, ps_t saving_ps,
                   char *sentence);
// Sentences about the critical path of what ended last; its share of a cause, 0 if it is not known.
void sim_explain_time(const struct sim *sim, struct result *r);
void sim_explain_program(struct result *r);                            // explain_programs.c
const struct port_result *result_busiest_link(const struct result *r); // NULL = there is none
// Time for which a link transmitted; what is saved without `cost` where `least` remains.
ps_t result_busy_ps(const struct result *r, const struct port_result *link);
ps_t result_saving_ps(const struct result *r, ps_t cost, ps_t least);
// True if the busiest link's transmissions are a lower bound for the run's one job: it lasted the
// whole run, and nothing was sent again.
bool result_bounded(const struct result *r);
double result_share(const struct result *r, enum path_cause cause);
void result_wait(struct result *r, char *sentence); // the same, for a line about what waits

// Ideal time of a message alone on the path, from post to last ACK at the sender (*delivered: to
// last byte at the receiver). No run is faster; if all paths are alike it is exact to 1 ps per hop.
ps_t sim_ideal_ps(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim,
                  uint32_t transport, uint64_t bytes, ps_t *delivered_ps);
// Ideal time of a collective: the longest path through its steps without contention. `ranks`:
// [member] rank of the network, NULL = the same number.
ps_t sim_ideal_collective_ps(const struct sim *sim, const uint32_t *ranks,
                             const struct coll_schedule *schedule,
                             const struct comm_request *request, uint32_t transport);
