// SPDX-License-Identifier: MIT
// A plain description of a run: config/ reads it from a scenario, and a simulation is built from
// it.
#pragma once

#include "cc/cc.h"
#include "engine/cores/host_spec.h"
#include "engine/noise.h"
#include "net/topology/topology.h"
#include "switch/switch_spec.h"
#include "transport/nic/nic_spec.h"
#include "transport/transport_spec.h"
#include "workload/kind.h"

struct device;
struct memory_need;

#define SPEC_MAX_DIMS 8
#define SPEC_MAX_STACKS 4

// A transport, and the policy of its flows.
struct stack_spec {
    struct transport_spec transport;
    const struct cc_ops *cc;
    const struct cc_preset *cc_preset;
    alignas(max_align_t) unsigned char cc_params[CC_PARAMS_BYTES_MAX];
};

// One dimension of the network and its settings. All dimensions have the same number of stacks; a
// job chooses one by its number. The members of the first, which is the default, can also be named
// directly.
struct dim_spec {
    const struct topology_kind *kind;
    uint32_t size, ranks_per_port;
    alignas(max_align_t) unsigned char params[TOPOLOGY_PARAMS_BYTES];
    struct link_spec links[TOPOLOGY_MAX_LINKS]; // [0] = link, then kind->links
    struct switch_spec sw;
    union {
        struct nic_spec nic; // the first kind, by which a transport completes its keys
        struct nic_kinds nics;
    };
    uint32_t n_stacks; // at least 1
    union {
        struct {
            struct transport_spec transport;
            const struct cc_ops *cc;
            const struct cc_preset *cc_preset;
            alignas(max_align_t) unsigned char cc_params[CC_PARAMS_BYTES_MAX];
        };
        struct stack_spec stacks[SPEC_MAX_STACKS];
    };
};
_Static_assert(offsetof(struct dim_spec, cc_params) ==
                   offsetof(struct dim_spec, stacks) + offsetof(struct stack_spec, cc_params),
               "the first stack and its members are the same");

struct capture_spec {
    const char *at;      // port patterns, with commas between them
    const char *file;    // "-" = stdout
    const char *filter;  // "" = all packets
    const char *trigger; // as in net/capture/trigger.h; "" = none
    int format;          // enum capture_wants
    int stamp;           // enum capture_stamp: 0 first bit, 1 last bit
    uint64_t snaplen_bytes;
    uint64_t ring_bytes; // CAPTURE_RING_AUTO = chosen by the trigger; 0 = write all
    ps_t from_ps, to_ps; // PS_NEVER = no end
};
#define CAPTURE_RING_AUTO UINT64_MAX
enum capture_wants { CAPTURE_BY_NAME, CAPTURE_WANTS_PCAP, CAPTURE_WANTS_PCAPNG };

// A fault: what happens to all links that match the pattern.
struct fault_spec {
    const char *at;
    bool one_way; // only the matching directions; else both directions of each link
    double loss, corruption;
    /* listed losses: net/loss_list.h */
    uint64_t every, times;
    uint64_t *packets; // owned
    size_t n_packets;
    uint64_t blackout_packet;
    ps_t blackout_ps;
    /* */
    bool pfc;            // loss and corruption also affect PFC frames
    ps_t down_ps, up_ps; // PS_NEVER = never
    ps_t detect_ps;      // from a change of a link to new routes; PS_NEVER = routes never change
    // during this time the matching nodes pause their neighbours permanently
    ps_t storm_ps, storm_end_ps;
    // the link is down for flap_down_ps in each period, flap_count times; period 0 = never
    ps_t flap_ps, flap_period_ps, flap_down_ps;
    uint64_t flap_count;
    double rate_share;  // share of the link's rate between these times; 0 = all
    bool scale_buffers; // the share also scales the port's queue limits and ECN thresholds
    ps_t rate_ps, rate_end_ps;
};

// Links whose rate differs from that of the topology.
struct rate_spec {
    const char *at;
    bool one_way; // only the matching directions; else both directions of each link
    uint64_t rate_bps;
};

// A route that replaces the shortest ones: at switch `at`, for rank `dst`, to the neighbour `via`.
struct route_spec {
    const char *at, *dst, *via;
};

struct report_spec {
    ps_t sample_ps;         // 0 = no series
    const char **sample_at; // port patterns; none = all output ports of switches
    size_t n_sample_at;
    uint64_t flows_max, collectives_max;
    bool timeline;
    uint64_t timeline_ranks;
};

struct limits_spec {
    ps_t sim_time_ps, stall_ps; // PS_NEVER = no limit
    double wall_s;              // 0 = no limit
    uint64_t events;            // 0 = no limit
    uint64_t memory_bytes;      // 0 = what the machine allows
};

