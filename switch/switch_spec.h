// SPDX-License-Identifier: MIT
// Settings of the switches of one dimension, as a scenario gives them.
#pragma once

#include "engine/param.h"

enum ecn_mode { ECN_OFF, ECN_ON, ECN_AUTO };

struct pfc_spec {
    bool enabled;
    double alpha;
    uint64_t xon_offset_bytes; // PARAM_AUTO_BYTES = 2 full packets
    uint64_t headroom_bytes;   // PARAM_AUTO_BYTES = computed per link
    ps_t response_ps;          // a received pause takes effect this much later
    uint64_t quanta;           // of each XOFF, 512 bit times
};

struct ecn_spec {
    int mode; // enum ecn_mode; AUTO = the policy's switch profile
    uint64_t kmin_bytes, kmax_bytes;
    double pmax;
};

struct switch_spec {
    uint64_t buffer_bytes;
    uint64_t reserve_bytes; // per ingress port and class in use
    double lossy_alpha;     // dynamic threshold of a lossy class's egress queues
    struct pfc_spec pfc;
    struct ecn_spec ecn;
};

extern const struct param switch_params[], pfc_params[], ecn_params[];
extern const size_t n_switch_params, n_pfc_params, n_ecn_params;
