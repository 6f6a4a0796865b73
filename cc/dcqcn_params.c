// SPDX-License-Identifier: MIT
// The table of DCQCN's parameters and its presets, with what each value rests on.
//
// The byte counter of preset nic (rpg_byte_reset, 32767) counts kB here. The vendor's tools call
// its unit bytes, but give 150 as a default, where the standard that they follow has 150,000 octets
// (IEEE 802.1Qau, rpgByteReset), and the field has 15 bits, so 32767 is its maximum: as rarely as
// possible. In bytes it would restore the rate every 8 packets, and an incast at 400G would keep
// the queue and the pauses of PFC alone (docs/incasts.md).
#include "cc/dcqcn.h"

// ---- parameters ----

static const char *const alpha_updates[] = {"on_cnp", "on_tick", NULL};
static const char *const hypers[] = {"both_stages", "leading_stage", NULL};
static const char *const cut_targets[] = {"always", "after_increase", NULL};

#define FIELD(name) offsetof(struct dcqcn_params, name)
#define SIGCOMM DCQCN_PAPER
#define NIC "NVIDIA, DCQCN parameters"
#define MLXCONFIG "mlxconfig of ConnectX-5 and later"
#define RUN_PY "HPCC ns-3 sources, run.py"

const struct param dcqcn_param_table[DCQCN_PARAMS] = {
    {.name = "g",
     .type = PARAM_RATIO,
     .offset = FIELD(g),
     .def = "0.00390625",
     .min = "0.0001",
     .max = "1",
     .help = "gain of the moving average alpha",
     .evidence = EVIDENCE_DOCUMENTED,
     .source = SIGCOMM ", eq. 1 (1/256)"},
    {.name = "alpha_update",
     .type = PARAM_ENUM,
     .offset = FIELD(alpha_update),
     .def = "on_cnp",
     .choices = alpha_updates,
     .help = "on_cnp: alpha rises by each notification and decays after each alpha_timer "
             "without one; on_tick: each alpha_timer it rises if a notification came since the "
             "last, else decays",
     .evidence = EVIDENCE_DOCUMENTED,
     .source = SIGCOMM ", eq. 1 and 2; " NIC},
    {.name = "alpha_timer",
     .type = PARAM_TIME,
     .offset = FIELD(alpha_timer_ps),
     .def = "55us",
     .min = "1ns",
     .max = "1s",
     .help = "period of alpha's update (tau')",
     .evidence = EVIDENCE_DOCUMENTED,
     .source = SIGCOMM ", eq. 2"},
    {.name = "rate_timer",
     .type = PARAM_TIME,
     .offset = FIELD(rate_timer_ps),
     .def = "55us",
     .min = "1ns",
     .max = "1s",
     .help = "period of the increase timer (T)",
     .evidence = EVIDENCE_DOCUMENTED,
     .source = SIGCOMM ", section 5.2"},
    {.name = "byte_counter",
     .type = PARAM_BYTES,
     .offset = FIELD(byte_counter_bytes),
     .def = "10MB",
     .min = "0B",
     .max = "1TB",
     .help = "wire bytes between byte-counter events (B), 0 = no byte counter",
     .evidence = EVIDENCE_DOCUMENTED,
     .source = SIGCOMM ", section 5.2"},
    {.name = "f",
     .type = PARAM_COUNT,
     .offset = FIELD(f),
     .def = "5",
     .min = "0",
     .max = "1000",
     .help = "steps of fast recovery before additive increase",
     .evidence = EVIDENCE_DOCUMENTED,
     .source = SIGCOMM ", section 3.3"},
    {.name = "rate_ai",
     .type = PARAM_LINE_RATE,
     .offset = FIELD(rate_ai),
     .def = "line/1000",
     .min = "1Kbps",
     .help = "additive increase of the target rate",
     .evidence = EVIDENCE_ESTIMATED,
     .source = SIGCOMM " has 40 Mb/s at 40G: at 200G half the rate would take 137 ms to regain"},
    {.name = "rate_hai",
     .type = PARAM_LINE_RATE,
     .offset = FIELD(rate_hai),
     .def = "line/200",
     .min = "1Kbps",
     .help = "hyper increase of the target rate",
     .evidence = EVIDENCE_ESTIMATED,
     .source = "five times rate_ai; 802.1Qau has ten times, 5 and 50 Mb/s"},
    {.name = "hyper",
     .type = PARAM_ENUM,
     .offset = FIELD(hyper),
     .def = "both_stages",
     .choices = hypers,
     .help = "both_stages: hyper by min(stages) - f times rate_hai once timer and byte counter "
             "are past f; leading_stage: one additive step past f, then rate_hai per event",
     .evidence = EVIDENCE_DOCUMENTED,
     .source = SIGCOMM ", figure 7; HPCC ns-3 sources"},
    {.name = "min_rate",
     .type = PARAM_LINE_RATE,
     .offset = FIELD(min_rate),
     .def = "line/1000",
     .min = "1Kbps",
     .help = "floor of the current rate",
     .evidence = EVIDENCE_ESTIMATED,
     .source = "every implementation has one; the paper is silent"},
    {.name = "cut_interval",
     .type = PARAM_TIME,
     .offset = FIELD(cut_interval_ps),
     .def = "0us",
     .max = "1s",
     .help = "period of the check that cuts if a notification came, 0 = cut by every notification",
     .evidence = EVIDENCE_DOCUMENTED,
     .source = SIGCOMM ", figure 6: every CNP; " NIC " (rate_reduce_monitor_period)"},
    {.name = "cut_target",
     .type = PARAM_ENUM,
     .offset = FIELD(cut_target),
     .def = "always",
     .choices = cut_targets,
     .help = "set the target to the rate before a cut always, or only after a timer increase",
     .evidence = EVIDENCE_DOCUMENTED,
     .source = SIGCOMM ", eq. 1; " NIC " (clamp_tgt_rate)"},
    {.name = "min_cut",
     .type = PARAM_RATIO,
     .offset = FIELD(min_cut),
     .def = "0",
     .min = "0",
     .max = "1",
     .help = "least ratio of the rates after and before a cut",
     .evidence = EVIDENCE_DOCUMENTED,
     .source = SIGCOMM " has none; " NIC " (rpg_min_dec_fac)"},
    {.include = cc_cap_params, .offset = FIELD(window)},
};

