// SPDX-License-Identifier: MIT
// One row for each kind of file, and how its content is told from that of others.
#include "cli/import/kinds.h"

#include <stdlib.h>
#include <string.h>

#include "config/object/foreign_graph.h"
#include "engine/base/units.h"
#include "workload/read/ns3_flows.h"
#include "workload/training/training_spec.h"

/* ---- by the first bytes ---- */

static bool begins(const struct content *c, const char *bytes, size_t n)
{
    return c->n >= n && memcmp(c->head, bytes, n) == 0;
}

// A zip, or what tar makes, whose head is that of its first file.
static bool is_archive(const struct content *c)
{
    return begins(c, "PK\x03\x04", 4) || (c->n > 262 && memcmp(c->head + 257, "ustar", 5) == 0);
}

static bool is_database(const struct content *c) { return begins(c, "SQLite format 3", 16); }

static bool is_capture(const struct content *c)
{
    static const char *const magic[] = {"\xd4\xc3\xb2\xa1", "\xa1\xb2\xc3\xd4", "\x4d\x3c\xb2\xa1",
                                        "\xa1\xb2\x3c\x4d", "\x0a\x0d\x0d\x0a"};
    for (size_t i = 0; i < sizeof magic / sizeof *magic; i++)
        if (begins(c, magic[i], 4))
            return true;
    return false;
}

// Whether the first bytes of a record have the word "schema", an attribute of what has no version.
static bool has_schema(const struct content *c, size_t at)
{
    static const char word[] = "schema";
    for (; at + sizeof word <= c->n && at < 32; at++)
        if (memcmp(c->head + at, word, sizeof word - 1) == 0)
            return true;
    return false;
}

// A record behind its length in one or more bytes of 7 bits, which begins with a version: "0.0.4".
static bool is_chakra_wire(const struct content *c)
{
    const unsigned char *b = (const unsigned char *)c->head;
    size_t at = 0;
    while (at < c->n && at < 5 && b[at] >= 0x80)
        at++;
    at++;
    if (at < c->n && b[at] == 0x12)
        return has_schema(c, at);
    if (at + 2 > c->n || b[at] != 0x0a || b[at + 1] == 0 || b[at + 1] > 16 ||
        at + 2 + b[at + 1] > c->n)
        return false;
    for (size_t i = 0; i < b[at + 1]; i++)
        if (memchr("0123456789.", b[at + 2 + i], 11) == NULL)
            return false;
    return true;
}

// The same in JSON: an object with the version, then nodes.
static bool is_chakra_json(const struct content *c)
{
    return content_key(c, "version") && c->n_keys <= 2 && !c->in_list &&
           (content_has(c, "Deps\"") || content_has(c, "_deps\"") || content_has(c, "_NODE\""));
}

static bool is_chakra(const struct content *c) { return is_chakra_wire(c) || is_chakra_json(c); }

/* ---- XML ---- */

// The name of the first element.
static bool is_element(const struct content *c, const char *name)
{
    const char *at = c->text ? c->head : "";
    while (*at != '\0') {
        at += strspn(at, " \t\r\n");
        if (*at != '<')
            return false;
        size_t n = strlen(name);
        if (strncmp(at + 1, name, n) == 0 && strchr(" \t\r\n>/", at[1 + n]) != NULL)
            return true;
        if (at[1] != '?' && at[1] != '!')
            return false;
        bool comment = strncmp(at, "<!--", 4) == 0;
        const char *end = strstr(at, comment ? "-->" : ">");
        at = end != NULL ? end + (comment ? 3 : 1) : "";
    }
    return false;
}

static bool is_algorithm(const struct content *c) { return is_element(c, "algo"); }

static bool is_nccl_topology(const struct content *c) { return is_element(c, "system"); }

static bool is_hwloc(const struct content *c) { return is_element(c, "topology"); }

static bool is_nccl_graphs(const struct content *c) { return is_element(c, "graphs"); }

// A key of an object at the top, in JSON or at the begin of a line of YAML.
static bool has_top_key(const struct content *c, const char *key)
{
    size_t n = strlen(key);
    for (const char *at = c->text ? c->head : NULL; at != NULL; at = strchr(at, '\n')) {
        at += *at == '\n';
        if (strncmp(at, key, n) == 0 && at[n] == ':')
            return true;
    }
    return content_key(c, key);
}

static bool is_infragraph(const struct content *c)
{
    return has_top_key(c, "devices") && has_top_key(c, "instances") && content_has(c, "ep1");
}

static bool is_infragraph_old(const struct content *c)
{
    return (has_top_key(c, "infrastructure") || has_top_key(c, "devices") ||
            has_top_key(c, "device")) &&
           (content_has(c, "components") || content_has(c, "instances"));
}

