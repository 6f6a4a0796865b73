// SPDX-License-Identifier: MIT
// The settings of the RoCE transport.
#pragma once

#include "cc/cc.h"
#include "transport/nic/nic_spec.h"
#include "transport/transport_spec.h"

enum ack_class { ACK_CLASS_DATA, ACK_CLASS_CONTROL };
enum recovery { RECOVERY_GO_BACK_N, RECOVERY_SELECTIVE_REPEAT, RECOVERY_NONE };
enum udp_entropy { ENTROPY_QPN, ENTROPY_NONE };
enum nak_cnp { NAK_CNP_AUTO, NAK_CNP_TRUE, NAK_CNP_FALSE };
enum qp_mode { QP_PERSISTENT, QP_PER_MESSAGE };
enum qp_scaling { QP_SCALING_TURN, QP_SCALING_SPLIT };

struct roce_spec {
    int ack_class, recovery, qp, qp_scaling, entropy;
    int spray;          // enum spray_kind
    uint64_t entropies; // different entropies of a queue pair, with spray
    int cnp, cnp_scope; // enum cnp_mode, cnp_scope; AUTO = as the policy's preset expects
    uint64_t mtu_bytes; // payload of a full packet
    uint64_t ack_interval, retry_limit, qps_per_pair;
    ps_t cnp_interval_ps; // PARAM_AUTO_TIME = as the policy's preset expects
    /* how NICs react to congestion and loss; auto = as the preset of `nic` */
    ps_t cnp_delay_ps, nak_repeat_ps, slow_restart_ps, rto_adaptive_ps;
    int nak_cnp; // enum auto_or_bool
    double slow_restart_share;
    uint64_t window_packets; // selective repeat; 0 = no limit
    ps_t rto_ps;
    ps_t rto_low_ps, rto_high_ps; // selective repeat; PARAM_AUTO_TIME = computed from the path
    uint64_t reorder_packets;     // selective repeat: reordering by up to this many packets is not
                                  // a loss
    bool bdp_cap;                 // selective repeat
};
_Static_assert(sizeof(struct roce_spec) <= TRANSPORT_OWN_BYTES, "RoCE's settings fit");

static inline struct roce_spec *roce_spec_of(struct transport_spec *t) { return (void *)t->own; }
static inline const struct roce_spec *roce_spec_const(const struct transport_spec *t)
{
    return (const void *)t->own;
}

// The function transport_ops.complete: sets up the notification point that the preset expects,
// where the spec says "auto".
void roce_complete(struct transport_spec *t, const struct cc_preset *preset,
                   const struct nic_preset *nic);

// Return the sizes of packets. `first`: the data packet is the first of its message and has a RETH.
struct packet_sizes roce_data_sizes(const struct transport_spec *t, uint32_t payload, bool first);
struct packet_sizes roce_ack_sizes(const struct transport_spec *t);
struct packet_sizes roce_cnp_sizes(const struct transport_spec *t);
