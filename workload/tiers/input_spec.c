// SPDX-License-Identifier: MIT
// The keys of `input`.
#include "workload/tiers/input_spec.h"

static const char *const shuffles[] = {"local", "global", NULL};

#define FIELD(name) offsetof(struct input_params, name)

const struct param input_params[] = {
    PARAM_ROW("from", TEXT, FIELD(from), .help = "the tier that has the samples (`tiers`)"),
    PARAM_ROW("sample_bytes", BYTES, FIELD(sample_bytes), .min = "1B", .max = "1TB",
              .help = "of a sample as it is stored"),
    PARAM_ROW("samples", COUNT, FIELD(samples), .def = "auto", .min = "1", .max = "100000000",
              .can_auto = true,
              .help = "of a rank in an iteration, for training jobs; auto = of the batch"),
    PARAM_ROW("shuffle", ENUM, FIELD(shuffle), .choices = shuffles, .def = "local",
              .help = "samples of a batch are drawn from the rank's own memory, or from those of "
                      "all ranks, which then exchange them; the same for a tier with hosts",
              .source = "Jacobs et al., 2019"),
    PARAM_ROW("prefetch", COUNT, FIELD(prefetch), .def = "2", .max = "1000",
              .help = "batches that a rank reads ahead of the one that it computes",
              .source = "Murray et al., VLDB 2021"),
};
const size_t n_input_params = sizeof input_params / sizeof *input_params;
