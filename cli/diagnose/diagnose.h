// SPDX-License-Identifier: MIT
// collwire diagnose: which cause would make a healthy network give what was measured.
#pragma once

#include "cli/fit/fit.h"

// A cause as settings of the scenario. Several may append to one list: "faults[+]" is its end.
struct hypothesis {
    const char *kind;
    char *at;    // the place; "" = all of the network
    char *words; // "half of the rate of rank3->leaf0"
    json_t *set; // a list of PATH=VALUE
    /* after the runs */
    double misfit;           // INFINITY = it has none
    struct fit_point *point; // NULL = it did not run
};

struct diagnosis {
    const struct options *options;
    const char *network; // the scenario of the healthy network
    struct fit fit;
    struct hypothesis *list; // [0] is the healthy network
    struct fit_form *forms;  // [n] theirs
    size_t n, cap;
    size_t measured; // values that were measured; probes follow, which separate causes
    size_t *order;   // [n_causes] indices of causes that explain something, the best first
    size_t n_causes;
    bool healthy;
};

/* ---- what may be wrong (hypotheses.c, hypothesis_kinds.c) ---- */

// Facts of the healthy network that hypotheses are made of.
struct healthy_facts {
    const json_t *metrics, *scenario; // of its run; the resolved scenario
    char **links;                     // names of links that are tried
    size_t n_links;
    double line_bps; // rate of the first link of a rank
    double time_ns;  // of the run
    uint32_t n_ranks;
};

// Add a hypothesis; `set` is a list of formatted settings, each ended by '\n'. Takes `words`.
void hypothesis_add(struct diagnosis *d, const char *kind, const char *at, char *words,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));
// All of one cause.
void hypotheses_of_kinds(struct diagnosis *d, const struct healthy_facts *facts);
// The healthy network, and all that may be wrong with it. Returns 0, or -1 with errors.
int hypotheses_make(struct diagnosis *d, struct err *err);
// Both of two causes. Returns the number of the new hypothesis.
size_t hypothesis_join(struct diagnosis *d, size_t a, size_t b);
// Give the fit the hypotheses from number `from` on. Their array must not grow until they have run.
void hypotheses_give(struct diagnosis *d, size_t from);
void hypotheses_free(struct diagnosis *d);

/* ---- which it is (judge.c) ---- */

// Run all, and pairs where no single cause suffices. Returns false if nothing has run.
bool diagnosis_run(struct diagnosis *d);
// The share of the gap between healthy and measured that a cause explains, 0 to 1.
double cause_explains(const struct diagnosis *d, const struct hypothesis *h);
// What to measure next: what separates a cause from the next one, or confirms it. To be freed.
char *cause_next(const struct diagnosis *d, size_t place);

/* ---- the result (diagnose_tell.c) ---- */

int diagnosis_tell(const struct diagnosis *d, struct err *err);

extern const struct command diagnose_command;
