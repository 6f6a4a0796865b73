// SPDX-License-Identifier: MIT
// Memory of node programs.
#include "workload/node.h"

#include <stdlib.h>

void node_program_free(struct node_program *p)
{
    if (p->source != NULL && p->source->free != NULL)
        p->source->free(p->self);
    for (uint32_t g = 0; g < p->n_groups; g++) {
        free(p->groups[g].name);
        free(p->groups[g].ranks);
    }
    for (uint32_t u = 0; u < p->n_uses; u++)
        free(p->uses[u]);
    for (uint32_t l = 0; l < p->n_layers; l++)
        free(p->layers[l]);
    free(p->groups);
    free(p->uses);
    free(p->layers);
}
