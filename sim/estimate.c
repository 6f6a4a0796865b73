// SPDX-License-Identifier: MIT
// Estimates the memory, time and output of a run.
#include "sim/estimate.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "collective/traffic.h"
#include "sim/advice/advice.h"
#include "sim/simulation.h"

/* ---- volume ---- */

// Counts what jobs will send: by the messages that their kinds estimate, else by their bytes.

struct sim;

struct volume {
    double pairs;      // of ranks that exchange messages
    double flows;      // queue pairs: a pair of ranks may use several
    double flow_bytes; // memory of the queue pairs, without tables
    double messages;   // at most; parts of a message count as one
    double posts;   // the likely number; unknown messages count as a library's pieces or one a pair
    double packets; // of data, without ACKs
    double hops, parts; // means over packets: number of links; over messages: number of parts
    double phases;      // of collectives, summed over all ranks and chunks
    double unacked; // payload in flight at the same time, as far as messages and policies limit it
    uint32_t smallest_mtu; // sim_smallest_mtu()
    bool listed;           // all messages are listed in the scenario
};

// The payload of the smallest full packet of all transports.
static uint32_t sim_smallest_mtu(const struct sim *sim)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t t = 0; t < sim->fabric.hosts.n_transports; t++) {
        uint32_t mtu = hosts_dim(&sim->fabric.hosts, 0, t)->mtu_bytes;
        least = mtu < least ? mtu : least;
    }
    return least;
}

static void job_traffic(const struct sim *sim, const struct job_run *run, struct comm_traffic *t)
{
    const struct job_spec *job = run->spec;
    *t = (struct comm_traffic){.mtu_bytes = sim_smallest_mtu(sim)};
    if (job->kind->traffic)
        job->kind->traffic(job, t);
    else
        t->pairs = job_n_ranks(job, sim->fabric.graph.n_ranks);
    if (t->n == 0 && job->kind->program->sample)
        job->kind->program->sample(run->self, t);
    if (t->n > 0)
        return;
    // pairs of ranks anywhere in the network
    uint32_t n = job_n_ranks(job, sim->fabric.graph.n_ranks);
    // Multiples of large primes spread the sample over all ranks; without random numbers, an
    // estimate is the same each time.
    for (uint32_t i = 1; i <= COMM_SAMPLE && n > 1; i++) {
        uint32_t src = (uint32_t)((uint64_t)i * 7919 % n);
        uint32_t dst = (uint32_t)((src + 1 + (uint64_t)i * 104729 % (n - 1)) % n);
        t->sample[t->n++] = (struct comm_message){src, dst, 1};
    }
}

// Means over the sample, by packets.
struct path_means {
    double hops, parts;
};

static struct path_means sample_means(const struct sim *sim, const struct job_spec *job,
                                      const struct comm_traffic *t)
{
    const struct fabric *fabric = &sim->fabric;
    struct path_means sum = {0, 0};
    double weight = 0;
    for (uint32_t i = 0; i < t->n; i++) {
        const struct comm_message *m = &t->sample[i];
        uint32_t src = job_rank(job, m->src), dst = job_rank(job, m->dst);
        // With circuits, the dimension of large messages, which make most of the packets.
        uint32_t dim = src == dst ? GRAPH_NONE : fabric_message_dim(fabric, src, dst, UINT64_MAX);
        if (dim == GRAPH_NONE)
            continue;
        void *ctx = (void *)(uintptr_t)fabric;
        sum.hops += m->weight * fabric_path(ctx, src, dst, dim, job->transport, 0).hops;
        sum.parts += m->weight * fabric_parts(fabric, src, dst, dim, job->transport);
        weight += m->weight;
    }
    if (weight == 0)
        return (struct path_means){1, 1};
    return (struct path_means){sum.hops / weight, sum.parts / weight};
}

// Payload that a job has in flight at the same time, at most: of each queue pair what its policy
// lets it send, and no more than its messages that are under way.
static double unacked_bytes(const struct sim *sim, const struct job_spec *job,
                            const struct comm_traffic *t, double flows)
{
    double each = (double)advice_flight_bytes(&sim->fabric, 0, job->transport);
    // a rank may begin the next message of a pair before the one before has been acknowledged
    double at_once = (t->listed ? 1 : 2) * (t->at_once > 1 ? t->at_once : 1);
    double message = t->messages > 0 ? t->bytes / t->messages * at_once : each;
    return flows * (each < message ? each : message);
}

