// SPDX-License-Identifier: MIT
// Advice before a run: warnings about settings that the network does not suit, and the values of
// the settings that a scenario leaves "auto".
//
// A warning is about physics that follows from the scenario alone; whether it costs the run time
// depends on the traffic, so nothing here is an error.
#pragma once

#include "sim/fabric/fabric.h"
#include "workload/workload.h"

// Kinds of warnings: constant, and the word of it in texts.
#define ADVICE_LIST(X)                                                                             \
    X(MARKS_LATE, "marks_late")             /* PFC stops an ingress before ECN marks */            \
    X(MARKS_NEVER, "marks_never")           /* the queue ends before ECN marks */                  \
    X(WINDOW, "window")                     /* a window does not fill the longest path */          \
    X(HEADERS, "headers")                   /* a small MTU spends bytes on headers */              \
    X(HEADROOM, "headroom")                 /* PFC cannot stop a sender in time */                 \
    X(OVERSUBSCRIPTION, "oversubscription") /* trunks carry less than what is below them */        \
    X(TIMER, "timer")                       /* a timer is longer than the run */                   \
    X(UNKNOWN, "unknown")                   /* a preset estimates what no public text gives */

#define ADVICE_CONSTANT(constant, word) ADVICE_##constant,
enum advice_kind { ADVICE_LIST(ADVICE_CONSTANT) ADVICE_KINDS };
#undef ADVICE_CONSTANT

struct advice_warning {
    enum advice_kind kind;
    const char *key; // the path of a setting that matters most
    char *text;      // a sentence without the key
};

// The value of a setting that is "auto".
struct advice_auto {
    char *key;   // its path
    char *value; // "37.8 KB"
    uint32_t dim;
    bool rule; // the value is a rule in words, "never", and not one of the network
};

struct advice {
    struct advice_warning *warnings;
    size_t n_warnings;
    struct advice_auto *autos;
    size_t n_autos;
};

const char *advice_kind_word(enum advice_kind kind);

// Returns the advice on a fabric and its jobs, which have been built; to be freed. A network in
// closed form has none.
struct advice *advice_new(const struct fabric *fabric, const struct workload *workload);
void advice_free(struct advice *a);

// The payload that a flow of a transport has in flight at most on the longest path of a dimension,
// as its policy limits it; CC_UNLIMITED = it does not.
uint64_t advice_flight_bytes(const struct fabric *fabric, uint32_t dim, uint32_t transport);
