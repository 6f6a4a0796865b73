// SPDX-License-Identifier: MIT
// `host`: cores of hosts, and what TCP's stack, or RDMA through the host's memory, costs them.
//
// Preset `linux`, one core at each end, from Cai et al. (Understanding Host Network Stack
// Overheads, SIGCOMM 2021), 3.4 GHz, 9000-byte MTU, TSO/GRO, aRFS, and from one flow at 100 Gb/s
// with and without offloads (tests/data/congestion, terabit_tcp): docs/host.md derives the values.
#include "config/object/scenario_parts.h"
#include "engine/text/object.h"
#include "engine/text/read.h"

#define FIELD(name) offsetof(struct host_spec, name)

static const char *const presets[] = {"none", "linux", NULL};
static const char *const owners[] = {"rank", "peer", NULL};
static const char *const rdma[] = {"direct", "staged", NULL};

static const struct host_spec values[] = {
    [HOST_NONE] = {.ranks = 1},
    [HOST_LINUX] = {.ranks = 1,
                    .send = {.rate_bps = UINT64_C(150000000000),
                             .packet_ps = 100 * PS_PER_NS,
                             .segment_ps = 880 * PS_PER_NS,
                             .call_ps = 450 * PS_PER_NS,
                             .segment_bytes = 65536,
                             .call_bytes = 65536},
                    .receive = {.rate_bps = UINT64_C(86000000000),
                                .packet_ps = 200 * PS_PER_NS,
                                .segment_ps = 880 * PS_PER_NS,
                                .call_ps = 3850 * PS_PER_NS,
                                .segment_bytes = 65536,
                                .call_bytes = 65536}},
};

static const struct param host_params[] = {
    PARAM_ROW("preset", ENUM, FIELD(preset), .def = "none", .choices = presets,
              .help = "none: messages cost no time of cores; linux: a kernel with segmentation "
                      "and receive offloads, some 42 Gb/s a core. Keys that are given replace the "
                      "preset's",
              .source = "Cai et al., SIGCOMM 2021; docs/host.md"),
    PARAM_ROW("ranks", COUNT, FIELD(ranks), .def = "1", .min = "1", .max = "1000000",
              .help = "ranks of a host, which share its cores: k * ranks to (k + 1) * ranks - 1"),
    PARAM_ROW("cores", COUNT, FIELD(cores), .def = "0", .max = "1000000",
              .help = "cores of a host, for network stacks, MPI processes and, with `compute`, "
                      "computations; 0 = each thread has one"),
    PARAM_ROW("threads", COUNT, FIELD(threads), .def = "0", .max = "256",
              .help = "threads in each direction, among which connections are distributed; 0 = "
                      "one for each connection",
              .source = "NCCL: a proxy thread and its NCCL_SOCKET_NTHREADS"),
    PARAM_ROW("threads_of", ENUM, FIELD(threads_of), .def = "rank", .choices = owners,
              .help = "rank: a rank has so many threads for all its connections; peer: for those "
                      "to each other rank",
              .source = "NCCL's socket transport: the threads belong to a connection of two ranks"),
    PARAM_ROW("spread", RATIO, FIELD(spread), .def = "0", .max = "0.95",
              .help = "each thread is slower by a random share, at most this, drawn by the seed: "
                      "caches, NUMA nodes and interrupts differ"),
    PARAM_ROW("compute", BOOL, FIELD(compute), .def = "false",
              .help = "computations of ranks run on the cores of their host: those that threads "
                      "leave, shared equally"),
    PARAM_ROW("rdma", ENUM, FIELD(rdma), .def = "direct", .choices = rdma,
              .help = "direct: the NIC reads and writes the memory of the rank (GPUDirect); "
                      "staged: through memory of the host, which takes two more crossings of the "
                      "bus (nic.bus_rate) at each end",
              .source = "NVIDIA GPUDirect RDMA; NCCL_NET_GDR_LEVEL"),
    PARAM_ROW("send_rate", RATE, FIELD(send.rate_bps), .def = "0bps", .max = "100Tbps",
              .help = "TCP: at which a thread copies what is sent; 0 = at once"),
    PARAM_ROW("send_packet", TIME, FIELD(send.packet_ps), .def = "0ns", .max = "1ms",
              .help = "TCP: of a thread for each packet that is sent"),
    PARAM_ROW("send_call", TIME, FIELD(send.call_ps), .def = "0ns", .max = "1ms",
              .help = "TCP: for each call, and each message is one at least"),
    PARAM_ROW("send_pass", TIME, FIELD(send.segment_ps), .def = "0ns", .max = "1ms",
              .help = "TCP: for each segment: its way through the stack to the NIC"),
    PARAM_ROW("send_segment", BYTES, FIELD(send.segment_bytes), .def = "0B", .max = "1MB",
              .help = "TCP: what the NIC cuts into packets (GSO, TSO); 0 = a packet"),
    PARAM_ROW("send_most", BYTES, FIELD(send.call_bytes), .def = "0B", .max = "1MB",
              .help = "TCP: what a call writes at most; 0 = a segment"),
    PARAM_ROW("receive_rate", RATE, FIELD(receive.rate_bps), .def = "0bps", .max = "100Tbps",
              .help = "TCP: at which a thread copies what has arrived; 0 = at once"),
    PARAM_ROW("receive_packet", TIME, FIELD(receive.packet_ps), .def = "0ns", .max = "1ms",
              .help = "TCP: of a thread for each packet that has arrived"),
    PARAM_ROW("receive_call", TIME, FIELD(receive.call_ps), .def = "0ns", .max = "1ms",
              .help = "TCP: for each call: an interrupt, a wake-up, and a system call"),
    PARAM_ROW("receive_pass", TIME, FIELD(receive.segment_ps), .def = "0ns", .max = "1ms",
              .help = "TCP: for each segment: its way through the stack"),
    PARAM_ROW("receive_segment", BYTES, FIELD(receive.segment_bytes), .def = "0B", .max = "1MB",
              .help = "TCP: what is joined at most (GRO, LRO); 0 = a packet"),
    PARAM_ROW("receive_most", BYTES, FIELD(receive.call_bytes), .def = "0B", .max = "1MB",
              .help = "TCP: what a call takes at most, of what has arrived; 0 = a segment"),
};
static const size_t n_host_params = sizeof host_params / sizeof *host_params;

