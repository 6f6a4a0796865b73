// SPDX-License-Identifier: MIT
#include "workload/read/nccl_settings.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "collective/nccl/nccl_choice.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

#define FIELD(name) offsetof(struct nccl_params, name)

static const char *const versions[] = {"2.21.5", "2.27.7", "2.30.7", NULL};
static const char *const rccl_versions[] = {"2.21.5", NULL}; // the same number of NCCL_2_21_5
enum { ANY_PROTO = 0 };
static const char *const algos[] = {"auto", "tree",     "ring", "collnet",
                                    "nvls", "nvlstree", "pat",  NULL};
static const char *const rccl_algos[] = {"auto", "tree", "ring", NULL}; // the first ones of algos
static const char *const protos[] = {"auto", "ll", "ll128", "simple", NULL};
static const unsigned algo_bits[] = {
    NCCL_ANY_ALGORITHM, 1u << NCCL_TREE,
    1u << NCCL_RING,    1u << NCCL_COLLNET_DIRECT | 1u << NCCL_COLLNET_CHAIN,
    1u << NCCL_NVLS,    1u << NCCL_NVLS_TREE,
    1u << NCCL_PAT};

#define NCCL_ENV "NCCL's environment variables"
#define RCCL_SOURCE "github.com/ROCm/rccl, of ROCm 6.3"

// Rows that both libraries have, some with values of their own.
#define ALGO_ROW(words)                                                                            \
    PARAM_ROW("algo", ENUM, FIELD(algo), .def = "auto", .choices = words,                          \
              .help = "the only algorithm that may be chosen", .source = NCCL_ENV ": NCCL_ALGO")
#define PROTO_ROW                                                                                  \
    PARAM_ROW("proto", ENUM, FIELD(proto), .def = "auto", .choices = protos,                       \
              .help = "the only protocol that may be chosen", .source = NCCL_ENV ": NCCL_PROTO")
#define CHANNELS_ROW(key, field, most, text)                                                       \
    PARAM_ROW(key, COUNT, FIELD(field), .def = "0", .max = most, .help = text, .source = NCCL_ENV)
#define BUFFER_ROW                                                                                 \
    PARAM_ROW("buffsize", BYTES, FIELD(buffer), .def = "4MiB", .min = "64KiB", .max = "256MiB",    \
              .help = "buffer of a connection under Simple: a step is an eighth of it",            \
              .source = NCCL_ENV)
#define CROSS_NIC_ROW(text)                                                                        \
    PARAM_ROW("cross_nic", COUNT, FIELD(cross_nic), .def = "2", .max = "2", .help = text,          \
              .source = NCCL_ENV)
#define PXN_ROW(default_)                                                                          \
    PARAM_ROW("pxn", BOOL, FIELD(pxn), .def = default_,                                            \
              .help = "a GPU may send by the NIC beside another GPU of its server",                \
              .source = NCCL_ENV ": NCCL_PXN_DISABLE=0")

static const struct param connection_rows[] = {
    PARAM_ROW("qps_per_connection", COUNT, FIELD(queue_pairs), .def = "1", .min = "1", .max = "16",
              .help = "queue pairs of a connection, used in turn",
              .source = NCCL_ENV ": NCCL_IB_QPS_PER_CONNECTION"),
    PARAM_ROW("split_data_on_qps", BOOL, FIELD(split), .def = "false",
              .help = "each message is cut over all queue pairs of its connection",
              .source = NCCL_ENV ": NCCL_IB_SPLIT_DATA_ON_QPS"),
    PARAM_ROW("adaptive_routing", BOOL, FIELD(adaptive_routing), .def = "false",
              .help = "messages above 8 KiB are a write and an empty write with the notice, as on "
                      "InfiniBand with adaptive routing",
              .source = NCCL_ENV ": NCCL_IB_ADAPTIVE_ROUTING"),
    PARAM_ROW("p2p_net_chunksize", BYTES, FIELD(p2p_chunk), .def = "128KiB", .min = "4KiB",
              .max = "64MiB", .help = "largest message of a send between servers",
              .source = NCCL_ENV),
    PARAM_ROW("nchannels_per_net_peer", COUNT, FIELD(p2p_channels), .def = "0", .max = "32",
              .help = "channels of a send between servers; 0 = by the version", .source = NCCL_ENV),
    PARAM_ROW("env", TEXT, FIELD(env), .def = "",
              .help = "settings as environment variables, such as \"NCCL_PROTO=LL "
                      "NCCL_MIN_NCHANNELS=4\"; they replace the keys"),
    {0},
};

