// SPDX-License-Identifier: MIT
// Results of messages. Times are in ps; -1 = null.
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "engine/base/units.h"
#include "engine/critical_path.h"

struct flow_record {
    uint64_t id, bytes, delivered_bytes, packets, retransmitted;
    uint32_t job, qp, src, dst, cnps, timeouts;
    ps_t start_ps, fct_ps, delivered_ps, ideal_ps;
    // from the first to the last packet: in a capture (0 = the message is from none), and here
    ps_t measured_ps, simulated_ps;
    ps_t life_ps[PATH_CAUSES]; // from the post to the delivery, by cause; all 0 = not delivered
    uint8_t status;            // enum message_status: 0 running, 1 done, 2 failed
    uint16_t dim; // along which its ranks differ, the number of dimensions = several; set when the
                  // run has ended, and FLOW_DIM_NONE where the network has one dimension
};

enum { FLOW_DIM_NONE = UINT16_MAX };

struct stats {
    double min, mean, p50, p95, p99, max;
};

struct histogram_bin {
    double below; // the upper edge; values are smaller
    uint64_t count;
};
struct histogram {
    struct histogram_bin *bins; // that are not empty, in ascending order
    size_t n;
};

struct flows_summary {
    uint64_t count, failed, running, bytes;
    struct stats fct_ns, slowdown;
    struct histogram fct_ns_bins, slowdown_bins; // empty if all messages are listed
    double jain;                                 // of goodput
};

// Messages that are from a capture and were delivered; sums in ns.
struct measured_summary {
    uint64_t count; // 0 = there are none
    double measured_ns, simulated_ns;
    struct stats ratio; // of single messages: simulated / measured
};

// Of a hybrid network, by payload bytes.
#define NOT_QUIET_MOST 11 // reasons for which messages are packets (sim/hybrid/hybrid.h)
struct hybrid_result {
    double quiet_share;
    // The distance of jobs' times from those of packets, over drawn scenarios with this kind of
    // work: shares.
    struct hybrid_error {
        const char *kind; // of a job; "all" = of any
        uint64_t cases;
        double p50, p90, most;
        const char *outside; // "kind" or "ranks": the scenario is none of these; NULL = it is
    } error;
    struct not_quiet_share {
        const char *reason;
        double share;
    } not_quiet[NOT_QUIET_MOST], *reasons; // reasons: these
    size_t n_reasons;
};

// Clear-to-send admission.
struct admission_result {
    uint64_t pieces, held, grants;
    ps_t waited_ps; // by the pieces that were held
};
