// SPDX-License-Identifier: MIT
// A log of NCCL beside what its rules give here.
#pragma once

#include "cli/library/nccl_log.h"
#include "cli/library/query.h"

struct log_sentences {
    char **list; // owned
    size_t n;
};

struct log_comparison {
    const struct nccl_log *log;
    struct {
        size_t compared, equal;
    } counts[FACT_KINDS];
    struct log_sentences differences[FACT_KINDS], scope, reasons;
};

// Compare all facts of a log; `log` is borrowed. log_comparison_free() releases it.
void log_comparison_init(struct log_comparison *c, const struct answer *a,
                         const struct nccl_log *log);
void log_comparison_free(struct log_comparison *c);

// Whether all that the log has is equal.
bool log_comparison_is_equal(const struct log_comparison *c);

// "rings", "trees".
const char *fact_kind_name(enum fact_kind kind);
