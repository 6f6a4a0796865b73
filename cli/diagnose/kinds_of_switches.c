// SPDX-License-Identifier: MIT
// Causes in settings of switches and of the transport.
#include <math.h>
#include <string.h>

#include "cli/diagnose/cause_kind.h"
#include "engine/base/units.h"

static bool has_pfc(const struct facts *f) { return json_is_true(fact(f, "switch.pfc.enabled")); }

static bool has_policy(const struct facts *f)
{
    const char *kind = fact_text(f, "cc.kind");
    return *kind && strcmp(kind, "none") != 0;
}

static bool has_marks(const struct facts *f)
{
    return has_policy(f) && !json_is_false(fact(f, "switch.ecn.enabled")); // "auto" has no keys
}

static bool on_roce(const struct facts *f) { return fact_transport_is(f, "roce"); }
static bool on_tcp(const struct facts *f) { return fact_transport_is(f, "tcp"); }
static bool pfc_on_roce(const struct facts *f) { return has_pfc(f) && on_roce(f); }

/* ---- packets ---- */

static const double mtus[] = {256, 512, 1024, 2048, 4096};

static void mtu(const struct facts *f, const char *at, double bytes, FILE *words, FILE *set)
{
    uint64_t own = 0;
    (void)at;
    fprintf(words, "an MTU of %.0f B", bytes);
    if (parse_bytes(fact_text(f, "transport.mtu"), &own) != 0 || own != (uint64_t)bytes)
        fprintf(set, "transport.mtu=%.0fB\n", bytes);
}

static void frame(const struct facts *f, const char *at, double none, FILE *words, FILE *set)
{
    (void)f, (void)at, (void)none;
    fputs("an MTU of 1500 B", words);
    fputs("transport.mss=1448B\n", set);
}

static bool has_large_frames(const struct facts *f)
{
    uint64_t mss = 0;
    return on_tcp(f) && parse_bytes(fact_text(f, "transport.mss"), &mss) == 0 && mss > 1500;
}

/* ---- flow control, marks and policies ---- */

#define SETTING(name, said, settings)                                                              \
    static void name(const struct facts *f, const char *at, double none, FILE *words, FILE *set)   \
    {                                                                                              \
        (void)f, (void)at, (void)none;                                                             \
        fputs(said, words);                                                                        \
        fputs(settings, set);                                                                      \
    }

SETTING(pfc_off, "PFC is off", "switch.pfc.enabled=false\n")
SETTING(wrong_class, "the data is in a class without PFC", "workload[0].class=0\n")
SETTING(ecn_off, "switches do not mark", "switch.ecn.enabled=false\n")
SETTING(cc_off, "congestion control is off", "cc={\"kind\":\"none\"}\n")
SETTING(balancing_off, "load balancing is off (plain ECMP)", "switch.routing.kind=ecmp\n")
SETTING(polarized, "switches of all tiers hash alike", "switch.routing.seeds=same\n")
SETTING(few_queue_pairs, "one queue pair for each pair of ranks, so hashes collide",
        "workload[0].channels=1\n")
SETTING(one_queue_pair, "one queue pair for each pair of ranks, so hashes collide",
        "transport.qps_per_pair=1\n")
SETTING(one_connection, "one connection for each pair of ranks, so hashes collide",
        "transport.connections_per_pair=1\n")

static const double units_off[] = {0.001, 0.125, 8, 1000};

// A threshold of the scenario; one that is left to the default is none of its keys.
static double threshold(const struct facts *f, const char *path, double unless)
{
    uint64_t bytes = 0;
    return parse_bytes(fact_text(f, path), &bytes) == 0 ? (double)bytes : unless;
}

static void ecn_units(const struct facts *f, const char *at, double by, FILE *words, FILE *set)
{
    (void)at;
    double kmin = by * threshold(f, "switch.ecn.kmin", 400e3),
           kmax = by * threshold(f, "switch.ecn.kmax", 1600e3);
    fprintf(words, "ECN thresholds %g times those of the scenario: kmin %.4g KB, kmax %.4g KB", by,
            kmin / 1e3, kmax / 1e3);
    fprintf(set, "switch.ecn.kmin=%.0fB\nswitch.ecn.kmax=%.0fB\n", kmin + 1, kmax + 2);
}

static bool has_balancing(const struct facts *f)
{
    const char *kind = fact_text(f, "switch.routing.kind");
    return *kind && strcmp(kind, "ecmp") != 0 && strcmp(kind, "static") != 0;
}

static bool has_tiers(const struct facts *f)
{
    size_t trunks = 0;
    for (size_t i = 0; i < f->links.n; i++)
        trunks += link_is_trunk(f->links.list[i].at);
    return trunks > 0 && strcmp(fact_text(f, "switch.routing.kind"), "ecmp") == 0;
}

