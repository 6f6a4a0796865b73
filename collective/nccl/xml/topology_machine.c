// SPDX-License-Identifier: MIT
// What the lists of a topology say as a machine: slots, switches, NVLinks and NICs.
#include <stdlib.h>
#include <string.h>

#include "collective/nccl/xml/topology_parts.h"

/* ---- CPUs ---- */

bool topology_cpu(const char *arch, const char *vendor, int64_t family, int64_t model,
                  enum nccl_cpu *cpu, double *between)
{
    bool x86 = arch != NULL && vendor != NULL && strcmp(arch, "x86_64") == 0;
    bool newest = model >= 0xCF || (model >= 0xAD && model <= 0xAF);
    *between = 0;
    if (x86 && strcmp(vendor, "GenuineIntel") == 0) {
        *cpu = NCCL_CPU_INTEL;
        // 0: that of Skylake, which NCCL's rules count for Intel's CPUs
        *between = family != 6 ? 6 : newest ? 40 : model >= 0x8F ? 22 : model >= 0x55 ? 0 : 6;
    } else if (x86 && strcmp(vendor, "AuthenticAMD") == 0)
        *cpu = NCCL_CPU_AMD;
    else
        *cpu = NCCL_CPU_ARM;
    return *cpu != NCCL_CPU_ARM || (arch != NULL && strcmp(arch, "arm64") == 0);
}

/* ---- the tree of PCIe ---- */

static void count_below(struct topology_parts *p)
{
    for (uint32_t g = 0; g < p->n_gpus; g++)
        for (uint32_t b = p->gpus[g].bridge; b != NO_BRIDGE; b = p->bridges[b].parent)
            p->bridges[b].gpus++;
    for (uint32_t n = 0; n < p->n_nics; n++)
        for (uint32_t b = p->nics[n].bridge; b != NO_BRIDGE; b = p->bridges[b].parent)
            p->bridges[b].nics++;
}

// The PCIe switch of a device: the lowest bridge above it with a GPU and a NIC, else the lowest one
// with several devices; NO_BRIDGE = the CPU.
static uint32_t switch_above(const struct topology_parts *p, const struct topology_device *device)
{
    uint32_t several = NO_BRIDGE;
    uint32_t b = device->bridge;
    // the bridge of the device is its own function
    for (b = b != NO_BRIDGE ? p->bridges[b].parent : b; b != NO_BRIDGE; b = p->bridges[b].parent) {
        if (p->bridges[b].gpus > 0 && p->bridges[b].nics > 0)
            return b;
        if (several == NO_BRIDGE && p->bridges[b].gpus + p->bridges[b].nics > 1)
            several = b;
    }
    return several;
}

// The slowest link on the way up from bridge `from` to bridge `to`, which does not count.
static double slowest(const struct topology_parts *p, uint32_t from, uint32_t to)
{
    double least = TOPOLOGY_OWN_SLOT;
    for (uint32_t b = from; b != to && b != NO_BRIDGE; b = p->bridges[b].parent)
        least = p->bridges[b].gbytes < least ? p->bridges[b].gbytes : least;
    return least;
}

