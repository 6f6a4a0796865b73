// SPDX-License-Identifier: MIT
// The elements of the file become lists (topology_parts.h); the machine follows from these.
#include "collective/nccl/xml/topology.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collective/nccl/xml/hwloc.h"
#include "collective/nccl/xml/topology_parts.h"
#include "engine/base/memory.h"

#define DEPTH_MAX 64
#define HASH_TEXT 40

enum element { SYSTEM, CPU, PCI, GPU, NIC, NVLINK, C2C, NET, IGNORED, GRAPHS, GRAPH, ELEMENTS };

struct reading {
    struct xml_pieces pieces; // the first field: a pointer to it is one to the reading
    struct topology_parts *parts;
    enum element open[DEPTH_MAX];
    uint32_t bridge[DEPTH_MAX]; // of each open element: itself, or the nearest above
    char host[HASH_TEXT];       // host_hash of the first CPU
    uint64_t graphs, channels;  // of a file of graphs
};

/* ---- attributes ---- */

// The value of a number, decimal or hexadecimal, `otherwise` where it is not given. An error adds a
// message and returns `otherwise`.
static int64_t number(struct xml_pieces *x, unsigned long line, const char **attributes,
                      const char *name, int64_t least, int64_t most, int64_t otherwise)
{
    const char *text = xml_attribute(attributes, name);
    char *end;
    if (text == NULL)
        return otherwise;
    bool hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    long long value = strtoll(text, &end, hexadecimal ? 16 : 10);
    if (end != text && *end == '\0' && value >= least && value <= most)
        return value;
    xml_pieces_error(x, line, "%s is \"%.40s\", and must be a whole number from %lld to %lld", name,
                     text, (long long)least, (long long)most);
    return otherwise;
}

static int64_t required(struct xml_pieces *x, unsigned long line, const char **attributes,
                        const char *name, int64_t least, int64_t most)
{
    if (xml_attribute(attributes, name) == NULL)
        xml_pieces_error(x, line,
                         "%s is missing: the file must be what NCCL has found itself "
                         "(NCCL_TOPO_DUMP_FILE), not what it was given (NCCL_TOPO_FILE)",
                         name);
    return number(x, line, attributes, name, least, most, least);
}

// "0000:c4:00.0", digits of 16 and marks between them. Returns false if it is none.
static bool bus_id(const char *text, uint64_t *id)
{
    size_t digits = 0;
    *id = 0;
    for (; text != NULL && *text != '\0'; text++) {
        if (*text == ':' || *text == '.')
            continue;
        if (!isxdigit((unsigned char)*text) || ++digits > 16)
            return false;
        char digit[2] = {*text, '\0'};
        *id = *id << 4 | (uint64_t)strtoul(digit, NULL, 16);
    }
    return digits > 0;
}

static uint64_t bus_of(struct xml_pieces *x, unsigned long line, const char **attributes,
                       const char *name)
{
    const char *text = xml_attribute(attributes, name);
    uint64_t id;
    if (!bus_id(text, &id))
        xml_pieces_error(x, line, "%s is \"%.40s\", and must be a bus id like 0000:c4:00.0", name,
                         text != NULL ? text : "");
    return id;
}

// GB/s of a PCIe link, as NCCL counts it: 16 lanes where the file has 0, and 8 GT/s where it does
// not give a speed.
static double pcie_gbytes(struct xml_pieces *x, unsigned long line, const char **attributes)
{
    static const struct {
        double transfers; // GT/s
        int lane;         // in units of 100 Mbit/s
    } speeds[] = {{2.5, 15}, {5, 30}, {8, 60}, {16, 120}, {32, 240}, {64, 480}};
    const char *text = xml_attribute(attributes, "link_speed");
    int64_t width = number(x, line, attributes, "link_width", 0, 255, 0);
    char *end;
    int lane = 60;
    width = width == 0 || width == 255 ? 16 : width; // 255: the kernel does not know it
    double transfers = text != NULL ? strtod(text, &end) : 0;
    for (size_t i = 0; text != NULL && end != text && i < sizeof speeds / sizeof *speeds; i++)
        if (transfers == speeds[i].transfers)
            return (double)(width * speeds[i].lane) / 80;
    if (text != NULL && end != text)
        xml_pieces_error(x, line, "link_speed \"%.40s\" is not one of PCIe: 2.5, 5, 8, 16, 32, 64",
                         text);
    return (double)(width * lane) / 80;
}

