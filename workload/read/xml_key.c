// SPDX-License-Identifier: MIT
// The kind xml of `library`: an XML file, or traces. Of NCCL's settings it has those of
// connections.
#include "workload/read/xml_key.h"

#include <string.h>

#include "collective/nccl/xml/operation.h"
#include "collective/nccl/xml/xml_file.h"
#include "engine/base/memory.h"
#include "engine/text/schema_parts.h"
#include "workload/read/executor_key.h"
#include "workload/read/nccl_settings.h"
#include "workload/trace/trace_algorithm.h"

struct xml_params {
    struct nccl_params nccl;
    const char *file, *traces;
    uint64_t chunk;
};

static const struct param xml_params[] = {
    PARAM_ROW("file", TEXT, offsetof(struct xml_params, file), .def = "",
              .help = "XML file of MSCCL with the steps of every GPU; docs/xml-algorithms.md"),
    PARAM_ROW("traces", TEXT, offsetof(struct xml_params, traces), .def = "",
              .help = "in place of `file`: prefix of ASTRA-sim 2's traces of a collective, "
                      "PREFIX.N.et for rank N"),
    PARAM_ROW("chunk", BYTES, offsetof(struct xml_params, chunk), .def = "0B", .max = "256MiB",
              .help = "most bytes that a step moves at once; 0B = as MSCCL, four steps of the "
                      "buffer under Simple, one under LL and LL128"),
};
enum { N_OWN = sizeof xml_params / sizeof *xml_params };

static const char *const shared[] = {"buffsize", "pxn", "qps_per_connection", "split_data_on_qps",
                                     "adaptive_routing"};
enum { N_SHARED = sizeof shared / sizeof *shared, N_ROWS = N_OWN + N_SHARED };

static void rows_make(struct param rows[N_ROWS])
{
    struct nccl_rows nccl = nccl_rows(false);
    memcpy(rows, xml_params, sizeof xml_params);
    for (size_t i = 0; i < N_SHARED; i++)
        rows[N_OWN + i] = param_find(nccl.rows, nccl.n, shared[i]);
}

/* ---- reading ---- */

static struct xml_algorithm *read_file(struct reader *r, const struct place *place,
                                       const struct xml_params *p)
{
    struct place at = place_key(place, "file");
    char path[PLACE_TEXT];
    return xml_file_read(r->dir, p->file, place_text(&at, path), r->err);
}

static struct xml_algorithm *read_traces(struct reader *r, const struct place *place,
                                         const struct xml_params *p)
{
    struct place at = place_key(place, "traces");
    char path[PLACE_TEXT];
    struct nccl_settings settings = nccl_settings_of(&p->nccl);
    struct nccl_cluster cluster = {.buffer_bytes = settings.buffer_bytes};
    uint64_t most = xml_piece_max(&cluster, NCCL_SIMPLE);
    return trace_algorithm_read(r->dir, p->traces,
                                p->chunk > 0 && p->chunk < most ? p->chunk : most,
                                place_text(&at, path), r->err);
}

void executor_xml_read(struct reader *r, const struct place *place, struct keys *own,
                       struct executor_spec *spec)
{
    struct param rows[N_ROWS];
    struct xml_params p = {.file = NULL};
    struct place chunk = place_key(place, "chunk");
    rows_make(rows);
    p.nccl = nccl_defaults(false);
    params_default(rows, N_ROWS, &p);
    read_params(r, place, own, rows, N_ROWS, &p);
    spec->settings = nccl_settings_of(&p.nccl);
    bool traces = p.traces[0] != '\0';
    if (traces == (p.file[0] != '\0')) {
        place_error(r->err, place,
                    "needs one of `file`, an algorithm of MSCCL, and `traces`, one of "
                    "ASTRA-sim 2");
        return;
    }
    struct xml_algorithm *a = traces ? read_traces(r, place, &p) : read_file(r, place, &p);
    if (a == NULL)
        return;
    reader_keep(r, a);
    struct nccl_cluster cluster = {.buffer_bytes = spec->settings.buffer_bytes};
    uint64_t most = xml_piece_max(&cluster, a->protocol);
    if (p.chunk > most)
        place_error(r->err, &chunk, "the buffers of %s take %llu bytes at once",
                    nccl_protocol_name(a->protocol), (unsigned long long)most);
    spec->xml = a;
    spec->xml_file = traces ? p.traces : p.file;
    spec->xml_piece_bytes = p.chunk;
}

