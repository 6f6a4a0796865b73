// SPDX-License-Identifier: MIT
// Names of streams, and memory of node programs.
#include "workload/nodes/node.h"

#include <stdlib.h>

const char *node_stream_name(uint8_t stream)
{
    static const char *const names[NODE_NAMED_STREAMS] = {
        "compute", "cpu",    "copy",   "comm0",  "comm1",  "comm2",  "comm3",  "comm4",  "comm5",
        "comm6",   "comm7",  "comm8",  "comm9",  "comm10", "comm11", "comm12", "comm13", "comm14",
        "comm15",  "comm16", "comm17", "comm18", "comm19", "comm20", "comm21", "comm22", "comm23",
        "comm24",  "comm25", "comm26", "comm27", "comm28", "comm29", "comm30", "comm31"};
    return stream < NODE_NAMED_STREAMS ? names[stream] : "none";
}

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
