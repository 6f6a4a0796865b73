// SPDX-License-Identifier: MIT
// The table of machines. Where a source does not say it, PCIe is 16 lanes wide, and a NIC is drawn
// under the switch of the GPU with its number.
#include "collective/nccl/nccl_machine.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// GB/s of 16 lanes, as NCCL counts the generations of PCIe (graph/topo.cc).
#define GEN3 12
#define GEN4 24
#define GEN5 48

// GB/s between sockets, as NCCL counts them (graph/topo.h).
#define CPU_BW_SAPPHIRE_RAPIDS 22
#define CPU_BW_EMERALD_RAPIDS 40

// A device under switch or CPU `number`, with PCIe of `width` GB/s.
#define UNDER(number, width)                                                                       \
    {                                                                                              \
        .parent = (number), .bw = (width)                                                          \
    }
#define AT_CPU(number, width)                                                                      \
    {                                                                                              \
        .at_cpu = true, .parent = (number), .bw = (width)                                          \
    }

// Eight devices, each under its own switch, or each two of them under one.
#define EACH_OWN(width)                                                                            \
    {                                                                                              \
        UNDER(0, width), UNDER(1, width), UNDER(2, width), UNDER(3, width), UNDER(4, width),       \
            UNDER(5, width), UNDER(6, width), UNDER(7, width)                                      \
    }
#define TWO_EACH(width)                                                                            \
    {                                                                                              \
        UNDER(0, width), UNDER(0, width), UNDER(1, width), UNDER(1, width), UNDER(2, width),       \
            UNDER(2, width), UNDER(3, width), UNDER(3, width)                                      \
    }
// Switches of two sockets.
#define FOUR_SWITCHES(width)                                                                       \
    {                                                                                              \
        {0, width}, {0, width}, {1, width}, { 1, width }                                           \
    }
#define EIGHT_SWITCHES(width)                                                                      \
    {                                                                                              \
        {0, width}, {0, width}, {0, width}, {0, width}, {1, width}, {1, width}, {1, width},        \
        {                                                                                          \
            1, width                                                                               \
        }                                                                                          \
    }
#define EIGHT_NICS(gbps)                                                                           \
    {                                                                                              \
        gbps, gbps, gbps, gbps, gbps, gbps, gbps, gbps                                             \
    }

// Servers of two sockets with eight GPUs, and with one GPU, each beside a NIC on a switch.
#define EIGHT_EACH_WITH_NIC(width, gbps)                                                           \
    .gpus = 8, .nics = 8, .switches = 8, .cpus = 2, .pcie_switch = EIGHT_SWITCHES(width),          \
    .gpu_slot = EACH_OWN(width), .nic_slot = EACH_OWN(width), .nic_gbps = EIGHT_NICS(gbps)
#define ONE_WITH_NIC(width, gbps)                                                                  \
    .gpus = 1, .nics = 1, .switches = 1, .cpus = 1, .pcie_switch = {{0, width}},                   \
    .gpu_slot = {UNDER(0, width)}, .nic_slot = {UNDER(0, width)}, .nic_gbps = {gbps}

