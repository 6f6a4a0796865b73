// SPDX-License-Identifier: MIT
// What a simulation consists of, for the files of this folder.
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

#define SIM_WAITING_MAX 20 // messages and ports that are named as waiting

// Sums over the ended messages that a rank has posted. They are added in rank order, since sums of doubles depend
// on the order, and that of events of different ranks means nothing.
struct rank_sums {
    double slowdown, goodput, goodput_square;
};

struct message_stats { // of ended messages
    struct distribution fct_ns, slowdown;
    struct rank_sums *ranks; // [rank]
};

struct change_timer;
struct ledger;
struct ideal_paths;
struct relay;
struct stripes;

// Values of a series at most: where more would come, every other sample is dropped and the step between
// samples doubles, as often as it takes.
#define SERIES_MAX_VALUES ((size_t)2000000)

struct sampler {
    struct sim_timer timer;
    struct series series;
    uint32_t *ports; // sampled
    size_t n_ports;
    size_t cap_samples;
    uint32_t n_sampled; // flows that have lines
};

struct sim {
    const struct spec *spec;
    struct engine engine;
    struct graph graph;
    struct routes routes;
    struct routes first_routes; // once links have failed: as the run began
    bool rerouted;
    struct network net;
    struct switches switches;
    struct hosts hosts;
    struct analytical
        analytical; // instead of net, switches and hosts where messages have closed forms
    struct workload workload;
    struct transfer transfer;      // of messages between ranks that a dimension joins
    struct transfer_client client; // of the layer above, while the layers are put together
    struct ledger *ledger;         // NULL where messages have closed forms
    struct stripes *stripes;       // NULL where no message is cut
    struct relay *relay;           // NULL where pairs that no dimension joins are errors
    struct ideal_paths *ideal;     // of the packet network
    ps_t *start_jitter_ps;
    /* ending */
    struct sim_timer stall;
    uint32_t housekeeping; // timers that are no work: stall check, sampling
    bool stalled, idle;
    enum loop_end end;
    /* collecting */
    struct flow_record *flows;
    size_t n_flows, cap_flows;
    size_t n_unlisted; // of them those above report.flows_max that did not complete
    struct message_stats stats;
    uint64_t failed;
    uint32_t *flow_order; // handles of flows in the order of their numbers in the results
    struct link_change *changes;
    size_t n_changes, cap_changes;
    struct change_timer *change_timers;
    size_t n_change_timers;
    uint32_t *fault_ports; // of each fault, one behind the other
    size_t n_fault_ports, cap_fault_ports;
    struct sampler *sampler;
    struct capture **captures; // [spec->n_captures]
    uint64_t *capture_packets;
    char *capture_failure; // why the run ended: a capture could not be written; NULL = none
    uint32_t *tap_first;   // [port + 1] into tap_list: captures that watch it
    uint32_t *tap_list;
    double wall_s, cpu_s;
};

void sim_end_if_capture_failed(struct sim *sim);
uint32_t sim_capture_ports(const struct sim *sim, size_t c); // directions of links that it sees
static inline bool sim_is_analytical(const struct sim *sim)
{
    return sim->spec->network == NETWORK_ANALYTICAL;
}
void sim_ledger_init(struct sim *sim); // makes sim->transfer that of the hosts, recorded
void sim_ledger_set_client(struct sim *sim, struct transfer_client client);
void sim_ledger_free(struct sim *sim);
void sim_ledger_running(struct sim *sim); // records of messages that have not ended
uint64_t sim_ledger_messages(const struct sim *sim);
// Keeps a message that has ended, or that the end of the run has cut off, and counts it.
void sim_keep_record(struct sim *sim, const struct flow_record *record);
void sim_analytical_init(struct sim *sim);    // between graph and workload
void sim_analytical_running(struct sim *sim); // records of what is on its way
void sim_analytical_describe(const struct sim *sim, FILE *out);
uint32_t sim_joining_dim(void *ctx, uint32_t src, uint32_t dst); // ctx: the sim
// The ports of a path between two ranks, those that share a NIC with others included; how many.
uint32_t sim_route(const struct sim *sim, const struct routes *r, uint32_t src, uint32_t dst,
                   uint32_t dim, uint32_t ports[ROUTE_MAX_HOPS]);
struct transport_path sim_path(void *ctx, uint32_t src, uint32_t dst, uint32_t dim,
                               uint32_t stripe);
