// SPDX-License-Identifier: MIT
// The explanations by subject, and the functions that they share.
#pragma once

#include "sim/explain/explain.h"

/* ---- sentences (reason_notes.c) ---- */

// Add a sentence, which the result then owns. The weight orders sentences: the share of the time
// that it explains, or one of these.
#define EXPLAIN_END 3       // why a run could not complete
#define EXPLAIN_TIME 2      // where the time went; causes with a saving come before it
#define EXPLAIN_LOSS 0.05   // what happened that may cost time
#define EXPLAIN_REASON 0.02 // why something did not happen
#define EXPLAIN_DETAIL 0.01
#define SAVING_MIN 0.02  // share of the run from which a cause is named
#define SAVING_TIGHT 1.5 // of the direct saving: a looser bound does not order trials
void result_explain(struct result *r, double weight, char *sentence);
// The same for what cost time, where no setting removes it. Takes the sentence. The reason is valid
// until the next one is added.
struct reason_result *result_reason(struct result *r, enum reason_kind kind, double weight,
                                    char *seen);
// The same for a cause that settings remove: what was seen, and what they do ("with ideal NICs").
// `saving_ps`: about how much shorter the path of what ended last may be; it only orders the
// trials, and no sentence states it. Takes `seen`.
struct reason_result *result_cause(struct result *r, enum reason_kind kind, ps_t saving_ps,
                                   char *seen, const char *change);
// Add a setting (`--set`) to the list of the reason: all of them together remove the cause.
__attribute__((format(printf, 2, 3))) void reason_set(struct reason_result *reason,
                                                      const char *format, ...);
// The path of a key of a job, as in workload[1].bytes; "" = the whole job. To be freed.
char *job_key(const struct fabric *fabric, uint32_t job, const char *key);
void result_wait(struct result *r, char *sentence); // adds a line about a wait

/* ---- figures ---- */

// True if something has ended, and its path has a length.
bool result_has_path(const struct result *r);
// The time of a path that was waited for a set of causes: bits 1 << PATH_...
#define CAUSE(name) (1u << PATH_##name)
#define CAUSES_OF_OTHERS /* what waits for other packets of full links */                          \
    (CAUSE(WINDOW) | CAUSE(PACE) | CAUSE(PAUSED) | CAUSE(CREDIT) | CAUSE(QUEUED) | CAUSE(NIC))
#define CAUSES_OF_LOSS (CAUSE(TIMEOUT) | CAUSE(RESENDING))
ps_t critical_sum_ps(const struct critical_result *c, unsigned causes);
// The share of a time, and of a cause, in the critical path of what ended last; for a cause 0 if
// there is no path.
double result_share_of(const struct result *r, ps_t ps);
double result_share(const struct result *r, enum path_cause cause);
const struct port_result *result_busiest_link(const struct result *r); // NULL = there is none
const struct port_result *result_most_dropped(const struct result *r); // NULL = no drops
// The place where a cause took most time on a path; NULL = none is known.
const struct critical_place *critical_place_of(const struct critical_result *c,
                                               enum path_cause cause);
// True if links lost packets: then recovery decides the time.
bool result_has_faults(const struct result *r);
uint64_t result_queue_drops(const struct result *r); // packets that full queues dropped
// The largest part of a path that is not said, and the words for a part.
enum path_cause critical_largest(const struct critical_result *c, const bool said[PATH_CAUSES]);
const char *cause_phrase(const struct fabric *fabric, enum path_cause cause);
// Returns the most that the run could save without waits of `cost` on the path.
ps_t result_wait_saving_ps(const struct result *r, ps_t cost);
// The share of the time until the last job ended for which a link transmitted.
double result_use(const struct result *r, const struct port_result *link);
// result_busy_ps(): time for which a link transmitted. result_saving_ps(): `cost`, but at most what
// shortens the critical path to `least`.
ps_t result_busy_ps(const struct result *r, const struct port_result *link);
ps_t result_saving_ps(const struct result *r, ps_t cost, ps_t least);
// The transmissions of each port take `share[port]` of their time: about what the run would save.
// result_same_shares(): an array of ones to begin with, which the caller frees.
double *result_same_shares(const struct result *r);
ps_t result_saving_with(const struct result *r, const double *share);
// True if the path of what ended last covers the run, and the busiest link transmitted for at least
// half of it.
bool result_bound_by_rate(const struct result *r);
// The same from a fiftieth on: a policy's cuts may leave a link that bounds the run idle for most
// of the time.
bool result_may_be_bound(const struct result *r);
// True if the busiest link's transmissions are a lower bound for the run's one job: it lasted the
// whole run, and nothing was sent again.
bool result_bounded(const struct result *r);