/* ---- JSON ---- */

static bool is_kineto(const struct content *c)
{
    bool trace = content_key(c, "traceEvents") ||
                 (content_key(c, "distributedInfo") && content_key(c, "schemaVersion"));
    return trace || (c->in_list && content_key(c, "ph") && content_key(c, "pid"));
}

static bool is_inspector(const struct content *c)
{
    return content_key(c, "header") && content_key(c, "metadata") &&
           (content_key(c, "coll_perf") || content_key(c, "p2p_perf"));
}

static bool is_observer(const struct content *c)
{
    return content_key(c, "schema") && content_key(c, "pid") &&
           (content_key(c, "nodes") || content_key(c, "start_ts"));
}

static bool is_astra_network(const struct content *c)
{
    return content_key(c, "topology-name") || content_key(c, "dimensions-count");
}

static bool is_astra2_system(const struct content *c)
{
    return content_key(c, "scheduling-policy") || content_key(c, "preferred-dataset-splits") ||
           content_key(c, "all-reduce-implementation");
}

static bool is_astra_dims(const struct content *c) { return content_key(c, "logical-dims"); }

static bool is_feeder(const struct content *c) { return content_key(c, "workload_graph"); }

static bool is_astra2_memory(const struct content *c) { return content_key(c, "memory-type"); }

static bool is_scenario(const struct content *c)
{
    return content_key(c, "topology") && !c->in_list &&
           (content_key(c, "workload") || content_key(c, "name") || content_key(c, "cc"));
}

static bool is_graph(const struct content *c)
{
    return content_key(c, "switches") && content_key(c, "links");
}

static bool is_program(const struct content *c)
{
    return (content_key(c, "nodes") && !content_key(c, "schema")) ||
           (content_key(c, "groups") && c->n_keys == 1) ||
           (content_key(c, "rank") && content_key(c, "kind"));
}

// {"1": [0, 1], "2": [2, 3]}
static bool is_groups(const struct content *c)
{
    for (size_t i = 0; i < c->n_keys; i++)
        if (strspn(c->keys[i], "0123456789") != strlen(c->keys[i]))
            return false;
    return c->n_keys > 0 && !c->in_list;
}

/* ---- text ---- */

static bool is_number(const char *word)
{
    char *end;
    strtod(word, &end);
    return end != word && *end == '\0' && strspn(word, "+-.0123456789eE") == strlen(word);
}

static bool word_is(const struct content *c, size_t line, size_t w, const char *word)
{
    char got[CONTENT_WORD];
    return c->text && content_word(c, line, w, got) && strcmp(got, word) == 0;
}

static bool count_is(const struct content *c, size_t line, size_t w)
{
    char got[CONTENT_WORD];
    uint64_t n;
    return c->text && content_word(c, line, w, got) && parse_count(got, &n) == 0;
}

static bool is_training(const struct content *c)
{
    char word[CONTENT_WORD];
    if (!c->text || !content_word(c, 0, 0, word))
        return false;
    for (size_t k = 0; training_keywords[k] != NULL; k++)
        if (strcmp(word, training_keywords[k]) == 0)
            return true;
    return strncmp(word, "HYBRID_", 7) == 0; // of SimAI's too
}

static bool is_htsim_network(const struct content *c)
{
    return c->text && htsim_graph_is(c->head) && content_has(c, "Tier");
}

static bool is_matrix(const struct content *c)
{
    return word_is(c, 0, 0, "Nodes") && count_is(c, 0, 1);
}

// "NODES SWITCHES LINKS", or SimAI's five numbers and a GPU; links have rates.
static bool is_ns3_network(const struct content *c)
{
    char word[CONTENT_WORD];
    size_t counts = 0;
    while (count_is(c, 0, counts))
        counts++;
    bool more = c->text && content_word(c, 0, counts, word);
    return ((counts == 3 && !more) || (counts == 5 && more)) && content_has(c, "bps");
}

static bool is_ns3_config(const struct content *c)
{
    return c->text && !c->json && content_has(c, "TOPOLOGY_FILE") && content_has(c, "FLOW_FILE");
}

// The number of nodes whose packets are traced, and on the second line the nodes.
static bool is_ns3_trace(const struct content *c)
{
    char word[CONTENT_WORD];
    uint64_t n;
    if (!count_is(c, 0, 0) || content_word(c, 0, 1, word) || !content_word(c, 0, 0, word) ||
        parse_count(word, &n) != 0 || n < 8) // fewer: as a list of flows begins
        return false;
    return count_is(c, 1, (size_t)n - 1) && !content_word(c, 1, (size_t)n, word);
}

