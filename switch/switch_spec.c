// SPDX-License-Identifier: MIT
// Parameter tables of switches. `pfc`, `ecn` and `routing` are objects of their own in a scenario.
#include "switch/switch_spec.h"

#define SW(f) offsetof(struct switch_spec, f)
const struct param switch_params[] = {
    {.name = "buffer", .type = PARAM_BYTES, .offset = SW(buffer_bytes), .def = "32MB", .min = "1KB",
     .max = "100GB", .help = "packet buffer shared by all ports", .source = "Tomahawk class: 32 MB"},
    {.name = "reserve", .type = PARAM_BYTES, .offset = SW(reserve_bytes), .def = "4KB",
     .max = "1GB", .help = "guaranteed per ingress port and class in use, outside the shared part",
     .source = "HPCC simulator"},
    {.name = "lossy_alpha", .type = PARAM_RATIO, .offset = SW(lossy_alpha), .def = "1",
     .min = "0.001", .max = "1000",
     .help = "a lossy class's egress queue may hold alpha * free shared buffer",
     .source = "Choudhury & Hahne, ToN 1998"},
};
const size_t n_switch_params = sizeof switch_params / sizeof *switch_params;

#define PFC(f) offsetof(struct pfc_spec, f)
const struct param pfc_params[] = {
    {.name = "enabled", .type = PARAM_BOOL, .offset = PFC(enabled), .def = "true",
     .help = "class 3 is lossless; off: it drops", .source = "IEEE 802.1Qbb"},
    {.name = "alpha", .type = PARAM_RATIO, .offset = PFC(alpha), .def = "0.125", .min = "0.001",
     .max = "1000", .help = "XOFF when an ingress holds more than alpha * free shared buffer",
     .source = "Choudhury & Hahne, ToN 1998; HPCC simulator"},
    {.name = "xon_offset", .type = PARAM_BYTES, .offset = PFC(xon_offset_bytes), .def = "auto",
     .can_auto = true, .max = "1GB",
     .help = "XON when the ingress is this far below the threshold; auto = 2 full packets",
     .source = "HPCC simulator: 3 KB"},
    {.name = "headroom", .type = PARAM_BYTES, .offset = PFC(headroom_bytes), .def = "auto",
     .can_auto = true, .max = "10GB",
     .help = "per ingress port and lossless class; auto = from rate, delay and frame sizes",
     .source = "IEEE 802.1Qbb annex O"},
    {.name = "response", .type = PARAM_TIME, .offset = PFC(response_ps), .def = "0ns", .min = "0ns",
     .max = "1ms", .help = "time from receiving a pause to obeying it",
     .source = "IEEE 802.1Qbb: up to 60 quanta"},
    {.name = "quanta", .type = PARAM_COUNT, .offset = PFC(quanta), .def = "65535", .min = "1",
     .max = "65535", .help = "length of a pause in 512 bit times; refreshed at half",
     .source = "IEEE 802.3x"},
};
const size_t n_pfc_params = sizeof pfc_params / sizeof *pfc_params;

// `enabled` is the scenario's word for mode: config maps it. `ecn: "auto"` is AUTO.
#define ECN(f) offsetof(struct ecn_spec, f)
const struct param ecn_params[] = {
    {.name = "kmin", .type = PARAM_BYTES, .offset = ECN(kmin_bytes), .def = "400KB", .max = "1PB",
     .help = "no marking below this egress queue", .source = "RED; Zhu et al., SIGCOMM 2015"},
    {.name = "kmax", .type = PARAM_BYTES, .offset = ECN(kmax_bytes), .def = "1600KB", .max = "1PB",
     .help = "every packet is marked above this egress queue",
     .source = "RED; Zhu et al., SIGCOMM 2015"},
    {.name = "pmax", .type = PARAM_RATIO, .offset = ECN(pmax), .def = "0.2", .min = "0", .max = "1",
     .help = "marking probability at kmax", .source = "RED; Zhu et al., SIGCOMM 2015"},
};
const size_t n_ecn_params = sizeof ecn_params / sizeof *ecn_params;
