// SPDX-License-Identifier: MIT
// The hybrid network: a message whose path no other data share takes its closed form (train.h), all
// others are packets of their senders.
//
// It decides when a message is posted to its sender. A quiet message is no packet: it has the
// times, the counters and the callbacks that its packets would have had. When another message needs
// one of its ports, what its sender has not sent yet, and the messages behind it, become packets of
// this sender; what it has sent keeps its times and occupies the ports that it has yet to cross. A
// connection is quiet again when nobody else uses its ports: from its next message on, or from the
// middle of a long one.
#pragma once

#include "engine/critical_path.h"
#include "sim/fabric/fabric.h"
#include "sim/result/result.h"

struct hybrid;

// Stand at the hosts of a fabric whose `network` is hybrid; NULL = it is not. After the ledger.
struct hybrid *hybrid_attach(struct fabric *fabric, struct path_book *path_book);
void hybrid_free(struct hybrid *hybrid);

// Let all messages be packets that are posted in `n` drawn windows, one in each n-th of `span_ps`
// and each a hundredth of it long, for a comparison with a run that has none. `hybrid` may be NULL.
#define HYBRID_WINDOWS_MOST 50
void hybrid_check(struct hybrid *hybrid, uint32_t n, ps_t span_ps);

// Messages that are quiet now: their ends are pending.
bool hybrid_pending(const struct hybrid *hybrid);

// Make records of the messages that are quiet at the end of the run.
void hybrid_running(struct hybrid *hybrid);

// Why messages are packets, with the words of metrics.
#define NOT_QUIET_LIST(X)                                                                          \
    X(MEETS, "meets") /* another message uses a port of its path, or its ACKs would wait */        \
    X(PATHS, "paths") /* its packets may take several paths, or another rank forwards them */      \
    X(TRANSPORT, "transport") /* its transport or its policy acts without contention too */        \
    X(RATE, "rate")           /* its sender is below the rate of its port */                       \
    X(SLOWER, "slower_link")  /* it would queue at a slower link behind its port */                \
    X(HOST, "host")           /* its NIC or its host's cores cost time */                          \
    X(CHANGES, "changes")     /* faults or circuits may change a link of its way */                \
    X(METERED, "meters")      /* a meter counts the packets of a port of its way */                \
    X(CREDITS, "credits")     /* a link of its way has flow control by credits */                  \
    X(CHECKED, "checked")     /* they are compared with the closed form (--check) */               \
    X(WATCHED, "watched")     /* a capture at its way, or time series, need its packets */
#define NOT_QUIET_CONSTANT(constant, word) NOT_QUIET_##constant,
enum not_quiet {
    NOT_QUIET_LIST(NOT_QUIET_CONSTANT) NOT_QUIET_REASONS,
    IS_QUIET = NOT_QUIET_REASONS
};

// How far drawn scenarios with the same kind of work were from packets.
struct hybrid_error hybrid_error_of(const struct spec *spec, uint32_t n_ranks);

// Add what was quiet to the results.
void hybrid_collect(const struct hybrid *hybrid, struct result *r);