enum network_model { NETWORK_PACKET, NETWORK_ANALYTICAL, NETWORK_HYBRID };
enum analytical_route {
    ANALYTICAL_ALL_DIMS,
    ANALYTICAL_FIRST_DIM,
    ANALYTICAL_LAST_DIM,
    ANALYTICAL_LINKS
};

struct meter_spec {
    const char *at; // ports: of a switch, or of a rank to the switch behind it
    uint64_t rate_bps, burst_bytes;
    uint64_t cls; // PARAM_AUTO = all data classes
    int excess;   // enum meter_excess
};

struct explain_spec {
    uint64_t tries; // causes that `collwire run` tries; PARAM_AUTO = by the cost of the run
};

// Noise of hosts and links. It acts on jobs whose ranks run programs, not on raw flows.
enum noise_preset { NOISE_AUTO, NOISE_NONE, NOISE_LAB, NOISE_CLUSTER };
struct noise_spec {
    int preset;    // enum noise_preset: the values of the other members unless they are given
    ps_t start_ps; // ranks start up to this late
    struct noise_delay step; // of each step of a collective, and each computation
    double clock_ppm;        // NICs' rates differ by up to this share
    ps_t link_delay_ps;      // links are up to this longer
};

// The memory of a GPU, and what happens to a job that needs more.
enum memory_fit { MEMORY_FIT_ERROR, MEMORY_FIT_WARN, MEMORY_FIT_OFF };
struct memory_spec {
    int fit;                      // enum memory_fit
    uint64_t capacity_bytes;      // PARAM_AUTO = of the job's GPU, else of the machine's
    uint64_t reserve_bytes;       // of the capacity, not for jobs
    const struct device *machine; // the GPU of the machine; NULL = not known
};

struct spec {
    const char *name, *description, *source, *shrunk;
    uint64_t seed;
    int network;      // enum network_model
    int route;        // enum analytical_route
    ps_t duration_ps; // time that is simulated, PS_NEVER = until all jobs have ended
    const struct nccl_machine *machine;  // of the servers; NULL = not known
    struct nccl_machine *own_machine;    // owned; NULL = `machine` has a name
    struct dim_spec dims[SPEC_MAX_DIMS]; // innermost first
    uint32_t n_dims;
    struct job_spec *jobs;
    size_t n_jobs;
    struct capture_spec *captures;
    size_t n_captures;
    struct rate_spec *links;
    size_t n_links;
    struct fault_spec *faults;
    size_t n_faults;
    struct route_spec *routes;
    size_t n_routes;
    struct meter_spec *meters;
    size_t n_meters;
    struct report_spec report;
    struct limits_spec limits;
    struct explain_spec explain;
    struct noise_spec noise;
    struct host_spec host;
    struct memory_spec memory;
};

// The names of the policies of the outermost dimension, joined by "+", truncated if necessary;
// returns `buf`.
const char *spec_policy_names(const struct spec *spec, char *buf, size_t room);

// The ranks of the network: the product of the sizes of its dimensions.
uint32_t spec_ranks(const struct spec *spec);

// The memory of a GPU that runs a job with this need, the reserve included; 0 = not known.
uint64_t spec_memory_bytes(const struct spec *spec, const struct memory_need *need);

// The rate of the slowest link of a rank, of the dimensions that join several; UINT64_MAX = none
// does.
static inline uint64_t spec_slowest_bps(const struct spec *spec)
{
    uint64_t slowest = UINT64_MAX;
    for (uint32_t d = 0; d < spec->n_dims; d++)
        if (spec->dims[d].size > 1 && spec->dims[d].links[0].rate_bps < slowest)
            slowest = spec->dims[d].links[0].rate_bps;
    return slowest;
}

// The delay of the longest path of a dimension in a network of `ranks` ranks.
static inline ps_t dim_path_ps(const struct dim_spec *dim, uint32_t ranks)
{
    uint32_t n =
        dim->kind->fabric ? ranks : dim->size; // a fabric joins the ranks of all dimensions
    uint32_t hops = dim->kind->hops != NULL ? dim->kind->hops(dim->params, n, 0, n - 1) : 2;
    return (ps_t)hops * link_delay_ps(&dim->links[0]);
}

// Returns true if flows of a job were measured in a capture.
bool spec_has_measured(const struct spec *spec);

// Returns true if a job is a program of nodes, whose collectives may have been measured.
bool spec_has_programs(const struct spec *spec);

// Returns true if noise acts: in a network of packets.
bool spec_has_noise(const struct spec *spec);
