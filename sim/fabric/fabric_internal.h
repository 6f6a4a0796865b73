// SPDX-License-Identifier: MIT
// Functions that the files of the fabric share.
#pragma once

#include "sim/fabric/fabric.h"

/* ---- building, in this order ---- */

void fabric_prepare_hosts(struct fabric *fabric);  // resolves the transports of each dimension
void fabric_add_latencies(struct fabric *fabric);  // to the links of the graph
void fabric_add_link_noise(struct fabric *fabric); // likewise
// Find the ranks that have the NIC of their dimension: after the routes, before paths are needed.
void fabric_nics_find(struct fabric *fabric, struct err *err);
// Build the routes, without links that are down.
void fabric_routes_build(struct fabric *fabric, struct err *err);
void fabric_circuits_init(struct fabric *fabric, struct err *err);
void fabric_circuits_free(struct fabric *fabric);
void fabric_build_network(struct fabric *fabric);
void fabric_weights_init(struct fabric *fabric); // after sizes are known
void fabric_build_switches(struct fabric *fabric, struct err *err);
void fabric_buffer_init(struct fabric *fabric, uint32_t index, struct err *err);
void fabric_trimming_init(struct fabric *fabric, uint32_t index);                // after the buffer
void fabric_slices_init(struct fabric *fabric, uint32_t index, struct err *err); // after trimming
void fabric_check_trimming(const struct fabric *fabric, struct err *err);
void fabric_check_headroom(const struct fabric *fabric, struct err *err);     // after all switches
void fabric_check_queue_limits(const struct fabric *fabric, struct err *err); // likewise
void fabric_routes_install(struct fabric *fabric);                            // into the switches
void fabric_meters_init(struct fabric *fabric, struct err *err); // after all switches
void fabric_faults_init(struct fabric *fabric, struct err *err);
void fabric_credits_init(struct fabric *fabric, struct err *err);  // after the hosts
void fabric_adapters_init(struct fabric *fabric, struct err *err); // after the hosts
void fabric_reductions_free(struct fabric *fabric);

// Keep the longest paths from now on: once all is built, and whenever a link has changed.
void fabric_longest_keep(struct fabric *fabric);

/* ---- aggregators ---- */

// Number of aggregators of a graph without any: the switches of dimensions with switch.reduction.
uint32_t fabric_count_aggregators(const struct fabric *fabric);
// Add an aggregator to each of these switches, for which room has been reserved.
void fabric_add_aggregators(struct fabric *fabric);

/* ---- ports and links ---- */

uint64_t fabric_port_rate(const struct fabric *fabric, uint32_t port); // with its clock's error
// NULL = the quality of links is not measured.
bool fabric_joined_by_circuit(const struct fabric *fabric, uint32_t src, uint32_t dst,
                              uint32_t dim);
// Reduce the `n` ports *port, which lead from node `src` to node `dst`, to the port of stripe
// `stripe`. Returns 1, or 0 if there is none.
uint32_t fabric_stripe_port(const struct fabric *fabric, uint32_t src, uint32_t dst, uint32_t dim,
                            uint32_t stripe, const uint16_t **port, uint32_t n);
// struct host_paths.arrives
bool fabric_arrives(void *ctx, const struct flow_id *id, uint32_t port, uint32_t entropy);
uint32_t fabric_joining_dim(void *ctx,
                            const struct transfer_request *request); // ctx: the fabric

/* ---- buffers ---- */

bool fabric_is_lossless(const struct switch_spec *sw, unsigned cls);
// The length from which every packet of the transport's class is marked at a port, even at a port
// that spares the last hop; UINT64_MAX = packets are not marked.
uint64_t fabric_marked_bytes(const struct fabric *fabric, uint32_t dim, uint32_t transport,
                             uint32_t port);
// Scale the limits of lossy queues and the ECN thresholds of a port of a switch to a share of what
// the scenario says; 1 = all.
void fabric_scale_buffers(struct fabric *fabric, uint32_t port, double share);
// Bytes of a NIC's buffer that a lossless class needs at a port of a rank.
uint32_t fabric_nic_headroom(const struct fabric *fabric, uint32_t port, uint32_t n_lossless);
// fabric_queue_limit_everywhere(): true if all switches of a dimension have its queue limit;
// fabric_queue_limit_at(): true if switches.nodes[index] has it.
bool fabric_queue_limit_everywhere(const struct queue_limit_spec *limit);
bool fabric_queue_limit_at(const struct fabric *fabric, uint32_t index);

/* ---- transports ---- */

// Base RTT of one link: the delays of both directions, and the times to receive a full packet as
// far as it must arrive before it is forwarded, and its ACK.
ps_t fabric_hop_rtt_ps(const struct fabric *fabric, const struct transport_dim *sizes,
                       uint32_t port);

// The largest packets of all transports of a dimension; `frame` is the largest of any kind.
struct largest_packets {
    uint32_t first_wire, full_wire, full_frame, ack_wire, frame;
};
struct largest_packets fabric_largest_packets(const struct fabric *fabric, uint32_t dim);
// The stack whose data a class carries in a dimension; among several stacks, one whose policy
// expects ECN marks.
const struct stack_spec *fabric_stack_of_class(const struct fabric *fabric, uint32_t dim,
                                               unsigned cls);
uint8_t fabric_classes_in_use(const struct fabric *fabric); // bit set
// Least time that a data packet from src to dst and its ACK spend in the NICs of their receivers.
ps_t fabric_adapter_rtt_ps(const struct fabric *fabric, uint32_t src, uint32_t dst, uint32_t dim,
                           uint32_t transport);
enum int_mode fabric_int_mode(const struct dim_spec *dim);
uint32_t fabric_int_bytes(const struct dim_spec *dim, uint32_t transport);
// True if switches of a dimension trim packets of a transport. Needs no network.
bool fabric_trims(const struct spec *spec, uint32_t dim, uint32_t transport);
