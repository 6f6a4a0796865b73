// SPDX-License-Identifier: MIT
// The part of the network stack that runs on cores of the host (engine/cores/cores.h): what it
// costs to send and to receive over TCP.
//
// Receiving: data packets that have arrived wait for a thread in a queue for each flow. The thread
// takes the waiting packets of a flow, at most what a call takes: a segment
// (`host.receive_segment`, as GRO joins packets), or several (`host.receive_most`). After the time
// for them the transport handles these packets: it acknowledges
// them and completes the messages that they end. Flows take turns. Waiting packets are part of the
// receive window of their flow, so the queues are bounded, and no packet is lost here. Sending:
// transport/tcp/send_buffer.c.
//
// Differs from Linux: there the kernel acknowledges data before the application has copied it, and
// closes the window if the copies fall behind. Here ACKs come after the copy. Both let the sender
// go as fast as the receiving thread, with a window of data in flight; but RTTs contain the wait
// for the thread here. ACKs, SYNs and FINs take no time of cores; the cost of an ACK belongs to
// that of the packets that it acknowledges.
// Sources: Cai et al., SIGCOMM 2021; Linux net/core/gro.c, net/ipv4/tcp_output.c.
#pragma once

#include "engine/cores/cores.h"
#include "engine/cores/host_spec.h"
#include "net/network.h"

struct hosts;
struct stack;

// Insert the stack between the network and the hosts, after hosts_init() and before adapters.
void stack_attach(struct hosts *hosts, const struct host_spec *spec, struct cores *cores);
void stack_free(struct hosts *hosts);

// Give the hosts of a shard (hosts_shard()) a stack of their own, if there is one. `below` is the
// context of the operations without it. Returns the context of those with it, or `below`.
void *stack_divide(struct hosts *shard, void *below);
void stack_shard_free(struct hosts *shard); // before the cores

// Whether a flow's transport has costs in this direction.
bool stack_sends(const struct hosts *hosts);

// The thread of a flow's source that sends its data.
struct core_thread *stack_send_thread(struct hosts *hosts, uint32_t flow);
// Give a task to a thread of a rank, in an event of the rank (core_run()).
void stack_run(struct hosts *hosts, struct core_thread *t, struct core_task *task, ps_t now);
// Returns the time of a thread to send `bytes` of a flow by so many calls, and the most that a call
// passes on.
ps_t stack_send_ps(const struct hosts *hosts, const struct core_thread *thread, uint64_t bytes,
                   uint64_t calls, uint32_t packet_bytes);
uint64_t stack_send_call(const struct hosts *hosts, uint32_t packet_bytes);
