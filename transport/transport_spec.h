// SPDX-License-Identifier: MIT
// Settings of a transport and its NICs, as a scenario gives them.
#pragma once

#include "cc/cc.h"

enum transport_kind { TRANSPORT_ROCE };
enum ack_class { ACK_CLASS_DATA, ACK_CLASS_CONTROL };
enum recovery { RECOVERY_GO_BACK_N, RECOVERY_SELECTIVE_REPEAT, RECOVERY_NONE };
enum udp_entropy { ENTROPY_QPN, ENTROPY_NONE };
enum qp_mode { QP_PERSISTENT, QP_PER_MESSAGE };
enum overhead_mode { OVERHEAD_ETHERNET, OVERHEAD_NONE, OVERHEAD_CUSTOM };

struct transport_spec {
    int kind, ack_class, recovery, qp, entropy;
    int cnp, cnp_scope; // enum cnp_mode, cnp_scope; AUTO = the preset's
    uint64_t mtu_bytes; // payload of a full packet
    uint64_t ack_interval, retry_limit, qps_per_pair;
    ps_t cnp_interval_ps; // PARAM_AUTO_TIME = the preset's
    ps_t rto_ps, start_jitter_ps;
    ps_t rto_low_ps, rto_high_ps; // selective repeat; PARAM_AUTO_TIME = from the path
    uint64_t cls;                 // of data, PARAM_AUTO = the job's
    uint64_t reorder_packets;     // selective repeat: so much reordering is no loss
    bool bdp_cap;                 // selective repeat
    bool stripe;                  // a message goes by all planes
    double clock_ppm;
    int overhead;                         // enum overhead_mode
    uint64_t overhead_data, overhead_ack; // OVERHEAD_CUSTOM: bytes beyond the payload
    /* derived */
    uint32_t int_bytes; // of INT behind the IP packet, in data and ACKs
};

// `wire_overhead` is a word or an object {"data", "ack"}: config maps it.
extern const struct param transport_params[], overhead_params[];
extern const size_t n_transport_params, n_overhead_params;
extern const char *const overhead_words[]; // "ethernet", "none", NULL

// The notification point that a preset means, nothing left AUTO; and put it where `t` says "auto".
struct cc_notification notification_of(const struct cc_preset *preset);
void notification_fill(struct transport_spec *t, const struct cc_preset *preset);

// Bytes of packets under a spec: what a queue holds and what the line spends.
struct packet_sizes {
    uint32_t frame, wire;
};
struct packet_sizes data_sizes(const struct transport_spec *t, uint32_t payload, bool reth);
struct packet_sizes ack_sizes(const struct transport_spec *t);
struct packet_sizes cnp_sizes(const struct transport_spec *t);
