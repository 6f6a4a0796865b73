// SPDX-License-Identifier: MIT
// Keywords of training jobs; frees their memory.
#include "workload/training/training_spec.h"

#include <stdlib.h>

const char *const training_keywords[] = {"DATA",
                                         "MODEL",
                                         "HYBRID_DATA_MODEL",
                                         "HYBRID_MODEL_DATA",
                                         "HYBRID_TRANSFORMER",
                                         "HYBRID_TRANSFORMER_FWD_IN_BCKWD",
                                         "HYBRID_DLRM",
                                         "HYBRID_DLRM_ENHANCED",
                                         "HYBRID_CUSTOMIZED",
                                         "MICRO",
                                         "DISTRIBUTED_INFERENCE",
                                         NULL};

const char *const training_parts[] = {"fwd", "ig", "wg", NULL};

bool training_is_marked(const struct training_marks *marks, uint32_t layer)
{
    for (size_t i = 0; i < marks->n; i++)
        if (marks->layers[i] == layer)
            return true;
    return false;
}

void training_free(struct training_spec *spec)
{
    for (size_t i = 0; i < spec->n_layers; i++) {
        free(spec->layers[i].name);
        for (int part = 0; part < TRAINING_PARTS; part++)
            free(spec->layers[i].parts[part].rank_bytes);
    }
    free(spec->layers);
    free(spec->checkpoints.layers);
    free(spec->initiates.layers);
    *spec = (struct training_spec){0};
}
