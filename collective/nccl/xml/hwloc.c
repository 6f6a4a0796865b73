// SPDX-License-Identifier: MIT
// Objects become the lists of a topology (topology_parts.h), as the elements of NCCL's file do.
#include "collective/nccl/xml/hwloc.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collective/nccl/xml/topology_parts.h"
#include "engine/base/memory.h"

#define DEPTH_MAX 64
#define WORD 40
#define NVIDIA 0x10de
#define AMD 0x1002
#define DISPLAY 0x03
#define LANE_SHARE 0.75                 // of a lane's rate, which NCCL counts
#define CODED (128.0 / 130)             // of a lane from PCIe 3 on: its bits that are data
#define UNKNOWN_GBYTES (16 * 60 / 80.0) // 16 lanes of 8 GT/s, as NCCL counts them

enum object { MACHINE, PACKAGE, NUMA, BRIDGE, PCI, OS, OTHER };

static const char *const objects[OTHER] = {"Machine", "Package", "NUMANode",
                                           "Bridge",  "PCIDev",  "OSDev"};

struct open {
    enum object object;
    uint32_t
        bridge; // the object itself if it is a bridge, else the nearest one above; NO_BRIDGE = none
    uint32_t first_cpu; // the first NUMA node in it so far; NO_BRIDGE = none
};

struct nic {
    uint32_t bridge, cpu;
    unsigned long line;
    bool fabrics, network;
};

struct reading {
    struct xml_pieces pieces; // the first field: a pointer to it is one to the reading
    struct topology_parts *parts;
    int64_t sm; // of the machine that the GPUs are like
    struct open open[DEPTH_MAX];
    bool bits; // osdev_type is a set of bits, from version 3 on
    struct nic nics[NCCL_SERVER_NICS];
    uint32_t n_nics, unknown_links, n_devices;
    /* of the package that is open, and of the machine */
    char vendor[WORD], arch[WORD];
    int64_t family, model;
    unsigned long package_line;
    bool has_cpu;
};

/* ---- CPUs ---- */

static void package_end(struct reading *r)
{
    unsigned long line = r->package_line;
    struct topology_parts *p = r->parts;
    enum nccl_cpu cpu;
    double between;
    if (r->vendor[0] == '\0')
        return; // not x86
    if (!topology_cpu("x86_64", r->vendor, r->family, r->model, &cpu, &between))
        xml_pieces_error(&r->pieces, line,
                         "CPUVendor is \"%s\", and must be GenuineIntel or AuthenticAMD",
                         r->vendor);
    else if (r->has_cpu && (cpu != p->cpu || between != p->cpu_bw))
        xml_pieces_error(&r->pieces, line, "the CPUs are of several kinds");
    p->cpu = cpu;
    p->cpu_bw = between;
    r->has_cpu = true;
    r->vendor[0] = '\0';
}

static void add_info(struct reading *r, enum object of, const char **attributes)
{
    const char *name = xml_attribute(attributes, "name"),
               *value = xml_attribute(attributes, "value");
    if (name == NULL || value == NULL)
        return;
    if (strcmp(name, "Architecture") == 0)
        snprintf(r->arch, sizeof r->arch, "%s", value);
    else if (of == PACKAGE && strcmp(name, "CPUVendor") == 0)
        snprintf(r->vendor, sizeof r->vendor, "%s", value);
    else if (of == PACKAGE && strcmp(name, "CPUFamilyNumber") == 0)
        r->family = strtol(value, NULL, 10);
    else if (of == PACKAGE && strcmp(name, "CPUModelNumber") == 0)
        r->model = strtol(value, NULL, 10);
}

// Memory of GPUs and the like has a subtype, or no CPUs beside it.
static void add_numa(struct reading *r, const char **attributes, unsigned depth, unsigned long line)
{
    const char *subtype = xml_attribute(attributes, "subtype"),
               *cpus = xml_attribute(attributes, "cpuset");
    if ((subtype != NULL && subtype[0] != '\0') || (cpus != NULL && strcmp(cpus, "0x0") == 0))
        return;
    if (r->parts->n_cpus == NCCL_SERVER_CPUS) {
        xml_pieces_error(&r->pieces, line, "a server has at most %d NUMA nodes", NCCL_SERVER_CPUS);
        return;
    }
    for (unsigned d = 0; d <= depth; d++)
        if (r->open[d].first_cpu == NO_BRIDGE)
            r->open[d].first_cpu = r->parts->n_cpus;
    r->parts->n_cpus++;
}

