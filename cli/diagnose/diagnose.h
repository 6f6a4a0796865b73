// SPDX-License-Identifier: MIT
// collwire diagnose: which cause would make a healthy network give what was measured.
//
// A cause is of a kind, at a place. Its hypotheses are settings of the scenario, one for each
// strength that was tried.
#pragma once

#include "cli/diagnose/cause_kind.h"
#include "cli/diagnose/measured_files.h"
#include "cli/fit/fit.h"

#define KEPT_RUNS "diagnose.jsonl" // in --out

struct hypothesis {
    size_t cause;    // SIZE_MAX = the healthy network
    double strength; // 0 = the kind has none
    char *words;     // "half of the rate of rank3->leaf0"
    json_t *set;     // a list of PATH=VALUE; "faults[+]" is the end of a list
    /* after the runs (likelihood.c) */
    struct fit_point *point; // NULL = it did not run
    struct fit_point *large; // with the larger sizes; NULL = it did not run with them
    double misfit;           // INFINITY = it has none
};

struct cause {
    const struct cause_kind *kind;
    char *at;                          // the place; "" = all of the network
    const struct cause_kind *parts[2]; // of a pair; NULL = it is none
    double stands_for; // places that are alike and were not tried, this one included
    /* after the runs */
    size_t best; // the hypothesis with the least misfit; SIZE_MAX = none has run
    double rank; // its misfit, averaged over strengths and places as a likelihood is
    double more; // to be added for what it gives at larger sizes; 0 = they were not tried
    /* of the first cause of a kind, from all its hypotheses; NULL = the healthy network's */
    double *spread;  // [value] variance of its logarithm among seeds
    double *related; // [value * measured + value] correlations of the measured ones among seeds
};

struct diagnosis {
    const struct options *options;
    const char *network; // the scenario of the healthy network
    struct measured_files files;
    struct fit fit;
    struct facts facts;
    struct cause *causes;
    size_t n_causes, cap_causes;
    struct hypothesis *list; // [0] is the healthy network
    struct fit_form *forms;  // [n] theirs
    size_t n, cap;
    // Values that were measured, then those of sizes that only the nearest causes are tried with;
    // probes follow, which separate causes.
    size_t measured, later;
    size_t clock;    // the measured time of the job; SIZE_MAX = there is none
    size_t *alike;   // [value] the first one of the same quantity at an alike place
    double *spread;  // [value] variance of its level among seeds
    double *related; // [value * measured + value] its correlations; of measured values
    size_t *order;   // [n_order] causes that come nearer, the best first; one of each kind
    size_t n_order;
    bool healthy;
    json_t *own_bytes; // size of the scenario's job, which one of a table has replaced; NULL = none
    bool limited;      // the draft has a limit that the scenario has not
};

/* ---- the healthy network (healthy.c) ---- */

// Run it and fill in its facts, and set in the draft how all are run. Returns 0, or -1 with errors.
int healthy_run(struct diagnosis *d, struct err *err);
// The error of one that failed. Returns -1.
int healthy_failed(struct err *err);
// Set in the draft when a run has taken too long, after the healthy ones.
void limit_runs(struct diagnosis *d);

/* ---- the list of hypotheses (hypotheses.c) ---- */

// The healthy network, and all causes with the strengths that are tried first. Returns 0, or -1
// with errors.
int hypotheses_make(struct diagnosis *d, struct err *err);
// Add a cause of this kind at a place. Returns its number.
size_t cause_add(struct diagnosis *d, const struct cause_kind *kind, const char *at,
                 double stands_for);
// The cause of this kind at a place, or at the other direction of a link unless the kind tells them
// apart; NULL = none was tried there.
const struct cause *cause_at(const struct diagnosis *d, const struct cause_kind *kind,
                             const char *at);
