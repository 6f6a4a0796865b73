// SPDX-License-Identifier: MIT
// The network of a simulation: its graph, ports, switches and hosts, built from a spec, and queries
// about them. It has no messages beyond those of its hosts.
#pragma once

#include "collective/communicator.h"
#include "engine/shards.h"
#include "net/crossing.h"
#include "net/network.h"
#include "net/topology/routes.h"
#include "sim/result/result.h"
#include "sim/spec/spec.h"
#include "switch/switch.h"
#include "transport/host.h"

struct change_timer;
struct cores;
struct circuits;
struct quality_timer;
struct reductions;

// The largest base RTT of a transport over all pairs of a dimension, and the pair with the most
// links between.
struct longest_path {
    ps_t base_rtt_ps;
    uint32_t hops, src, dst;
};

#define FABRIC_BUFFER_BYTES UINT64_C(32000000) // of a Trident 3, for links of up to 400 Gb/s

struct fabric {
    const struct spec *spec;
    struct engine engine;
    struct graph graph;
    struct routes routes;
    struct routes first_routes; // the routes at the start of the run, saved when links first fail
    bool rerouted;
    struct longest_path
        *longest; // [dim * n_transports + transport], 0 hops = not known; NULL = not kept
    struct network net;
    struct switches switches;
    struct hosts hosts;
    struct cores *cores; // of the ranks' hosts
    // [dimension * n_ends + rank] NULL = ideal; without it all NICs are
    const struct nic_spec **nic_at;
    struct circuits *circuits; // NULL if no dimension is a circuit switch
    struct reductions *reductions;
    uint32_t *flow_order; // handles of flows in the order of their numbers in the results
    uint64_t buffer_bytes[SPEC_MAX_DIMS]; // of a switch of the dimension
    uint32_t housekeeping; // armed timers that do no work for a job: stall check, sampling
    struct cc_watch cc_watch;
    char *policy_failure; // set if a policy of a plugin broke its contract, which ends the run
    /* faults and changes */
    struct link_change *changes;
    size_t n_changes, cap_changes;
    struct change_timer *change_timers;
    size_t n_change_timers;
    struct quality_timer *quality_timers; // [dimension]; NULL = no quality is measured
    uint32_t *fault_ports;                // the ports of all faults, concatenated
    size_t n_fault_ports, cap_fault_ports;
    /* on several threads: sim/parallel */
    uint32_t server_ranks; // ranks that stay together (struct comm_job); 0 = any may be divided
    struct shards *shards; // NULL = the network is not divided
    struct switches *shard_switches; // [shard]
    struct hosts *shard_hosts;       // [shard]
    const char *threads_obstacle;    // reason against several threads; NULL = none stated
};

/* ---- building ---- */

// Initialise the engine, the hosts' transports and the graph with its routes. If this adds errors,
// no other function may be called. fabric_build() makes the packet network.
void fabric_init(struct fabric *fabric, const struct spec *spec, struct err *err);
void fabric_build(struct fabric *fabric, struct err *err);
void fabric_circuits_start(struct fabric *fabric, struct err *err); // last
void fabric_free(struct fabric *fabric);

// State why the fabric cannot be divided among threads. The first statement is kept.
void fabric_needs_order(struct fabric *fabric, const char *why);

static inline bool fabric_is_analytical(const struct fabric *fabric)
{
    return fabric->spec->network == NETWORK_ANALYTICAL;
}

/* ---- during a run ---- */

// The network of a node's shard, and the hosts of a rank's shard.
static inline struct network *fabric_net_of(struct fabric *fabric, uint32_t node)
{
    return fabric->shards ? &fabric->net.shards->nets[fabric->shards->shard_of[node]]
                          : &fabric->net;
}
static inline struct hosts *fabric_hosts_of(struct fabric *fabric, uint32_t rank)
{
    return fabric->shards ? &fabric->shard_hosts[fabric->shards->shard_of[rank]] : &fabric->hosts;
}

size_t fabric_pending(const struct fabric *fabric); // number of pending events
bool fabric_only_housekeeping(const struct fabric *fabric);
// True if a message has neither ended nor failed; in an event of the common engine.
bool fabric_messages_running(const struct fabric *fabric);
void fabric_faults_prepare(struct fabric *fabric); // before the network is divided

/* ---- aggregators ---- */

void fabric_reductions_init(struct fabric *fabric); // after the network
// Divide the buffers among the groups that have reserved aggregators, and warn of the jobs that
// have got none; after the workload.
void fabric_reductions_settle(struct fabric *fabric, struct err *err);
void fabric_reductions_collect(const struct fabric *fabric, struct result *r);
// The function comm_job.reduce.
const struct coll_reduction *fabric_reduce(struct fabric *fabric,
                                           const struct comm_reduce_request *request);

/* ---- ranks and paths ---- */

// The dimension that a message of so many bytes takes, or GRAPH_NONE.
uint32_t fabric_message_dim(const struct fabric *fabric, uint32_t src, uint32_t dst,
                            uint64_t bytes);
// The same for a request, which may be a stripe of a message.
static inline uint32_t fabric_request_dim(const struct fabric *fabric,
                                          const struct transfer_request *r)
{
    return r->of_dim > 0 ? r->of_dim - 1u : fabric_message_dim(fabric, r->src, r->dst, r->bytes);
}
// The next rank on the way of a message from src to dst: dst if the two share a dimension.
uint32_t fabric_next_rank(const struct graph *g, uint32_t src, uint32_t dst);
double fabric_bandwidth(const struct fabric *fabric, uint32_t src,
                        uint32_t dst); // bit/s over all ports towards dst
