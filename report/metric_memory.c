// SPDX-License-Identifier: MIT
// The metrics of the memory that jobs need: `memory` of metrics.json.
#include "report/metric_parts.h"
#include "report/metric_table.h"

static bool has_capacity(const void *record)
{
    return ((const struct memory_result *)record)->capacity_bytes > 0;
}

// The keys are those of footprint_kind_names.
static const struct metric kind_rows[] = {
    {"weights", METRIC_BYTES, "parameters, as computations read them",
     INTEGER(footprint, bytes[FOOTPRINT_WEIGHTS])},
    {"gradients", METRIC_BYTES, "gradients of the parameters",
     INTEGER(footprint, bytes[FOOTPRINT_GRADIENTS])},
    {"optimizer", METRIC_BYTES, "states of the optimizer, master copies included",
     INTEGER(footprint, bytes[FOOTPRINT_OPTIMIZER])},
    {"activations", METRIC_BYTES, "kept from forward to backward passes",
     INTEGER(footprint, bytes[FOOTPRINT_ACTIVATIONS])},
    {"temporary", METRIC_BYTES,
     "freed within a pass: recomputed activations, gathered parameters, gradients to be scattered",
     INTEGER(footprint, bytes[FOOTPRINT_TEMPORARY])},
    {"communication", METRIC_BYTES, "buffers of exchanges that are not in place",
     INTEGER(footprint, bytes[FOOTPRINT_COMMUNICATION])},
};
static METRIC_TABLE(kind_table, kind_rows);

static const struct metric class_rows[] = {
    {"job", METRIC_WORDS, "index in `workload`", INTEGER(memory_class_result, job)},
    {"rank", METRIC_WORDS, "the first of these ranks, of the network",
     INTEGER(memory_class_result, rank)},
    {"ranks", METRIC_COUNT, "ranks that need the same", INTEGER(memory_class_result, ranks)},
    {"max_bytes", METRIC_BYTES, "the most that a rank needs", INTEGER(memory_class_result, bytes)},
    {"by_kind", METRIC_BYTES, "what it is for then",
     OBJECT(memory_class_result, by_kind, kind_table)},
    {"when", METRIC_WORDS, "the step of an iteration within which it is most",
     TEXT(memory_class_result, when)},
};
static METRIC_TABLE(class_table, class_rows);

static const struct metric step_rows[] = {
    {"step", METRIC_WORDS, "a pass of an iteration, or a part of one",
     TEXT(memory_step_result, what)},
    {"end_ns", METRIC_NS,
     "end of its computations in the first iteration, after the job's start; null = not known",
     TIME(memory_step_result, end_ps)},
    {"bytes", METRIC_BYTES, "the most within the step", INTEGER(memory_step_result, bytes)},
    {"by_kind", METRIC_BYTES, "what it is for then",
     OBJECT(memory_step_result, within, kind_table)},
};
static METRIC_TABLE(step_table, step_rows);

static const struct metric memory_rows[] = {
    {"max_bytes", METRIC_BYTES, "the most that a rank needs",
     INTEGER(memory_result, fullest.bytes)},
    {"by_kind", METRIC_BYTES, "what it is for then",
     OBJECT(memory_result, fullest.by_kind, kind_table)},
    {"job", METRIC_WORDS, "of this rank: index in `workload`", INTEGER(memory_result, fullest.job)},
    {"rank", METRIC_WORDS, "the first rank that needs so much, of the network",
     INTEGER(memory_result, fullest.rank)},
    {"when", METRIC_WORDS, "the step of an iteration within which it is most",
     TEXT(memory_result, fullest.when)},
    {"capacity_bytes", METRIC_BYTES, "what a GPU has; null = not known",
     INTEGER(memory_result, capacity_bytes), .known = has_capacity},
    {"at_least", METRIC_WORDS,
     "1 = the job does not say all that its ranks hold, which is then a lower bound",
     INTEGER(memory_result, at_least)},
    {"classes", METRIC_WORDS, "ranks that need the same, by job",
     LIST(memory_result, classes, n_classes, class_table)},
    {"iteration", METRIC_WORDS, "of the rank that needs most, step by step",
     LIST(memory_result, steps, n_steps, step_table)},
};
METRIC_TABLE(memory_table, memory_rows);
