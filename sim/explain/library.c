// SPDX-License-Identifier: MIT
// What a library has chosen for the last collective of each job.
#include "engine/memory.h"
#include "sim/explain/explain_internal.h"

#define SENTENCES_MAX 4

static void explain_choice(const struct collective_record *record, struct result *r)
{
    const struct library_record *l = &record->library;
    char bytes[UNIT_TEXT], chunk[UNIT_TEXT];
    if (l->exchanges) {
        result_explain(r, EXPLAIN_DETAIL,
                       text_format("NCCL sends %s of %s between pairs of ranks, round by round on "
                                   "%u channels",
                                   coll_op_name(record->request.op),
                                   human_bytes(record->request.bytes, bytes), l->channels));
        return;
    }
    if (l->xml) {
        result_explain(r, EXPLAIN_DETAIL,
                       text_format("The XML algorithm %s runs %s of %s with protocol %s: up to %u "
                                   "thread blocks a GPU on %u channels, %s of each chunk at once",
                                   l->algorithm, coll_op_name(record->request.op),
                                   human_bytes(record->request.bytes, bytes), l->protocol,
                                   l->blocks, l->channels, human_bytes(l->chunk_bytes, chunk)));
        return;
    }
    result_explain(r, EXPLAIN_DETAIL,
                   text_format("NCCL chose %s with protocol %s for %s of %s: %u channels of %u "
                               "threads, chunks of %s; it ranks by its own table of costs",
                               l->algorithm, l->protocol, coll_op_name(record->request.op),
                               human_bytes(record->request.bytes, bytes), l->channels, l->threads,
                               human_bytes(l->chunk_bytes, chunk)));
}

void explain_library(const struct explain_facts *facts, struct result *r)
{
    const struct recorder *recorder = &facts->workload->recorder;
    unsigned said = 0;
    for (size_t i = 0; i < recorder->n && said < SENTENCES_MAX; i++) {
        const struct collective_record *record = &recorder->records[i];
        bool last = i + 1 == recorder->n || recorder->records[i + 1].job != record->job;
        if (!last || record->library.channels == 0)
            continue;
        explain_choice(record, r);
        said++;
    }
}
