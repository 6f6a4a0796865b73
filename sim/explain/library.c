// SPDX-License-Identifier: MIT
// What a library has chosen for the last collective of each job.
#include <stdio.h>
#include <stdlib.h>

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

#define PART_MIN 0.05 // share of the path from which the library's own time is named
#define FORCED 0.5    // of the library's time: about what its own choice may save

// A library whose user has named an algorithm or a protocol; its own choice may be another one.
static void explain_forced(const struct fabric *fabric, const struct collective_record *record,
                           struct result *r)
{
    const struct executor_record *l = &record->library;
    char bytes[UNIT_TEXT];
    ps_t library = r->last->critical.parts[PATH_LIBRARY];
    struct reason_result *reason = result_cause(
        r, REASON_LIBRARY, (ps_t)(FORCED * (double)library),
        text_format("%s was set to run %s with protocol %s for %s of %s (`algo`, `proto` or `env`)",
                    l->library, l->algorithm, l->protocol, coll_op_name(record->request.op),
                    human_bytes(record->request.bytes, bytes)),
        "with its own choice");
    reason->job = record->job;
    // The environment is among the keys of a resolved scenario, and would outweigh them in another.
    static const char *const keys[] = {"env=null", "algo=auto", "proto=auto"};
    char *key = job_key(fabric, record->job, "library");
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        reason_set(reason, "%s.%s", key, keys[i]);
    free(key);
}

// What a library's own time consists of, with the keys that remove it.
static const struct {
    const char *what, *keys[6];
    double share; // of the library's time, by which trials are ordered
} costs[] = {
    {"the launch of kernels", {"launch_ll", "launch_ll128", "launch_simple"}, 0.4},
    {"the steps of primitives", {"primitive_ll", "primitive_ll128", "primitive_simple"}, 0.3},
    {"the threads that send and receive",
     {"send_ll", "send_ll128", "send_simple", "receive_ll", "receive_ll128", "receive_simple"},
     0.2},
};

static void explain_costs(const struct fabric *fabric, struct result *r)
{
    char time[UNIT_TEXT], change[96];
    ps_t library = r->last->critical.parts[PATH_LIBRARY];
    char *key = job_key(fabric, r->last->job, "library.host_cost");
    for (size_t i = 0; i < sizeof costs / sizeof *costs; i++) {
        snprintf(change, sizeof change, "without %s", costs[i].what);
        struct reason_result *reason = result_cause(
            r, REASON_LIBRARY, (ps_t)(costs[i].share * (double)library),
            text_format("the library of collectives took %s of the path, of which %s is a part",
                        human_time(library, time), costs[i].what),
            change);
        for (size_t k = 0; k < sizeof costs[i].keys / sizeof *costs[i].keys; k++)
            if (costs[i].keys[k])
                reason_set(reason, "%s.%s=0s", key, costs[i].keys[k]);
    }
    free(key);
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
        if (record->library.limited && result_has_path(r))
            explain_forced(facts->fabric, record, r);
        said++;
    }
    if (said > 0 && recorder->records[recorder->n - 1].library.threads > 0 && result_has_path(r) &&
        result_share(r, PATH_LIBRARY) >= PART_MIN)
        explain_costs(facts->fabric, r);
}
