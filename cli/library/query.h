// SPDX-License-Identifier: MIT
// What `collwire library nccl` (or rccl) is to describe, and the communicator that follows from it.
#pragma once

#include "cli/options/options.h"
#include "collective/nccl/nccl_operation.h"
#include "workload/read/nccl_settings.h"

struct query {
    const struct nccl_machine *machine;
    struct collwire_scenario *scenario; // that the machine is from; NULL = it has a name
    struct nccl_params settings;
    enum coll_op op;
    uint64_t nodes;
    uint64_t bytes; // of the largest buffer of a rank; 0 = powers of two
};

// Read the options for NCCL or RCCL. Returns 0, or -1 after all errors have been added to `err`.
// query_free() in both cases.
int query_read(struct query *q, bool rccl, const struct options *o, struct err *err);
void query_free(struct query *q);

// --machine as topology.machine has it; NULL = no JSON. To be released.
json_t *query_machine(const struct options *o);

// What the library makes of a query; `query` is borrowed.
struct answer {
    const struct query *query;
    struct nccl_communicator comm;
    bool has_function; // false: an all-to-all
    enum nccl_function function;
};

// Make the communicator of all GPUs. Returns 0; answer_free() releases it. Returns -1 after an
// error, also where NCCL has no algorithm for the operation.
int answer_init(struct answer *a, const struct query *query, struct err *err);
void answer_free(struct answer *a);

// The sizes that are listed: q->bytes, or powers of two. `*bytes` = 0 begins; returns false at the
// end.
bool answer_next_size(const struct answer *a, uint64_t *bytes);

// NCCL's choice for a size; the operation is one of its functions.
struct nccl_operation answer_choice(const struct answer *a, uint64_t bytes);

// The order and the messages of an all-to-all.
struct nccl_p2p answer_p2p(const struct answer *a);

// Whether an algorithm and protocol of the table of costs may be chosen for a function.
bool answer_possible(const struct answer *a, enum nccl_function function,
                     enum nccl_algorithm algorithm, enum nccl_protocol protocol);

// Write the ranks of a ring in their order from rank 0.
void answer_ring(const struct answer *a, uint32_t channel, uint32_t *ranks);

// Write the ranks that are head `head` of NVLS, one a server. Returns their number.
uint32_t answer_heads(const struct answer *a, uint32_t head, uint32_t *ranks);