/* ---- PCI ---- */

// GB/s of a link as NCCL counts it; 0 = the file does not know it. The lanes of PCIe 1 and 2 carry
// whole quarters of a GB/s.
static double counted_gbytes(double gbytes)
{
    double quarters = gbytes * 4;
    bool old = fabs(quarters - round(quarters)) < 1e-3;
    return round(gbytes * (old ? LANE_SHARE : LANE_SHARE / CODED) * 1000) / 1000;
}

// The most that a NIC has of the rates there are, Gbit/s.
static double nic_gbps(double pcie_gbytes)
{
    static const double rates[] = {800, 400, 200, 100, 50, 40, 25, 10};
    for (size_t i = 0; i < sizeof rates / sizeof *rates; i++)
        if (pcie_gbytes * 8 / LANE_SHARE * CODED >= rates[i])
            return rates[i];
    return 1;
}

static bool is_gpu(struct reading *r, unsigned class, unsigned vendor, unsigned long line)
{
    if (class >> 8 != DISPLAY || (vendor != NVIDIA && vendor != AMD))
        return false;
    if (vendor == AMD)
        xml_pieces_error(&r->pieces, line,
                         "a GPU of AMD: machine \"mi300x\" has RCCL's tables, which need no file");
    return vendor == NVIDIA;
}

static void add_gpu(struct reading *r, uint32_t bridge, uint32_t cpu, unsigned long line)
{
    struct topology_parts *p = r->parts;
    if (p->n_gpus == NCCL_SERVER_GPUS)
        xml_pieces_error(&r->pieces, line, "a server has at most %d GPUs", NCCL_SERVER_GPUS);
    else
        p->gpus[p->n_gpus] = (struct topology_device){
            .bridge = bridge, .cpu = cpu, .line = line, .dev = p->n_gpus, .rank = -1, .sm = r->sm};
    p->n_gpus += p->n_gpus < NCCL_SERVER_GPUS;
}

static uint32_t add_bridge(struct reading *r, const char **attributes, uint32_t parent,
                           uint32_t cpu, enum object object, unsigned long line)
{
    struct topology_parts *p = r->parts;
    const char *type = xml_attribute(attributes, "pci_type"),
               *speed = xml_attribute(attributes, "pci_link_speed");
    unsigned class, vendor, device, subvendor, subdevice;
    char *end = NULL;
    double gbytes = speed != NULL ? strtod(speed, &end) : 0;
    if (type == NULL || sscanf(type, "%4x [%4x:%4x] [%4x:%4x]", &class, &vendor, &device,
                               &subvendor, &subdevice) != 5) {
        xml_pieces_error(&r->pieces, line,
                         "pci_type is \"%.40s\", and must be like \"0302 [10de:2330] [10de:16c1] "
                         "a1\"",
                         type != NULL ? type : "");
        return parent;
    }
    if (!isfinite(gbytes) || gbytes < 0 || gbytes > 1000 || (end != NULL && *end != '\0')) {
        xml_pieces_error(&r->pieces, line,
                         "pci_link_speed is \"%.40s\", and must be GB/s from 0 to 1000", speed);
        return parent;
    }
    if (p->n_bridges == TOPOLOGY_BRIDGES_MAX) {
        xml_pieces_error(&r->pieces, line, "a server has at most %d PCIe devices",
                         TOPOLOGY_BRIDGES_MAX);
        return parent;
    }
    double unknown = object == BRIDGE ? TOPOLOGY_OWN_SLOT : UNKNOWN_GBYTES;
    p->bridges[p->n_bridges] = (struct topology_bridge){
        .parent = parent,
        .cpu = cpu,
        .kind = (uint64_t)vendor << 48 | (uint64_t)device << 32 | subvendor << 16 | subdevice,
        .gbytes = gbytes > 0 ? counted_gbytes(gbytes) : unknown};
    if (object == PCI && is_gpu(r, class, vendor, line)) {
        add_gpu(r, p->n_bridges, cpu, line);
        r->unknown_links += gbytes == 0;
        r->n_devices++;
    }
    return p->n_bridges++;
}

