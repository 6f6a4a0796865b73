// SPDX-License-Identifier: MIT
// A result in which all fields have different values, so that a mixed-up field shows.
#include "tests/report/metrics/whole.h"

struct flow_record whole_flows[] = {
    {.id = 1,
     .job = 2,
     .qp = 3,
     .src = 4,
     .dst = 5,
     .bytes = 6000,
     .start_ps = 7000,
     .fct_ps = 800000,
     .delivered_ps = 790000,
     .ideal_ps = 400000,
     .delivered_bytes = 5999,
     .packets = 9,
     .retransmitted = 10,
     .cnps = 11,
     .timeouts = 12,
     .life_ps = {[PATH_SENDING] = 300600, [PATH_QUEUED] = 489400},
     .status = 1},
    {.bytes = 13, .fct_ps = -1, .delivered_ps = -1, .ideal_ps = 14000, .status = 2},
};
static struct critical_place critical_places[] = {
    {.at = (char *)(uintptr_t) "leaf0->rank1", .cause = PATH_QUEUED, .ps = 61000000}};
static struct critical_layer critical_layers[] = {
    {.name = "top", .part = 2, .word = "wg", .compute_ps = 62000, .comm_ps = 63000}};
static struct critical_stage iterations[] = {
    {.number = 2, .total_ps = 9000, .parts = {[PATH_COMPUTE] = 4000, [PATH_PACE] = 5000}}};
static struct slowest_result slowest[] = {
    {.kind = SLOWEST_TRAINING,
     .name = (char *)(uintptr_t) "net",
     .job = 1,
     .rank = 64,
     .begin_ps = 65000,
     .end_ps = 165000,
     .critical = {.known = true,
                  .total_ps = 100000,
                  .parts = {[PATH_COMPUTE] = 33400, [PATH_PACE] = 33300, [PATH_QUEUED] = 33300},
                  .places = critical_places,
                  .n_places = 1,
                  .elsewhere_ps = 17000,
                  .error_ps = 3000},
     .layers = critical_layers,
     .n_layers = 1,
     .iterations = iterations,
     .n_iterations = 1}};
static char remedy[] = "a=1", *remedies[] = {remedy};
static struct reason_result reasons[] = {
    {.kind = REASON_PATHS,
     .saving_ps = 66000,
     .bound = true,
     .remedy = remedies,
     .n_remedy = 1,
     .sentence = "uneven paths"},
    {.kind = REASON_PFC, .job = 3, .saving_ps = -1, .sentence = "PFC"}};
static struct phase_result phases[] = {
    {.dim = 1,
     .op = "all_gather",
     .algorithm = "ring",
     .bytes = 21,
     .messages = 22,
     .start_ps = 23000,
     .end_ps = 24000,
     .queueing_ps = 25000,
     .network_ps = -1,
     .critical = {.total_ps = 8000, .parts = {[PATH_QUEUED] = 8000}}}};
static struct dim_result dims[] = {{.bytes = 26, .busy = 0.27}};
static char algorithm[] = "ring+direct";
static struct collective_result collectives[] = {
    {.job = 31,
     .ranks = 32,
     .name = "grads",
     .op = "all_reduce",
     .algorithm = algorithm,
     .bytes = 33,
     .start_ps = 34000,
     .end_ps = 84000,
     .ideal_ps = 36000,
     .algbw_bps = 37.4,
     .busbw_bps = 38.6,
     .efficiency = 0.39,
     .phases = phases,
     .n_phases = 1,
     .dims = dims,
     .n_dims = 1},
    {.name = "open",
     .op = "barrier",
     .algorithm = algorithm,
     .start_ps = 1000,
     .end_ps = -1,
     .ideal_ps = -1,
     .algbw_bps = 1,
     .busbw_bps = 1,
     .efficiency = 1},
};
static char at0[] = "a->b", at1[] = "b->a", sw[] = "leaf7", dead[] = "x->y", why[] = "says so",
            who[] = "waits", reason[] = "because";
static struct pfc_port_result pfc_ports[] = {
    {.at = at0, .cls = 3, .pauses = 41, .paused_ps = 42000}};
static struct port_result ports[] = {
    {.at = at0,
     .from_switch = true,
     .bytes = 43,
     .packets = 44,
     .max_queue_bytes = 45,
     .counters.marked = 46,
     .dropped_packets = 47,
     .dropped_bytes = 48,
     .retried_packets = 72,
     .retries = 73,
     .retry_ps = 74000,
     .trimmed_packets = 70,
     .trimmed_bytes = 71,
     .utilization = 0.49,
     .mean_queue_bytes = 50.5},
    {.at = at1, .bytes = 51, .packets = 52, .max_queue_bytes = 53, .utilization = 0.54},
};
static struct aggregator_result aggregators[] = {
    {.at = sw, .buffer_bytes = 62, .max_bytes = 63, .reduced_bytes = 64}};
