// SPDX-License-Identifier: MIT
// The scenario's own settings. Offsets are into struct spec and its parts.
#include "config/tables.h"

#define TABLE_END(t) const size_t n_##t = sizeof t / sizeof *t

static const char *const networks[] = {"packet", "analytical", NULL};

#define SC(f) offsetof(struct spec, f)
const struct param scenario_params[] = {
    {.name = "name",
     .type = PARAM_TEXT,
     .offset = SC(name),
     .help = "letters, digits, dot, underscore, hyphen; names the output folder"},
    {.name = "description",
     .type = PARAM_TEXT,
     .offset = SC(description),
     .def = "",
     .help = "for readers"},
    {.name = "source",
     .type = PARAM_TEXT,
     .offset = SC(source),
     .def = "",
     .help = "where it comes from"},
    {.name = "seed",
     .type = PARAM_COUNT,
     .offset = SC(seed),
     .def = "1",
     .max = "9007199254740992",
     .help = "of every random choice"},
    {.name = "duration",
     .type = PARAM_TIME,
     .offset = SC(duration_ps),
     .def = "auto",
     .min = "1ns",
     .max = "100000s",
     .can_auto = true,
     .help = "planned end in simulated time; auto = when the work is done"},
    {.name = "network",
     .type = PARAM_ENUM,
     .offset = SC(network),
     .def = "packet",
     .choices = networks,
     .help = "packet by packet, or analytical: closed forms of messages without contention",
     .source = "Rashidi et al., ISPASS 2020 (ASTRA-sim)"},
};
TABLE_END(scenario_params);

#define LI(f) offsetof(struct limits_params, f)
const struct param limits_params[] = {
    {.name = "sim_time",
     .type = PARAM_TIME,
     .offset = LI(sim_time_ps),
     .def = "auto",
     .min = "1ns",
     .max = "100000s",
     .can_auto = true,
     .help = "simulated time allowed; auto = no limit"},
    {.name = "wall",
     .type = PARAM_TIME,
     .offset = LI(wall_ps),
     .def = "auto",
     .min = "1ms",
     .max = "1000000s",
     .can_auto = true,
     .help = "real time allowed; auto = no limit"},
    {.name = "events",
     .type = PARAM_COUNT,
     .offset = LI(events),
     .def = "auto",
     .min = "1",
     .can_auto = true,
     .help = "events allowed; auto = no limit"},
    {.name = "stall",
     .type = PARAM_TIME,
     .offset = LI(stall_ps),
     .def = "100ms",
     .min = "1us",
     .max = "100000s",
     .help = "simulated time allowed without a newly delivered byte"},
};
TABLE_END(limits_params);

#define RE(f) offsetof(struct report_spec, f)
const struct param report_params[] = {
    {.name = "sample",
     .type = PARAM_TIME,
     .offset = RE(sample_ps),
     .def = "0ns",
     .max = "100000s",
     .help = "interval of the time series; 0ns = none"},
    {.name = "flows_max",
     .type = PARAM_COUNT,
     .offset = RE(flows_max),
     .def = "10000",
     .help = "above so many flows only their summary is written"},
};
TABLE_END(report_params);

static const char *const stamps[] = {"first_bit", "last_bit", NULL};

#define CA(f) offsetof(struct capture_spec, f)
const struct param capture_params[] = {
    {.name = "at",
     .type = PARAM_TEXT,
     .offset = CA(at),
     .help = "place: rank3, rank3:dim1, leaf0, dim0.sw5, leaf0->spine2"},
    {.name = "file",
     .type = PARAM_TEXT,
     .offset = CA(file),
     .help = "in the output folder; - = stdout"},
    {.name = "filter",
     .type = PARAM_TEXT,
     .offset = CA(filter),
     .def = "",
     .help = "pcap filter expression",
     .source = "pcap-filter(7)"},
    {.name = "snaplen",
     .type = PARAM_BYTES,
     .offset = CA(snaplen_bytes),
     .def = "128B",
     .min = "54B",
     .max = "65535B",
     .help = "bytes kept of each frame"},
    {.name = "stamp",
     .type = PARAM_ENUM,
     .offset = CA(stamp),
     .def = "last_bit",
     .choices = stamps,
     .help = "which bit on the wire the time is of"},
};
TABLE_END(capture_params);

#define FA(f) offsetof(struct fault_spec, f)
const struct param fault_params[] = {
    {.name = "at",
     .type = PARAM_TEXT,
     .offset = FA(at),
     .help = "places: leaf0->spine1, rank3, *->spine0"},
    {.name = "one_way",
     .type = PARAM_BOOL,
     .offset = FA(one_way),
     .def = "false",
     .help = "only the directions that `at` names; else both of each link"},
    {.name = "loss",
     .type = PARAM_RATIO,
     .offset = FA(loss),
     .def = "0",
     .min = "0",
     .max = "1",
     .help = "probability that a packet is lost on the link"},
    {.name = "corruption",
     .type = PARAM_RATIO,
     .offset = FA(corruption),
     .def = "0",
     .min = "0",
     .max = "1",
     .help = "probability that a packet arrives with a bad checksum, and is dropped"},
    {.name = "pfc",
     .type = PARAM_BOOL,
     .offset = FA(pfc),
     .def = "false",
     .help = "loss and corruption hit PFC frames too"},
    {.name = "down",
     .type = PARAM_TIME,
     .offset = FA(down_ps),
     .def = "auto",
     .max = "100000s",
     .can_auto = true,
     .help = "the link fails; auto = never"},
    {.name = "up",
     .type = PARAM_TIME,
     .offset = FA(up_ps),
     .def = "auto",
     .max = "100000s",
     .can_auto = true,
     .help = "the link comes back; auto = never"},
    {.name = "detect",
     .type = PARAM_TIME,
     .offset = FA(detect_ps),
     .def = "100us",
     .max = "100000s",
     .can_auto = true,
     .help = "until routes take notice; auto = never",
     .source = "link-down interrupt and local repair; BFD takes ms, routing protocols more"},
    {.name = "storm",
     .type = PARAM_TIME,
     .offset = FA(storm_ps),
     .def = "auto",
     .max = "100000s",
     .can_auto = true,
     .help = "the output ports named pause their neighbours from now on; auto = never",
     .source = "PFC storms: Guo et al., SIGCOMM 2016"},
    {.name = "storm_end",
     .type = PARAM_TIME,
     .offset = FA(storm_end_ps),
     .def = "auto",
     .max = "100000s",
     .can_auto = true,
     .help = "end of the storm; auto = none"},
};
TABLE_END(fault_params);

