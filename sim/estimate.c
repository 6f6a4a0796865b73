// SPDX-License-Identifier: MIT
// Estimates the memory, time and output of a run.
#include "sim/estimate.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "sim/simulation.h"

const char *const estimate_part_names[] = {
    [ESTIMATE_QUEUE_PAIRS] = "queue pairs",
    [ESTIMATE_MESSAGES] = "messages",
    [ESTIMATE_PACKETS] = "packets in flight",
    [ESTIMATE_SERIES] = "time series (report.sample)",
    [ESTIMATE_RECORDS] = "records of messages (report.flows_max)",
    [ESTIMATE_COLLECTIVES] = "records of collectives",
    [ESTIMATE_DISTRIBUTIONS] = "statistics of messages",
    [ESTIMATE_PORTS] = "ports and their results",
};

/* Measured bytes per item with its share of tables and allocation; bytes of its JSON text, which is
 * written piece by piece. */
#define FLOW_EXTRA_BYTES 128
#define MESSAGE_BYTES (sizeof(struct message) + 128)
#define RECORD_BYTES (sizeof(struct flow_record) + 2 * sizeof(double)) // with its percentiles
#define RECORD_TEXT 640
#define COLLECTIVE_BYTES 1000    // the record, and its result after the run
#define COLLECTIVE_DIM_BYTES 450 // the same for each dimension of its schedule, with a phase
#define PORT_BYTES 580           // touched in the run, and its result with its name
#define PAIR_NS 5000             // to open a queue pair and to post its first message
#define SAMPLE_BYTES (sizeof(double) + 40)
#define SAMPLE_TEXT 16
#define CAPTURE_LARGE_BYTES 1e9 // a warning names the snaplen that keeps all headers

static double pairs_of_job(const struct sim *sim, const struct job_spec *job, bool *listed)
{
    *listed = false;
    if (job->kind->queue_pairs == NULL)
        return job_n_ranks(job, sim->fabric.graph.n_ranks);
    return job->kind->queue_pairs(job, listed);
}

/* ---- packets ---- */

static uint32_t smallest_mtu(const struct sim *sim)
{
    uint32_t least = UINT32_MAX;
    for (uint32_t t = 0; t < sim->fabric.hosts.n_transports; t++) {
        uint32_t mtu = hosts_dim(&sim->fabric.hosts, 0, t)->mtu_bytes;
        least = mtu < least ? mtu : least;
    }
    return least;
}

static double flight_packets(const struct sim *sim, double posted)
{
    double bytes = 0;
    for (uint32_t p = 0; p < sim->fabric.graph.n_ports; p++) {
        const struct graph_port *port = &sim->fabric.graph.ports[p];
        bytes += (double)bytes_in_ps(port->delay_ps, port->rate_bps);
    }
    for (uint32_t i = 0; i < sim->fabric.switches.n_switches; i++)
        bytes += (double)sim->spec->dims[fabric_switch_dim(&sim->fabric, i)].sw.buffer_bytes;
    bytes = bytes < posted ? bytes : posted;
    return bytes / (double)smallest_mtu(sim);
}

// Means over a sample of pairs of ranks: number of links, and number of parts of a message.
struct pair_means {
    double hops, parts;
};

static struct pair_means sample_pairs(const struct sim *sim)
{
    uint32_t n = sim->fabric.graph.n_ranks, pairs = 0;
    struct pair_means sum = {0, 0};
    for (uint32_t i = 1; i <= 64 && n > 1; i++) {
        uint32_t src = (uint32_t)((uint64_t)i * 7919 % n);
        uint32_t dst = (uint32_t)((src + 1 + (uint64_t)i * 104729 % (n - 1)) % n);
        uint32_t dim = fabric_message_dim(&sim->fabric, src, dst, UINT64_MAX);
        if (dim == GRAPH_NONE)
            continue;
        sum.hops += fabric_path((void *)(uintptr_t)&sim->fabric, src, dst, dim, 0, 0).hops;
        sum.parts += fabric_parts(&sim->fabric, src, dst, dim, 0);
        pairs++;
    }
    if (pairs == 0)
        return (struct pair_means){1, 1};
    return (struct pair_means){sum.hops / pairs, sum.parts / pairs};
}

// Nanoseconds per packet-hop: 60 if the network fits into the cache, 110 at 8192 ports, and then
// more with a power of the ports, as caches miss more often: 2.8 times as much at 98,304 (fat tree
// of 16,384 ranks), 5.1 times at 393,216 (of 65,536).
static double hop_ns(const struct sim *sim)
{
    double share = sim->fabric.graph.n_ports / 8192.;
    return share < 1 ? 60 + 50 * share : 110 * pow(share, 0.42);
}