// Places that are alike to that of a cause and were not tried, with its best strength.
void places_more(struct diagnosis *d, size_t cause); // (more_places.c)
// The names of the place of a cause and of all places at which it would give the measured values as
// well, to be released; and the same as words, " (any of rank8-23: ...)", or "" where there is no
// other place, to be freed. (alike_places.c)
json_t *places_alike(const struct diagnosis *d, const struct cause *c);
char *places_words(const struct diagnosis *d, const struct cause *c);
// One more strength of a cause. Returns the number of the hypothesis.
size_t hypothesis_add(struct diagnosis *d, size_t cause, double strength);
// Both of two hypotheses, as a cause of the kind `two`.
void hypothesis_join(struct diagnosis *d, size_t a, size_t b);
// Give the fit the hypotheses from number `from` on. Their array must not grow until they have run.
void hypotheses_give(struct diagnosis *d, size_t from);
void hypotheses_free(struct diagnosis *d);

/* ---- values as they are compared (levels.c) ---- */

// The logarithm of a value, above what is too small to tell.
double value_level(const struct observed_value *v, double value);
// The time of the job among the measured values; SIZE_MAX = it was not measured.
size_t clock_of(const struct diagnosis *d);
// By how much the level of a value, as what was sent, follows that of the measured time: 0 to 1, 0
// if it is no rate.
double weight_of(const struct diagnosis *d, size_t value);
// The level of a measured value.
double measured_level(const struct diagnosis *d, size_t value);
// The value in the run of a seed; 0 at a link that the network of the hypothesis has not, NAN =
// there is none.
double run_value(const struct diagnosis *d, const struct hypothesis *h, uint64_t seed,
                 size_t value);
// Its level; that of a rate, as if the same had been sent in the measured time.
double run_level(const struct diagnosis *d, const struct hypothesis *h, uint64_t seed,
                 size_t value);
// The mean over the runs that have the value of its level as it is, also of a rate; NAN = none has.
double own_level(const struct diagnosis *d, const struct hypothesis *h, size_t value);
// The levels of a value over those runs of a hypothesis that ended: one that was cut off since it
// took too long has no time.
struct level {
    double mean, squares; // sum of squares around the mean, which is NAN where there is no run
    double n;             // runs
};
struct level mean_level(const struct diagnosis *d, const struct hypothesis *h, size_t value);

/* ---- how far they are spread among seeds (spread.c) ---- */

// Take the spread among seeds from the runs of the healthy network.
void spread_of_seeds(struct diagnosis *d);
// The same for each kind of cause, from its hypotheses that have run over several.
void spread_of_kinds(struct diagnosis *d);
// The first cause of the same kind, which has the spread of all.
struct cause *first_of_kind(const struct diagnosis *d, size_t cause);
// The variance of a level for one more seed than the `n` that spread by these squares, where it
// usually is `usual`.
double seeds_variance(double usual, double squares, double n);
// The variance of a level for one more seed than those of a hypothesis.
double level_variance(const struct diagnosis *d, const struct hypothesis *h, size_t value,
                      const struct level *level);
// The mean level of a value over the seeds of a hypothesis, and its variance for one more seed.
double predicted_level(const struct diagnosis *d, const struct hypothesis *h, size_t value,
                       double *variance);

/* ---- how near a run is (likelihood.c) ---- */

// Twice the negative logarithm of the likelihood of all measured values; for the healthy network
// also without the terms for its own spread, as `usual_misfit` has it.
double hypothesis_misfit(const struct diagnosis *d, const struct hypothesis *h);
// The same of one none of whose runs ended in time, by the values that such runs have, counts and
// queues. INFINITY = it did not run at all.
double unfinished_misfit(const struct diagnosis *d, const struct hypothesis *h);
// The misfit at a part of the way from one strength of a cause to another, by interpolation of
// those values that differ between them: of others, the mean of two draws is nearer to anything.
double misfit_between(const struct diagnosis *d, const struct hypothesis *a,
                      const struct hypothesis *b, double part);
// The largest misfit at which a network still counts as the measured one.
double usual_misfit(const struct diagnosis *d);
// Average the likelihoods of a cause over its strengths: writes `best` and `rank`.
void cause_rank(struct diagnosis *d, size_t cause);

