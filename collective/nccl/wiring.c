// SPDX-License-Identifier: MIT
// Rates of graph/topo.h; which links there are, graph/topo.cc (ncclTopoGetSystemFromXml).
#include "collective/nccl/wiring.h"

#define OLD_INTEL_MB 10000 // the fastest link between Intel CPUs that 2.21 knows

static int32_t mb(double gb) { return (int32_t)(gb * 1000 + 0.5); }

static int32_t nvlink_mb(const struct nccl_machine *m, enum nccl_version version)
{
    static const int32_t by_generation[NCCL_GPUS] = {20000, 20000, 20600, 40100};
    if (m->nvlink_bw > 0)
        return mb(m->nvlink_bw);
    // NCCL 2.21 has no rate for Blackwell and counts it as Hopper.
    return by_generation[version == NCCL_2_21_5 && m->gpu > NCCL_HOPPER ? NCCL_HOPPER : m->gpu];
}

static int32_t between_cpus_mb(const struct nccl_machine *m, enum nccl_version version)
{
    static const int32_t by_vendor[] = {
        [NCCL_CPU_INTEL] = 10000, [NCCL_CPU_AMD] = 16000, [NCCL_CPU_ARM] = 6000};
    int32_t rate = m->cpu_bw > 0 ? mb(m->cpu_bw) : by_vendor[m->cpu];
    bool unknown = version == NCCL_2_21_5 && m->cpu == NCCL_CPU_INTEL && rate > OLD_INTEL_MB;
    return unknown ? OLD_INTEL_MB : rate;
}

static void add_way(struct nccl_wiring *w, uint32_t from, uint32_t to, enum nccl_path type,
                    int32_t rate_mb)
{
    uint16_t at = (uint16_t)w->links++;
    w->link[at] = (struct nccl_link){.from = (uint16_t)from,
                                     .to = (uint16_t)to,
                                     .sibling = w->first[from],
                                     .type = (uint8_t)type,
                                     .rate_mb = rate_mb};
    w->first[from] = at;
}

static void add_link(struct nccl_wiring *w, uint32_t a, uint32_t b, enum nccl_path type,
                     int32_t rate_mb)
{
    // The two ways have neighbouring numbers, so `number ^ 1` is the way back.
    add_way(w, a, b, type, rate_mb);
    add_way(w, b, a, type, rate_mb);
}

static uint32_t switch_vertex(const struct nccl_wiring *w, uint32_t pcie_switch)
{
    return w->ends + pcie_switch;
}

static uint32_t parent_vertex(const struct nccl_wiring *w, const struct nccl_slot *slot)
{
    return slot->at_cpu ? nccl_cpu_vertex(w, slot->parent) : switch_vertex(w, slot->parent);
}

static uint32_t cpu_of(const struct nccl_machine *m, const struct nccl_slot *slot)
{
    return slot->at_cpu ? slot->parent : m->pcie_switch[slot->parent].cpu;
}

static void wire_gpus(struct nccl_wiring *w, const struct nccl_machine *m)
{
    // 2.21 counts C2C as NVLink.
    enum nccl_path c2c = w->version == NCCL_2_21_5 ? NCCL_PATH_NVL : NCCL_PATH_C2C;
    int32_t many_mb = (int32_t)m->nvlinks * w->nvlink_mb;
    for (uint32_t g = 0; g < w->gpus; g++) {
        const struct nccl_slot *slot = &m->gpu_slot[w->gpu_of_machine[g]];
        add_link(w, g, parent_vertex(w, slot), NCCL_PATH_PIX, mb(slot->bw));
        if (m->c2c_bw > 0)
            add_link(w, g, nccl_cpu_vertex(w, cpu_of(m, slot)), c2c, mb(m->c2c_bw));
        if (w->nvswitches > 0)
            add_link(w, g, nccl_nvswitch_vertex(w), NCCL_PATH_NVL, many_mb);
        for (uint32_t p = 0; m->nvlink == NCCL_NVLINK_PAIRS && p < g; p++)
            add_link(w, g, p, NCCL_PATH_NVL, many_mb);
    }
}

static void wire_others(struct nccl_wiring *w, const struct nccl_machine *m)
{
    for (uint32_t s = 0; s < m->switches; s++)
        add_link(w, switch_vertex(w, s), nccl_cpu_vertex(w, m->pcie_switch[s].cpu), NCCL_PATH_PIX,
                 mb(m->pcie_switch[s].bw));
    for (uint32_t n = 0; n < w->nics; n++) {
        uint32_t card = switch_vertex(w, m->switches) + n;
        w->port_mb[n] = mb(m->nic_gbps[n] / 8);
        add_link(w, card, parent_vertex(w, &m->nic_slot[n]), NCCL_PATH_PIX, mb(m->nic_slot[n].bw));
        add_link(w, card, nccl_nic_vertex(w, n), NCCL_PATH_LOC, w->port_mb[n]);
    }
    for (uint32_t c = 0; c < w->cpus; c++)
        for (uint32_t d = 0; d < c; d++)
            add_link(w, nccl_cpu_vertex(w, c), nccl_cpu_vertex(w, d), NCCL_PATH_SYS,
                     between_cpus_mb(m, w->version));
}

void nccl_wiring_init(struct nccl_wiring *w, const struct nccl_machine *m,
                      enum nccl_version version, uint64_t gpus, bool networked)
{
    w->version = version;
    w->gpu = m->gpu;
    w->cpu = m->cpu;
    w->networked = networked;
    w->gpus = 0;
    for (uint32_t g = 0; g < m->gpus; g++)
        if (gpus >> g & 1)
            w->gpu_of_machine[w->gpus++] = (uint8_t)g;
    // 2.30 lists the NICs of a server even for a communicator within that server.
    w->nics = networked || version == NCCL_2_30_7 ? m->nics : 0;
    w->cpus = m->cpus;
    w->nvswitches = m->nvlink == NCCL_NVLINK_SWITCH;
    w->ends = w->gpus + w->nics + w->cpus + w->nvswitches;
    w->vertices = w->ends + m->switches + w->nics;
    w->links = 0;
    w->nvlink_mb = nvlink_mb(m, version);
    for (uint32_t v = 0; v < w->vertices; v++)
        w->first[v] = NCCL_NO_LINK;
    wire_gpus(w, m);
    wire_others(w, m);
}