static const struct param nccl_params[] = {
    PARAM_ROW("nccl", ENUM, FIELD(version), .def = "2.27.7", .choices = versions,
              .help = "version whose rules are used", .source = "github.com/NVIDIA/nccl"),
    ALGO_ROW(algos),
    PROTO_ROW,
    CHANNELS_ROW("min_nchannels", min_channels, "32", "channels at least; 0 = as found"),
    CHANNELS_ROW("max_nchannels", max_channels, "32", "channels at most; 0 = as found"),
    CHANNELS_ROW("min_ctas", min_ctas, "32", "channels at least, those of NVLS too; 0 = as found"),
    CHANNELS_ROW("max_ctas", max_ctas, "32",
                 "channels at most, those of NVLS too, which max_nchannels leaves; 0 = as found"),
    BUFFER_ROW,
    PARAM_ROW("nthreads", COUNT, FIELD(threads), .def = "0", .max = "640",
              .help = "threads of a channel at most under LL and Simple; 0 = as chosen",
              .source = NCCL_ENV),
    CROSS_NIC_ROW("whether a ring may leave a server by another NIC than it entered: 0 never, "
                  "1 always, 2 where nothing else is found"),
    PXN_ROW("true"),
    PARAM_ROW("nvls", BOOL, FIELD(nvls), .def = "true",
              .help = "NVSwitches may reduce and spread data (NVLS, NVLSTree)",
              .source = NCCL_ENV ": NCCL_NVLS_ENABLE"),
    {.include = connection_rows},
};

// Threads are always 256, and there is no NVLS.
static const struct param rccl_params[] = {
    PARAM_ROW("rccl", ENUM, FIELD(version), .def = "2.21.5", .choices = rccl_versions,
              .help = "version whose rules are used", .source = RCCL_SOURCE),
    ALGO_ROW(rccl_algos),
    PROTO_ROW,
    CHANNELS_ROW("min_nchannels", min_channels, "128",
                 "channels at least, up to 64 between servers; 0 = 2"),
    CHANNELS_ROW("max_nchannels", max_channels, "128", "channels at most; 0 = as found"),
    CHANNELS_ROW("min_ctas", min_ctas, "128", "channels at least; 0 = as found"),
    CHANNELS_ROW("max_ctas", max_ctas, "128", "channels at most; 0 = as found"),
    BUFFER_ROW,
    CROSS_NIC_ROW("1: servers of odd number swap the rings of each pair, as where a ring may leave "
                  "by another NIC than it entered"),
    PXN_ROW("false"),
    {.include = connection_rows},
};

#define ROWS(table) ((struct nccl_rows){table, sizeof table / sizeof *table})

struct nccl_rows nccl_rows(bool rccl) { return rccl ? ROWS(rccl_params) : ROWS(nccl_params); }

struct nccl_params nccl_defaults(bool rccl)
{
    struct nccl_rows rows = nccl_rows(rccl);
    struct nccl_params p = {.rccl = rccl, .nvls = true};
    params_default(rows.rows, rows.n, &p);
    return p;
}

/* ---- environment variables ---- */