static const struct nccl_machine machines[] = {
    {.name = "dgx2",
     // Two switches in a row are drawn as one; a NIC serves two GPUs.
     .source = "NVIDIA DGX-2 System User Guide, DU-09130-001: 16 V100, 6 NVLinks each to "
               "NVSwitches, 8 NICs of 100 Gbit/s, 2 Xeon Platinum 8168",
     .gpu = NCCL_VOLTA,
     .cpu = NCCL_CPU_INTEL,
     .gpus = 16,
     .nics = 8,
     .switches = 8,
     .cpus = 2,
     .pcie_switch = EIGHT_SWITCHES(GEN3),
     .gpu_slot = {UNDER(0, GEN3), UNDER(0, GEN3), UNDER(1, GEN3), UNDER(1, GEN3), UNDER(2, GEN3),
                  UNDER(2, GEN3), UNDER(3, GEN3), UNDER(3, GEN3), UNDER(4, GEN3), UNDER(4, GEN3),
                  UNDER(5, GEN3), UNDER(5, GEN3), UNDER(6, GEN3), UNDER(6, GEN3), UNDER(7, GEN3),
                  UNDER(7, GEN3)},
     .nic_slot = EACH_OWN(GEN3),
     .nic_gbps = EIGHT_NICS(100),
     .nvlink = NCCL_NVLINK_SWITCH,
     .nvlinks = 6},
    {.name = "dgx_a100",
     .source = "NVIDIA DGX A100 System User Guide, DU-09821-001: 12 NVLinks a GPU, 8 NICs of "
               "200 Gbit/s, 2 GPUs and 2 NICs on a switch, 2 EPYC 7742",
     .gpu = NCCL_AMPERE,
     .cpu = NCCL_CPU_AMD,
     .gpus = 8,
     .nics = 8,
     .switches = 4,
     .cpus = 2,
     .pcie_switch = FOUR_SWITCHES(GEN4),
     .gpu_slot = TWO_EACH(GEN4),
     .nic_slot = TWO_EACH(GEN4),
     .nic_gbps = EIGHT_NICS(200),
     .nvlink = NCCL_NVLINK_SWITCH,
     .nvlinks = 12},
    {.name = "dgx_h100",
     .source = "NVIDIA DGX H100/H200 System User Guide, DU-11206-001: 18 NVLinks a GPU, 8 NICs of "
               "400 Gbit/s, one beside each GPU, 2 Xeon Platinum 8480C",
     .gpu = NCCL_HOPPER,
     .cpu = NCCL_CPU_INTEL,
     EIGHT_EACH_WITH_NIC(GEN5, 400),
     .nvlink = NCCL_NVLINK_SWITCH,
     .nvlinks = 18,
     .cpu_bw = CPU_BW_SAPPHIRE_RAPIDS},
    {.name = "dgx_b200",
     .source = "NVIDIA DGX B200 User Guide, DU-11876-001: 18 NVLinks a GPU, 8 NICs of "
               "400 Gbit/s, one beside each GPU, 2 Xeon Platinum 8570",
     .gpu = NCCL_BLACKWELL,
     .cpu = NCCL_CPU_INTEL,
     EIGHT_EACH_WITH_NIC(GEN5, 400),
     .nvlink = NCCL_NVLINK_SWITCH,
     .nvlinks = 18,
     .cpu_bw = CPU_BW_EMERALD_RAPIDS},
    {.name = "gh200",
     .source = "Fusco et al., Understanding Data Movement in Tightly Coupled Heterogeneous "
               "Systems: A Case Study with the Grace Hopper Superchip, 2024: 4 superchips, 6 "
               "NVLinks between each two, C2C of 450 GB/s, a NIC of 200 Gbit/s at each CPU",
     .gpu = NCCL_HOPPER,
     .cpu = NCCL_CPU_ARM,
     .gpus = 4,
     .nics = 4,
     .cpus = 4,
     .gpu_slot = {AT_CPU(0, GEN5), AT_CPU(1, GEN5), AT_CPU(2, GEN5), AT_CPU(3, GEN5)},
     .nic_slot = {AT_CPU(0, GEN5), AT_CPU(1, GEN5), AT_CPU(2, GEN5), AT_CPU(3, GEN5)},
     .nic_gbps = {200, 200, 200, 200},
     .nvlink = NCCL_NVLINK_PAIRS,
     .nvlinks = 6,
     .c2c_bw = 450},
    {.name = "1gpu_a100_100",
     .source = "no product: a server of one A100 and a NIC of 100 Gbit/s on one switch, for the "
               "vectors of the tests",
     .gpu = NCCL_AMPERE,
     .cpu = NCCL_CPU_INTEL,
     ONE_WITH_NIC(GEN4, 100)},
    {.name = "1gpu_h100_400",
     .source = "no product: a server of one H100 and a NIC of 400 Gbit/s on one switch, for the "
               "vectors of the tests",
     .gpu = NCCL_HOPPER,
     .cpu = NCCL_CPU_INTEL,
     ONE_WITH_NIC(GEN5, 400)},
    {.name = "hgx_h100_200",
     .source = "github.com/NVIDIA/nccl issue 1453: HGX H100 with 8 NICs of 200 Gbit/s",
     .gpu = NCCL_HOPPER,
     .cpu = NCCL_CPU_INTEL,
     EIGHT_EACH_WITH_NIC(GEN5, 200),
     .nvlink = NCCL_NVLINK_SWITCH,
     .nvlinks = 18,
     .cpu_bw = CPU_BW_SAPPHIRE_RAPIDS},
    {.name = "mi300x",
     // NCCL has no rules for GPUs of AMD: its own take them for Hopper, on a mesh of three quarters
     // of the 64 GB/s of a link, the rate that RCCL counts too (topo.h).
     .source = "AMD Instinct MI300X Platform data sheet: 8 GPUs, an Infinity Fabric link of 64 "
               "GB/s a direction between each two; 8 NICs of 400 Gbit/s, one beside each GPU",
     .gpu = NCCL_HOPPER,
     .gfx942 = true,
     .cpu = NCCL_CPU_AMD,
     EIGHT_EACH_WITH_NIC(GEN5, 400),
     .nvlink = NCCL_NVLINK_PAIRS,
     .nvlinks = 1,
     .nvlink_bw = 48},
    {.name = "zion",
     // The accelerators are no GPUs of NVIDIA; drawn as such of Volta's generation with one link
     // between each two, which NCCL's rules then take for NVLink.
     .source = "Naumov et al., Deep Learning Training in Facebook Data Centers: Design of Scale-up "
               "and Scale-out Systems, 2020: 8 sockets, 8 accelerators on a fabric of their own, "
               "8 NICs of 100 Gbit/s, one at each socket",
     .gpu = NCCL_VOLTA,
     .cpu = NCCL_CPU_INTEL,
     .gpus = 8,
     .nics = 8,
     .switches = 8,
     .cpus = 8,
     .pcie_switch =
         {{0, GEN3}, {1, GEN3}, {2, GEN3}, {3, GEN3}, {4, GEN3}, {5, GEN3}, {6, GEN3}, {7, GEN3}},
     .gpu_slot = EACH_OWN(GEN3),
     .nic_slot = {AT_CPU(0, GEN3), AT_CPU(1, GEN3), AT_CPU(2, GEN3), AT_CPU(3, GEN3),
                  AT_CPU(4, GEN3), AT_CPU(5, GEN3), AT_CPU(6, GEN3), AT_CPU(7, GEN3)},
     .nic_gbps = EIGHT_NICS(100),
     .nvlink = NCCL_NVLINK_PAIRS,
     .nvlinks = 1},
};