static void add_job(const struct sim *sim, const struct job_run *run, struct volume *v,
                    double *known_bytes)
{
    const struct job_spec *job = run->spec;
    const struct transport_dim *dim = hosts_dim(&sim->fabric.hosts, 0, job->transport);
    struct comm_traffic t;
    job_traffic(sim, run, &t);
    struct path_means means = sample_means(sim, job, &t);
    double flows = t.pairs * (double)dim->connections_per_pair * means.parts;
    if (dim->spec.admission == ADMISSION_CTS) // plus one for the grants
        flows = flows * (double)dim->spec.channels + t.pairs;
    v->pairs += t.pairs;
    v->flows += flows;
    v->flow_bytes += flows * (double)hosts_flow_bytes(dim);
    v->messages += t.messages;
    v->packets += t.packets;
    v->unacked += unacked_bytes(sim, job, &t, flows);
    v->listed &= t.listed;
    double weight = t.packets > 0 ? t.packets : 1;
    v->hops += weight * means.hops;
    v->parts += weight * means.parts;
    *known_bytes += t.bytes;
}

static struct volume volume_closed_form(const struct sim *sim)
{
    struct volume v = {.parts = 1};
    for (size_t j = 0; j < sim->spec->n_jobs; j++) {
        const struct job_spec *job = &sim->spec->jobs[j];
        struct comm_traffic t = {.mtu_bytes = UINT32_MAX};
        if (job->kind->traffic)
            job->kind->traffic(job, &t);
        v.messages += t.messages;
        v.phases += t.phases * job_n_ranks(job, sim->fabric.graph.n_ranks);
    }
    return v;
}

// Messages of jobs that libraries run, which cut an operation into pieces of some packets that
// cross some links each. Counted in runs of NCCL: 17 to 19 packet-hops a message, ACKs
// included.
#define PIECE_HOPS 18

static double pieces(const struct volume *v, double bytes)
{
    double packets = bytes > 0 ? bytes / (double)v->smallest_mtu : 0,
           n = 2 * packets * v->hops / PIECE_HOPS;
    return n > v->pairs ? n : v->pairs;
}

// Returns the volume of a network of packets, or in closed form (no packets, hops and queue pairs).
static struct volume sim_volume(const struct sim *sim)
{
    struct volume v = {.listed = true, .smallest_mtu = sim_smallest_mtu(sim)};
    bool unknown = false, cut = false; // the messages of a job; by a library
    double known = 0, weight = 0, posted = (double)sim->workload.total_bytes;
    if (fabric_is_analytical(&sim->fabric))
        return volume_closed_form(sim);
    for (size_t j = 0; j < sim->spec->n_jobs; j++) {
        double before = v.packets;
        add_job(sim, &sim->workload.jobs[j], &v, &known);
        unknown |= v.packets <= before;
        cut |= v.packets <= before && sim->workload.jobs[j].comm.library != NULL;
        weight += v.packets > before ? v.packets - before : 1;
    }
    v.hops = weight > 0 ? v.hops / weight : 1;
    v.parts = weight > 0 ? v.parts / weight : 1;
    if (unknown && posted > known)
        v.packets += (posted - known) / (double)v.smallest_mtu;
    else if (!unknown && known > 0) // a few ranks and steps stood for all
        v.packets *= posted / known;
    v.unacked = v.unacked < posted ? v.unacked : posted;
    v.posts = v.messages + (cut ? pieces(&v, posted - known) : unknown ? v.pairs : 0);
    if (unknown)
        v.messages += v.pairs > v.packets ? v.pairs : v.packets;
    return v;
}

/* ---- estimate ---- */

const char *const estimate_part_names[] = {
    [ESTIMATE_QUEUE_PAIRS] = "queue pairs",
    [ESTIMATE_MESSAGES] = "messages",
    [ESTIMATE_PACKETS] = "packets in flight",
    [ESTIMATE_SERIES] = "time series (report.sample)",
    [ESTIMATE_RECORDS] = "records of messages (report.flows_max)",
    [ESTIMATE_COLLECTIVES] = "records of collectives",
    [ESTIMATE_DISTRIBUTIONS] = "statistics of messages",
    [ESTIMATE_PORTS] = "ports and their results",
    [ESTIMATE_TILES] = "tiles of the network",
};