/* ---- elements ---- */

static void add_cpu(struct reading *r, const char **attributes, unsigned long line)
{
    struct xml_pieces *x = &r->pieces;
    struct topology_parts *p = r->parts;
    const char *arch = xml_attribute(attributes, "arch"),
               *vendor = xml_attribute(attributes, "vendor"),
               *host = xml_attribute(attributes, "host_hash");
    char hash[HASH_TEXT];
    enum nccl_cpu cpu;
    double between;
    snprintf(hash, sizeof hash, "%s", host != NULL ? host : "");
    if (p->n_cpus == 0)
        memcpy(r->host, hash, sizeof hash);
    if (strcmp(r->host, hash) != 0)
        xml_pieces_error(x, line, "the file has several servers (host_hash), and one is expected");
    if (p->n_cpus == NCCL_SERVER_CPUS)
        xml_pieces_error(x, line, "a server has at most %d CPUs", NCCL_SERVER_CPUS);
    if (!topology_cpu(arch, vendor, number(x, line, attributes, "familyid", 0, INT32_MAX, 0),
                      number(x, line, attributes, "modelid", 0, INT32_MAX, 0), &cpu, &between))
        xml_pieces_error(x, line,
                         "the CPU is \"%.40s\" of \"%.40s\", and must be x86_64 of GenuineIntel "
                         "or AuthenticAMD, or arm64",
                         arch != NULL ? arch : "", vendor != NULL ? vendor : "");
    if (p->n_cpus > 0 && (cpu != p->cpu || between != p->cpu_bw))
        xml_pieces_error(x, line, "the CPUs are of several kinds");
    p->cpu = cpu;
    p->cpu_bw = between;
    p->n_cpus += !x->failed;
}

static uint64_t kind_of(struct xml_pieces *x, unsigned long line, const char **attributes)
{
    static const char *const names[] = {"vendor", "device", "subsystem_vendor", "subsystem_device"};
    uint64_t kind = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        kind = kind << 16 | (uint64_t)number(x, line, attributes, names[i], 0, 0xffff, 0);
    return kind;
}

static uint32_t add_bridge(struct reading *r, const char **attributes, unsigned long line,
                           uint32_t parent)
{
    struct xml_pieces *x = &r->pieces;
    struct topology_parts *p = r->parts;
    struct topology_bridge bridge = {.parent = parent,
                                     .cpu = p->n_cpus - 1,
                                     .busid = bus_of(x, line, attributes, "busid"),
                                     .kind = kind_of(x, line, attributes),
                                     .gbytes = pcie_gbytes(x, line, attributes)};
    if (p->n_bridges == TOPOLOGY_BRIDGES_MAX)
        xml_pieces_error(x, line, "a server has at most %d PCIe devices", TOPOLOGY_BRIDGES_MAX);
    if (x->failed)
        return NO_BRIDGE;
    p->bridges[p->n_bridges] = bridge;
    return p->n_bridges++;
}

static void add_gpu(struct reading *r, const char **attributes, unsigned long line, uint32_t bridge)
{
    struct xml_pieces *x = &r->pieces;
    struct topology_parts *p = r->parts;
    if (xml_attribute(attributes, "gcn") != NULL)
        xml_pieces_error(x, line,
                         "a GPU of AMD (gcn): topologies of RCCL are not read; machine "
                         "\"mi300x\" has RCCL's tables");
    if (p->n_gpus == NCCL_SERVER_GPUS)
        xml_pieces_error(x, line, "a server has at most %d GPUs", NCCL_SERVER_GPUS);
    if (p->n_gpus > 0 && p->gpus[p->n_gpus - 1].bridge == bridge)
        xml_pieces_error(x, line, "several ranks on one GPU are not modelled");
    struct topology_device gpu = {
        .bridge = bridge,
        .cpu = p->n_cpus - 1,
        .line = line,
        .sm = required(x, line, attributes, "sm", 0, 1000),
        .dev = required(x, line, attributes, "dev", 0, INT32_MAX),
        .rank = number(x, line, attributes, "rank", -1, INT32_MAX, -1),
    };
    if (!x->failed)
        p->gpus[p->n_gpus++] = gpu;
}