static const struct cc_preset_value paper_values[] = {
    {"rate_ai", "40Mbps"}, {"rate_hai", "200Mbps"}, {"min_rate", "100Mbps"}};

static const struct cc_preset_value nic_values[] = {
    {"g", "0.0048828125"},   {"alpha_update", "on_tick"},      {"alpha_timer", "1us"},
    {"rate_timer", "300us"}, {"byte_counter", "32767KB"},      {"f", "1"},
    {"rate_ai", "5Mbps"},    {"rate_hai", "50Mbps"},           {"min_rate", "1Mbps"},
    {"cut_interval", "4us"}, {"cut_target", "after_increase"}, {"min_cut", "0.5"}};

static const struct cc_preset_value hpcc_sim_values[] = {{"alpha_update", "on_tick"},
                                                         {"alpha_timer", "1us"},
                                                         {"rate_timer", "300us"},
                                                         {"byte_counter", "0B"},
                                                         {"f", "1"},
                                                         {"rate_ai", "line/5000"},
                                                         {"rate_hai", "line/500"},
                                                         {"hyper", "leading_stage"},
                                                         {"min_rate", "line/100"},
                                                         {"cut_interval", "4us"},
                                                         {"cut_target", "after_increase"}};

static const struct cc_preset_value khan2022_values[] = {{"alpha_update", "on_tick"},
                                                         {"alpha_timer", "1us"},
                                                         {"rate_timer", "900us"},
                                                         {"byte_counter", "0B"},
                                                         {"f", "1"},
                                                         {"rate_ai", "50Mbps"},
                                                         {"rate_hai", "100Mbps"},
                                                         {"hyper", "leading_stage"},
                                                         {"min_rate", "100Mbps"},
                                                         {"cut_interval", "4us"},
                                                         {"cut_target", "after_increase"},
                                                         {"window_bdp", "1"}};

#define RATE_25G UINT64_C(25000000000)
#define RATE_40G UINT64_C(40000000000)
#define RATE_100G UINT64_C(100000000000)
#define RATE_200G UINT64_C(200000000000)
#define VALUES(array) .values = (array), .n_values = sizeof(array) / sizeof(array)[0]

static const struct cc_basis scaled_bases[] = {
    {"marking", EVIDENCE_DOCUMENTED, RUN_PY},
    {"notification", EVIDENCE_DOCUMENTED, SIGCOMM ", section 3.1 (N, 50 us)"},
};

static const struct cc_basis paper_bases[] = {
    {"rate_ai marking", EVIDENCE_DOCUMENTED, SIGCOMM ", section 5.2"},
    {"notification", EVIDENCE_DOCUMENTED, SIGCOMM ", section 3.1 (N, 50 us)"},
    {"rate_hai min_rate", EVIDENCE_ESTIMATED,
     "the paper is silent: five times rate_ai, and a floor of 1/400 of the line"},
};