#define RT(f) offsetof(struct route_spec, f)
const struct param route_params[] = {
    {.name = "at", .type = PARAM_TEXT, .offset = RT(at), .help = "switch, as in spine0"},
    {.name = "dst",
     .type = PARAM_TEXT,
     .offset = RT(dst),
     .help = "rank, as in rank3; holds for all that hang on the same switch"},
    {.name = "via", .type = PARAM_TEXT, .offset = RT(via), .help = "neighbour to leave towards"},
};
TABLE_END(route_params);

const struct param dim_params[] = {
    {.name = "size",
     .type = PARAM_COUNT,
     .offset = offsetof(struct dim_params, size),
     .min = "1",
     .max = "65536",
     .help = "ranks of a group; their product over all dimensions is the network"},
    {.name = "ranks_per_port",
     .type = PARAM_COUNT,
     .offset = offsetof(struct dim_params, ranks_per_port),
     .def = "1",
     .min = "1",
     .max = "1024",
     .help = "neighbouring ranks that share a NIC; not where links are direct",
     .source = "servers with fewer NICs than GPUs"},
};
TABLE_END(dim_params);

const struct param link_params[] = {
    {.name = "rate",
     .type = PARAM_RATE,
     .offset = offsetof(struct link_spec, rate_bps),
     .def = "100Gbps",
     .min = "1Mbps",
     .max = "100Tbps",
     .help = "line rate of each direction"},
    {.name = "delay",
     .type = PARAM_TIME,
     .offset = offsetof(struct link_spec, delay_ps),
     .def = "1us",
     .min = "0ns",
     .max = "1s",
     .help = "propagation delay of each direction"},
};
TABLE_END(link_params);

#define FL(f) offsetof(struct flow_params, f)
const struct param flow_params[] = {
    {.name = "src", .type = PARAM_COUNT, .offset = FL(src), .help = "rank that sends"},
    {.name = "dst", .type = PARAM_COUNT, .offset = FL(dst), .help = "rank that receives"},
    {.name = "bytes",
     .type = PARAM_BYTES,
     .offset = FL(bytes),
     .min = "1B",
     .max = "1PB",
     .help = "payload"},
    {.name = "start",
     .type = PARAM_TIME,
     .offset = FL(start_ps),
     .def = "0ns",
     .min = "0ns",
     .max = "100000s",
     .help = "after the start of the job"},
};
TABLE_END(flow_params);

const struct param ecn_switch_params[] = {
    {.name = "enabled",
     .type = PARAM_BOOL,
     .offset = offsetof(struct ecn_switch, enabled),
     .def = "true",
     .help = "mark packets"},
};
TABLE_END(ecn_switch_params);

const struct own_key own_keys[] = {
    {"topology", "astra", "file name", "",
     "of the topology itself, in place of dims: a network file of ASTRA-sim 1.0"},
    {"topology", "link", "object", "100Gbps, 1us",
     "rate and delay of a rank's links; a trunk is the same where it says nothing"},
    {"topology", "switch", "object", "the global one", "settings that differ in this dimension"},
    {"topology", "transport", "object", "the global one", "settings that differ in this dimension"},
    {"topology", "cc", "object", "the global one", "policy of this dimension"},
    {"workload", "ranks", "list", "all", "ranks of the network that are ranks 0, 1, .. of the job"},
    {"flows", "flows", "list", "", "of {src, dst, bytes, start}"},
    {"incast", "senders", "count or list", "all others", "ranks that send"},
    {"collective", "algorithm", "word or list", "ring", "one for all ranks, or one per dimension"},
    {"collective", "dims", "list", "the network's",
     "sizes of the dimensions that a list of algorithms is for, innermost first"},
    {"training", "parallelism", "word", "",
     "which dimensions what is exchanged over, and the loop"},
    {"training", "layers", "list", "",
     "of {name, fwd, ig, wg: {compute, op, bytes}, update_delay}: forward, input and weight "
     "gradient"},
    {"training", "system", "file or object", "",
     "scheduling of collectives: the keys of an ASTRA-sim system file"},
    {"training", "dims", "list", "the network's",
     "sizes of the ranks' dimensions, innermost first"},
    {"transport", "wire_overhead", "word or object", "ethernet",
     "ethernet, none, or {data, ack}: bytes a packet costs beyond its payload"},
    {"switch", "ecn", "\"auto\" or object", "auto",
     "auto = what the policy expects; an object holds as given"},
};
TABLE_END(own_keys);