static bool is_goal(const struct content *c)
{
    return word_is(c, 0, 0, "num_ranks") && count_is(c, 0, 1);
}

static bool is_astra_system(const struct content *c)
{
    return c->text && !c->json && content_has(c, "scheduling-policy:");
}

static bool is_astra2_network(const struct content *c)
{
    return c->text && !c->json && content_has(c, "npus_count:") && content_has(c, "topology:");
}

static bool is_garnet(const struct content *c)
{
    return c->text && !c->json && content_has(c, "num-npus:") && content_has(c, "num-packages:");
}

static bool is_nccl_log(const struct content *c) { return content_has(c, "NCCL INFO"); }

static bool is_nccl_table(const struct content *c)
{
    return c->text && content_has(c, "algbw") && content_has(c, "busbw") && content_has(c, "size");
}

// JSON of rccl-tests, and of nccl-tests (-J).
static bool is_nccl_json(const struct content *c)
{
    return (content_key(c, "inPlace") && content_key(c, "algBw")) ||
           (content_key(c, "results") && content_has(c, "out_of_place"));
}

static bool is_osu_table(const struct content *c)
{
    return c->text && content_has(c, "# OSU ") && content_has(c, "Size");
}

static bool is_perftest_table(const struct content *c)
{
    return c->text && content_has(c, "#bytes") && content_has(c, "#iterations");
}

static bool is_flows(const struct content *c)
{
    char line[256];
    if (c->text && !c->json && ns3_flows_is(c->head))
        return true;
    if (!c->text || !content_line(c, 0, line, sizeof line))
        return false;
    size_t n = 0;
    for (const char *at = line; n < 3; at++) {
        size_t digits = strspn(at, " 0123456789");
        if (digits == 0 && n < 2)
            break;
        n++;
        at += digits;
        if (n < 3 && *at != ',')
            break;
    }
    return n == 3 || strncmp(line, "src,", 4) == 0;
}

// Lines of two or three numbers, or sizes, that ascend; a heading is allowed.
static bool is_cdf(const struct content *c)
{
    char line[CONTENT_WORD], first[CONTENT_WORD], last[CONTENT_WORD], more[CONTENT_WORD];
    double before = -1;
    size_t n = 0;
    for (size_t i = 0; c->text && i < 256 && content_line(c, i, line, sizeof line); i++) {
        bool two = content_word(c, i, 1, last) && content_word(c, i, 0, first);
        bool three = two && content_word(c, i, 2, more);
        if (three)
            strcpy(last, more);
        uint64_t bytes;
        bool sized = two && (is_number(first) || parse_bytes(first, &bytes) == 0);
        bool good = sized && is_number(last) && !content_word(c, i, 3, more);
        if (!good && i == 0)
            continue; // a heading
        if (!good || strtod(last, NULL) < before)
            return false;
        before = strtod(last, NULL);
        n++;
    }
    return n >= 2 && before > 0.9 && before <= 100.1;
}

/* ---- all ---- */

#define RUN_OF_CHAKRA                                                                              \
    "goes with traces of Chakra: import the traces, with --network and --system or all files at "  \
    "once"

#define STANDS_BESIDE "collwire sweep JOB --sizes A:B --against FILE stands beside it"

