// SPDX-License-Identifier: MIT
// Causes in links and cables.
#include <string.h>

#include "cli/diagnose/cause_kind.h"

// Shares of a rate that may be left.
static const double shares[] = {0.15, 0.35, 0.7};
static const double losses[] = {1e-3, 8e-3};

#define FAULT "faults[+]={\"at\":\"%s\","

static void slow_link(const struct facts *f, const char *at, double share, FILE *words, FILE *set)
{
    (void)f;
    fprintf(words, "%s at %.0f %% of its rate", at, 100 * share);
    fprintf(set, FAULT "\"rate\":{\"share\":%.4g}}\n", at, share);
}

static void lossy_link(const struct facts *f, const char *at, double loss, FILE *words, FILE *set)
{
    (void)f;
    fprintf(words, "%s loses %.2g of its packets", at, loss);
    fprintf(set, FAULT "\"one_way\":true,\"loss\":%.3g}\n", at, loss);
}

static bool fabric_has_paths(const struct facts *f)
{
    for (size_t i = 0; i < f->links.n; i++)
        if (link_is_trunk(f->links.list[i].at))
            return true;
    return false;
}

static void link_down(const struct facts *f, const char *at, double none, FILE *words, FILE *set)
{
    (void)f, (void)none;
    fprintf(words, "%s is down, and traffic takes other links", at);
    fprintf(set, FAULT "\"down\":\"0ns\",\"detect\":\"0ns\"}\n", at);
}

static void oversubscribed(const struct facts *f, const char *at, double share, FILE *words,
                           FILE *set)
{
    (void)f;
    fprintf(words, "all of %s carry %.0f %%", at, 100 * share);
    fprintf(set, FAULT "\"rate\":{\"share\":%.4g}}\n", at, share);
}

// Pauses that a receiver which does not take its packets sends, for a share of the healthy time.
static void pause_storm(const struct facts *f, const char *at, double share, FILE *words, FILE *set)
{
    fprintf(words, "the NIC of %s pauses its switch, for %.0f us", at, share * f->time_ns / 1e3);
    fprintf(set, FAULT "\"one_way\":true,\"storm\":\"0ns\",\"storm_end\":\"%.0fns\"}\n", at,
            share * f->time_ns);
}
static const double pause_shares[] = {0.3, 1, 3};

static bool has_pauses(const struct facts *f)
{
    return json_is_true(fact(f, "switch.pfc.enabled")) && fact_transport_is(f, "roce");
}

/* ---- cables ---- */

// Whether the job takes its ranks in the order of their places.
static bool job_in_order(const struct facts *f)
{
    static const char *const own[] = {"ranks", "mapping", "library"};
    const json_t *job = fact_job(f);
    const char *kind = json_string_value(json_object_get(job, "kind"));
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (json_object_get(job, own[i]))
            return false;
    return kind && f->n_ranks > 3 &&
           (strcmp(kind, "collective") == 0 || strcmp(kind, "permutation") == 0);
}

static bool may_be_swapped(const struct facts *f) { return fabric_has_paths(f) && job_in_order(f); }

// The cables of two hosts are swapped: each stands at the other one's port.
static void miswired(const struct facts *f, const char *at, double none, FILE *words, FILE *set)
{
    unsigned a = 0, b = 0;
    (void)none;
    sscanf(at, "rank%u, rank%u", &a, &b);
    fprintf(words, "the cables of rank%u and rank%u are swapped", a, b);
    fputs("workload[0].ranks=[", set);
    for (unsigned r = 0; r < f->n_ranks; r++)
        fprintf(set, "%s%u", r ? "," : "", r == a ? b : r == b ? a : r);
    fputs("]\n", set);
}

static void rank_order(const struct facts *f, const char *at, double none, FILE *words, FILE *set)
{
    (void)f, (void)at, (void)none;
    fputs("ranks are in no order of their servers and leaves", words);
    fputs("workload[0].mapping=random\n", set);
}

static bool may_be_mixed(const struct facts *f)
{
    const char *kind = json_string_value(json_object_get(fact_job(f), "kind"));
    return may_be_swapped(f) && strcmp(kind, "collective") == 0;
}

static const struct cause_kind rows[] = {
    {.name = "slow_link",
     .next = "run ib_write_bw over it and over another link of its kind",
     .places = AT_LINKS,
     STRENGTHS(shares),
     .none = 1,
     .finer = true,
     .form = slow_link},
    {.name = "lossy_link",
     .next = "read the counters of errors at both of its ends (FCS, symbol errors)",
     .places = AT_DIRECTIONS,
     STRENGTHS(losses),
     .finer = true,
     .drawn = true,
     .form = lossy_link},
    {.name = "link_down",
     .next = "read the state of its ports, and the routes of the switch",
     .places = AT_TRUNKS,
     .form = link_down},
    {.name = "oversubscription",
     .next = "count the links between the switches that are up, and their rates",
     .places = AT_TIERS,
     STRENGTHS(shares),
     .none = 1,
     .finer = true,
     .form = oversubscribed},
    {.name = "pause_storm",
     .next = "read tx pauses of the NIC, and what its host does with what it receives",
     .places = AT_RANKS,
     STRENGTHS(pause_shares),
     .finer = true,
     .may = has_pauses,
     .form = pause_storm},
    {.name = "miswired",
     .next = "compare the neighbours that LLDP names at both ports with the plan",
     .places = AT_PAIRS,
     .may = may_be_swapped,
     .form = miswired},
    {.name = "rank_order",
     .next = "read which ranks are on which host, and the host file of the launcher",
     .places = AT_ALL,
     .drawn = true,
     .may = may_be_mixed,
     .form = rank_order},
};

struct kind_rows kinds_of_links(void)
{
    return (struct kind_rows){rows, sizeof rows / sizeof *rows};
}