struct variable {
    const char *name, *key;
    bool negated; // of a switch
};
static const struct variable variables[] = {
    {"NCCL_ALGO", "algo", false},
    {"NCCL_PROTO", "proto", false},
    {"NCCL_MIN_NCHANNELS", "min_nchannels", false},
    {"NCCL_MIN_CTAS", "min_ctas", false},
    {"NCCL_MAX_NCHANNELS", "max_nchannels", false},
    {"NCCL_MAX_CTAS", "max_ctas", false},
    {"NCCL_BUFFSIZE", "buffsize", false},
    {"NCCL_NTHREADS", "nthreads", false},
    {"NCCL_CROSS_NIC", "cross_nic", false},
    {"NCCL_PXN_DISABLE", "pxn", true},
    {"NCCL_NVLS_ENABLE", "nvls", false},
    {"NCCL_IB_QPS_PER_CONNECTION", "qps_per_connection", false},
    {"NCCL_IB_SPLIT_DATA_ON_QPS", "split_data_on_qps", false},
    {"NCCL_IB_ADAPTIVE_ROUTING", "adaptive_routing", false},
    {"NCCL_P2P_NET_CHUNKSIZE", "p2p_net_chunksize", false},
    {"NCCL_NCHANNELS_PER_NET_PEER", "nchannels_per_net_peer", false},
};
enum { N_VARIABLES = sizeof variables / sizeof *variables };

// MSCCL is not modelled: RCCL runs without it.
static const char *const off[] = {"RCCL_MSCCL_ENABLE", "RCCL_MSCCLPP_ENABLE"};

// Variables of NCCL that change nothing here.
static const char *const harmless[] = {
    "NCCL_DEBUG",  "NCCL_DEBUG_SUBSYS",  "NCCL_DEBUG_FILE",   "NCCL_SOCKET_IFNAME",
    "NCCL_IB_HCA", "NCCL_NET_GDR_LEVEL", "NCCL_IB_GID_INDEX", "NCCL_IB_TC"};

static const struct variable *variable_named(const char *name)
{
    for (size_t i = 0; i < N_VARIABLES; i++)
        if (strcmp(name, variables[i].name) == 0)
            return &variables[i];
    return NULL;
}

static bool is_among(const char *name, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}
#define IS_AMONG(name, names) is_among(name, names, sizeof names / sizeof *names)

bool nccl_env_known(const char *name) { return variable_named(name) != NULL; }

static int set_value(const struct variable *variable, const char *value, const char *path,
                     struct nccl_params *p, struct err *err)
{
    struct nccl_rows rows = nccl_rows(p->rccl);
    struct param row = param_find(rows.rows, rows.n, variable->key);
    if (row.name == NULL)
        return err_add(err, path, "%s has no meaning for RCCL on MI300X", variable->name);
    char lower[PARAM_TEXT_MAX];
    size_t n = 0;
    for (; value[n] != '\0' && n + 1 < sizeof lower; n++)
        lower[n] = (char)(value[n] >= 'A' && value[n] <= 'Z' ? value[n] - 'A' + 'a' : value[n]);
    lower[n] = '\0';
    const char *given = lower;
    if (row.type == PARAM_BOOL)
        given = (strcmp(lower, "0") == 0) == variable->negated ? "true" : "false";
    char *place = text_format("%s: %s", path, variable->name);
    int status = param_set(&row, p, given, place, err);
    free(place);
    return status;
}

// Apply "NAME=VALUE", which is cut in place.
static int set_variable(struct nccl_params *p, char *text, const char *path, struct err *err)
{
    char *value = strchr(text, '=');
    if (value == NULL)
        return err_add(err, path, "\"%s\" is no NAME=VALUE", text);
    *value++ = '\0';
    const struct variable *variable = variable_named(text);
    if (variable != NULL)
        return set_value(variable, value, path, p, err);
    if (p->rccl && IS_AMONG(text, off))
        return strcmp(value, "0") == 0
                   ? 0
                   : err_add(err, path, "%s: MSCCL is not modelled, so it must be 0", text);
    return IS_AMONG(text, harmless)
               ? 0
               : err_add(err, path, "%s is not known here: see docs/nccl.md", text);
}

