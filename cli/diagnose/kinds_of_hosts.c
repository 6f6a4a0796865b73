// SPDX-License-Identifier: MIT
// Causes in hosts: NICs, the bus behind them, cores, and settings of the library on a machine.
#include <string.h>

#include "cli/diagnose/cause_kind.h"

/* ---- NICs ---- */

static const double shares[] = {0.15, 0.35, 0.7};

static bool has_rate(const struct facts *f) { return f->line_bps > 0; }

static void slow_bus(const struct facts *f, const char *at, double share, FILE *words, FILE *set)
{
    fprintf(words, "a bus of %.0f Gb/s behind %s%s (PCIe generation or lanes)",
            share * f->line_bps / 1e9, *at ? "the NIC of " : "each NIC", at);
    if (*at)
        fprintf(set, "nic.at=%s\n", at);
    fprintf(set, "nic.bus_rate=%.0fbps\n", share * f->line_bps);
}

static bool has_bus(const struct facts *f)
{
    const char *rate = fact_text(f, "nic.bus_rate");
    return *rate && strcmp(rate, "0bps") != 0;
}

static void staged(const struct facts *f, const char *at, double none, FILE *words, FILE *set)
{
    (void)f, (void)at, (void)none;
    fputs("GPUDirect RDMA is off: data goes through the host's memory", words);
    fputs("host.rdma=staged\n", set);
}

static const json_t *machine_of(const struct facts *f)
{
    return json_object_get(json_object_get(f->draft, "topology"), "machine");
}

static bool one_machine(const struct facts *f)
{
    return json_is_string(machine_of(f)) || json_is_object(machine_of(f));
}

static const double nics[] = {1, 2, 4};

static void fewer_nics(const struct facts *f, const char *at, double n, FILE *words, FILE *set)
{
    const char *name = json_string_value(machine_of(f));
    (void)at;
    fprintf(words, "%.0f NIC%s in use on each server", n, n > 1 ? "s" : "");
    if (name)
        fprintf(set, "topology.machine={\"like\":\"%s\",\"nics\":%.0f}\n", name, n);
    else
        fprintf(set, "topology.machine.nics=%.0f\n", n);
}

// The first dimension whose ranks have several planes; its number of them, 0 = there is none.
static double planes_of(const struct facts *f, size_t *dim)
{
    const json_t *dims = fact(f, "topology.dims"), *one;
    size_t i;
    json_array_foreach(dims, i, one) if (json_number_value(json_object_get(one, "planes")) > 1)
    {
        *dim = i;
        return json_number_value(json_object_get(one, "planes"));
    }
    return 0;
}

static bool has_planes(const struct facts *f)
{
    size_t dim;
    return planes_of(f, &dim) > 0 && json_object_get(json_object_get(f->draft, "topology"), "dims");
}

static void fewer_rails(const struct facts *f, const char *at, double n, FILE *words, FILE *set)
{
    size_t dim = 0;
    double all = planes_of(f, &dim), left = n < all ? n : all - 1;
    (void)at;
    fprintf(words, "%.0f of %.0f rails in use", left, all);
    fprintf(set, "topology.dims[%zu].planes=%.0f\n", dim, left);
}

static const double message_rates[] = {1e5, 1e6, 1e7};

static const double receiver_rates[] = {3e5, 3e6};

static void message_rate(const struct facts *f, const char *at, double rate, FILE *words, FILE *set)
{
    (void)f;
    if (*at)
        fprintf(words, "the NIC of %s handles %.2g packets a second", at, rate);
    else
        fprintf(words, "NICs that handle %.2g packets a second", rate);
    if (*at)
        fprintf(set, "nic.at=%s\n", at);
    fprintf(set, "nic.message_rate=%.0f\n", rate);
}

/* ---- the library ---- */

static const char *const forced[] = {
    "NCCL_ALGO=Ring",       "NCCL_ALGO=Tree",       "NCCL_PROTO=LL",
    "NCCL_PROTO=LL128",     "NCCL_PROTO=Simple",    "NCCL_MAX_NCHANNELS=1",
    "NCCL_MAX_NCHANNELS=2", "NCCL_MAX_NCHANNELS=4", "NCCL_MIN_NCHANNELS=32",
    "NCCL_NVLS_ENABLE=0",   "NCCL_PXN_DISABLE=1",   "NCCL_BUFFSIZE=262144"};