// The largest base RTT of all pairs of a dimension, and the pair that crosses the most links.
struct sim_longest {
    ps_t base_rtt_ps;
    uint32_t hops, src, dst;
};
struct sim_longest sim_longest_path(const struct sim *sim, uint32_t dim);
double sim_bandwidth(void *ctx, uint32_t src,
                     uint32_t dst); // ctx: the sim; bit/s of all ports there
// Into how many parts a message is cut over planes, at least 1 (and no more than it has bytes).
#define SIM_STRIPES_MAX 64
uint32_t sim_stripes(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim);
// Of the `n` ports *port, which lead from node `src` to node `dst`, the one that part `part` takes: *port
// is moved there. 1, or 0 where there is none.
uint32_t sim_stripe_port(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim,
                         uint32_t part, const uint16_t **port, uint32_t n);
// Adds the record of a message to that of the whole that it is part of. True: *record is that of a whole.
bool sim_stripes_record(struct sim *sim, uint64_t token, struct flow_record *record);
uint64_t
sim_stripes_running(const struct sim *sim); // parts recorded as running, but for one a message
void sim_stripes_init(
    struct sim *sim); // where messages are cut: the transport's transfer and client
void sim_stripes_free(struct sim *sim);
void sim_collect_collectives(const struct sim *sim, struct result *r);
void sim_collect_trainings(const struct sim *sim, struct result *r);
void sim_collect_timeline(const struct sim *sim, struct result *r);
void sim_build_switches(struct sim *sim, struct err *err);
// Does a pause end, in some dimension, before the frame that refreshes it has come?
bool sim_pauses_lapse(const struct sim *sim);
// Of switches.nodes[index]: the dimension whose settings it has, and its name ("leaf0",
// "rank3:dim0").
uint32_t sim_switch_dim(const struct sim *sim, uint32_t index);
const char *sim_switch_name(const struct sim *sim, uint32_t index, char buf[GRAPH_NAME]);
enum int_mode sim_int_mode(const struct dim_spec *dim);
uint32_t sim_int_bytes(const struct dim_spec *dim);
uint8_t sim_classes_in_use(const struct sim *sim);         // bit set
uint8_t sim_lossless(const struct sim *sim, uint32_t dim); // classes in use that are lossless there
void sim_weights_init(struct sim *sim);                    // once sizes are known
void sim_buffer_init(struct sim *sim, uint32_t index, struct err *err);
void sim_telemetry_init(struct sim *sim, struct err *err); // once network and routes are there
// The rank that a message from src to dst goes to next: dst where a dimension joins them.
uint32_t sim_relay_next(const struct graph *g, uint32_t src, uint32_t dst);
void sim_relay_init(struct sim *sim); // between workload and transport
void sim_relay_free(struct sim *sim);
void sim_faults_init(struct sim *sim, struct err *err);       // once the network is there
void sim_routes_build(struct sim *sim, struct err *err);      // anew, links that are down left out
const struct routes *sim_first_routes(const struct sim *sim); // of the whole network: for ideals
void sim_routes_install(struct sim *sim);                     // into the switches
void sim_sampler_start(struct sim *sim);
struct series *sim_sampler_series(struct sim *sim); // once, in the order of flows; NULL = none
void sim_sampler_free(struct sim *sim);
static inline uint32_t sim_peer_node(const struct sim *sim, uint32_t port)
{
    return sim->graph.ports[sim->graph.ports[port].peer].node;
}
bool sim_only_housekeeping(const struct sim *sim);
void sim_find_deadlock(const struct sim *sim, struct result *r);
void sim_explain(const struct sim *sim, struct result *r);
void sim_explain_fabric(const struct sim *sim, struct result *r);
void sim_explain_collectives(const struct sim *sim, struct result *r);
void sim_waiting_collectives(const struct sim *sim, struct result *r);
void sim_waiting(const struct sim *sim, struct result *r);
void result_explain(struct result *r, char *sentence); // takes the sentence
void result_wait(struct result *r, char *sentence);    // the same, of who waits for whom

// Ideal time of a message alone on the path, post to last ACK at the sender (delivered: to last byte
// at the receiver): no run is below it; where all paths are alike it is exact to 1 ps per hop.
ps_t sim_ideal_ps(const struct sim *sim, uint32_t src, uint32_t dst, uint32_t dim, uint64_t bytes,
                  ps_t *delivered_ps);
// Ideal time of a collective: the longest path through its program without contention. `ranks`: of the
// network by member, NULL = the same numbers.
ps_t sim_ideal_collective_ps(const struct sim *sim, const uint32_t *ranks,
                             const struct coll_schedule *schedule,
                             const struct comm_request *request);