/* Measured bytes per item with its share of tables and allocation; bytes of its JSON text, which is
 * written piece by piece. */
#define FLOW_EXTRA_BYTES 128
#define MESSAGE_BYTES (sizeof(struct message) + 128)
#define RECORD_BYTES (sizeof(struct flow_record) + 2 * sizeof(double)) // with its percentiles
#define RECORD_TEXT 640
#define COLLECTIVE_BYTES 1140    // the record, its steps on critical paths, and its result
#define COLLECTIVE_DIM_BYTES 450 // the same for each dimension of its schedule, with a phase
#define PORT_BYTES 580           // touched in the run, and its result with its name
#define TILE_BYTES 190000        // its event queue, pools and mailbox
#define POOL_SLACK 1.3
#define MEMBER_BYTES 126 // closed form: a rank's part of a collective on its critical path
#define PHASE_BYTES 7    // the same for each chunk and phase
/* Costs in nanoseconds of one core. Each lies between the cost on an idle machine and the cost on a
 * machine that other work shares, which is about twice as high. So the estimate is within a factor
 * of 2 of most runs on either. */
#define HOP_NS 85 // of a network that fits into the cache
#define DOUBLING_NS 11
#define TILED_HOP_NS 175
#define PAIR_NS 4000    // to open a queue pair
#define MESSAGE_NS 3000 // to post and to end a message
#define PORT_NS 5000    // first touch of a port, with its part of the division into tiles
#define PHASE_NS 190    // closed form: of a rank, for each chunk
#define SAMPLE_BYTES (sizeof(double) + 40)
#define SAMPLE_TEXT 16
#define CAPTURE_LARGE_BYTES 1e9 // a warning names the snaplen that keeps all headers

/* ---- packets ---- */

// Packets in flight at the same time: not more than links and buffers hold, nor than messages and
// policies let out.
static double flight_packets(const struct sim *sim, double unacked)
{
    double bytes = 0;
    for (uint32_t p = 0; p < sim->fabric.graph.n_ports; p++) {
        const struct graph_port *port = &sim->fabric.graph.ports[p];
        bytes += (double)bytes_in_ps(port->delay_ps, port->rate_bps);
    }
    for (uint32_t i = 0; i < sim->fabric.switches.n_switches; i++)
        bytes += (double)sim->fabric.buffer_bytes[fabric_switch_dim(&sim->fabric, i)];
    bytes = bytes < unacked ? bytes : unacked;
    return bytes / (double)sim_smallest_mtu(sim);
}

// Memory of a packet in flight, with the free places of the pools and the letters between tiles.
static double packet_bytes(const struct sim *sim)
{
    const struct meta_pool *meta = &sim->fabric.net.meta;
    double bytes = (double)(sizeof(struct packet) + sizeof(struct packet_meta)) * POOL_SLACK;
    return bytes + (meta->keeps_hops ? (double)(meta->per_slot * sizeof(struct int_hop)) : 0);
}

// Nanoseconds per packet-hop: more for each doubling of the ports beyond 32, as caches miss more
// often, until tiles bound what a window of time touches.
static double hop_ns(const struct sim *sim)
{
    double ports = sim->fabric.graph.n_ports, doublings = ports > 32 ? log2(ports / 32) : 0;
    double ns = HOP_NS + DOUBLING_NS * doublings;
    return ns < TILED_HOP_NS ? ns : TILED_HOP_NS;
}

/* ---- output ---- */

// Of the packets at the ports of capture `c`, with a snaplen of its own or another one.
static double one_capture_bytes(const struct sim *sim, size_t c, double hops, uint64_t snaplen)
{
    double per_port = hops / (sim->fabric.graph.n_ports > 0 ? sim->fabric.graph.n_ports : 1);
    struct capture_spec spec = sim->spec->captures[c];
    spec.snaplen_bytes = snaplen;
    // One of 1 + packets_per_ack packets is an ACK, whose frame is as long as the headers.
    double data = (double)captures_packet_bytes(&spec, sim_smallest_mtu(sim) + 82),
           ack = (double)captures_packet_bytes(&spec, 82);
    double acks = 1 / (double)(1 + sim->fabric.hosts.dims[0].packets_per_ack);
    return per_port * captures_ports(&sim->fabric, c) * (data * (1 - acks) + ack * acks);
}

