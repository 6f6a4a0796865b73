// SPDX-License-Identifier: MIT
// The blocks of an algorithm that a file gives (collective/nccl/xml/operation.h).
#include "collective/executor/executor_internal.h"
#include "engine/base/memory.h"

static void make_block(struct library_run *run, uint32_t index)
{
    const struct xml_block *x = &run->xml.algorithm->blocks[index];
    struct block *b = &run->blocks[index];
    b->run = run;
    b->plan = (struct nccl_block){.channel = x->channel,
                                  .rank = x->gpu,
                                  .at = x->id,
                                  .n_from = x->receives_from != XML_NONE,
                                  .n_to = x->sends_to != XML_NONE,
                                  .from = {x->receive},
                                  .to = {x->send},
                                  .length = xml_block_length(&run->xml, index)};
    b->from = &run->peers[2 * (size_t)index];
    b->to = b->from + 1;
}

void file_blocks_new(struct library_run *run)
{
    const struct library_group *g = run->group;
    const struct xml_algorithm *a = g->spec->xml;
    xml_operation_init(&run->xml, a, &g->comm->layout.cluster, g->spec->xml_piece_bytes,
                       run->request.bytes);
    run->protocol = a->protocol;
    run->n_blocks = a->n_blocks;
    run->blocks = memory_zeroed(a->n_blocks + 1, sizeof *run->blocks);
    run->peers = memory_zeroed(2 * (size_t)a->n_blocks + 1, sizeof(struct connection *));
    for (uint32_t m = 0; m < g->n; m++) {
        run->members[m].first_block = a->gpus[m].first_block;
        run->members[m].n_blocks = run->members[m].blocks_left = a->gpus[m].n_blocks;
    }
    for (uint32_t i = 0; i < a->n_blocks; i++)
        make_block(run, i);
}

uint64_t file_bytes(const struct library_group *g, uint64_t bytes)
{
    struct xml_operation o;
    xml_operation_init(&o, g->spec->xml, &g->comm->layout.cluster, g->spec->xml_piece_bytes, bytes);
    uint64_t sum = xml_operation_bytes(&o);
    xml_operation_free(&o);
    return sum;
}
