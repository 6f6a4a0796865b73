// SPDX-License-Identifier: MIT
// RoCEv2 reliable connections over the packet network; implements net/transfer.h.
//
// RDMA WRITE messages, PSN per packet, ACK where the sender asks, NAK once per gap, go-back-N, a
// retransmission timer that stops while PFC stops the NIC, and the notification point of DCQCN.
// Not modelled: memory registration, responder resources, end-to-end credits; a WRITE is not split
// at 2 GB.
#pragma once

#include "net/flow_id.h"
#include "net/network.h"
#include "net/transfer.h"
#include "transport/nic.h"
#include "transport/transport_spec.h"

// What holds in one dimension of the network.
struct roce_dim {
    struct transport_spec spec;
    const struct cc_ops *cc;
    const void *cc_params;
    struct packet_sizes full; // of a packet of mtu bytes without RETH
    struct packet_sizes ack;
    bool int_records;   // data gathers INT records
    bool hash_qp;       // switches hash the destination queue pair too
    ps_t global_rtt_ps; // the largest base RTT of all pairs, where the policy needs it
};

struct roce_path {
    uint32_t src_node, dst_node; // whose ports the ranks use: their own, unless they share
    const uint16_t *ports; // of the sending rank, counted from its first: equal ones; borrowed
    uint32_t n_ports;      // 0 = the ranks share a NIC
    uint16_t shared_port;  // counted alike: where they share a NIC, the port by which they meet
    bool cut_off; // no port leads there now: the path is that of the network without failures
    ps_t base_rtt_ps;
    uint64_t line_bps;
    uint32_t hops;
    ps_t queueing_ps; // in which every switch of it drains its whole buffer
};

// Choose the NIC port of a queue pair; again for one that was cut off when its port was chosen.
void roce_attach(struct roce *roce, struct qp *qp, const struct roce_path *path);
void roce_reattach(struct roce *roce, struct qp *qp);

struct roce_observer {
    void (*message_ended)(void *ctx, const struct message *m); // done or failed, before it is freed
    void *ctx;
};

struct pair_table; // transport/pairs.h

struct roce {
    /* config */
    struct network *net;
    struct roce_dim *dims;
    // The dimension that joins two ranks, and the path there.
    uint32_t (*joining_dim)(void *ctx, uint32_t src, uint32_t dst);
    // (of part `stripe` of cut messages: by its port; 0 = of whole ones).
    struct roce_path (*path)(void *ctx, uint32_t src, uint32_t dst, uint32_t dim, uint32_t stripe);
    void *path_ctx;
    struct transfer_client client;
    struct roce_observer observer;
    /* state */
    struct qp_array qps;
    struct nic *nics; // [global port of ranks * data classes in use + class's index]
    uint32_t n_nics;
    struct flow_ids flows; // by queue pair
    uint32_t *entropy[2];  // by queue pair: ECMP hash of data, of what comes back
    size_t cap_entropy;
    uint32_t *next_qpn; // [rank]
    struct pair_table *pairs;
    struct pair_table *np_pairs; // by addresses: the first queue pair, which has the CNP window
    struct np_window *np_ports;  // [global port of ranks]; NULL until a port shares a CNP window
    struct message_pool messages;
    uint64_t n_messages, n_running, n_failed;
    uint32_t n_rto_armed;
    ps_t last_delivery_ps;
    /* counters */
    uint64_t delivered_bytes, posted_bytes;
    uint64_t cnps_sent, echoed_marks, naks, timeouts, retransmitted;
    uint64_t cc_cuts; // times a policy lowered a rate or a window
};

// Attach to a network whose ports are set. The caller fills dims, path, client, observer first.
void roce_init(struct roce *roce, struct network *net);
void roce_free(struct roce *roce);
void roce_post(void *roce, const struct transfer_request *request, ps_t now);

/* Between the files of this folder */
uint32_t roce_qp_for(struct roce *roce, const struct transfer_request *request, ps_t now);
void roce_qp_rest(struct roce *roce, uint32_t index); // per_message: the message has ended
bool roce_pull(void *ctx, uint32_t node, uint32_t port, struct packet *p, ps_t now);
ps_t roce_next_pull(void *ctx, uint32_t port, ps_t now);
// The same where several data classes are in use.
bool roce_shared_pull(void *ctx, uint32_t node, uint32_t port, struct packet *p, ps_t now);
ps_t roce_shared_next_pull(void *ctx, uint32_t port, ps_t now);
void roce_pause_changed(void *ctx, uint32_t port, unsigned cls, bool paused, ps_t now);
void roce_on_ack(struct roce *roce, const struct packet *p, ps_t now);
void roce_on_cnp(struct roce *roce, const struct packet *p, ps_t now);
void roce_on_data(struct roce *roce, uint32_t port, struct packet *p, ps_t now);
void roce_cc_moved(struct roce *roce, uint32_t index, ps_t now); // after a hook: pace, timers
void roce_fail(struct roce *roce, struct qp *qp, ps_t now);      // gives up all its messages
void roce_wake(struct roce *roce, uint32_t index, ps_t now);     // it may have become able to send
ps_t roce_selective_rto_ps(const struct qp_sender *s);
void roce_selective_ack(struct roce *roce, struct qp *qp, const struct packet *p,
                        uint64_t una); // snd_una has moved from `una`
void roce_selective_timeout(struct qp_sender *s);
uint64_t roce_selective_take(struct qp_sender *s); // the packet to send again; retx_due holds
void roce_rto_fired(struct engine *e, struct sim_timer *timer, int revents);
void roce_cc_fired(struct engine *e, struct sim_timer *timer, int revents);
void roce_np_fired(struct engine *e, struct sim_timer *timer, int revents);

static inline struct message *roce_message(struct roce *roce, uint32_t slot)
{
    return &roce->messages.slots[slot];
}
static inline const struct roce_dim *roce_dim_of(const struct roce *roce, const struct qp *qp)
{
    return &roce->dims[qp->dim];
}
// The 64-bit packet number whose low bits are `psn`, nearest to `near`.
static inline uint64_t psn_restore(uint32_t psn, uint64_t near)
{
    return near + (uint64_t)(int64_t)(int32_t)(psn - (uint32_t)near);
}
// Before anything looks at or changes a sender: its NIC port replays what it has sent by now.
static inline void roce_settle(const struct qp *qp, ps_t now)
{
    port_settle(qp->roce->net, qp->snd.port, now);
}
static inline uint32_t roce_ack_class(const struct roce_dim *dim, const struct qp *qp)
{
    return dim->spec.ack_class == ACK_CLASS_DATA ? qp->cls : NET_CLASS_CONTROL;
}