static inline uint32_t fabric_peer_node(const struct fabric *fabric, uint32_t port)
{
    return fabric->graph.ports[fabric->graph.ports[port].peer].node;
}
// The NIC of a rank in a dimension (`nic`); NULL = an ideal one.
static inline const struct nic_spec *fabric_nic(const struct fabric *fabric, uint32_t rank,
                                                uint32_t dim)
{
    const struct graph *g = &fabric->graph;
    return fabric->nic_at && rank < g->n_ranks
               ? fabric->nic_at[dim * g->n_ends + graph_owner(g, rank, dim)]
               : NULL;
}
// The routes of the network without faults, which ideal times use.
const struct routes *fabric_first_routes(const struct fabric *fabric);
// Writes the output ports of one path from src to dst, in order, and returns their number. A rank
// without ports of its own uses those of the rank whose NIC it shares.
uint32_t fabric_route(const struct fabric *fabric, const struct routes *r, uint32_t src,
                      uint32_t dst, uint32_t dim, uint32_t ports[ROUTE_MAX_HOPS]);
struct transport_path fabric_path(void *ctx, uint32_t src, uint32_t dst, uint32_t dim,
                                  uint32_t transport, uint32_t stripe); // ctx: the fabric
// On the links and routes of now: looked for once, and again after they change.
struct longest_path fabric_longest_path(const struct fabric *fabric, uint32_t dim,
                                        uint32_t transport);

/* ---- stripes ---- */

// Write the ports from `port` of a rank to the node `dst`, by the switches' own tables and hashes,
// and return their number; 0 = there is no single way, or it has more than `most`.
uint32_t fabric_way(const struct fabric *fabric, uint32_t port, uint32_t dst, uint32_t entropy,
                    uint32_t *ports, uint32_t most);

// The number of planes over which a message is striped, at least 1 and at most its bytes.
#define STRIPES_MAX 64
uint32_t fabric_stripes(const struct fabric *fabric, uint32_t src, uint32_t dst, uint32_t dim,
                        uint32_t transport);
// The same, with the queue pairs of each plane over which the transport splits messages.
#define MESSAGE_PARTS_MAX (STRIPES_MAX * 256)
uint32_t fabric_parts(const struct fabric *fabric, uint32_t src, uint32_t dst, uint32_t dim,
                      uint32_t transport);
// Write to `stripes` the numbers of the stripes, out of `planes`, whose planes lead to the
// destination now, or all numbers if no plane does. Returns their number.
uint32_t fabric_planes_now(const struct fabric *fabric, const struct transfer_request *r,
                           uint32_t dim, uint32_t planes, uint8_t *stripes);
// True if messages of so many bytes are cut into pieces.
bool fabric_is_pieced(const struct transport_spec *t, uint64_t bytes);

/* ---- facts ---- */

bool fabric_is_tcp(const struct transport_dim *dim); // flows of the dimension are TCP connections
bool fabric_is_uec(const struct transport_dim *dim); // or Ultra Ethernet connections
bool fabric_uses_credits(const struct fabric *fabric, uint32_t dim); // instead of PFC
uint8_t fabric_lossless(const struct fabric *fabric, uint32_t dim);  // lossless classes in use
// The latency of the switch at the end of a port's link, which the link's delay includes.
ps_t fabric_latency_ps(const struct fabric *fabric, uint32_t port);
// Bytes of a packet after which the switch at the end of a port's link forwards it; 0 = all bytes.
uint32_t fabric_header_bytes(const struct fabric *fabric, uint32_t port);
// True if, in some dimension, a pause expires before the frame that refreshes it arrives.
bool fabric_pauses_lapse(const struct fabric *fabric);
// The dimension whose settings switches.nodes[index] has; its name ("leaf0", "rank3:dim0").
uint32_t fabric_switch_dim(const struct fabric *fabric, uint32_t index);
const char *fabric_switch_name(const struct fabric *fabric, uint32_t index, char buf[GRAPH_NAME]);
// Names of places that a capture may name, with commas between them: for each kind of switch, and
// for ranks, the first one and the pattern of all ("leaf0,leaf*,rank0,rank*"). To be freed.
char *fabric_place_names(const struct fabric *fabric);

// The class of a job's data in a dimension: its transport's own, or the job's.
unsigned fabric_job_class(const struct spec *spec, uint32_t dim, size_t job);
// The same as a bit set, with the classes of its tiers of memory.
uint8_t fabric_job_classes(const struct spec *spec, uint32_t dim, size_t job);
// The headroom with which no lossless class of a dimension drops a packet, at the port that needs
// most; 0 = none is lossless, or links have credits.
uint64_t fabric_headroom_needed(const struct fabric *fabric, uint32_t dim);
// The buffer behind an ingress port for each class, where the dimension uses credits.
uint32_t fabric_credit_bytes(const struct fabric *fabric, uint32_t port);

// The first switch in which a queue meets its limit before kmin, the length from which packets are
// marked.
struct marks_order {
    const struct cc_ops *cc; // NULL = there is none
    uint32_t sw;
    bool lossless; // the limit stops one ingress; else it drops at an egress
    uint64_t limit_bytes, kmin_bytes;
};
// With `acted`, only switches that have sent an XOFF count where their dimension is lossless.
struct marks_order fabric_marks_order(const struct fabric *fabric, bool acted);

// The circuits of a dimension; all 0 = they have not changed.
struct circuits_summary {
    uint64_t n_changes;
    uint32_t n_matchings;
    double light; // share of the time for which a matching has light
};
struct circuits_summary fabric_circuits_summary(const struct fabric *fabric, uint32_t dim);