static uint64_t capture_bytes(const struct sim *sim, double hops)
{
    double bytes = 0;
    for (size_t c = 0; c < sim->spec->n_captures; c++)
        bytes += one_capture_bytes(sim, c, hops, sim->spec->captures[c].snaplen_bytes);
    return (uint64_t)bytes;
}

void sim_warn_captures(const struct sim *sim, const struct estimate *e, struct err *err)
{
    for (size_t c = 0; c < sim->spec->n_captures; c++) {
        char path[48], now[UNIT_TEXT], then[UNIT_TEXT];
        double whole =
                   one_capture_bytes(sim, c, e->packet_hops, sim->spec->captures[c].snaplen_bytes),
               cut = one_capture_bytes(sim, c, e->packet_hops, CAPTURE_HEAD_BYTES);
        if (whole <= CAPTURE_LARGE_BYTES || cut >= whole)
            continue;
        snprintf(path, sizeof path, "capture[%zu].snaplen", c);
        err_warn(err, path,
                 "the capture takes about %s, most of it payload of zeros; \"%uB\" keeps all "
                 "headers, in about %s",
                 human_bytes((uint64_t)whole, now), CAPTURE_HEAD_BYTES,
                 human_bytes((uint64_t)cut, then));
    }
}

static double collective_bytes(const struct sim *sim)
{
    double bytes = 0, each = COLLECTIVE_BYTES + COLLECTIVE_DIM_BYTES * (double)sim->spec->n_dims;
    for (size_t j = 0; j < sim->spec->n_jobs; j++) {
        const struct job_spec *job = &sim->spec->jobs[j];
        bytes += job->kind->collectives ? job->kind->collectives(job) * each : 0;
    }
    return bytes;
}

// Memory of the histograms: two for all messages, and two for each job if there are several jobs.
static uint64_t distribution_bytes(const struct sim *sim, double messages)
{
    size_t n = sim->spec->n_jobs > 1 ? sim->spec->n_jobs + 1 : 1;
    if (messages <= (double)sim->spec->report.flows_max)
        return 0; // counted with the records
    return n * 2 * distribution_bins_bytes();
}

static double collectives_of(const struct sim *sim)
{
    double n = 0;
    for (size_t j = 0; j < sim->spec->n_jobs; j++) {
        const struct job_spec *job = &sim->spec->jobs[j];
        n += job->kind->collectives
                 ? job->kind->collectives(job) * job_n_ranks(job, sim->fabric.graph.n_ranks)
                 : 0;
    }
    return n;
}

// A network in closed form: ranks step through the phases of collectives. Messages outside of
// collectives are not counted.
static struct estimate closed_form(const struct sim *sim, const struct volume *v)
{
    struct estimate e = {.closed_form = true};
    e.wall_s = v->phases * PHASE_NS * 1e-9;
    e.part_bytes[ESTIMATE_COLLECTIVES] =
        (uint64_t)(collective_bytes(sim) + collectives_of(sim) * MEMBER_BYTES +
                   v->phases * PHASE_BYTES);
    return e;
}

static double wall_s(const struct sim *sim, const struct volume *v, double packet_hops)
{
    return 1e-9 * (packet_hops * hop_ns(sim) + v->flows * PAIR_NS + v->posts * MESSAGE_NS +
                   sim->fabric.graph.n_ports * PORT_NS);
}