int nccl_env_apply(struct nccl_params *p, const char *env, const char *path, struct err *err)
{
    size_t bytes = strlen(env) + 1;
    char *text = memory_zeroed(bytes, 1), *rest = text;
    int status = 0;
    memcpy(text, env, bytes);
    for (char *word = strtok_r(text, " \t\n", &rest); word != NULL;
         word = strtok_r(NULL, " \t\n", &rest))
        status |= set_variable(p, word, path, err);
    free(text);
    return status;
}

/* ---- as the library takes them ---- */

#define ADAPTIVE_ROUTING_BYTES 8192 // IB_AR_THRESHOLD

struct nccl_settings nccl_settings_of(const struct nccl_params *p)
{
    return (struct nccl_settings){
        .version = (enum nccl_version)p->version,
        .rccl = p->rccl,
        .algorithms = algo_bits[p->algo],
        .protocols = p->proto == ANY_PROTO ? NCCL_ANY_PROTOCOL : 1u << (p->proto - 1),
        .min_channels = (uint32_t)p->min_channels,
        .min_ctas = (uint32_t)p->min_ctas,
        .max_ctas = (uint32_t)p->max_ctas,
        .max_channels = (uint32_t)p->max_channels,
        .buffer_bytes = p->buffer,
        .threads = (uint32_t)p->threads,
        .cross_nic = (uint32_t)p->cross_nic,
        .pxn = p->pxn,
        .nvls = p->nvls,
        .p2p_chunk_bytes = p->p2p_chunk,
        .p2p_net_channels = (uint32_t)p->p2p_channels,
        .queue_pairs = (uint32_t)p->queue_pairs,
        .split_on_queue_pairs = p->split,
        .two_part_bytes = p->adaptive_routing ? ADAPTIVE_ROUTING_BYTES : 0};
}

struct nccl_params nccl_params_of(const struct nccl_settings *s)
{
    struct nccl_params p = nccl_defaults(s->rccl);
    p.version = (int)s->version;
    p.algo = p.proto = 0;
    for (int a = 1; algos[a] != NULL; a++)
        p.algo = s->algorithms == algo_bits[a] ? a : p.algo;
    for (int k = 1; protos[k] != NULL; k++)
        p.proto = s->protocols == 1u << (k - 1) ? k : p.proto;
    p.min_channels = s->min_channels;
    p.min_ctas = s->min_ctas;
    p.max_ctas = s->max_ctas;
    p.max_channels = s->max_channels;
    p.buffer = s->buffer_bytes;
    p.threads = s->threads;
    p.cross_nic = s->cross_nic;
    p.pxn = s->pxn;
    p.nvls = s->nvls;
    p.p2p_chunk = s->p2p_chunk_bytes;
    p.p2p_channels = s->p2p_net_channels;
    p.queue_pairs = s->queue_pairs;
    p.split = s->split_on_queue_pairs;
    p.adaptive_routing = s->two_part_bytes > 0;
    return p;
}

/* ---- words ---- */

const char *executor_algorithm_word(enum nccl_algorithm algorithm)
{
    int a = 1;
    while (!(algo_bits[a] >> algorithm & 1))
        a++;
    return algos[a];
}

const char *executor_protocol_word(enum nccl_protocol protocol) { return protos[protocol + 1]; }

bool executor_function_of(enum coll_op op, enum nccl_function *function)
{
    static const struct {
        enum coll_op op;
        enum nccl_function function;
    } pairs[] = {{COLL_ALL_REDUCE, NCCL_ALL_REDUCE},         {COLL_BARRIER, NCCL_ALL_REDUCE},
                 {COLL_REDUCE_SCATTER, NCCL_REDUCE_SCATTER}, {COLL_ALL_GATHER, NCCL_ALL_GATHER},
                 {COLL_BROADCAST, NCCL_BROADCAST},           {COLL_REDUCE, NCCL_REDUCE}};
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (pairs[i].op == op) {
            *function = pairs[i].function;
            return true;
        }
    return false;
}