/* ---- NICs ---- */

// An OpenFabrics or network device of a PCI device, which may have both, and several ports.
static void add_os(struct reading *r, const char **attributes, const struct open *above,
                   unsigned long line)
{
    const char *text = xml_attribute(attributes, "osdev_type");
    unsigned long type = text != NULL ? strtoul(text, NULL, 10) : 0;
    bool network = r->bits ? type & 1 << 4 : type == 2,
         fabrics = r->bits ? type & 1 << 5 : type == 3;
    if (above->object != PCI || !(network || fabrics))
        return;
    uint32_t i = 0;
    while (i < r->n_nics && r->nics[i].bridge != above->bridge)
        i++;
    if (i == NCCL_SERVER_NICS) {
        xml_pieces_error(&r->pieces, line, "a server has at most %d NICs", NCCL_SERVER_NICS);
        return;
    }
    if (i == r->n_nics)
        r->nics[r->n_nics++] = (struct nic){.bridge = above->bridge, .line = line};
    r->nics[i].fabrics |= fabrics;
    r->nics[i].network |= network;
}

static void nics_finish(struct reading *r)
{
    struct topology_parts *p = r->parts;
    bool fabrics = false;
    double gbps = 0;
    for (uint32_t i = 0; i < r->n_nics; i++)
        fabrics |= r->nics[i].fabrics;
    for (uint32_t i = 0; i < r->n_nics; i++) {
        const struct nic *nic = &r->nics[i];
        const struct topology_bridge *bridge = &p->bridges[nic->bridge];
        if (fabrics && !nic->fabrics)
            continue;
        p->nics[p->n_nics] = (struct topology_device){.bridge = nic->bridge,
                                                      .cpu = bridge->cpu,
                                                      .line = nic->line,
                                                      .dev = p->n_nics,
                                                      .rank = -1,
                                                      .gbps = nic_gbps(bridge->gbytes)};
        gbps = p->nics[p->n_nics].gbps > gbps ? p->nics[p->n_nics].gbps : gbps;
        p->n_nics++;
    }
    if (p->n_nics > 0)
        err_warn(r->pieces.err, r->pieces.path,
                 "%s: hwloc does not give the rate of NICs: taken as the most that their PCIe "
                 "carries, %.0f Gbit/s",
                 r->pieces.name, gbps);
    if (r->unknown_links > 0)
        err_warn(r->pieces.err, r->pieces.path,
                 "%s: %u of %u GPUs have no PCIe speed: counted as 16 lanes of 8 GT/s; lstopo run "
                 "as root gives it",
                 r->pieces.name, r->unknown_links, r->n_devices);
}

/* ---- elements ---- */

static enum object object_of(const char *type)
{
    enum object object = 0;
    while (object < OTHER && (type == NULL || strcmp(type, objects[object]) != 0))
        object++;
    return object;
}

static void begin_topology(struct reading *r, const char *name, const char **attributes,
                           unsigned long line)
{
    const char *version = xml_attribute(attributes, "version");
    int number = version != NULL ? atoi(version) : 1;
    r->bits = number >= 3;
    if (strcmp(name, "topology") != 0)
        xml_pieces_error(&r->pieces, line, "<%.40s> is no topology of hwloc", name);
    else if (number < 2)
        xml_pieces_error(&r->pieces, line,
                         "is of hwloc 1: versions 2 and 3 are read, which lstopo has written "
                         "since 2017");
}

static void on_element(struct xml_pieces *x, const char *name, const char **attributes,
                       unsigned depth, unsigned long line)
{
    struct reading *r = (struct reading *)x;
    struct open *now = &r->open[depth];
    const struct open *above = depth > 0 ? &r->open[depth - 1] : NULL;
    bool object = strcmp(name, "object") == 0;
    *now = (struct open){object ? object_of(xml_attribute(attributes, "type")) : OTHER,
                         above != NULL ? above->bridge : NO_BRIDGE, NO_BRIDGE};
    uint32_t cpu = 0; // a bridge of the whole machine counts as one of its first CPU
    for (unsigned d = depth; d-- > 0;)
        if (r->open[d].first_cpu != NO_BRIDGE) {
            cpu = r->open[d].first_cpu;
            break;
        }
    if (depth == 0)
        begin_topology(r, name, attributes, line);
    else if (strcmp(name, "info") == 0)
        add_info(r, above->object, attributes);
    else if (now->object == NUMA)
        add_numa(r, attributes, depth, line);
    else if (now->object == PACKAGE) {
        r->family = r->model = 0;
        r->package_line = line;
    } else if (now->object == PCI ||
               (now->object == BRIDGE && xml_attribute(attributes, "pci_type") != NULL))
        now->bridge = add_bridge(r, attributes, now->bridge, cpu, now->object, line);
    else if (now->object == OS)
        add_os(r, attributes, above, line);
}