static struct nic_result nics[] = {{.at = sw,
                                    .dim = 1,
                                    .max_held_bytes = 190,
                                    .pauses = 191,
                                    .dropped_packets = 192,
                                    .qp_lookups = {193, 195},
                                    .qp_misses = {194, 196},
                                    .busy_share = {0.11, 0.12},
                                    .bus_share = {0.13, 0.14}}};
static struct switch_result switches[] = {{.at = sw,
                                           .max_queue_bytes = 55,
                                           .max_buffer_bytes = 56,
                                           .max_headroom_bytes = 57,
                                           .max_ingress_bytes = 58,
                                           .shared_bytes = 59,
                                           .headroom_limit_bytes = 60,
                                           .mean_queue_bytes = 61.4}};
static struct admission_result admission = {170, 171, 173, 172000};
static struct uec_result uec = {180, 181, 182, 183, 184, 185, 187, 186};
static struct tcp_result tcp = {160, 161, 162, 163, 164, 165, 166, 167, 168};
static struct link_change changes[] = {{62000, "c->d", "down"}};
static struct training_pass_result passes[] = {{63000, 64000}, {-1, -1}};
static struct training_layer_result layers[] = {{"fc",
                                                 {{65000, 66000, 67000, 68000, 69000, 169000, 70},
                                                  {71000, 72000, 73000, 74000, 75000, 175000, 76},
                                                  {77000, 78000, 79000, 80000, 81000, 181000, 82}},
                                                 NULL,
                                                 0}};
static double mean[] = {0.83, 0.84};
struct training_result whole_training = {.job = 85,
                                         .ranks = 86,
                                         .name = "net",
                                         .parallelism = "DATA",
                                         .total_ps = 987000,
                                         .compute_ps = 88000,
                                         .passes = passes,
                                         .n_passes = 2,
                                         .layers = layers,
                                         .n_layers = 1,
                                         .rank_end = {89000, 90000, 91000},
                                         .exposed = {92000, 93000, 94000},
                                         .use = {.n_dims = 2, .mean = mean}};
static uint64_t staleness_counts[] = {9, 5};
static struct server_result servers = {
    .updates = 14, .staleness = {0, 1.5, 1, 3, 4, 5}, .counts = staleness_counts, .n_counts = 2};
static struct job_result jobs[] = {{.job = 170,
                                    .name = "first",
                                    .kind = "collective",
                                    .status = JOB_COMPLETED,
                                    .start_ps = 171000,
                                    .end_ps = 373000,
                                    .messages = 173,
                                    .failed = 174,
                                    .bytes = 175,
                                    .fct_ns = {176, 177, 178, 179, 180, 181},
                                    .slowdown = {1.5, 2.5, 3.5, 4.5, 5.5, 6.5},
                                    .any_completed = true,
                                    .collectives = 182,
                                    .collective_ns = 183.4,
                                    .busbw_bps = 184.6,
                                    .efficiency = 0.5,
                                    .servers = &servers},
                                   {.job = 1,
                                    .name = "second",
                                    .kind = "incast",
                                    .status = JOB_RUNNING,
                                    .start_ps = 1000,
                                    .end_ps = -1,
                                    .collective_ns = 1,
                                    .busbw_bps = 1,
                                    .efficiency = 1,
                                    .training = &whole_training}};
static char *deadlock[] = {dead}, *explain[] = {why}, *waiting[] = {who};
static struct capture_result captures[] = {{"r.pcap", 95, -1}};

static struct idle_result uses[] = {
    {.name = "tensor", .exposed_ps = 201000, .waiting_ps = 202000, .bytes = 203}};
static struct idle_result idle_layers[] = {
    {.name = "top", .compute_ps = 204000, .exposed_ps = 205000, .waiting_ps = 206000}};
static struct rank_result ranks[] = {{.job = 1,
                                      .rank = 207,
                                      .finish_ps = 308000,
                                      .compute_ps = 100000,
                                      .blamed_ps = 209000,
                                      .uses = uses,
                                      .n_uses = 1},
                                     {.job = 1, .rank = 208, .finish_ps = -1}};