#define N_MACHINES (sizeof machines / sizeof *machines)

const struct nccl_machine *nccl_machine_at(uint32_t i)
{
    return i < N_MACHINES ? &machines[i] : NULL;
}

// Other names, under which people know the drawings of the tests' vectors.
static const char *const aliases[][2] = {{"dgxa100", "dgx_a100"},
                                         {"dgxh100", "dgx_h100"},
                                         {"dgxb200", "dgx_b200"},
                                         {"gh200x4", "gh200"},
                                         {"1gpu-a100-100", "1gpu_a100_100"},
                                         {"1gpu-h100-400", "1gpu_h100_400"},
                                         {"hgxh100-200-intel", "hgx_h100_200"}};

const struct nccl_machine *nccl_machine_named(const char *name)
{
    for (size_t a = 0; a < sizeof aliases / sizeof *aliases; a++)
        if (strcmp(aliases[a][0], name) == 0)
            name = aliases[a][1];
    for (size_t i = 0; i < N_MACHINES; i++)
        if (strcmp(machines[i].name, name) == 0)
            return &machines[i];
    return NULL;
}

/* ---- validity ---- */

#define FASTEST 100000 // GB/s, so that sums of rates in MB/s fit into 32 bits

__attribute__((format(printf, 3, 4))) static bool refuse(char *error, size_t error_bytes,
                                                         const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(error, error_bytes, format, arguments);
    va_end(arguments);
    return false;
}

