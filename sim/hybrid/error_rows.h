// SPDX-License-Identifier: MIT
// How far hybrid networks were from packets in drawn scenarios, by kind of work: written by
// tests/hybrid/write_error.py from runs of tests/hybrid/check_error.py (docs/hybrid.md).
#pragma once

#define HYBRID_ERROR_RANKS 256 // of the drawn scenarios, at most

// Kind, scenarios, and of the distances of jobs' times: median, nine tenths, most.
// clang-format off
#define HYBRID_ERROR_ROWS(X) \
    X("cnn", 19, 0.000200, 0.012147, 0.013362) \
    X("collective", 94, 0.000012, 0.003613, 0.050054) \
    X("incast", 32, 0.000000, 0.000025, 0.022610) \
    X("jobs", 48, 0.000005, 0.006694, 0.110823) \
    X("llm", 48, 0.000014, 0.005648, 0.030331) \
    X("parameter_server", 18, 0.000000, 0.002932, 0.010644) \
    X("permutation", 26, 0.000123, 0.011468, 0.045310) \
    X("training", 15, 0.000068, 0.001300, 0.001668) \
    X("all", 300, 0.000006, 0.004055, 0.110823)
// clang-format on