static struct program_result program = {.job = 7,
                                        .tokens_per_s = 213,
                                        .samples_per_s = 214,
                                        .mfu = 0.25,
                                        .ranks = 2,
                                        .name = "net",
                                        .total_ps = 310000,
                                        .compute_ps = 100000,
                                        .early_ps = 211000,
                                        .bubble = 0.125,
                                        .projected_ps = 300000,
                                        .projected_compute_ps = 90000,
                                        .projected_bytes = 215,
                                        .projected_ranks = 216,
                                        .uses = uses,
                                        .layers = idle_layers,
                                        .late = ranks,
                                        .n_uses = 1,
                                        .n_layers = 1,
                                        .n_late = 1};

#define BY_KIND                                                                                    \
    {                                                                                              \
        {                                                                                          \
            211, 212, 213, 214, 215, 216                                                           \
        }                                                                                          \
    }

static struct memory_class_result memory_class = {
    .job = 1, .rank = 217, .ranks = 218, .bytes = 219, .by_kind = BY_KIND, .when = "backward"};
static struct memory_step_result memory_step = {"forward", 220, BY_KIND, 221000};

struct result whole(void)
{
    return (struct result){.name = "all",
                           .seed = 101,
                           .status = RUN_INCOMPLETE,
                           .reason = reason,
                           .waiting = waiting,
                           .jobs = jobs,
                           .n_jobs = 2,
                           .n_waiting = 1,
                           .sim_time_ps = 102000,
                           .flows = whole_flows,
                           .n_flows = 2,
                           .flows_complete = true,
                           .summary = {.count = 103,
                                       .failed = 4,
                                       .running = 5,
                                       .bytes = 106,
                                       .fct_ns = {107, 108.5, 109, 110, 111, 112},
                                       .slowdown = {1.13, 1.14, 1.15, 1.16, 1.17, 1.18},
                                       .jain = 0.119},
                           .collectives = collectives,
                           .n_collectives = 2,
                           .collectives_complete = true,
                           .memory = {.classes = &memory_class,
                                      .n_classes = 1,
                                      .fullest = memory_class,
                                      .capacity_bytes = 222,
                                      .at_least = true,
                                      .steps = &memory_step,
                                      .n_steps = 1},
                           .programs = &program,
                           .n_programs = 1,
                           .ranks = ranks,
                           .n_ranks = 2,
                           .trainings = &whole_training,
                           .n_trainings = 1,
                           .pause_frames = 120,
                           .resume_frames = 121,
                           .max_queue_bytes = 122,
                           .paused_ps = 123000,
                           .pfc_ports = pfc_ports,
                           .credit_ports = pfc_ports,
                           .n_credit_ports = 1,
                           .credit_waits = 164,
                           .credit_waited_ps = 165000,
                           .n_pfc_ports = 1,
                           .marked_packets = 124,
                           .markable_packets = 496,
                           .cnps = 126,
                           .cc_cuts = 127,
                           .dropped_packets = 128,
                           .dropped_bytes = 129,
                           .drops[DROP_HEADROOM] = 130,
                           .drops[DROP_LOSSY_THRESHOLD] = 131,
                           .drops[DROP_NO_ROUTE] = 132,
                           .deadlock = deadlock,
                           .n_deadlock = 1,
                           .drops[DROP_QUEUE_LIMIT] = 158,
                           .drops[DROP_RED] = 159,
                           .drops[DROP_CONTROL_LIMIT] = 160,
                           .retried_packets = 166,
                           .retries = 167,
                           .retry_ps = 168000,
                           .trimmed_packets = 161,
                           .trimmed_bytes = 162,
                           .trimmed_last_hop = 163,
                           .drops[DROP_LINK_LOSS] = 133,
                           .tcp = &tcp,
                           .n_tcp = 1,
                           .uec = &uec,
                           .n_uec = 1,
                           .admission = &admission,
                           .n_admission = 1,
                           .drops[DROP_LINK_CORRUPTION] = 134,
                           .drops[DROP_LINK_DOWN] = 135,
                           .lost_pfc_frames = 139,
                           .drops[DROP_WATCHDOG] = 136,
                           .drops[DROP_NIC_BUFFER] = 187,
                           .watchdog_fired = 137,
                           .changes = changes,
                           .n_changes = 1,
                           .naks = 138,
                           .timeouts = 139,
                           .retransmitted = 140,
                           .ports = ports,
                           .n_ports = 2,
                           .switches = switches,
                           .n_switches = 1,
                           .nics = nics,
                           .n_nics = 1,
                           .aggregators = aggregators,
                           .n_aggregators = 1,
                           .explain = explain,
                           .n_explain = 1,
                           .wall_s = 1.5,
                           .cpu_s = 0.5,
                           .events = 141,
                           .packet_hops = 142,
                           .peak_rss_bytes = 143,
                           .last = slowest,
                           .reasons = reasons,
                           .n_reasons = 2,
                           .captures = captures,
                           .n_captures = 1};
}
