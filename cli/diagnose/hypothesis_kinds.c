// SPDX-License-Identifier: MIT
// What may be wrong, as settings: links, switches, NICs, libraries, hosts, other jobs.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/diagnose/diagnose.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/base/units.h"

static const json_t *at_path(const json_t *json, const char *first, const char *second)
{
    const json_t *one = json_object_get(json, first);
    return second ? json_object_get(one, second) : one;
}

static const json_t *job_of(const struct diagnosis *d)
{
    return json_array_get(json_object_get(d->fit.draft.json, "workload"), 0);
}

static const char *transport_of(const struct healthy_facts *f)
{
    const char *kind = json_string_value(at_path(f->scenario, "transport", "kind"));
    return kind ? kind : "";
}

// Shares of a rate that may be left.
static const double shares[] = {0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.25, 0.2, 0.1};

/* ---- links ---- */

// Whether a link of the list before `i` is the other direction of this one.
static bool is_back(const struct healthy_facts *f, size_t i)
{
    const char *arrow = strstr(f->links[i], "->");
    if (!arrow)
        return false;
    char *back = text_format("%s->%.*s", arrow + 2, (int)(arrow - f->links[i]), f->links[i]);
    bool found = false;
    for (size_t k = 0; k < i; k++)
        found |= strcmp(f->links[k], back) == 0;
    free(back);
    return found;
}

// A link loses lanes in both directions, and packets in one.
static void links(struct diagnosis *d, const struct healthy_facts *f)
{
    static const double losses[] = {1e-4, 3e-4, 1e-3, 3e-3, 1e-2};
    for (size_t i = 0; i < f->n_links; i++) {
        for (size_t s = 0; s < sizeof shares / sizeof *shares && !is_back(f, i); s++)
            hypothesis_add(d, "slow_link", f->links[i],
                           text_format("%s at %.0f %% of its rate", f->links[i], 100 * shares[s]),
                           "faults[+]={\"at\":\"%s\",\"rate\":{\"share\":%g}}\n", f->links[i],
                           shares[s]);
        for (size_t s = 0; s < sizeof losses / sizeof *losses; s++)
            hypothesis_add(d, "lossy_link", f->links[i],
                           text_format("%s loses %g of its packets", f->links[i], losses[s]),
                           "faults[+]={\"at\":\"%s\",\"one_way\":true,\"loss\":%g}\n", f->links[i],
                           losses[s]);
    }
}

// "leaf3->spine1" becomes "leaf*->spine*".
static char *pattern_of(const char *name)
{
    char *made = memory_zeroed(2 * strlen(name) + 1, 1), *out = made;
    while (*name) {
        size_t digits = strspn(name, "0123456789");
        if (digits > 0)
            *out++ = '*';
        name += digits;
        if (*name)
            *out++ = *name++;
    }
    return made;
}

// All links between switches of one kind, in both directions.
static void trunks(struct diagnosis *d, const struct healthy_facts *f)
{
    for (size_t i = 0; i < f->n_links; i++) {
        if (strstr(f->links[i], "rank"))
            continue;
        char *pattern = pattern_of(f->links[i]);
        for (size_t s = 0; s < sizeof shares / sizeof *shares; s++)
            hypothesis_add(d, "oversubscription", pattern,
                           text_format("all of %s carry %.0f %%", pattern, 100 * shares[s]),
                           "faults[+]={\"at\":\"%s\",\"rate\":{\"share\":%g}}\n", pattern,
                           shares[s]);
        free(pattern);
        return;
    }
}

/* ---- settings ---- */

static void ecn_units(struct diagnosis *d, const struct healthy_facts *f)
{
    static const double by[] = {0.125, 8, 0.001, 1000};
    uint64_t kmin, kmax;
    const json_t *ecn = at_path(f->scenario, "switch", "ecn");
    const char *low = json_string_value(json_object_get(ecn, "kmin")),
               *high = json_string_value(json_object_get(ecn, "kmax"));
    if (!low || !high || parse_bytes(low, &kmin) != 0 || parse_bytes(high, &kmax) != 0)
        return;
    for (size_t i = 0; i < sizeof by / sizeof *by; i++)
        hypothesis_add(d, "ecn_units", "", text_format("ECN thresholds %g times as large", by[i]),
                       "switch.ecn.kmin=%.0fB\nswitch.ecn.kmax=%.0fB\n", by[i] * (double)kmin + 1,
                       by[i] * (double)kmax + 2);
}