const struct file_kind file_kinds[] = {
    {"nsys", "an SQLite export of Nsight Systems", KIND_RECORDING, is_database, NULL},
    {"kineto", "a trace of PyTorch's profiler", KIND_RECORDING, is_kineto, NULL},
    {"inspector", "a log of NCCL's Inspector", KIND_RECORDING, is_inspector, NULL},
    {"chakra", "an execution trace of Chakra", KIND_TRACES, is_chakra, NULL},
    {"observer", "a graph of PyTorch's ExecutionTraceObserver", KIND_GRAPHS, is_observer,
     "describes collectives of traces of PyTorch's profiler in the same folder"},
    {"capture", "a packet capture", KIND_OTHER, is_capture,
     "collwire replay makes a list of flows of it"},
    {"xml-algorithm", "an algorithm of a collective in XML", KIND_OTHER, is_algorithm,
     "a job's \"library\": {\"kind\": \"xml\", \"file\": ..} runs it"},
    {"nccl-topology", "a topology of NCCL", KIND_OTHER, is_nccl_topology,
     "a topology's \"machine\" and collwire library nccl --machine read it"},
    {"hwloc", "a topology of hwloc (lstopo)", KIND_OTHER, is_hwloc,
     "a topology's \"machine\": {\"file\": .., \"like\": ..} reads it, where `like` names the "
     "machine whose GPUs and NVLinks it has"},
    {"nccl-graphs", "the graphs that NCCL has found", KIND_OTHER, is_nccl_graphs,
     "these are derived here from the machine, which is in the file of NCCL_TOPO_DUMP_FILE"},
    {"infragraph", "a network of InfraGraph", KIND_NETWORK, is_infragraph, NULL},
    {"infragraph-old", "a part of a network of InfraGraph, or one of an earlier schema", KIND_OTHER,
     is_infragraph_old, "a network has `devices`, `instances` and `edges` with `ep1` and `ep2`"},
    {"astra-network", "a network of ASTRA-sim 1.0", KIND_PART, is_astra_network,
     "goes with a system and a workload of ASTRA-sim 1.0: import the three files at once"},
    {"astra2-system", "a system of ASTRA-sim 2", KIND_PART, is_astra2_system, RUN_OF_CHAKRA},
    {"astra2-memory", "a remote memory of ASTRA-sim 2", KIND_PART, is_astra2_memory, RUN_OF_CHAKRA},
    {"astra-dims", "dimensions for the ns-3 of ASTRA-sim 2", KIND_OTHER, is_astra_dims,
     "\"dims\" of a chakra job are these; the network is in the topology of ns-3"},
    {"scenario", "a scenario of collwire", KIND_OTHER, is_scenario, "collwire run simulates it"},
    {"graph", "a network, link by link", KIND_OTHER, is_graph,
     "\"file\" of a dimension of kind \"graph\" reads it"},
    {"nccl-json", "JSON of nccl-tests or rccl-tests", KIND_OTHER, is_nccl_json, STANDS_BESIDE},
    {"chakra-feeder", "what Chakra's feeder reads as JSON", KIND_OTHER, is_feeder,
     "its collectives have no sizes; the traces that it was made from have them: import these"},
    {"groups", "a list of communicators", KIND_PART, is_groups,
     "goes with traces of Chakra: --groups, or all files at once"},
    {"program", "a program of nodes", KIND_JOB, is_program, NULL},
    {"training", "a workload of ASTRA-sim 1.0 or SimAI", KIND_JOB, is_training, NULL},
    {"htsim-network", "a network of htsim", KIND_NETWORK, is_htsim_network, NULL},
    {"htsim", "a connection matrix of htsim", KIND_JOB, is_matrix, NULL},
    {"goal", "a program in GOAL", KIND_JOB, is_goal, NULL},
    {"astra-system", "a system of ASTRA-sim 1.0", KIND_PART, is_astra_system,
     "goes with a network and a workload of ASTRA-sim 1.0: import the three files at once"},
    {"garnet", "a network of Garnet", KIND_OTHER, is_garnet,
     "its cycles and the directions of its rings are not in the file: give a network of the "
     "analytical back end; \"file\" of a dimension of kind \"graph\" says which"},
    {"astra2-network", "a network of ASTRA-sim 2", KIND_PART, is_astra2_network, RUN_OF_CHAKRA},
    {"nccl-log", "a log of NCCL", KIND_OTHER, is_nccl_log,
     "collwire library nccl --machine NAME --nodes N --against FILE compares with it"},
    {"nccl-tests", "a table of nccl-tests or rccl-tests", KIND_OTHER, is_nccl_table, STANDS_BESIDE},
    {"osu", "a table of OSU's benchmarks", KIND_OTHER, is_osu_table, STANDS_BESIDE},
    {"perftest", "a table of perftest", KIND_OTHER, is_perftest_table,
     "collwire run JOB --against FILE stands beside it, of a job of kind flows"},
    {"ns3-config", "a configuration of HPCC's ns-3", KIND_OTHER, is_ns3_config,
     "import the topology and the flows that it names; docs/from/ns-3-hpcc.md has the settings"},
    {"ns3-trace", "a list of nodes that HPCC's ns-3 traces", KIND_OTHER, is_ns3_trace,
     "\"capture\": [{\"at\": \"rank3\", \"file\": ..}] has the packets of a node"},
    {"ns3-network", "a network of HPCC's ns-3 or of SimAI", KIND_NETWORK, is_ns3_network, NULL},
    {"flows", "a list of flows", KIND_JOB, is_flows, NULL},
    {"cdf", "a distribution of sizes", KIND_JOB, is_cdf, NULL},
    {"archive", "an archive", KIND_OTHER, is_archive, "unpack it, and give its folder"},
    {0},
};

const struct file_kind *kind_of(const struct content *c)
{
    for (const struct file_kind *kind = file_kinds; kind->name != NULL; kind++)
        if (kind->is(c))
            return kind;
    return NULL;
}

const struct file_kind *kind_named(const char *name)
{
    for (const struct file_kind *kind = file_kinds; kind->name != NULL; kind++)
        if (strcmp(kind->name, name) == 0)
            return kind;
    return NULL;
}