static void on_end(struct xml_pieces *x, unsigned depth)
{
    struct reading *r = (struct reading *)x;
    if (r->open[depth].object == PACKAGE)
        package_end(r);
}

/* ---- the file ---- */

static void stop_at_root(struct xml_pieces *x, const char *name, const char **attributes,
                         unsigned depth, unsigned long line)
{
    (void)attributes;
    (void)depth;
    ((struct reading *)x)->has_cpu = strcmp(name, "topology") == 0;
    xml_pieces_error(x, line, "the root is known");
}

bool hwloc_is(const char *dir, const char *name)
{
    struct err err = {0};
    struct reading r = {.pieces = {.name = name,
                                   .path = "",
                                   .err = &err,
                                   .noun = "a topology",
                                   .doctype = "topology",
                                   .start = stop_at_root}};
    xml_pieces_read(&r.pieces, dir);
    err_free(&err);
    return r.has_cpu;
}

static bool fill(struct reading *r, const struct nccl_machine *like, struct nccl_machine *m)
{
    struct xml_pieces *x = &r->pieces;
    char why[200];
    if (!r->has_cpu && strcmp(r->arch, "aarch64") == 0)
        r->parts->cpu = NCCL_CPU_ARM;
    else if (!r->has_cpu)
        err_add(x->err, x->path, "%s has no CPUVendor of a Package, nor Architecture aarch64",
                x->name);
    else if (r->parts->n_cpus == 0)
        err_add(x->err, x->path, "%s has no NUMANode", x->name);
    if (x->err->n_errors > 0)
        return false;
    r->parts->n_cpus += r->parts->n_cpus == 0;
    nics_finish(r);
    if (r->parts->n_gpus == 0) {
        err_add(x->err, x->path,
                "%s has no GPU (a PCIDev of NVIDIA with class 0300 or 0302): lstopo must be run on "
                "the server, without --no-io",
                x->name);
        return false;
    }
    if (!topology_machine(r->parts, x, m))
        return false;
    m->gpu = like->gpu;
    m->nvlink = like->nvlink;
    m->nvlinks = like->nvlinks;
    m->nvlink_bw = like->nvlink_bw;
    m->c2c_bw = like->c2c_bw;
    if (nccl_machine_valid(m, why, sizeof why))
        return true;
    err_add(x->err, x->path, "%s: %s", x->name, why);
    return false;
}

bool hwloc_read(const char *dir, const char *name, const char *path,
                const struct nccl_machine *like, struct nccl_machine *machine, struct err *err)
{
    static const int64_t generations[NCCL_GPUS] = {70, 80, 90, 100};
    if (like == NULL) {
        err_add(err, path,
                "%s does not say which NVLinks the GPUs have: {\"file\": \"%s\", \"like\": NAME} "
                "takes these and the GPU from a machine (collwire list machine); 1gpu_h100_400 has "
                "no NVLinks",
                name, name);
        return false;
    }
    if (like->gfx942) {
        err_add(err, path, "%s cannot be like %s, whose GPUs are AMD's", name, like->name);
        return false;
    }
    struct reading r = {.pieces = {.name = name,
                                   .path = path,
                                   .err = err,
                                   .noun = "a topology",
                                   .doctype = "topology",
                                   .deepest = DEPTH_MAX,
                                   .start = on_element,
                                   .end = on_end},
                        .parts = memory_zeroed(1, sizeof *r.parts),
                        .sm = generations[like->gpu]};
    bool good = xml_pieces_read(&r.pieces, dir) && fill(&r, like, machine);
    free(r.parts);
    return good;
}
