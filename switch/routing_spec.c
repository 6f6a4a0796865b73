// SPDX-License-Identifier: MIT
// Parameter table of `routing`: how switches choose among equal paths.
#include "switch/switch_spec.h"

static const char *const routing_kinds[] = {"ecmp",   "spray",  "flowlet", "adaptive",
                                            "static", "source", NULL};
static const char *const spray_orders[] = {"round_robin", "random", NULL};
static const char *const flowlet_choices[] = {"random", "quality", NULL};
static const char *const source_choices[] = {"round_robin", "hash", "entropy", NULL};
static const char *const routing_weights[] = {"equal", "capacity", NULL};
static const char *const routing_seeds[] = {"per_switch", "same", NULL};
static const char *const routing_hashes[] = {"five_tuple", "dst_qp", NULL};

#define RO(f) offsetof(struct routing_spec, f)
const struct param routing_params[] = {
    PARAM_ROW("kind", ENUM, RO(kind), .def = "ecmp", .choices = routing_kinds,
              .help = "among equal paths: ecmp by hash; spray each packet; flowlet a burst; "
                      "adaptive to the best port; static by destination modulo ports; source: "
                      "the source gives each packet its whole path",
              .source = "RFC 2992; Vanini et al., NSDI 2017; Zahavi, CLUSTER 2010; RFC 8986 "
                        "(SRv6)"),
    PARAM_ROW("spray", ENUM, RO(spray), .def = "round_robin", .choices = spray_orders,
              .help = "spray: round robin over the ports, or random",
              .source = "Dixit et al., INFOCOM 2013"),
    PARAM_ROW("flowlet_gap", TIME, RO(flowlet_gap_ps), .def = "50us", .min = "0ns", .max = "1s",
              .help = "flowlet: a pause longer than this lets a flow change its path",
              .source = "Vanini et al., NSDI 2017"),
    PARAM_ROW("hash", ENUM, RO(hash), .def = "five_tuple", .choices = routing_hashes,
              .help = "ecmp and flowlet: hashed fields; dst_qp adds the destination queue pair, "
                      "which separates queue pairs where NICs use one UDP port for all "
                      "(transport.entropy none)",
              .source = "Gangidi et al., SIGCOMM 2024 (enhanced ECMP)"),
    PARAM_ROW("flowlet_choice", ENUM, RO(flowlet_choice), .def = "random",
              .choices = flowlet_choices,
              .help = "flowlet: a new burst draws its port, or takes the one that adaptive "
                      "would choose",
              .source = "Vanini et al., NSDI 2017; Alizadeh et al., SIGCOMM 2014 (CONGA)"),
    PARAM_ROW("state_interval", TIME, RO(state_interval_ps), .def = "0ns", .min = "0ns",
              .max = "1s",
              .help = "adaptive and flowlet by quality: the quality of ports is measured in this "
                      "interval; 0 = the queue at this instant",
              .source = "Broadcom Dynamic Load Balancing (SAI port quality)"),
    PARAM_ROW("quality_bands", COUNT, RO(quality_bands), .def = "8", .min = "2", .max = "255",
              .help =
                  "with state_interval: a port's quality, the mean of its load and of its queue's "
                  "share of what it sends in an interval, is rounded down to so many bands",
              .source = "Broadcom Dynamic Load Balancing: 8 quality bands"),
    PARAM_ROW("remote", BOOL, RO(remote), .def = "false",
              .help = "with state_interval: a port is no better than the best link by which its "
                      "neighbour goes on to the destination, known after the delay of the link",
              .source = "Broadcom Global Load Balancing"),
    PARAM_ROW(
        "source", ENUM, RO(source), .def = "round_robin", .choices = source_choices,
        .help =
            "source: the packets of a flow take all paths in turn, or one by hash of its "
            "header; entropy: a sprayed packet's entropy (transport.spray) is the number of its "
            "path",
        .source = "RFC 8986 (SRv6)"),
    PARAM_ROW(
        "weights", ENUM, RO(weights), .def = "equal", .choices = routing_weights,
        .help = "capacity: equal paths of a switch are chosen in proportion to the capacity behind "
                "them, which failed links lower",
        .source = "Zhou et al., EuroSys 2014 (WCMP)"),
    PARAM_ROW("seeds", ENUM, RO(seeds), .def = "per_switch", .choices = routing_seeds,
              .help = "seeds of the hash: same lets switches of all tiers choose alike (hash "
                      "polarization)",
              .source = "RFC 2991; vendors' notes on hash polarization"),
    PARAM_ROW("relay", BOOL, RO(relay), .def = "false",
              .help = "ranks forward messages of pairs that no dimension joins, innermost "
                      "dimension first; set at the top level it holds for the whole network",
              .source = "NCCL (PXN)"),
};
const size_t n_routing_params = sizeof routing_params / sizeof *routing_params;