// [port] true where PFC began at an output port (cause_tree.c). To be freed.
bool *fabric_pfc_roots(const struct fabric *fabric);

/* ---- the graph (kinds.c) ---- */

// True if two links belong to the same dimension and join nodes of the same two roles in the same
// direction.
bool graph_same_kind(const struct graph *g, uint32_t a, uint32_t b);

/* ---- subjects ---- */

void explain_admission(const struct fabric *fabric, struct result *r);
// A faster algorithm for the collective that ended last.
void explain_algorithm(const struct explain_facts *facts, struct result *r);
// The closed form of the collective that ended last in a job, with its own contention; -1 = none.
// `spread`: if its messages were spread evenly over equal paths.
ps_t explain_alone_ps(const struct explain_facts *facts, const struct slowest_result *slowest,
                      bool spread);
// Other jobs that delay a job.
void explain_jobs(const struct explain_facts *facts, struct result *r);
// Network stacks, memories and input of hosts.
void explain_hosts(const struct explain_facts *facts, struct result *r);
void explain_circuits(const struct fabric *fabric, struct result *r);
void explain_closed_form(const struct fabric *fabric, struct result *r);
void explain_collectives(const struct explain_facts *facts, struct result *r);
/* library.c */
void explain_library(const struct explain_facts *facts, struct result *r);
void explain_paths(const struct explain_facts *facts, struct result *r);
void explain_fabric(const struct explain_facts *facts, struct result *r);
// Propagation delays, losses on links, and what a policy leaves free by design.
void explain_latency(const struct fabric *fabric, struct result *r);
void explain_queue_drops(const struct fabric *fabric, struct result *r);
void explain_starved(const struct fabric *fabric, struct result *r);
bool explain_goes_back(const struct fabric *fabric); // RoCE with go-back-N
void explain_losses(const struct fabric *fabric, struct result *r);
bool explain_has_target(const struct fabric *fabric); // a policy with telemetry and `eta` below 1
void explain_target(const struct fabric *fabric, struct result *r);
void explain_links(const struct fabric *fabric, struct result *r);
// "leaf3->spine0 failed at 21 us", the first link that failed before the end; NULL = none did. To
// be freed.
char *explain_failure(const struct fabric *fabric, const struct result *r);
void explain_marks_order(const struct fabric *fabric, struct result *r);
// What the policy, receivers' timers and retransmissions cost the path.
void explain_policy(const struct fabric *fabric, struct result *r);
void explain_ack_delay(const struct fabric *fabric, struct result *r);
void explain_timeouts(const struct fabric *fabric, struct result *r);
void explain_straggler(const struct explain_facts *facts, struct result *r);
// Time that computing waits for samples: of programs, and of training jobs.
void explain_input(const struct fabric *fabric, ps_t waiting, ps_t all, struct result *r);
void explain_training_input(const struct fabric *fabric, struct result *r);
void explain_layers(const struct fabric *fabric, struct result *r);
void explain_nics(const struct fabric *fabric, struct result *r);
void explain_program(const struct fabric *fabric, struct result *r);
void explain_headers(const struct fabric *fabric, struct result *r);
// Links whose rate bounds the run.
void explain_rates(const struct fabric *fabric, struct result *r);
void explain_switches(const struct fabric *fabric, struct result *r);
void explain_tcp(const struct fabric *fabric, struct result *r);
// Sentences about the critical path of what ended last.
// Phases of the collective that ended last, iterations; to be called if there is a path.
void explain_stages(const struct fabric *fabric, struct result *r);
void explain_time(const struct explain_facts *facts, struct result *r);
void explain_tree(const struct fabric *fabric, struct result *r);
void explain_uec(struct result *r);
void explain_waiting_collectives(const struct explain_facts *facts, struct result *r);