// Whether a bridge is a part of the switch above it: Broadcom's switches of Gen4 and Gen5 show
// themselves as two levels, which NCCL unites.
static bool is_part(const struct topology_bridge *lower, const struct topology_bridge *upper)
{
    static const uint64_t kinds[][2] = {{0x1000c0101000a000, 0x1000c0101000a000},
                                        {0x1000c03010000000, 0x1000c03010001000}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if ((upper->kind & ~UINT64_C(0xfff)) == kinds[i][0] &&
            (lower->kind & ~UINT64_C(0xfff)) == kinds[i][1])
            return true;
    return false;
}

// Switches under switches are drawn as one: the highest of those that devices have.
static uint32_t highest_used(const struct topology_parts *p, uint32_t from, bool *parts_only)
{
    uint32_t highest = from;
    bool parts = true;
    for (uint32_t b = from; b != NO_BRIDGE; b = p->bridges[b].parent) {
        uint32_t above = p->bridges[b].parent;
        if (b != from && p->bridges[b].switch_used) {
            highest = b;
            *parts_only &= parts;
        }
        parts &= above != NO_BRIDGE && is_part(&p->bridges[b], &p->bridges[above]);
    }
    return highest;
}

// Number the switches as they stand in the file.
static bool place_switches(struct topology_parts *p, struct xml_pieces *x, struct nccl_machine *m)
{
    bool parts_only = true;
    for (uint32_t i = 0; i < p->n_gpus + p->n_nics; i++) {
        uint32_t b = switch_above(p, i < p->n_gpus ? &p->gpus[i] : &p->nics[i - p->n_gpus]);
        if (b != NO_BRIDGE)
            p->bridges[b].switch_used = true;
    }
    for (uint32_t b = 0; b < p->n_bridges; b++) {
        if (!p->bridges[b].switch_used || highest_used(p, b, &parts_only) != b)
            continue;
        if (m->switches == NCCL_SERVER_SWITCHES) {
            err_add(x->err, x->path, "%s: a server has at most %d PCIe switches", x->name,
                    NCCL_SERVER_SWITCHES);
            return false;
        }
        p->bridges[b].switch_index = m->switches;
        m->pcie_switch[m->switches++] =
            (struct nccl_pcie_switch){(uint8_t)p->bridges[b].cpu, slowest(p, b, NO_BRIDGE)};
    }
    if (!parts_only)
        err_warn(x->err, x->path, "%s: PCIe switches under switches are taken as one", x->name);
    return true;
}

static struct nccl_slot slot_of(const struct topology_parts *p,
                                const struct topology_device *device)
{
    uint32_t b = switch_above(p, device);
    bool parts_only = true;
    b = b != NO_BRIDGE ? highest_used(p, b, &parts_only) : b;
    return (struct nccl_slot){
        .at_cpu = b == NO_BRIDGE,
        .parent = (uint8_t)(b == NO_BRIDGE ? device->cpu : p->bridges[b].switch_index),
        .bw = slowest(p, device->bridge, b)};
}

/* ---- NVLinks ---- */

// The index of a GPU in the order of the file by its bus id; n_gpus = none.
static uint32_t gpu_at(const struct topology_parts *p, uint64_t busid)
{
    uint32_t g = 0;
    while (g < p->n_gpus && p->bridges[p->gpus[g].bridge].busid != busid)
        g++;
    return g;
}

static bool nvlinks_between_pairs(const struct topology_parts *p, struct xml_pieces *x,
                                  struct nccl_machine *m)
{
    uint32_t count[NCCL_SERVER_GPUS][NCCL_SERVER_GPUS] = {{0}};
    for (uint32_t i = 0; i < p->n_nvlinks; i++) {
        const struct topology_nvlink *link = &p->nvlinks[i];
        uint32_t to = gpu_at(p, link->target);
        if (to < p->n_gpus && to != link->gpu)
            count[link->gpu][to] += link->count;
    }
    m->nvlinks = p->n_gpus > 1 ? count[0][1] : 0;
    for (uint32_t a = 0; a < p->n_gpus; a++)
        for (uint32_t b = 0; b < p->n_gpus; b++)
            if (a != b && count[a][b] != m->nvlinks) {
                xml_pieces_error(x, p->gpus[a].line,
                                 "a GPU has %u NVLinks to one GPU and %u to another: only NVLinks "
                                 "between each two GPUs, or to NVSwitches, are modelled",
                                 count[a][b], m->nvlinks);
                return false;
            }
    m->nvlink = m->nvlinks > 0 ? NCCL_NVLINK_PAIRS : NCCL_NVLINK_NONE;
    return true;
}

static bool set_nvlinks(const struct topology_parts *p, struct xml_pieces *x,
                        struct nccl_machine *m)
{
    uint32_t count[NCCL_SERVER_GPUS] = {0}, to_switch = 0;
    for (uint32_t i = 0; i < p->n_nvlinks; i++) {
        to_switch += p->nvlinks[i].to_switch;
        count[p->nvlinks[i].gpu] += p->nvlinks[i].count;
    }
    if (to_switch == 0)
        return nvlinks_between_pairs(p, x, m);
    for (uint32_t i = 0; i < p->n_nvlinks; i++)
        if (!p->nvlinks[i].to_switch) {
            xml_pieces_error(x, p->nvlinks[i].line,
                             "an NVLink leads to a GPU, and others to NVSwitches");
            return false;
        }
    for (uint32_t g = 0; g < p->n_gpus; g++)
        if (count[g] != count[0]) {
            xml_pieces_error(x, p->gpus[g].line, "a GPU has %u NVLinks, and the first one %u",
                             count[g], count[0]);
            return false;
        }
    m->nvlink = NCCL_NVLINK_SWITCH;
    m->nvlinks = count[0];
    return true;
}

/* ---- GPUs ---- */

static bool set_kind_of_gpus(const struct topology_parts *p, struct xml_pieces *x,
                             struct nccl_machine *m)
{
    int64_t sm = p->gpus[0].sm;
    for (uint32_t g = 0; g < p->n_gpus; g++)
        if (p->gpus[g].sm != sm || p->gpus[g].c2c != p->gpus[0].c2c) {
            xml_pieces_error(x, p->gpus[g].line,
                             "the GPUs are of several kinds: sm %lld, c2c %g GB/s and sm %lld, c2c "
                             "%g GB/s",
                             (long long)sm, p->gpus[0].c2c, (long long)p->gpus[g].sm,
                             p->gpus[g].c2c);
            return false;
        }
    if (sm < 60 || (sm > 106 && sm < 110) || sm > 129) {
        xml_pieces_error(x, p->gpus[0].line,
                         "sm %lld is not known: 60 to 106 and 110 to 129 are those of NCCL 2.30.7",
                         (long long)sm);
        return false;
    }
    m->gpu = sm >= 100  ? NCCL_BLACKWELL
             : sm >= 90 ? NCCL_HOPPER
             : sm >= 80 ? NCCL_AMPERE
                        : NCCL_VOLTA;
    // These two have a rate of NVLink that is not that of their generation.
    m->nvlink_bw = sm == 86 ? 12 : sm < 70 ? 18 : 0;
    m->c2c_bw = p->gpus[0].c2c;
    return true;
}

static int by_number(const void *left, const void *right)
{
    const struct topology_device *a = *(const struct topology_device *const *)left,
                                 *b = *(const struct topology_device *const *)right;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->dev < b->dev ? -1 : a->dev > b->dev;
}

// Write the devices in their order to `sorted`. Returns false if two have one number.
static bool sort_devices(struct xml_pieces *x, const struct topology_device *devices, uint32_t n,
                         const char *noun, const struct topology_device **sorted)
{
    for (uint32_t i = 0; i < n; i++)
        sorted[i] = &devices[i];
    if (n > 0)
        qsort(sorted, n, sizeof *sorted, by_number);
    for (uint32_t i = 0; i + 1 < n; i++) {
        bool ranked = sorted[i]->rank >= 0;
        if ((sorted[i]->rank < 0) != (sorted[i + 1]->rank < 0))
            xml_pieces_error(x, sorted[i]->line,
                             "a GPU has no rank, and others have: the communicator must be of all "
                             "GPUs of the server");
        else if (by_number(&sorted[i], &sorted[i + 1]) == 0 ||
                 (ranked && sorted[i]->rank == sorted[i + 1]->rank))
            xml_pieces_error(x, sorted[i + 1]->line, "two %s have one %s", noun,
                             ranked ? "rank" : "dev");
        else
            continue;
        return false;
    }
    return true;
}

/* ---- NICs ---- */

static void keep_if(struct topology_parts *p, struct xml_pieces *x, const bool *keep,
                    const char *why)
{
    uint32_t kept = 0, before = p->n_nics;
    for (uint32_t i = 0; i < before; i++)
        if (keep[i])
            p->nics[kept++] = p->nics[i];
    p->n_nics = kept;
    if (kept < before)
        err_warn(x->err, x->path, "%s: %u of %u NICs are left out, %s", x->name, before - kept,
                 before, why);
}

// The NICs of a server are alike here, and as many as its GPUs or a multiple or part of these. NCCL
// takes the nearest and fastest NICs of each GPU: slower NICs, and then those that share a PCIe
// switch with no GPU, are left out until the others can be spread evenly.
static bool spread_nics(struct topology_parts *p, struct xml_pieces *x)
{
    bool keep[NCCL_SERVER_NICS] = {false};
    double fastest = 0;
    uint32_t near = 0;
    for (uint32_t i = 0; i < p->n_nics; i++)
        fastest = p->nics[i].gbps > fastest ? p->nics[i].gbps : fastest;
    for (uint32_t i = 0; i < p->n_nics; i++)
        keep[i] = p->nics[i].gbps == fastest;
    keep_if(p, x, keep, "because they are slower than the others");
    for (uint32_t i = 0; i < p->n_nics; i++) {
        uint32_t b = switch_above(p, &p->nics[i]);
        keep[i] = b != NO_BRIDGE && p->bridges[b].gpus > 0;
        near += keep[i];
    }
    uint32_t n = p->n_nics;
    bool even = n == 0 || n % p->n_gpus == 0 || p->n_gpus % n == 0;
    if (!even && near > 0)
        keep_if(p, x, keep, "because they share a PCIe switch with no GPU");
    n = p->n_nics;
    if (n == 0 || n % p->n_gpus == 0 || p->n_gpus % n == 0)
        return true;
    err_add(x->err, x->path, "%s: %u NICs are not spread evenly over %u GPUs", x->name, n,
            p->n_gpus);
    return false;
}

/* ---- all of it ---- */

bool topology_machine(struct topology_parts *p, struct xml_pieces *x, struct nccl_machine *m)
{
    const struct topology_device *gpus[NCCL_SERVER_GPUS], *nics[NCCL_SERVER_NICS];
    char why[200];
    if (p->n_gpus == 0) {
        err_add(x->err, x->path,
                "%s has no GPU: the file must be what NCCL has found (NCCL_TOPO_DUMP_FILE)",
                x->name);
        return false;
    }
    count_below(p);
    if (!set_kind_of_gpus(p, x, m) || !set_nvlinks(p, x, m) || !spread_nics(p, x) ||
        !place_switches(p, x, m) || !sort_devices(x, p->gpus, p->n_gpus, "GPUs", gpus) ||
        !sort_devices(x, p->nics, p->n_nics, "NICs", nics))
        return false;
    m->cpu = p->cpu;
    m->cpu_bw = p->cpu_bw;
    m->cpus = p->n_cpus;
    m->gpus = p->n_gpus;
    m->nics = p->n_nics;
    for (uint32_t g = 0; g < m->gpus; g++)
        m->gpu_slot[g] = slot_of(p, gpus[g]);
    for (uint32_t n = 0; n < m->nics; n++) {
        m->nic_slot[n] = slot_of(p, nics[n]);
        m->nic_gbps[n] = nics[n]->gbps;
    }
    if (nccl_machine_valid(m, why, sizeof why))
        return true;
    err_add(x->err, x->path, "%s: %s", x->name, why);
    return false;
}