static void add_net(struct reading *r, const char **attributes, unsigned long line, uint32_t bridge)
{
    struct xml_pieces *x = &r->pieces;
    struct topology_parts *p = r->parts;
    // NCCL leaves both out: devices that are not opened, and those that are part of another one.
    int64_t dev = number(x, line, attributes, "dev", -1, INT32_MAX, -1),
            used = number(x, line, attributes, "net", 0, 1, 1),
            mbps = number(x, line, attributes, "speed", -1, INT32_MAX, 0);
    if (x->failed || dev < 0 || used == 0)
        return;
    for (uint32_t i = 0; i < p->n_nics; i++)
        if (p->nics[i].dev == dev) // a NIC without PCIe is listed below every CPU
            return;
    if (p->n_nics == NCCL_SERVER_NICS)
        xml_pieces_error(x, line, "a server has at most %d NICs", NCCL_SERVER_NICS);
    else
        p->nics[p->n_nics++] =
            (struct topology_device){.bridge = bridge,
                                     .cpu = p->n_cpus - 1,
                                     .line = line,
                                     .dev = dev,
                                     .rank = -1,
                                     .gbps = mbps > 0 ? (double)mbps / 1000 : 10};
}

static void add_nvlink(struct reading *r, const char **attributes, unsigned long line)
{
    struct xml_pieces *x = &r->pieces;
    struct topology_parts *p = r->parts;
    const char *class = xml_attribute(attributes, "tclass");
    bool to_switch = class != NULL && strncmp(class, "0x068000", 8) == 0,
         to_gpu = class != NULL && strncmp(class, "0x03", 4) == 0;
    uint32_t count = (uint32_t)required(x, line, attributes, "count", 1, 1024);
    if (!to_switch && !to_gpu)
        xml_pieces_error(x, line,
                         "tclass is \"%.40s\": an NVLink leads to an NVSwitch (0x068000) or to a "
                         "GPU (0x03..)",
                         class != NULL ? class : "");
    if (p->n_nvlinks == TOPOLOGY_NVLINKS_MAX)
        xml_pieces_error(x, line, "there are more than %d elements nvlink", TOPOLOGY_NVLINKS_MAX);
    uint64_t target = to_gpu ? bus_of(x, line, attributes, "target") : 0;
    if (!x->failed)
        p->nvlinks[p->n_nvlinks++] =
            (struct topology_nvlink){p->n_gpus - 1, to_switch, target, count, line};
}

static void add_c2c(struct reading *r, const char **attributes, unsigned long line)
{
    struct xml_pieces *x = &r->pieces;
    double each = (double)required(x, line, attributes, "bw", 1, 10000000),
           count = (double)required(x, line, attributes, "count", 1, 1024);
    if (!x->failed)
        r->parts->gpus[r->parts->n_gpus - 1].c2c = each * count / 1000;
}

static const struct {
    const char *name;
    unsigned below; // elements that may contain it, as bits; 0 = the whole file
    enum element element;
} elements[] = {
    {"system", 0, SYSTEM},
    {"cpu", 1 << SYSTEM, CPU},
    {"pci", 1 << CPU | 1 << PCI, PCI},
    {"gpu", 1 << PCI, GPU},
    {"nic", 1 << CPU | 1 << PCI, NIC},
    {"nvlink", 1 << GPU, NVLINK},
    {"c2c", 1 << GPU, C2C},
    {"net", 1 << NIC, NET},
    {"gin", 1 << NIC, IGNORED},
    {"rma", 1 << NIC, IGNORED},
    {"pcilink", 1 << PCI, IGNORED},
    {"graphs", 0, GRAPHS},
    {"graph", 1 << GRAPHS, GRAPH},
    {"channel", 1 << GRAPH, IGNORED},
    {"gpu", 1 << IGNORED, IGNORED}, // of a channel
    {"net", 1 << IGNORED, IGNORED},
};

