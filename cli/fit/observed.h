// SPDX-License-Identifier: MIT
// Measured values: lines of CSV "quantity,place,value[,unit][,spread]", and the same quantities in
// the results of a run.
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/base/err.h"

struct observed_value {
    char *quantity, *place, *unit;
    // What its run has in place of the first job, ".bytes=1MB" or "={..}"; NULL = as it is.
    char *job;
    double value;    // in the unit of the results: ns, bit/s, bytes, packets
    double relative; // its spread by its value
    bool stated;     // the file has said it
    double scale;    // unit of the file, in that of the results
    unsigned line;
    bool held_out; // predicted, and not fitted
    /* where its run is its own, which `job` says */
    unsigned later;  // stage of a fit before which it is not run
    double limit_ns; // simulated time that it may take; 0 = as the scenario says
};

struct observed {
    struct observed_value *list;
    size_t n;
    char *unknown; // counters of the file that are none of these quantities; NULL = none
};

// Read the file. Returns 0, or -1 with errors, each with its line.
int observed_read(struct observed *m, const char *path, struct err *err);
void observed_free(struct observed *m);

// Leave out `n` of the values, drawn by `seed`.
void observed_hold_out(struct observed *m, size_t n, uint64_t seed);

// The value of the quantity in metrics.json; NAN = the results have no such place. A utilization
// whose place has a `*`, "leaf*->rank*", is the highest of such links, and bytes are those of all.
// At a node, "rank3", counters of its ports and messages are added up.
double observed_predict(const struct observed_value *v, const json_t *metrics);

// The value at a path of the results or of a scenario, "recovery.naks", "jobs[1].busbw_bps"; NULL =
// there is none.
const json_t *json_at_path(const json_t *o, const char *path);

// How near a simulated value may be to a real one: below `floor` differences say nothing, and above
// it the model itself errs by this share. Counts are spread by their root, too. What is measured as
// `least` or more cannot be 0 in the simulation: packets were dropped, a link was used. 0 = it can.
struct observed_reach {
    double floor, error;
    bool counts;
    double least;
};
struct observed_reach observed_reach(const struct observed_value *v);

// Whether it is taken from the list of messages.
bool observed_is_of_messages(const struct observed_value *v);

// What a fit runs: all that has the job's own run; also sizes that take long; also tests.
enum observed_stage { STAGE_FIRST, STAGE_LARGE, STAGE_TESTS };

// Add a value without number, spread or job; its texts are copied. Valid until the next call.
struct observed_value *observed_append(struct observed *m, const char *quantity, const char *place,
                                       const char *unit, double scale);

// Add a quantity that was not measured but shall be predicted, unless it is there.
void observed_want(struct observed *m, const char *quantity, const char *place);

// The job of a test, ib_write_lat and the like, as observed_value.job: between two ranks,
// "rank0->rank9", or of each rank with the next one, "rank0-15", or with the one 8 further,
// "rank0-15+8"; NULL = the quantity is none, or the place is neither. To be freed.
char *observed_test_job(const char *quantity, const char *place);
bool observed_is_test(const char *quantity);

bool observed_is_quantity(const char *name);
// Whether two names are of one quantity, as those of counters may be.
bool observed_same_quantity(const char *a, const char *b);

// The names of all quantities, separated by commas, for error messages and help.
const char *observed_words(void);
