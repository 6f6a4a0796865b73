// SPDX-License-Identifier: MIT
// The settings of the switches of one dimension, as a scenario gives them.
#pragma once

#include "engine/base/param.h"

enum ecn_mode { ECN_OFF, ECN_ON, ECN_AUTO };

enum telemetry_choice { TELEMETRY_AUTO, TELEMETRY_ON, TELEMETRY_OFF };
enum int_encoding { INT_ENCODING_EXACT, INT_ENCODING_HPCC64 };

struct pfc_spec {
    bool enabled;
    double alpha;
    uint64_t xon_offset_bytes; // PARAM_AUTO = 2 full packets
    uint64_t headroom_bytes;   // PARAM_AUTO = computed per link
    ps_t response_ps;          // delay from receiving a pause to its effect
    uint64_t quanta;           // length of each XOFF in units of 512 bit times
    bool watchdog;
    ps_t watchdog_detect_ps, watchdog_restore_ps;
};

enum ecn_at { ECN_AT_DEPARTURE, ECN_AT_ARRIVAL };
enum not_ect { NOT_ECT_FORWARD, NOT_ECT_DROP };

struct ecn_spec {
    int mode;    // enum ecn_mode; AUTO = as in the switch profile of the policy
    int kind;    // enum marking_kind
    int at;      // enum ecn_at
    int not_ect; // enum not_ect
    /* red */
    uint64_t kmin_bytes, kmax_bytes;
    uint64_t kmin_packets, kmax_packets; // PARAM_AUTO = the thresholds in bytes apply
    double pmax;
    /* pi */
    uint64_t qref_bytes;
    double pi_a, pi_b; // per 1000 B
    ps_t pi_interval_ps;
};

static inline bool ecn_counts_packets(const struct ecn_spec *ecn)
{
    return ecn->kmin_packets != 0 && ecn->kmin_packets != PARAM_AUTO;
}

// Fixed limit of a lossy class's output queues; PARAM_AUTO = none. At most one of the two is set.
struct queue_limit_spec {
    uint64_t packets, bytes;
    const char *at; // patterns of switches, with commas between them; NULL, "" = all
};

// Trimming of packets of lossy classes that would be dropped (switch/trimming.h).
struct trimming_spec {
    bool enabled;
    uint64_t size_bytes; // frame of a trimmed packet
    int victim;          // enum trim_victim
    // limit of the control class's output queues; PARAM_AUTO = twice queue_limit, or the dynamic
    // threshold without one
    uint64_t control_limit_bytes;
    double control_share; // largest share of a link that the control class takes from waiting data
};

enum routing_kind {
    ROUTING_ECMP,
    ROUTING_SPRAY,
    ROUTING_FLOWLET,
    ROUTING_ADAPTIVE,
    ROUTING_STATIC,
    ROUTING_SOURCE,
};
enum spray_order { SPRAY_ROUND_ROBIN, SPRAY_RANDOM };
enum routing_hash { ROUTING_HASH_TUPLE, ROUTING_HASH_QP };

enum flowlet_choice { FLOWLET_RANDOM, FLOWLET_QUALITY };
enum source_choice { SOURCE_ROUND_ROBIN, SOURCE_HASH, SOURCE_ENTROPY };
enum routing_weights { WEIGHTS_EQUAL, WEIGHTS_CAPACITY };
enum routing_seeds { SEEDS_PER_SWITCH, SEEDS_SAME };

struct routing_spec {
    int kind, spray, hash, flowlet_choice, source, weights, seeds; // the enums above
    ps_t flowlet_gap_ps;
    ps_t state_interval_ps; // 0 = the queues at this instant
    uint64_t quality_bands;
    bool remote;
    bool relay; // a setting of the whole network
};

// Returns true if switches choose among equal paths by the quality of ports.
static inline bool routing_by_quality(const struct routing_spec *routing)
{
    return routing->kind == ROUTING_ADAPTIVE ||
           (routing->kind == ROUTING_FLOWLET && routing->flowlet_choice == FLOWLET_QUALITY);
}

enum lossless { LOSSLESS_AUTO, LOSSLESS_ON, LOSSLESS_OFF };

// Settings of one traffic class of data.
struct class_spec {
    bool given;   // the scenario mentions the class
    int lossless; // enum lossless; AUTO = class 3, if PFC is on
    uint64_t weight;
    double alpha; // PARAM_AUTO_RATIO = pfc.alpha or lossy_alpha
};
#define SWITCH_CLASSES 6 // classes 0 to 5 carry data

// Aggregators, which reduce the data of ranks inside the switch
// (collective/algorithm/in_network.c).
struct reduction_spec {
    bool enabled;
    uint64_t slots_bytes; // buffer for segments that are being reduced
    uint64_t rate_bps;    // of the link between switch and aggregator; PARAM_AUTO = all ports' sum
    ps_t latency_ps;      // of this link, in each direction
};

enum flow_control { FLOW_CONTROL_PFC, FLOW_CONTROL_CREDIT };
enum forwarding { FORWARDING_STORE, FORWARDING_CUT };
enum ties { TIES_DRAWN, TIES_FIRST };

struct switch_spec {
    bool llr;              // link-level retry
    ps_t latency_ps;       // of the pipeline
    int forwarding;        // enum forwarding
    int ties;              // enum ties
    int flow_control;      // enum flow_control: of lossless classes
    uint64_t credit_bytes; // buffer by ingress port and class; PARAM_AUTO = per link
    uint64_t slices;       // of the buffer
    uint64_t cell_bytes;
    uint64_t buffer_bytes;
    uint64_t reserve_bytes; // per ingress port and class in use
    double lossy_alpha;     // dynamic threshold of a lossy class's egress queues
    struct queue_limit_spec queue_limit;
    struct trimming_spec trimming;
    struct pfc_spec pfc;
    struct ecn_spec ecn;
    struct routing_spec routing;
    struct class_spec classes[SWITCH_CLASSES];
    struct reduction_spec reduction;
    int telemetry;    // enum telemetry_choice
    int int_encoding; // enum int_encoding
    uint64_t int_hops;
};

extern const struct param switch_params[], queue_limit_params[], trimming_params[], pfc_params[],
    ecn_params[], routing_params[], class_params[], reduction_params[];
extern const size_t n_switch_params, n_queue_limit_params, n_trimming_params, n_pfc_params,
    n_ecn_params, n_routing_params, n_class_params, n_reduction_params;