static bool has_queue_pairs(const struct facts *f)
{
    return json_number_value(fact(f, "transport.qps_per_pair")) > 1;
}

static bool has_connections(const struct facts *f)
{
    return json_number_value(fact(f, "transport.connections_per_pair")) > 1;
}

static bool has_channels(const struct facts *f)
{
    return json_number_value(json_object_get(fact_job(f), "channels")) > 1;
}

/* ---- buffers and times ---- */

// Of what ports share: the rest of a buffer is their reserve and headroom.
static const double buffer_shares[] = {0.001, 0.006, 0.035, 0.2};

static double buffer_of(const struct facts *f)
{
    uint64_t bytes = 0;
    return parse_bytes(fact_text(f, "switch.buffer"), &bytes) == 0 ? (double)bytes : 32e6;
}

// The least that ports of a switch share.
static double shared_of(const struct facts *f)
{
    const json_t *list = json_at_path(f->metrics, "queues.switches"), *one;
    double least = buffer_of(f);
    size_t i;
    json_array_foreach(list, i, one) least =
        fmin(least, json_number_value(json_object_get(one, "shared_bytes")));
    return least;
}

static void buffer(const struct facts *f, const char *at, double share, FILE *words, FILE *set)
{
    (void)at;
    double full = buffer_of(f), bytes = full - (1 - share) * shared_of(f);
    fprintf(words, "%.3g KB of buffer in each switch, not %.3g", bytes / 1e3, full / 1e3);
    fprintf(set, "switch.buffer=%.0fB\n", bytes);
}

static const double delays_us[] = {1, 5, 25};

static void latency(const struct facts *f, const char *at, double us, FILE *words, FILE *set)
{
    (void)f, (void)at;
    fprintf(words, "%.3g us more at each switch", us);
    fprintf(set, "switch.latency=%.0fns\n", us * 1e3);
}

static const struct cause_kind rows[] = {
    {.name = "mtu",
     .next = "read the MTU of both ends and of the switch (ibv_devinfo, show interface)",
     STRENGTHS(mtus),
     .may = on_roce,
     .form = mtu},
    {.name = "mtu",
     .next = "read the MTU of both ends and of the switch (ip link, show interface)",
     .may = has_large_frames,
     .form = frame},
    {.name = "pfc_off",
     .next = "read priority flow control at NIC and switch, and tx_prio3_packets of the NIC: the "
             "data is there, and not in tx_prio0_packets",
     .may = pfc_on_roce,
     .form = pfc_off},
    {.name = "wrong_class",
     .next = "read tx_prio0_packets of the NIC: the data is there, and not in tx_prio3_packets; "
             "then the map from DSCP to class at NIC and switch",
     .may = pfc_on_roce,
     .form = wrong_class},
    {.name = "ecn_off",
     .next =
         "read the marked packets of the switch (none, though queues pass kmin), and ECN in the "
         "profile of the queue",
     .may = has_marks,
     .form = ecn_off},
    {.name = "ecn_units",
     .next = "read kmin and kmax of the switch, with their units",
     STRENGTHS(units_off),
     .may = has_marks,
     .form = ecn_units},
    {.name = "cc_off",
     .next = "read whether the policy is on in the NICs for the class of the data (roce_rp, "
             "roce_np), and rp_cnp_handled",
     .may = has_policy,
     .form = cc_off},
    {.name = "balancing_off",
     .next = "read the loads of the links between the switches",
     .drawn = true,
     .may = has_balancing,
     .form = balancing_off},
    {.name = "polarization",
     .next = "read the seeds of the hash of leaf and spine, and the loads of the links",
     .drawn = true,
     .may = has_tiers,
     .form = polarized},
    {.name = "few_queue_pairs",
     .next = "read NCCL_IB_QPS_PER_CONNECTION, and the loads of the links between the switches",
     .drawn = true,
     .may = has_channels,
     .form = few_queue_pairs},
    {.name = "few_queue_pairs",
     .next = "read NCCL_IB_QPS_PER_CONNECTION, and the loads of the links between the switches",
     .drawn = true,
     .may = has_queue_pairs,
     .form = one_queue_pair},
    {.name = "few_queue_pairs",
     .next = "read NCCL_NSOCKS_PERTHREAD and NCCL_SOCKET_NTHREADS, and the loads of the links",
     .drawn = true,
     .may = has_connections,
     .form = one_connection},
    {.name = "buffer",
     .next = "read the buffer profile and the threshold of the port",
     STRENGTHS(buffer_shares),
     .none = 1,
     .finer = true,
     .form = buffer},
    {.name = "latency",
     .next = "run ib_write_lat between two servers",
     STRENGTHS(delays_us),
     .finer = true,
     .form = latency},
};

struct kind_rows kinds_of_switches(void)
{
    return (struct kind_rows){rows, sizeof rows / sizeof *rows};
}