struct estimate sim_estimate(const struct sim *sim)
{
    const struct spec *spec = sim->spec;
    struct volume v = sim_volume(sim);
    if (fabric_is_analytical(&sim->fabric))
        return closed_form(sim, &v);
    struct estimate e = {
        .queue_pairs = (uint64_t)v.flows, .messages = v.posts, .packets = v.packets};
    const struct transport_dim *t = &sim->fabric.hosts.dims[0];
    uint32_t n_ports = sim->fabric.graph.n_ports;
    // each message, or part of one on its plane, is a packet at least, and its last one is
    // acknowledged
    double parts = v.posts * v.parts, acks = e.packets / (double)t->packets_per_ack;
    e.packets = e.packets > parts ? e.packets : parts;
    e.packet_hops = (e.packets + (acks > parts ? acks : parts)) * v.hops;
    e.payload_bytes = (double)sim->workload.total_bytes;
    e.hybrid = spec->network == NETWORK_HYBRID;
    e.wall_s = wall_s(sim, &v, e.hybrid ? 0 : e.packet_hops);
    e.hops_s = e.packet_hops * hop_ns(sim) * 1e-9;
    e.part_bytes[ESTIMATE_DISTRIBUTIONS] = distribution_bytes(sim, v.messages);
    e.part_bytes[ESTIMATE_COLLECTIVES] = (uint64_t)collective_bytes(sim);
    double records = (double)spec->report.flows_max;
    records = v.messages < records ? v.messages : records;
    e.part_bytes[ESTIMATE_QUEUE_PAIRS] = (uint64_t)(v.flow_bytes + v.flows * FLOW_EXTRA_BYTES);
    e.part_bytes[ESTIMATE_PORTS] = (uint64_t)n_ports * PORT_BYTES;
    e.part_bytes[ESTIMATE_TILES] = (uint64_t)(parallel_tiles_of(n_ports) - 1) * TILE_BYTES;
    e.part_bytes[ESTIMATE_MESSAGES] = (uint64_t)(v.pairs * v.parts) * MESSAGE_BYTES;
    // How many packets a hybrid network has at a time depends on the messages that share a port.
    if (!e.hybrid)
        e.part_bytes[ESTIMATE_PACKETS] =
            (uint64_t)(flight_packets(sim, v.unacked) * packet_bytes(sim));
    e.part_bytes[ESTIMATE_RECORDS] = (uint64_t)records * RECORD_BYTES;
    e.part_bytes[ESTIMATE_SERIES] = sim->sampler ? SERIES_MAX_VALUES * SAMPLE_BYTES : 0;
    e.output_bytes = (uint64_t)records * RECORD_TEXT + capture_bytes(sim, e.packet_hops) +
                     (sim->sampler ? SERIES_MAX_VALUES * SAMPLE_TEXT : 0);
    return e;
}

uint64_t estimate_bytes(const struct estimate *e)
{
    uint64_t sum = 0;
    for (int i = 0; i < ESTIMATE_PARTS; i++)
        sum += e->part_bytes[i];
    return sum;
}

enum estimate_part estimate_largest(const struct estimate *e)
{
    int largest = 0;
    for (int i = 1; i < ESTIMATE_PARTS; i++)
        if (e->part_bytes[i] > e->part_bytes[largest])
            largest = i;
    return (enum estimate_part)largest;
}

static const char *seconds_text(double s, char text[UNIT_TEXT])
{
    return human_time(s < 1e5 ? (ps_t)(s * (double)PS_PER_S) : 100000 * PS_PER_S, text);
}

char *estimate_text(const struct estimate *e, const char *prefix)
{
    enum estimate_part part = estimate_largest(e);
    char all[UNIT_TEXT], most[UNIT_TEXT], wall[UNIT_TEXT], output[UNIT_TEXT], hops[UNIT_TEXT];
    human_bytes(estimate_bytes(e), all);
    human_bytes(e->part_bytes[part], most);
    seconds_text(e->wall_s, wall);
    human_bytes(e->output_bytes, output);
    if (e->closed_form)
        return text_format("estimate: up to %s of memory for the run, most of it for %s (%s)\n"
                           "%sno packets: a network in closed form, about %s\n"
                           "%sup to %s of output\n",
                           all, estimate_part_names[part], most, prefix, wall, prefix, output);
    if (e->hybrid)
        return text_format("estimate: up to %s of memory for the run, most of it for %s (%s)\n"
                           "%sabout %s where no messages meet, and up to %.3g packet-hops where "
                           "they do, which take %s\n"
                           "%sup to %s of output\n",
                           all, estimate_part_names[part], most, prefix, wall, e->packet_hops,
                           seconds_text(e->hops_s, hops), prefix, output);
    return text_format("estimate: up to %s of memory for the run, most of it for %s (%s)\n"
                       "%s%.3g packets and their ACKs over %.3g packet-hops, about %s\n"
                       "%sup to %s of output\n",
                       all, estimate_part_names[part], most, prefix, e->packets, e->packet_hops,
                       wall, prefix, output);
}