static const double forced_numbers[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
_Static_assert(sizeof forced / sizeof *forced == sizeof forced_numbers / sizeof *forced_numbers,
               "a number for each setting");

static bool has_library(const struct facts *f)
{
    const json_t *job = fact_job(f), *library = json_object_get(job, "library");
    const char *kind = json_string_value(json_object_get(job, "kind")),
               *own = json_string_value(json_object_get(library, "kind"));
    if (library)
        return own && strcmp(own, "nccl") == 0;
    return machine_of(f) && kind && strcmp(kind, "collective") == 0;
}

static void library(const struct facts *f, const char *at, double number, FILE *words, FILE *set)
{
    const char *text = forced[(size_t)number - 1];
    (void)f, (void)at;
    fprintf(words, "%s is set", text);
    fprintf(set, "workload[0].library={\"kind\":\"nccl\",\"env\":\"%s\"}\n", text);
}

static bool has_log(const struct facts *f) { return f->environment && has_library(f); }

static void logged(const struct facts *f, const char *at, double none, FILE *words, FILE *set)
{
    (void)at, (void)none;
    fprintf(words, "%s, as the log says", f->environment);
    fprintf(set, "workload[0].library={\"kind\":\"nccl\",\"env\":\"%s\"}\n", f->environment);
}

/* ---- cores ---- */

static const double cores[] = {1, 2, 4};

static bool on_tcp(const struct facts *f) { return fact_transport_is(f, "tcp"); }

static void host_cores(const struct facts *f, const char *at, double n, FILE *words, FILE *set)
{
    (void)f, (void)at;
    fprintf(words, "%.0f core%s for the network stack", n, n > 1 ? "s" : "");
    fprintf(set, "host.preset=linux\nhost.cores=%.0f\n", n);
}

static const double step_us[] = {1, 5, 25, 125};

static void host_noise(const struct facts *f, const char *at, double us, FILE *words, FILE *set)
{
    (void)f, (void)at;
    fprintf(words, "hosts that are %.3g us late at each step, on average", us);
    fprintf(set, "noise.step.mean=%.0fns\n", us * 1e3);
}

static const struct cause_kind rows[] = {
    {.name = "pcie",
     .next = "read generation and lanes of the NICs' slots (lspci, LnkSta)",
     STRENGTHS(shares),
     .finer = true,
     .may = has_rate,
     .form = slow_bus},
    {.name = "slow_nic",
     .next = "read generation and lanes of this NIC's slot and of another one's (lspci, LnkSta)",
     .places = AT_RANKS,
     STRENGTHS(shares),
     .finer = true,
     .may = has_rate,
     .form = slow_bus},
    {.name = "slow_nic",
     .next = "run ib_write_bw with messages of 64 B to this NIC and to another one",
     .places = AT_RANKS,
     STRENGTHS(receiver_rates),
     .finer = true,
     .form = message_rate},
    {.name = "gdr_off",
     .next = "read NCCL's log for GDRDMA, and whether nvidia_peermem is loaded",
     .may = has_bus,
     .form = staged},
    {.name = "fewer_nics",
     .next = "read NCCL's log for the NICs that it uses (NET/IB)",
     STRENGTHS(nics),
     .may = one_machine,
     .form = fewer_nics},
    {.name = "fewer_nics",
     .next = "read the bytes of each port of a host while the job runs",
     STRENGTHS(nics),
     .may = has_planes,
     .form = fewer_rails},
    {.name = "message_rate",
     .next = "run ib_write_bw with messages of one packet, and with more queue pairs",
     STRENGTHS(message_rates),
     .finer = true,
     .form = message_rate},
    {.name = "library",
     .next = "read the environment of the job (NCCL_*), and NCCL's log",
     STRENGTHS(forced_numbers),
     .may = has_library,
     .form = library},
    {.name = "library",
     .next = "unset these variables, and measure again",
     .may = has_log,
     .form = logged},
    {.name = "host_cores",
     .next = "read the load of the cores of the host",
     STRENGTHS(cores),
     .may = on_tcp,
     .form = host_cores},
    {.name = "host_noise",
     .next = "run the computation of a step alone, and read what else runs on the cores",
     STRENGTHS(step_us),
     .finer = true,
     .drawn = true,
     .form = host_noise},
};

struct kind_rows kinds_of_hosts(void)
{
    return (struct kind_rows){rows, sizeof rows / sizeof *rows};
}
