// SPDX-License-Identifier: MIT
// "library": {"kind": "mpi", "algo": "rabenseifner", "copy_rate": "15Gbps"}: Open MPI.
#include "workload/read/library_mpi.h"

#include "collective/mpi/mpi.h"
#include "engine/base/memory.h"
#include "engine/text/schema_parts.h"

#define FIELD(name) offsetof(struct mpi_settings, name)
#define SOURCE "Open MPI 4.1.4"

// The order of enum mpi_algorithm.
static const char *const algos[] = {"auto",
                                    "ring",
                                    "segmented_ring",
                                    "recursive_doubling",
                                    "rabenseifner",
                                    "linear",
                                    "pairwise",
                                    "binomial",
                                    NULL};

static const struct param mpi_params[] = {
    PARAM_ROW("algo", ENUM, FIELD(algorithm), .def = "auto", .choices = algos,
              .help = "of operations that have it; auto, and the others: by the fixed rules of "
                      "coll_tuned",
              .source = SOURCE ": coll_tuned_allreduce_algorithm and its siblings"),
    PARAM_ROW(
        "segment", BYTES, FIELD(segment_bytes), .def = "0B", .max = "1GB",
        .help =
            "of the segmented ring, which is a ring where this is 0; larger where a block would "
            "have more than 32768",
        .source = SOURCE ": coll_tuned_allreduce_algorithm_segmentsize"),
    PARAM_ROW("eager_limit", BYTES, FIELD(eager_bytes), .def = "65480B", .max = "1GB",
              .help = "a message of this size or more waits until its receive is posted",
              .source = SOURCE ": btl_tcp_eager_limit 64 KB less the largest header"),
    PARAM_ROW("event", TIME, FIELD(event_ps), .def = "0ns", .max = "1s",
              .help = "time of a process for each message, request or answer that comes",
              .source = "docs/mpi.md"),
    PARAM_ROW("step", TIME, FIELD(step_ps), .def = "0ns", .max = "1s",
              .help = "time of a process from the end of a wait to its next message, and before "
                      "its first",
              .source = "docs/mpi.md"),
    PARAM_ROW("copy_rate", RATE, FIELD(copy_bps), .def = "0bps", .max = "100Tbps",
              .help = "at which a process copies its input at the start; 0 = at once",
              .source = "docs/mpi.md"),
    PARAM_ROW("reduce_rate", RATE, FIELD(reduce_bps), .def = "0bps", .max = "100Tbps",
              .help = "at which a process adds what has come; 0 = at once",
              .source = "docs/mpi.md"),
};
enum { N_PARAMS = sizeof mpi_params / sizeof *mpi_params };

void library_mpi_read(struct reader *r, const struct place *place, struct keys *own,
                      struct library_spec *spec)
{
    struct mpi_settings *settings = memory_zeroed(1, sizeof *settings);
    reader_keep(r, settings);
    params_default(mpi_params, N_PARAMS, settings);
    read_params(r, place, own, mpi_params, N_PARAMS, settings);
    spec->mpi = settings;
    spec->gpus = 1;
}

void library_mpi_write(json_t *library, const struct library_spec *spec)
{
    write_params(library, mpi_params, N_PARAMS, spec->mpi);
}

json_t *library_mpi_schema(void)
{
    json_t *object = schema_object();
    schema_key(object, "kind", schema_constant("mpi"), true);
    schema_params(object, mpi_params, N_PARAMS);
    return object;
}

/* ---- checks ---- */

// Check the pairs of an algorithm. Peers depend on the number of processes alone, and segments
// repeat those of the plain ring.
static bool pairs_check(struct reader *r, const struct place *place, const struct job_spec *job,
                        struct mpi_shape shape, const uint32_t *members)
{
    if (pairs_all_joined(r))
        return true;
    shape.bytes = shape.segment_bytes = 0;
    uint32_t steps = mpi_steps(&shape);
    for (uint32_t m = 0; m < shape.ranks; m++)
        for (uint32_t i = 0; i < steps; i++) {
            uint32_t peer = mpi_step(&shape, m, i).sends_to;
            if (peer != MPI_NONE && !pair_check(r, place, job, members ? members[m] : m,
                                                members ? members[peer] : peer))
                return false;
        }
    return true;
}

// Check the pairs of all algorithms that the operation may run: by its bytes, or by any.
static bool choices_check(struct reader *r, const struct place *place, const struct job_spec *job,
                          const struct mpi_settings *settings, enum mpi_operation op,
                          const struct coll_shape *shape, const uint32_t *members)
{
    bool any = shape->bytes == LIBRARY_ANY_BYTES, seen[MPI_ALGORITHMS] = {false};
    for (unsigned log = 0; log < (any ? 50 : 1); log++) { // 2^50: the largest size of a scenario
        struct mpi_shape s = mpi_shape_of(settings, op, shape->ranks, shape->root,
                                          any ? UINT64_C(1) << log : shape->bytes);
        if (!seen[s.algorithm] && !pairs_check(r, place, job, s, members))
            return false;
        seen[s.algorithm] = true;
    }
    return true;
}

bool library_mpi_check(struct reader *r, const struct place *place, const struct job_spec *job,
                       const struct library_spec *spec, const struct coll_shape *shape,
                       const uint32_t *members)
{
    static const struct {
        enum coll_op op;
        enum mpi_operation mpi;
    } operations[] = {{COLL_ALL_REDUCE, MPI_ALL_REDUCE},
                      {COLL_ALL_TO_ALL, MPI_ALL_TO_ALL},
                      {COLL_BROADCAST, MPI_BROADCAST},
                      {COLL_BARRIER, MPI_BARRIER}};
    enum mpi_algorithm algorithm = (enum mpi_algorithm)spec->mpi->algorithm;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        if (operations[i].op != shape->op)
            continue;
        if (shape->bytes == LIBRARY_ANY_BYTES || mpi_algorithm_is_of(algorithm, operations[i].mpi))
            return choices_check(r, place, job, spec->mpi, operations[i].mpi, shape, members);
        place_error(r->err, place, "%s is no algorithm of %s", mpi_algorithm_name(algorithm),
                    coll_op_name(shape->op));
        return false;
    }
    place_error(r->err, place,
                "kind mpi has all_reduce, all_to_all, broadcast and barrier, and not %s",
                coll_op_name(shape->op));
    return false;
}
