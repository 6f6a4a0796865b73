// SPDX-License-Identifier: MIT
// Embedding tables that are larger than the memory of a GPU: the hottest rows are cached in it, the
// others are in the host's memory, and what that has no room for on its SSDs.
//
// A batch first fetches the rows that are missing, then looks all up in the GPU's memory, as a
// software-managed cache does (Mudigere et al., ISCA 2022, section 4.1.3); in the backward pass the
// fetched rows are written back. Popularity of a table's rows follows Zipf's law, and memory is
// divided among tables by their bytes. The host's memory and SSDs are shared by its ranks, which
// fetch at the same time; a rank's link to the host limits it too. SSDs read and write whole pages.
// Left out: rows that several samples of a batch share, and fetching ahead.
#pragma once

#include <stdbool.h>

#include "engine/base/param.h"

struct embedding_tiers { // as in a scenario
    uint64_t hbm, ddr;   // room for tables: of a rank's GPU (PARAM_AUTO = all), of the host
    uint64_t ranks_per_host;
    double ddr_gbs, ssd_gbs; // 1e9 bytes a second of the host
    double link_gbs;         // of a rank to the host
    uint64_t page;           // bytes that an SSD reads at least
    double skew;             // exponent of Zipf's law
};

// Rows of a struct embedding_tiers at member `at` of the settings struct `of`.
#define EMBEDDING_TIER_ROWS(of, at)                                                                \
    PARAM_ROW("hbm", BYTES, offsetof(of, at.hbm), .def = "auto", .min = "1B", .can_auto = true,    \
              .help = "room for tables in a GPU's memory; auto = all tables are there"),           \
        PARAM_ROW("ddr", BYTES, offsetof(of, at.ddr), .def = "auto", .can_auto = true,             \
                  .help = "room for tables in a host's memory, the rest is on its SSDs; auto = "   \
                          "all that the GPUs have no room for"),                                   \
        PARAM_ROW("ranks_per_host", COUNT, offsetof(of, at.ranks_per_host), .def = "8",            \
                  .min = "1", .max = "1024", .help = "that share the host's memory and SSDs"),     \
        PARAM_ROW("ddr_gbs", RATIO, offsetof(of, at.ddr_gbs), .def = "204.8", .min = "0.001",      \
                  .max = "100000", .help = "of a host's memory",                                   \
                  .source = "eight channels of DDR4-3200"),                                        \
        PARAM_ROW("host_link_gbs", RATIO, offsetof(of, at.link_gbs), .def = "25", .min = "0.001",  \
                  .max = "100000", .help = "of a GPU to its host",                                 \
                  .source = "PCIe 4.0 x16: 31.5 GB/s less headers, about 25 measured"),            \
        PARAM_ROW("ssd_gbs", RATIO, offsetof(of, at.ssd_gbs), .def = "28", .min = "0.001",         \
                  .max = "100000", .help = "of a host's SSDs together",                            \
                  .source = "four NVMe SSDs on PCIe 4.0 x4 at 7 GB/s"),                            \
        PARAM_ROW("ssd_page", BYTES, offsetof(of, at.page), .def = "4096B", .min = "1B",           \
                  .max = "1MB", .help = "that an SSD reads for a row at least"),                   \
        PARAM_ROW("row_skew", RATIO, offsetof(of, at.skew), .def = "1", .min = "0", .max = "10",   \
                  .help = "exponent of Zipf's law for the popularity of a table's rows; 0 = all "  \
                          "alike")

// The share of lookups that go to the `hot` most popular of `rows` rows.
double zipf_share(double hot, double rows, double skew);

// How the lookups of a table are divided: shares in the host's memory and on SSDs.
struct tier_shares {
    double ddr, ssd;
};

// The shares of a table of `rows` rows, where all tables of its rank have `table_bytes` together.
struct tier_shares embedding_tier_shares(const struct embedding_tiers *t, double table_bytes,
                                         double rows);

// Time in ns to fetch `row_bytes` from where the lookups go, by lookup, beyond the lookup in the
// GPU's memory.
double embedding_fetch_ns(const struct embedding_tiers *t, const struct tier_shares *shares,
                          double row_bytes);