#define PRESET(key, field)                                                                         \
    if (place_key(place, key).json == NULL)                                                        \
    host->field = preset->field

#define CROSSINGS 3 // of a bus by data that is staged in memory of the host

static void note_unused(struct reader *r, const struct place *place, const struct host_spec *host)
{
    const struct spec *spec = &r->scenario->spec;
    bool bus = false;
    for (uint32_t d = 0; d < spec->n_dims; d++)
        for (uint32_t k = 0; k <= spec->dims[d].nics.more; k++)
            bus |= spec->dims[d].nics.list[k].bus_rate_bps > 0;
    if (host->given && host->rdma == HOST_RDMA_STAGED && !bus) {
        struct place at = place_key(place, "rdma");
        place_warn(r->err, &at, "needs a bus to cross: nic.bus_rate, or a preset that has one");
    }
    if (host->given && spec->network == NETWORK_ANALYTICAL &&
        (host_stack_costs(&host->send) || host_stack_costs(&host->receive)))
        place_warn(r->err, place, "the analytical network has no costs of network stacks");
}

static void finish(struct reader *r, const struct place *place, void *value)
{
    struct host_spec *host = value;
    const struct host_spec *preset = &values[host->preset];
    host->given = place->json != NULL;
    for (uint32_t d = 0; d < r->scenario->spec.n_dims; d++)
        for (uint32_t k = 0; k < NIC_KINDS_MOST; k++)
            r->scenario->spec.dims[d].nics.list[k].crossings =
                host->rdma == HOST_RDMA_STAGED ? CROSSINGS : 1;
    PRESET("send_rate", send.rate_bps);
    PRESET("send_packet", send.packet_ps);
    PRESET("send_call", send.call_ps);
    PRESET("send_pass", send.segment_ps);
    PRESET("send_segment", send.segment_bytes);
    PRESET("send_most", send.call_bytes);
    PRESET("receive_rate", receive.rate_bps);
    PRESET("receive_packet", receive.packet_ps);
    PRESET("receive_call", receive.call_ps);
    PRESET("receive_pass", receive.segment_ps);
    PRESET("receive_segment", receive.segment_bytes);
    PRESET("receive_most", receive.call_bytes);
    note_unused(r, place, host);
}

static json_t *write_host(const struct scenario *s, const void *value)
{
    const struct host_spec *host = value;
    (void)s;
    return host->given ? params_json(host_params, n_host_params, host) : NULL;
}

// Left out of the resolved form where the scenario has none, so that earlier results stay the same.
extern const struct object host_object;
const struct object host_object = {
    .key = "host",
    .doc = "cores of hosts, and what messages cost them: TCP, and RDMA through the host's memory",
    .stage = STAGE_REST,
    .params = host_params,
    .n_params = &n_host_params,
    .offset = offsetof(struct scenario, spec.host),
    .finish = finish,
    .write = write_host,
};
