// SPDX-License-Identifier: MIT
// "library": {"kind": "nccl", "nccl": "2.27.7", "proto": "ll128", "env": "NCCL_MIN_NCHANNELS=8"}.
#include "config/algorithm/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/text/schema_parts.h"
#include "engine/memory.h"
#include "nccl/operation.h"

// As in a scenario.
struct library_params {
    int version, algo, proto;
    uint64_t min_channels, max_channels, buffer, threads, queue_pairs, cross_nic;
    bool split, pxn, nvls, adaptive_routing;
    uint64_t p2p_chunk, p2p_channels;
    const char *env;
};
#define FIELD(name) offsetof(struct library_params, name)

static const char *const versions[] = {"2.21.5", "2.27.7", "2.30.7", NULL};
enum { ANY_PROTO = 0 };
static const char *const algos[] = {"auto", "tree", "ring", "collnet", "nvls", "nvlstree", "pat",
                                    NULL};
static const char *const protos[] = {"auto", "ll", "ll128", "simple", NULL};
static const unsigned algo_bits[] = {NCCL_ANY_ALGORITHM,
                                     1u << NCCL_TREE,
                                     1u << NCCL_RING,
                                     1u << NCCL_COLLNET_DIRECT | 1u << NCCL_COLLNET_CHAIN,
                                     1u << NCCL_NVLS,
                                     1u << NCCL_NVLS_TREE,
                                     1u << NCCL_PAT};

#define NCCL_ENV "NCCL's environment variables"
static const struct param library_params[] = {
    PARAM_ROW("nccl", ENUM, FIELD(version), .def = "2.27.7", .choices = versions,
              .help = "version whose rules are used", .source = "github.com/NVIDIA/nccl"),
    PARAM_ROW("algo", ENUM, FIELD(algo), .def = "auto", .choices = algos,
              .help = "the only algorithm that may be chosen", .source = NCCL_ENV ": NCCL_ALGO"),
    PARAM_ROW("proto", ENUM, FIELD(proto), .def = "auto", .choices = protos,
              .help = "the only protocol that may be chosen", .source = NCCL_ENV ": NCCL_PROTO"),
    PARAM_ROW("min_nchannels", COUNT, FIELD(min_channels), .def = "0", .max = "32",
              .help = "channels at least; 0 = as found", .source = NCCL_ENV),
    PARAM_ROW("max_nchannels", COUNT, FIELD(max_channels), .def = "0", .max = "32",
              .help = "channels at most; 0 = as found", .source = NCCL_ENV),
    PARAM_ROW("buffsize", BYTES, FIELD(buffer), .def = "4MiB", .min = "64KiB", .max = "256MiB",
              .help = "buffer of a connection under Simple: a step is an eighth of it",
              .source = NCCL_ENV),
    PARAM_ROW("nthreads", COUNT, FIELD(threads), .def = "0", .max = "640",
              .help = "threads of a channel at most under LL and Simple; 0 = as chosen",
              .source = NCCL_ENV),
    PARAM_ROW("cross_nic", COUNT, FIELD(cross_nic), .def = "2", .max = "2",
              .help = "whether a ring may leave a server by another NIC than it entered: 0 never, "
                      "1 always, 2 where nothing else is found",
              .source = NCCL_ENV),
    PARAM_ROW("pxn", BOOL, FIELD(pxn), .def = "true",
              .help = "a GPU may send by the NIC beside another GPU of its server",
              .source = NCCL_ENV ": NCCL_PXN_DISABLE=0"),
    PARAM_ROW("nvls", BOOL, FIELD(nvls), .def = "true",
              .help = "NVSwitches may reduce and spread data (NVLS, NVLSTree)",
              .source = NCCL_ENV ": NCCL_NVLS_ENABLE"),
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
              .help = "channels of a send between servers; 0 = by the version",
              .source = NCCL_ENV),
    PARAM_ROW("env", TEXT, FIELD(env), .def = "",
              .help = "settings as environment variables, such as \"NCCL_PROTO=LL "
                      "NCCL_MIN_NCHANNELS=4\"; they replace the keys"),
};
enum { N_PARAMS = sizeof library_params / sizeof *library_params };

/* ---- environment variables ---- */