static enum element element_of(const struct reading *r, const char *name, unsigned depth)
{
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
        if (strcmp(name, elements[i].name) == 0 &&
            (depth == 0 ? elements[i].below == 0
                        : (elements[i].below >> r->open[depth - 1] & 1) != 0))
            return elements[i].element;
    return ELEMENTS;
}

static void on_element(struct xml_pieces *x, const char *name, const char **attributes,
                       unsigned depth, unsigned long line)
{
    struct reading *r = (struct reading *)x;
    enum element element = element_of(r, name, depth);
    uint32_t above = depth > 0 ? r->bridge[depth - 1] : NO_BRIDGE;
    r->open[depth] = element;
    r->bridge[depth] = above;
    if (element == CPU)
        add_cpu(r, attributes, line);
    else if (element == PCI)
        r->bridge[depth] = add_bridge(r, attributes, line, above);
    else if (element == GPU)
        add_gpu(r, attributes, line, above);
    else if (element == NET)
        add_net(r, attributes, line, above);
    else if (element == NVLINK)
        add_nvlink(r, attributes, line);
    else if (element == C2C)
        add_c2c(r, attributes, line);
    else if (element == GRAPH)
        r->graphs++;
    else if (element == IGNORED && strcmp(name, "channel") == 0)
        r->channels++;
    else if (element == ELEMENTS && depth == 0)
        xml_pieces_error(x, line, "<%.40s> is no topology of NCCL, which begins with <system>",
                         name);
    else if (element == ELEMENTS)
        xml_pieces_error(x, line, "<%.40s> is not known here", name);
}

/* ---- the file ---- */

static bool fill(struct reading *r, struct nccl_machine *machine)
{
    if (r->open[0] != GRAPHS)
        return topology_machine(r->parts, &r->pieces, machine);
    err_add(r->pieces.err, r->pieces.path,
            "%s: these are %llu graphs of %llu channels that NCCL has found "
            "(NCCL_GRAPH_DUMP_FILE), which are derived here and not read; a machine is the "
            "topology, of NCCL_TOPO_DUMP_FILE",
            r->pieces.name, (unsigned long long)r->graphs, (unsigned long long)r->channels);
    return false;
}

static bool read_nccl(const char *dir, const char *name, const char *path,
                      struct nccl_machine *machine, struct err *err)
{
    struct reading r = {.pieces = {.name = name,
                                   .path = path,
                                   .err = err,
                                   .noun = "a topology",
                                   .deepest = DEPTH_MAX,
                                   .start = on_element},
                        .parts = memory_zeroed(1, sizeof *r.parts)};
    bool good = xml_pieces_read(&r.pieces, dir) && fill(&r, machine);
    free(r.parts);
    return good;
}

struct nccl_machine *nccl_topology_read(const char *dir, const char *name, const char *path,
                                        const struct nccl_machine *like, struct err *err)
{
    size_t length = strlen(name) + 1;
    struct nccl_machine *machine = memory_zeroed(1, sizeof *machine + length);
    bool hwloc = hwloc_is(dir, name);
    bool good = hwloc ? hwloc_read(dir, name, path, like, machine, err)
                      : read_nccl(dir, name, path, machine, err);
    if (good && like != NULL && !hwloc) {
        err_add(err, path, "`like` is for files of hwloc: a topology of NCCL says all itself");
        good = false;
    }
    machine->name = machine->file = memcpy(machine + 1, name, length);
    machine->source = hwloc ? "a topology of hwloc" : "a topology of NCCL";
    if (good)
        return machine;
    free(machine);
    return NULL;
}