static void settings(struct diagnosis *d, const struct healthy_facts *f)
{
    static const int mtus[] = {256, 512, 1024, 2048, 4096};
    bool roce = strcmp(transport_of(f), "roce") == 0, tcp = strcmp(transport_of(f), "tcp") == 0;
    const char *mtu = json_string_value(at_path(f->scenario, "transport", "mtu")),
               *cc = json_string_value(at_path(f->scenario, "cc", "kind")),
               *routing = json_string_value(
                   json_object_get(at_path(f->scenario, "switch", "routing"), "kind"));
    uint64_t own = 0;
    if (roce && mtu && parse_bytes(mtu, &own) == 0)
        for (size_t i = 0; i < sizeof mtus / sizeof *mtus; i++)
            if ((uint64_t)mtus[i] != own)
                hypothesis_add(d, "mtu", "", text_format("an MTU of %d B", mtus[i]),
                               "transport.mtu=%dB\n", mtus[i]);
    if (tcp)
        hypothesis_add(d, "mtu", "", memory_text("an MTU of 1500 B"), "transport.mss=1448B\n");
    if (json_is_true(json_object_get(at_path(f->scenario, "switch", "pfc"), "enabled")))
        hypothesis_add(d, "pfc_off", "", memory_text("PFC is off, or in another class"),
                       "switch.pfc.enabled=false\n");
    if (cc && strcmp(cc, "none") != 0) {
        hypothesis_add(d, "ecn_off", "", memory_text("switches do not mark"),
                       "switch.ecn.enabled=false\n");
        hypothesis_add(d, "cc_off", "", memory_text("congestion control is off"),
                       "cc={\"kind\":\"none\"}\n");
        ecn_units(d, f);
    }
    if (routing && strcmp(routing, "ecmp") != 0)
        hypothesis_add(d, "balancing_off", "", memory_text("load balancing is off (plain ECMP)"),
                       "switch.routing.kind=ecmp\n");
    for (int by = 4; by <= 16; by *= 4)
        hypothesis_add(d, "buffer", "", text_format("1/%d of the buffer", by),
                       "switch.buffer=%dKB\n", 32000 / by);
    hypothesis_add(d, "latency", "", memory_text("10 us more on each link"),
                   "noise.link.delay=20us\n");
}

/* ---- ends ---- */

static void nics(struct diagnosis *d, const struct healthy_facts *f)
{
    const char *machine = json_string_value(at_path(d->fit.draft.json, "topology", "machine"));
    if (f->line_bps > 0)
        for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
            hypothesis_add(d, "pcie", "",
                           text_format("a bus of %.0f Gb/s behind each NIC (PCIe generation or "
                                       "lanes)",
                                       shares[i] * f->line_bps / 1e9),
                           "nic.bus_rate=%.0fbps\n", shares[i] * f->line_bps);
    if (machine)
        for (int n = 1; n <= 4; n *= 2)
            hypothesis_add(d, "fewer_nics", "", text_format("%d NICs in use on each server", n),
                           "topology.machine={\"like\":\"%s\",\"nics\":%d}\n", machine, n);
}

static void libraries(struct diagnosis *d)
{
    static const char *const forced[] = {"NCCL_ALGO=Ring",        "NCCL_ALGO=Tree",
                                         "NCCL_PROTO=LL",         "NCCL_PROTO=LL128",
                                         "NCCL_PROTO=Simple",     "NCCL_MAX_NCHANNELS=1",
                                         "NCCL_MAX_NCHANNELS=2",  "NCCL_MAX_NCHANNELS=4",
                                         "NCCL_MIN_NCHANNELS=32", "NCCL_NVLS_ENABLE=0"};
    const json_t *library = json_object_get(job_of(d), "library"),
                 *machine = at_path(d->fit.draft.json, "topology", "machine");
    const char *kind = json_string_value(json_object_get(job_of(d), "kind"));
    bool runs =
        json_is_object(library) || (machine && kind && strcmp(kind, "collective") == 0 && !library);
    for (size_t i = 0; runs && i < sizeof forced / sizeof *forced; i++)
        hypothesis_add(d, "library", "", text_format("%s is set", forced[i]),
                       "workload[0].library={\"kind\":\"nccl\",\"env\":\"%s\"}\n", forced[i]);
}

static void hosts(struct diagnosis *d, const struct healthy_facts *f)
{
    bool tcp = strcmp(transport_of(f), "tcp") == 0;
    for (int cores = 1; tcp && cores <= 4; cores *= 2)
        hypothesis_add(d, "host_cores", "", text_format("%d cores for the network stack", cores),
                       "host.preset=linux\nhost.cores=%d\n", cores);
    const char *kind = json_string_value(json_object_get(job_of(d), "kind"));
    static const double factors[] = {1.2, 1.5, 2};
    for (size_t i = 0; kind && strcmp(kind, "training") == 0 && i < 3; i++)
        hypothesis_add(d, "straggler", "rank0",
                       text_format("one GPU computes %g times as long", factors[i]),
                       "workload[0].stragglers=[{\"rank\":0,\"factor\":%g}]\n", factors[i]);
}

#define OTHER "workload[+]={\"kind\":\"flows\",\"name\":\"other\",\"flows\":["
#define FLOW "{\"src\":%u,\"dst\":%u,\"bytes\":\"%.0fB\"}"

// Another job of one or two senders sends to a rank as long as the run takes.
static void jobs(struct diagnosis *d, const struct healthy_facts *f)
{
    double bytes = 3 * f->time_ns * 1e-9 * f->line_bps / 8;
    uint32_t n = f->n_ranks, tried = n < 8 ? n : 8;
    for (uint32_t rank = 0; rank < tried && bytes >= 1 && n > 2; rank++) {
        char at[32];
        uint32_t a = (rank + n / 2) % n, b = (a + 1) % n;
        b = b == rank ? (b + 1) % n : b;
        snprintf(at, sizeof at, "rank%u", rank);
        hypothesis_add(d, "hot_job", at, text_format("another job sends to rank %u", rank),
                       OTHER FLOW "]}\n", a, rank, bytes);
        hypothesis_add(d, "hot_job", at,
                       text_format("another job sends to rank %u from two others", rank),
                       OTHER FLOW "," FLOW "]}\n", a, rank, bytes, b, rank, bytes);
    }
}

void hypotheses_of_kinds(struct diagnosis *d, const struct healthy_facts *facts)
{
    links(d, facts);
    trunks(d, facts);
    settings(d, facts);
    nics(d, facts);
    libraries(d);
    hosts(d, facts);
    jobs(d, facts);
}