struct variable {
    const char *name, *key;
    bool negated; // of a switch
};
static const struct variable variables[] = {
    {"NCCL_ALGO", "algo", false},
    {"NCCL_PROTO", "proto", false},
    {"NCCL_MIN_NCHANNELS", "min_nchannels", false},
    {"NCCL_MIN_CTAS", "min_nchannels", false},
    {"NCCL_MAX_NCHANNELS", "max_nchannels", false},
    {"NCCL_MAX_CTAS", "max_nchannels", false},
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

// Variables of NCCL that change nothing here.
static const char *const harmless[] = {"NCCL_DEBUG",      "NCCL_DEBUG_SUBSYS", "NCCL_DEBUG_FILE",
                                       "NCCL_SOCKET_IFNAME", "NCCL_IB_HCA",    "NCCL_NET_GDR_LEVEL",
                                       "NCCL_IB_GID_INDEX", "NCCL_IB_TC"};

static void set_variable(struct reader *r, const struct place *place, char *text,
                         struct library_params *p)
{
    char *value = strchr(text, '='), path[PLACE_TEXT], lower[PARAM_TEXT_MAX];
    place_text(place, path);
    if (value == NULL) {
        place_error(r->err, place, "\"%s\" is no NAME=VALUE", text);
        return;
    }
    *value++ = '\0';
    for (size_t i = 0; i < sizeof harmless / sizeof *harmless; i++)
        if (strcmp(text, harmless[i]) == 0)
            return;
    for (size_t i = 0; i < N_VARIABLES; i++) {
        if (strcmp(text, variables[i].name) != 0)
            continue;
        struct param row = param_find(library_params, N_PARAMS, variables[i].key);
        size_t n = 0;
        for (; value[n] != '\0' && n + 1 < sizeof lower; n++)
            lower[n] = (char)(value[n] >= 'A' && value[n] <= 'Z' ? value[n] - 'A' + 'a' : value[n]);
        lower[n] = '\0';
        const char *given = lower;
        if (row.type == PARAM_BOOL)
            given = (strcmp(lower, "0") == 0) == variables[i].negated ? "true" : "false";
        param_set(&row, p, given, path, r->err);
        return;
    }
    place_error(r->err, place, "%s is not known here: see docs/nccl.md", text);
}

static void read_env(struct reader *r, const struct place *place, struct library_params *p)
{
    size_t bytes = strlen(p->env) + 1;
    char *text = memory_zeroed(bytes, 1), *rest = text;
    memcpy(text, p->env, bytes);
    for (char *word = strtok_r(text, " \t\n", &rest); word != NULL;
         word = strtok_r(NULL, " \t\n", &rest))
        set_variable(r, place, word, p);
    free(text);
}

/* ---- reading ---- */

#define ADAPTIVE_ROUTING_BYTES 8192 // IB_AR_THRESHOLD

static struct nccl_settings settings_of(const struct library_params *p)
{
    return (struct nccl_settings){
        .version = (enum nccl_version)p->version,
        .algorithms = algo_bits[p->algo],
        .protocols = p->proto == ANY_PROTO ? NCCL_ANY_PROTOCOL : 1u << (p->proto - 1),
        .min_channels = (uint32_t)p->min_channels,
        .max_channels = (uint32_t)p->max_channels,
        .buffer_bytes = {[NCCL_SIMPLE] = p->buffer},
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

static struct library_params params_of(const struct nccl_settings *s)
{
    struct library_params p;
    params_default(library_params, N_PARAMS, &p);
    p.version = s->version;
    p.algo = p.proto = 0;
    for (int a = 1; algos[a] != NULL; a++)
        p.algo = s->algorithms == algo_bits[a] ? a : p.algo;
    for (int k = 1; protos[k] != NULL; k++)
        p.proto = s->protocols == 1u << (k - 1) ? k : p.proto;
    p.min_channels = s->min_channels;
    p.max_channels = s->max_channels;
    p.buffer = s->buffer_bytes[NCCL_SIMPLE];
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

#define COST(name) offsetof(struct nccl_host_cost, name)
#define COST_ROW(key, type_, field, limit, text)                                                   \
    PARAM_ROW(key, type_, COST(field), .def = "0" limit, .help = text)
#define COST_ROWS(key, type, field, unit, text)                                                    \
    COST_ROW(key "_ll", type, field[NCCL_LL], unit, text ", under LL"),                            \
        COST_ROW(key "_ll128", type, field[NCCL_LL128], unit, text ", under LL128"),               \
        COST_ROW(key "_simple", type, field[NCCL_SIMPLE], unit, text ", under Simple")

static const struct param cost_params[] = {
    COST_ROWS("launch", TIME, launch_ps, "ns", "launch and end of a kernel"),
    COST_ROWS("primitive", TIME, primitive_ps, "ns", "threads of a block wait for each other"),
    COST_ROWS("link", TIME, link_ps, "ns", "of a message over NVLink until it is seen"),
    COST_ROWS("send", TIME, send_ps, "ns", "from the block to the NIC"),
    COST_ROWS("receive", TIME, receive_ps, "ns", "from the NIC to the block"),
    COST_ROW("proxy", TIME, proxy_ps, "ns", "that the proxy's thread is busy with a message"),
    COST_ROWS("block_rate", RATE, block_bps, "bps", "that a channel copies or reduces; 0bps = any"),
};
enum { N_COSTS = sizeof cost_params / sizeof *cost_params };

static void read_costs(struct reader *r, const struct place *place, struct nccl_host_cost *cost)
{
    struct keys keys = {0};
    if (place->json == NULL || !read_object(r, place))
        return;
    read_params(r, place, &keys, cost_params, N_COSTS, cost);
    keys_check(r, place, &keys);
}

void library_read(struct reader *r, const struct place *place, struct keys *keys,
                  struct library_spec *spec)
{
    static const char *const words[] = {"textbook", NULL}, *const kinds[] = {"nccl", NULL};
    struct place at = place_key(place, "library"), env = place_key(&at, "env"),
                 kind = place_key(&at, "kind"), cost = place_key(&at, "host_cost");
    struct library_params p;
    struct keys own = {0};
    keys_add(keys, "library");
    *spec = (struct library_spec){.machine = NULL};
    if (at.json == NULL || json_is_string(at.json)) {
        if (at.json != NULL)
            read_word(r, &at, "library", words);
        return;
    }
    if (!read_object(r, &at) || read_word(r, &kind, "library", kinds) < 0)
        return;
    params_default(library_params, N_PARAMS, &p);
    read_params(r, &at, &own, library_params, N_PARAMS, &p);
    read_env(r, &env, &p);
    keys_add(&own, "kind");
    keys_add(&own, "host_cost");
    keys_check(r, &at, &own);
    const struct spec *scenario = &r->scenario->spec;
    if (scenario->machine == NULL) {
        if (r->ranks.n_ranks > 0)
            place_error(r->err, &at, "needs a machine: give the topology a `machine`, such as "
                                     "\"dgx_h100\"");
        return;
    }
    *spec = (struct library_spec){.machine = scenario->machine,
                                  .settings = settings_of(&p),
                                  .cost = nccl_host_cost_of(scenario->machine->gpu),
                                  .gpus = scenario->machine->gpus};
    read_costs(r, &cost, &spec->cost);
}

void library_write(json_t *json, const struct library_spec *spec)
{
    if (spec->machine == NULL) {
        json_object_set_new(json, "library", json_string("textbook"));
        return;
    }
    struct library_params p = params_of(&spec->settings);
    json_t *library = json_pack("{s:s}", "kind", "nccl");
    write_params(library, library_params, N_PARAMS, &p);
    json_object_set_new(library, "host_cost", params_json(cost_params, N_COSTS, &spec->cost));
    json_object_set_new(json, "library", library);
}

void library_schema(json_t *object)
{
    static const char *const words[] = {"textbook", NULL};
    json_t *nccl = schema_object();
    schema_key(nccl, "kind", schema_constant("nccl"), true);
    schema_params(nccl, library_params, N_PARAMS);
    schema_key(nccl, "host_cost", schema_table(cost_params, N_COSTS), false);
    schema_key(object, "library", json_pack("{s:[o,o]}", "anyOf", schema_words(words), nccl),
               false);
}

/* ---- checks ---- */

static bool function_of(enum coll_op op, enum nccl_function *function)
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

#define CHECKED_BYTES (1 << 20)

bool library_check(struct reader *r, const struct place *place, const struct job_spec *job,
                   const struct library_spec *spec, enum coll_op op, const uint32_t *members,
                   uint32_t n)
{
    char why[200] = "";
    struct nccl_communicator c;
    struct nccl_operation o;
    enum nccl_function function;
    if (spec->machine == NULL || n < 2)
        return true;
    struct nccl_member *list = memory_zeroed(n, sizeof *list);
    for (uint32_t m = 0; m < n; m++) {
        uint32_t rank = job_rank(job, members != NULL ? members[m] : m);
        list[m] = (struct nccl_member){rank / spec->gpus, rank % spec->gpus};
    }
    bool made =
        nccl_communicator_init(&c, spec->machine, &spec->settings, list, n, why, sizeof why);
    free(list);
    if (!made) {
        place_error(r->err, place, "NCCL would not run here: %s", why);
        return false;
    }
    bool possible = !function_of(op, &function) ||
                    nccl_operation_init(&o, &c, function, CHECKED_BYTES, 0);
    if (!possible)
        place_error(r->err, place,
                    "NCCL %s has no %s by the given `algo` and `proto` on these ranks",
                    nccl_version_name(spec->settings.version), coll_op_name(op));
    nccl_communicator_free(&c);
    return possible;
}
