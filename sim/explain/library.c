// SPDX-License-Identifier: MIT
// What a library has chosen for the last collective of each job.
#include "engine/base/memory.h"
#include "sim/explain/explain_internal.h"

#define SENTENCES_MAX 4

// The sentence about a collective that a library has run.
static char *choice_text(const struct collective_record *record)
{
    const struct executor_record *l = &record->library;
    const char *op = coll_op_name(record->request.op), *name = l->library;
    char bytes[UNIT_TEXT], chunk[UNIT_TEXT];
    human_bytes(record->request.bytes, bytes);
    human_bytes(l->chunk_bytes, chunk);
    if (l->exchanges)
        return text_format("%s sends %s of %s between pairs of ranks, round by round on %u "
                           "channels",
                           name, op, bytes, l->channels);
    if (l->xml)
        return text_format("The XML algorithm %s runs %s of %s with protocol %s: up to %u thread "
                           "blocks a GPU on %u channels, %s of each chunk at once",
                           l->algorithm, op, bytes, l->protocol, l->blocks, l->channels, chunk);
    if (l->mpi)
        return text_format("%s runs %s of %s by %s: messages of up to %s, %s", name, op, bytes,
                           l->algorithm, chunk, l->protocol);
    if (l->threads == 0)
        return text_format("%s runs %s for %s of %s: the GPUs of a server exchange, and switches "
                           "add between servers, in %u chunks of %s",
                           name, l->algorithm, op, bytes, l->channels, chunk);
    if (l->replaced)
        return text_format(
            "%s has nothing that its settings (`algo`, `proto` or `env`) allow for %s "
            "of %s, and runs %s with protocol %s instead: %u channels of %u threads, "
            "chunks of %s",
            name, op, bytes, l->algorithm, l->protocol, l->channels, l->threads, chunk);
    if (l->limited)
        return text_format(
            "%s runs %s with protocol %s for %s of %s, among what its settings "
            "(`algo`, `proto` or `env`) allow: %u channels of %u threads, chunks of %s; "
            "collwire library has its own choice",
            name, l->algorithm, l->protocol, op, bytes, l->channels, l->threads, chunk);
    return text_format("%s chose %s with protocol %s for %s of %s: %u channels of %u threads, "
                       "chunks of %s; it ranks by its own table of costs",
                       name, l->algorithm, l->protocol, op, bytes, l->channels, l->threads, chunk);
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
        result_explain(r, EXPLAIN_DETAIL, choice_text(record));
        said++;
    }
}