/* ---- output ---- */

// Of the packets at the ports of capture `c`, with a snaplen of its own or another one.
static double one_capture_bytes(const struct sim *sim, size_t c, double hops, uint64_t snaplen)
{
    double per_port = hops / (sim->fabric.graph.n_ports > 0 ? sim->fabric.graph.n_ports : 1);
    struct capture_spec spec = sim->spec->captures[c];
    spec.snaplen_bytes = snaplen;
    // half of the packets are ACKs, whose frames are as long as headers
    double data = (double)captures_packet_bytes(&spec, smallest_mtu(sim) + 82),
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

struct estimate sim_estimate(const struct sim *sim)
{
    const struct spec *spec = sim->spec;
    struct estimate e = {0};
    bool raw = true; // all messages are listed in the scenario
    double pairs = 0, flows = 0, flow_bytes = 0, posted = (double)sim->workload.total_bytes;
    if (fabric_is_analytical(&sim->fabric))
        return e;
    struct pair_means means = sample_pairs(sim);
    for (size_t j = 0; j < spec->n_jobs; j++) {
        bool listed;
        const struct transport_dim *of_job =
            hosts_dim(&sim->fabric.hosts, 0, spec->jobs[j].transport);
        double n = pairs_of_job(sim, &spec->jobs[j], &listed);
        double n_flows = n * (double)of_job->connections_per_pair * means.parts;
        if (of_job->spec.admission == ADMISSION_CTS) // plus one for the grants
            n_flows = n_flows * (double)of_job->spec.channels + n;
        pairs += n;
        flows += n_flows;
        flow_bytes += n_flows * (double)(hosts_flow_bytes(of_job) + FLOW_EXTRA_BYTES);
        raw &= listed;
    }
    const struct transport_dim *t = &sim->fabric.hosts.dims[0];
    e.queue_pairs = (uint64_t)flows;
    double least = pairs * means.parts; // a packet for each pair
    e.packets = posted / (double)smallest_mtu(sim);
    e.packets = raw && e.packets < least ? least : e.packets;
    e.packet_hops = e.packets * (1 + 1 / (double)t->packets_per_ack) * means.hops;
    e.wall_s = (e.packet_hops * hop_ns(sim) + flows * PAIR_NS) * 1e-9;
    double messages = raw || pairs > e.packets ? pairs : e.packets;
    e.part_bytes[ESTIMATE_DISTRIBUTIONS] = distribution_bytes(sim, messages);
    e.part_bytes[ESTIMATE_COLLECTIVES] = (uint64_t)collective_bytes(sim);
    if (messages > (double)spec->report.flows_max)
        messages = (double)spec->report.flows_max;
    e.part_bytes[ESTIMATE_QUEUE_PAIRS] = (uint64_t)flow_bytes;
    e.part_bytes[ESTIMATE_PORTS] = (uint64_t)sim->fabric.graph.n_ports * PORT_BYTES;
    e.part_bytes[ESTIMATE_MESSAGES] = (uint64_t)(pairs * means.parts) * MESSAGE_BYTES;
    e.part_bytes[ESTIMATE_PACKETS] =
        (uint64_t)(flight_packets(sim, posted) * 2 *
                   (sizeof(struct packet) + sizeof(struct packet_meta)));
    e.part_bytes[ESTIMATE_RECORDS] = (uint64_t)messages * RECORD_BYTES;
    e.part_bytes[ESTIMATE_SERIES] = sim->sampler ? SERIES_MAX_VALUES * SAMPLE_BYTES : 0;
    e.output_bytes = (uint64_t)messages * RECORD_TEXT + capture_bytes(sim, e.packet_hops) +
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

char *estimate_text(const struct estimate *e, const char *prefix)
{
    enum estimate_part part = estimate_largest(e);
    char all[UNIT_TEXT], most[UNIT_TEXT], wall[UNIT_TEXT], output[UNIT_TEXT];
    ps_t wall_ps = e->wall_s < 1e5 ? (ps_t)(e->wall_s * (double)PS_PER_S) : 100000 * PS_PER_S;
    return text_format("estimate: up to %s of memory for the run, most of it for %s (%s)\n"
                       "%s%.3g packets and their ACKs over %.3g packet-hops, about %s\n"
                       "%sup to %s of output\n",
                       human_bytes(estimate_bytes(e), all), estimate_part_names[part],
                       human_bytes(e->part_bytes[part], most), prefix, e->packets, e->packet_hops,
                       human_time(wall_ps, wall), prefix, human_bytes(e->output_bytes, output));
}