void executor_xml_write(json_t *library, const struct executor_spec *spec)
{
    struct param rows[N_ROWS];
    struct xml_params p = {.nccl = nccl_params_of(&spec->settings),
                           .file = spec->xml->own_sizes ? "" : spec->xml_file,
                           .traces = spec->xml->own_sizes ? spec->xml_file : "",
                           .chunk = spec->xml_piece_bytes};
    rows_make(rows);
    write_params(library, rows, N_ROWS, &p);
}

json_t *executor_xml_schema(void)
{
    struct param rows[N_ROWS];
    json_t *xml = schema_object();
    rows_make(rows);
    schema_key(xml, "kind", schema_constant("xml"), true);
    schema_params(xml, rows, N_ROWS);
    return xml;
}

/* ---- checks ---- */

// What a file calls an operation. MSCCL's own parsers differ in the name of a reduce-scatter.
static const struct {
    const char *coll;
    enum coll_op op;
} operations[] = {
    {"allreduce", COLL_ALL_REDUCE},
    {"allreduce", COLL_BARRIER},
    {"allgather", COLL_ALL_GATHER},
    {"reduce_scatter", COLL_REDUCE_SCATTER},
    {"reducescatter", COLL_REDUCE_SCATTER},
    {"alltoall", COLL_ALL_TO_ALL},
    {"broadcast", COLL_BROADCAST},
    {"reduce", COLL_REDUCE},
    {"gather", COLL_GATHER},
    {"scatter", COLL_SCATTER},
    {"alltonext", COLL_SEND_RECV},
};

static bool fits(const char *coll, enum coll_op op)
{
    if (strcmp(coll, "custom") == 0)
        return true;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++)
        if (operations[i].op == op && strcmp(operations[i].coll, coll) == 0)
            return true;
    return false;
}

// MSCCL takes the file for sizes from minBytes to maxBytes, and NCCL's own algorithms for others.
static void sizes_check(struct reader *r, const struct place *place,
                        const struct executor_spec *spec, uint64_t bytes)
{
    const struct xml_algorithm *a = spec->xml;
    char least[UNIT_TEXT], most[UNIT_TEXT], own[UNIT_TEXT];
    bool below = bytes<a->min_bytes, above = a->max_bytes> 0 && bytes > a->max_bytes;
    if (below || above)
        place_warn(
            r->err, place,
            "%s, line %u: is for sizes %s %s (%s), and the collective has %s: MSCCL would leave "
            "it to NCCL",
            spec->xml_file, a->line, below ? "from" : "up to",
            below ? human_bytes(a->min_bytes, least) : human_bytes(a->max_bytes, most),
            below ? "minBytes" : "maxBytes", human_bytes(bytes, own));
}

bool executor_xml_check(struct reader *r, const struct place *place,
                        const struct executor_spec *spec, enum coll_op op, uint64_t bytes,
                        uint32_t n)
{
    const struct xml_algorithm *a = spec->xml;
    struct nccl_cluster cluster = {.buffer_bytes = spec->settings.buffer_bytes};
    uint64_t most = xml_operation_max(a, &cluster, spec->xml_piece_bytes);
    char largest[UNIT_TEXT];
    if (a->n_gpus != n)
        place_error(r->err, place, "%s has steps of %u GPUs, and %u ranks take part",
                    spec->xml_file, a->n_gpus, n);
    else if (!fits(a->coll, op))
        place_error(r->err, place, "%s, line %u: coll \"%s\" is not the operation %s",
                    spec->xml_file, a->line, a->coll, coll_op_name(op));
    else if (bytes > most)
        place_error(r->err, place,
                    "%s: with more than %s its steps would fill the buffers and wait for each "
                    "other without end",
                    spec->xml_file, human_bytes(most, largest));
    else {
        if (bytes != EXECUTOR_ANY_BYTES)
            sizes_check(r, place, spec, bytes);
        return true;
    }
    return false;
}