// How far a hypothesis is from a larger size, in standard deviations; 0 = it did not run with it,
// NAN = the run did not end.
double larger_off(const struct diagnosis *d, const struct hypothesis *h, size_t value);
// The sum of distances from the first `n` larger sizes, without the penalty of a wide spread. NAN =
// the hypothesis has not run with these sizes.
double larger_misfit(const struct diagnosis *d, const struct hypothesis *h, size_t n);

/* ---- sizes that take long (larger.c) ---- */

// After the runs of the healthy network: if it is far from what was measured at larger sizes alone,
// all causes are tried with the smallest of them at which it is.
void larger_promote(struct diagnosis *d);
// Run the first causes of d->order with the larger sizes: writes `large` and `more`.
void larger_try(struct diagnosis *d);

/* ---- strengths between those that have run (strengths.c) ---- */

// The strength of a cause at which the interpolated values are nearest; 0 = it has run.
double strength_between(const struct diagnosis *d, const struct cause *c);

/* ---- their order (order.c) ---- */

// The rank of a kind of cause at all its places together; `best` is its best cause.
double kind_rank(const struct diagnosis *d, const struct cause *best);
// Sort into d->order the causes that fit better than the healthy network; of each kind only the
// one with the best place and strength.
void causes_order(struct diagnosis *d);
// Choose causes by rank: first the best one of each row of the tables of kinds, then further ones,
// at most `of_kind` of each; with `finer` only those whose strength can be refined. Writes at most
// `most` of their numbers; returns how many.
size_t causes_nearest(const struct diagnosis *d, size_t most, size_t of_kind, bool finer,
                      size_t *numbers);
// The share of the gap between healthy and measured that a cause explains, 0 to 1.
double cause_explains(const struct diagnosis *d, const struct cause *c);
// Whether the values do not tell it from the first cause.
bool cause_ties(const struct diagnosis *d, const struct cause *c);
// Whether it is of the same kind as another one and at a place that the values do not tell apart.
bool cause_same_kind_near(const struct diagnosis *d, const struct cause *a, const struct cause *b);

/* ---- which it is (judge.c) ---- */

// Runs that try each hypothesis once.
uint64_t diagnosis_runs_least(const struct diagnosis *d);
// Simulate all hypotheses, and pairs of causes where no single cause suffices. Returns 0, or -1
// where the healthy network did not run, with an error unless the user interrupted it.
int diagnosis_run(struct diagnosis *d, struct err *err);

/* ---- what to measure next (next.c) ---- */

// A value that tells two causes apart: what each of them would give.
struct separation {
    const struct observed_value *value; // NULL = none does
    double here, there;
    const struct cause *other;
};
struct separation cause_separation(const struct diagnosis *d, size_t place);
// That in words, or what confirms the cause. To be freed.
char *cause_next(const struct diagnosis *d, size_t place);
// Quantities that were not measured, but could be.
void probes_add(struct diagnosis *d, const json_t *metrics);

/* ---- the result (diagnose_tell.c) ---- */

// A cause by its place in the order, and its best hypothesis.
const struct cause *told_cause(const struct diagnosis *d, size_t place);
const struct hypothesis *told_hypothesis(const struct diagnosis *d, size_t place);
// A factor of units that all measured values have, against the healthy network; 1 = none.
double told_units(const struct diagnosis *d);
// The share of the gap that the first cause leaves.
double told_unexplained(const struct diagnosis *d);
// The size of a collective that a time is of, where files have several; NULL = it is the job's.
const char *told_size(const struct observed_value *v);
// The value of a hypothesis, in the unit of the results: the mean over its seeds. NAN = it did not
// run with this size.
double told_value(const struct diagnosis *d, const struct hypothesis *h, size_t value);
// All of it in words (diagnose_text.c).
void diagnosis_print(const struct diagnosis *d);

int diagnosis_tell(const struct diagnosis *d, struct err *err);

extern const struct command diagnose_command;