static bool is_rate(double gb) { return gb >= 0.001 && gb <= FASTEST; }

static bool is_rate_or_none(double gb) { return gb == 0 || is_rate(gb); }

static bool slots_valid(const struct nccl_machine *m, const struct nccl_slot *slots, uint32_t n,
                        const char *what, char *error, size_t error_bytes)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct nccl_slot *slot = &slots[i];
        // The parent of a device is a switch or a CPU, of which the numbers count separately.
        if (slot->parent >= (slot->at_cpu ? m->cpus : m->switches))
            return refuse(error, error_bytes, "%s %u is under %s %u, which the machine lacks.",
                          what, i, slot->at_cpu ? "CPU" : "switch", slot->parent);
        if (!is_rate(slot->bw))
            return refuse(error, error_bytes, "The PCIe of %s %u has no rate in range.", what, i);
    }
    return true;
}

bool nccl_machine_valid(const struct nccl_machine *m, char *error, size_t error_bytes)
{
    if (m->gpus == 0 || m->gpus > NCCL_SERVER_GPUS)
        return refuse(error, error_bytes, "A server has 1 to %d GPUs, not %u.", NCCL_SERVER_GPUS,
                      m->gpus);
    if (m->nics > NCCL_SERVER_NICS || m->switches > NCCL_SERVER_SWITCHES)
        return refuse(error, error_bytes, "A server has at most %d NICs and %d switches.",
                      NCCL_SERVER_NICS, NCCL_SERVER_SWITCHES);
    if (m->cpus == 0 || m->cpus > NCCL_SERVER_CPUS)
        return refuse(error, error_bytes, "A server has 1 to %d CPUs, not %u.", NCCL_SERVER_CPUS,
                      m->cpus);
    if (m->gpu >= NCCL_GPUS || m->cpu > NCCL_CPU_ARM || m->nvlink > NCCL_NVLINK_PAIRS)
        return refuse(error, error_bytes, "The kind of GPU, CPU or NVLink is unknown.");
    for (uint32_t i = 0; i < m->switches; i++)
        if (m->pcie_switch[i].cpu >= m->cpus || !is_rate(m->pcie_switch[i].bw))
            return refuse(error, error_bytes, "Switch %u has no CPU or no rate in range.", i);
    for (uint32_t i = 0; i < m->nics; i++)
        // A NIC has its rate in Gbit/s, everything else in GB/s.
        if (!is_rate(m->nic_gbps[i] / 8))
            return refuse(error, error_bytes, "NIC %u has no rate in range.", i);
    if (!is_rate_or_none(m->nvlink_bw) || !is_rate_or_none(m->c2c_bw) ||
        !is_rate_or_none(m->cpu_bw))
        return refuse(error, error_bytes, "A rate of NVLink, C2C or CPUs is out of range.");
    // A machine may leave the rate of an NVLink to the generation of its GPU; 50 GB/s bounds those
    // rates here.
    double nvlink_bw = m->nvlink_bw > 0 ? m->nvlink_bw : 50;
    if (m->nvlink != NCCL_NVLINK_NONE && (m->nvlinks == 0 || m->nvlinks * nvlink_bw > FASTEST))
        return refuse(error, error_bytes, "The NVLinks of a GPU are none or too many.");
    return slots_valid(m, m->gpu_slot, m->gpus, "GPU", error, error_bytes) &&
           slots_valid(m, m->nic_slot, m->nics, "NIC", error, error_bytes);
}
