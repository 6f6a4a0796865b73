// SPDX-License-Identifier: MIT
// Kinds of causes: a row says where a cause may be, how strong, and which settings make it.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/fit/observed.h"

enum cause_places {
    AT_ALL,        // the whole network
    AT_LINKS,      // links, both directions as one
    AT_DIRECTIONS, // links, each direction
    AT_TRUNKS,     // links between switches, each
    AT_TIERS,      // all links between switches of two kinds, "leaf*->spine*"
    AT_RANKS,      // ranks
    AT_PAIRS,      // two ranks of different switches, "rank0, rank9"
};

struct place {
    char *at;
    double stands_for; // alike places that are not tried, this one included
    bool back;         // of a link: its other direction stands before it
    // Places of a class are alike; one whose values were measured is its own class, SIZE_MAX.
    size_t class;
};

struct places {
    struct place *list;
    size_t n;
};

// What is known of the healthy network.
struct facts {
    json_t *metrics;                      // of its run
    const json_t *scenario;               // as it was resolved
    const json_t *draft;                  // as it was given
    struct places links, ranks;           // at which causes are tried
    struct places more_links, more_ranks; // that are alike to them, and not tried at first
    const char *environment; // of the library, as a log of the job has it; NULL = no log
    double line_bps;         // of the slowest links of ranks
    double time_ns;          // of the run
    uint32_t n_ranks;
};

struct cause_kind {
    const char *name;
    const char *next; // what confirms it
    enum cause_places places;
    const double *strengths; // that are tried first, ascending; NULL = it has none
    size_t n_strengths;
    double none;  // strength without effect; 0 = there is none
    bool finer;   // strengths between them are possible
    bool sources; // at a rank it has a source, too, "rank0->rank3"
    bool drawn;   // chance decides on its effect, so more than one seed is run
    bool (*may)(const struct facts *f);
    // Write what it is, and its settings, each ended by '\n'; none where that is how it is already.
    void (*form)(const struct facts *f, const char *at, double strength, FILE *words, FILE *set);
};

#define STRENGTHS(list) .strengths = (list), .n_strengths = sizeof(list) / sizeof *(list)

/* ---- facts (facts.c) ---- */

// The value at "switch.pfc.enabled" of the resolved scenario; NULL = it has none.
const json_t *fact(const struct facts *f, const char *path);
// Its text; "" = none.
const char *fact_text(const struct facts *f, const char *path);
// The first job, as it was given.
const json_t *fact_job(const struct facts *f);
bool fact_transport_is(const struct facts *f, const char *kind);
// Whether a link joins two switches.
bool link_is_trunk(const char *name);
// Whether two names differ in their numbers alone.
bool names_alike(const char *a, const char *b);
// "leaf3->spine1" becomes "leaf*->spine*". To be freed.
char *name_pattern(const char *name);
// Fill in the facts; takes `metrics`. Places of measured values are tried, and of others that are
// alike a few.
void facts_make(struct facts *f, json_t *metrics, const json_t *draft,
                const struct observed *measured);
void facts_free(struct facts *f);

/* ---- places (places.c) ---- */

// Find the links and ranks at which causes are tried: those of measured values, and of others that
// are alike a few.
void places_find(struct facts *f, const struct observed *measured);
// The place with this name; NULL = it is not in the list.
const struct place *place_at(const struct places *places, const char *at);

/* ---- the table, by where causes are ---- */

struct kind_rows {
    const struct cause_kind *rows;
    size_t n;
};
enum { KIND_TABLES = 4 };
// In kinds_of_links.c, kinds_of_switches.c, kinds_of_hosts.c and kinds_of_jobs.c.
struct kind_rows kinds_of_links(void), kinds_of_switches(void), kinds_of_hosts(void),
    kinds_of_jobs(void);
extern const struct cause_kind cause_two; // of pairs; it is in no table