static const struct cc_basis nic_bases[] = {
    {"g", EVIDENCE_DOCUMENTED, MLXCONFIG " (DCE_TCP_G 1019 of 1024)"},
    {"alpha_update alpha_timer", EVIDENCE_DOCUMENTED, MLXCONFIG " (DCE_TCP_RTT 1)"},
    {"rate_timer f rate_ai rate_hai min_rate", EVIDENCE_DOCUMENTED,
     MLXCONFIG " (RPG_TIME_RESET, THRESHOLD, AI_RATE, HAI_RATE, MIN_RATE)"},
    {"byte_counter", EVIDENCE_ESTIMATED,
     MLXCONFIG " has 32767 (RPG_BYTE_RESET), the largest value of 15 bits, and names bytes; kB "
               "since it gives 150 for the 150,000 octets of IEEE 802.1Qau"},
    {"cut_interval min_cut", EVIDENCE_DOCUMENTED,
     MLXCONFIG " (RATE_REDUCE_MONITOR_PERIOD 4, RPG_MIN_DEC_FAC 50)"},
    {"cut_target", EVIDENCE_DOCUMENTED,
     MLXCONFIG " (CLAMP_TGT_RATE 0, CLAMP_TGT_RATE_AFTER_TIME_INC 1)"},
    {"marking", EVIDENCE_DOCUMENTED,
     "NVIDIA, Cumulus Linux, RoCE defaults (150000 B, 1500000 B, 100 %)"},
    {"notification", EVIDENCE_DOCUMENTED,
     MLXCONFIG " (MIN_TIME_BETWEEN_CNPS 4); per queue pair here, per port or address in NICs"},
};

static const struct cc_basis hpcc_sim_bases[] = {
    {"alpha_update hyper", EVIDENCE_DOCUMENTED, "HPCC ns-3 sources, rdma-hw.cc"},
    {"alpha_timer rate_timer byte_counter f rate_ai rate_hai min_rate cut_interval cut_target "
     "marking notification",
     EVIDENCE_DOCUMENTED, RUN_PY},
};

static const struct cc_basis khan2022_bases[] = {
    {"alpha_update hyper notification", EVIDENCE_DOCUMENTED, "HPCC ns-3 sources, rdma-hw.cc"},
    {"alpha_timer rate_timer byte_counter f rate_ai rate_hai min_rate cut_interval cut_target "
     "window_bdp marking",
     EVIDENCE_DOCUMENTED,
     "Khan et al., Hot Interconnects 2022, and the configuration of their ns-3 tree"},
};

#define BASES(array) .bases = (array), .n_bases = sizeof(array) / sizeof(array)[0]
const struct cc_preset dcqcn_presets[DCQCN_PRESETS] = {
    {.name = "scaled",
     .doc = "the paper's algorithm with steps and thresholds scaled to the line",
     .holds_bps = CC_GBPS(100),
     BASES(scaled_bases),
     .profile = CC_RED(100000, 400000, 0.2, RATE_25G, true)},
    {.name = "paper",
     .doc = "SIGCOMM 2015 to the letter, for 40G",
     BASES(paper_bases),
     VALUES(paper_values),
     .profile = CC_RED(5000, 200000, 0.01, RATE_40G, false)},
    {.name = "nic",
     .doc = "ConnectX defaults under a vendor's switch profile",
     .holds_bps = CC_GBPS(800),
     BASES(nic_bases),
     VALUES(nic_values),
     .profile = CC_RED(150000, 1500000, 1.0, RATE_100G, false),
     .notification = {.interval_ps = 4 * PS_PER_US}},
    {.name = "hpcc_sim",
     .doc = "the ns-3 model of the HPCC lineage",
     .holds_bps = CC_GBPS(400),
     BASES(hpcc_sim_bases),
     VALUES(hpcc_sim_values),
     .profile = CC_RED(100000, 400000, 0.2, RATE_25G, true),
     .notification = {.cnp = CNP_PER_ACK}},
    {.name = "khan2022",
     .doc = "hpcc_sim as Khan et al. ran it, under a BDP window",
     .holds_bps = CC_GBPS(100),
     BASES(khan2022_bases),
     VALUES(khan2022_values),
     .profile = CC_RED(600000, 2400000, 0.2, RATE_200G, true),
     .notification = {.cnp = CNP_PER_ACK}},
};
