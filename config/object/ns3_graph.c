// SPDX-License-Identifier: MIT
// Networks of HPCC's model of ns-3, and of SimAI. Both are read word by word as those programs do,
// so a network without switches has an empty second line, or none.
//
// Left out: an error rate above 0 (an error, since `faults` loses packets), and in SimAI's files
// the kind of GPU, which no link depends on.
// Source: alibaba-edu/High-Precision-Congestion-Control, simulation/mix/topology.txt;
// aliyun/SimAI, astra-sim-alibabacloud/inputs/topo.
#include "config/object/foreign_graph.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "config/object/link.h"
#include "engine/base/memory.h"
#include "engine/base/table.h"
#include "engine/text/rank_ranges.h"

struct graph_link *foreign_link_add(struct foreign_links *links, struct graph_end a,
                                    struct graph_end b)
{
    struct graph_params *p = links->params;
    if (p->n_links == FOREIGN_LINKS_MAX)
        return NULL;
    if (p->n_links == links->cap)
        p->links = memory_grow(p->links, &links->cap, sizeof *p->links);
    struct graph_link *link = &p->links[p->n_links++];
    *link = (struct graph_link){.ends = {a, b}};
    link_defaults(&link->link);
    return link;
}

bool ns3_graph_is(const char *text)
{
    const char *at = text + strspn(text, " \t\r\n");
    return *at >= '0' && *at <= '9';
}

struct heading {
    uint64_t nodes, switches, links;
    uint64_t gpus, nvswitches; // of SimAI; gpus = those of a server, 0 = a network of HPCC's
};

#define HEAD(name) offsetof(struct heading, name)
#define COLUMN(...)                                                                                \
    {                                                                                              \
        .row = PARAM_ROW(__VA_ARGS__)                                                              \
    }
static const struct text_column hpcc[] = {
    COLUMN("nodes", COUNT, HEAD(nodes), .min = "1"),
    COLUMN("switches", COUNT, HEAD(switches), .max = "1000000"),
    COLUMN("links", COUNT, HEAD(links), .min = "1"),
};
static const struct text_column simai[] = {
    COLUMN("nodes", COUNT, HEAD(nodes), .min = "1"),
    COLUMN("GPUs of a server", COUNT, HEAD(gpus), .min = "1", .max = "65536"),
    COLUMN("NVSwitches", COUNT, HEAD(nvswitches), .max = "1000000"),
    COLUMN("switches", COUNT, HEAD(switches), .max = "1000000"),
    COLUMN("links", COUNT, HEAD(links), .min = "1"),
};
enum { HPCC_WORDS = 3, SIMAI_WORDS = 6 }; // the last one is the kind of GPU

static int read_heading(struct text_file *file, struct heading *h)
{
    char *words[SIMAI_WORDS], *line = text_file_next(file);
    size_t n = words_cut(line, words, SIMAI_WORDS);
    *h = (struct heading){0};
    if (n != HPCC_WORDS && n != SIMAI_WORDS)
        return text_file_error(file,
                               "%zu words, where a network of ns-3 has \"NODES SWITCHES LINKS\", "
                               "and one of SimAI \"NODES GPUS_PER_SERVER NVSWITCHES SWITCHES LINKS "
                               "GPU\"",
                               n);
    if (text_file_columns(file, words, n == HPCC_WORDS ? hpcc : simai, n == HPCC_WORDS ? n : n - 1,
                          h) != 0)
        return -1;
    h->switches += h->nvswitches;
    if (h->nodes <= h->switches || h->switches > FOREIGN_SWITCHES_MAX ||
        h->nodes - h->switches > RANKS_MAX)
        return text_file_error(file,
                               "%" PRIu64 " nodes with %" PRIu64 " switches: 1 to %d hosts and up "
                               "to %d switches are possible",
                               h->nodes, h->switches, RANKS_MAX, FOREIGN_SWITCHES_MAX);
    return 0;
}

// A word that is the id of a node.
static int read_node(struct text_file *file, const struct heading *h, const char *what,
                     uint64_t *node)
{
    const char *word = text_file_word(file);
    if (word == NULL)
        return text_file_error(file, "the file ends before the %s that line 1 announces", what);
    if (parse_count(word, node) != 0 || *node >= h->nodes)
        return text_file_error(file, "\"%.40s\" is not a node from 0 to %" PRIu64, word,
                               h->nodes - 1);
    return 0;
}

// Read the ids of the switches, and give every node its number as a switch or as a rank.
static int read_switches(struct text_file *file, const struct heading *h, struct graph_end *ends)
{
    uint32_t rank = 0;
    bool moved = false;
    for (uint32_t s = 0; s < h->switches; s++) {
        uint64_t node;
        if (read_node(file, h, "switches", &node) != 0)
            return -1;
        if (ends[node].is_switch)
            return text_file_error(file, "node %" PRIu64 " is listed twice as a switch", node);
        ends[node] = (struct graph_end){s, true};
    }
    for (uint32_t n = 0; n < h->nodes; n++) {
        if (ends[n].is_switch)
            continue;
        moved |= rank != n;
        ends[n].index = rank++;
    }
    if (moved)
        err_warn(file->err, file->path,
                 "%s: some switches have smaller ids than hosts, so ids of hosts are not their "
                 "ranks: ranks are numbered by ascending ids of hosts",
                 file->name);
    return 0;
}

static int read_link(struct text_file *file, const struct heading *h, const struct graph_end *ends,
                     struct foreign_links *links)
{
    uint64_t a, b;
    char *words[3], *end;
    if (read_node(file, h, "links", &a) != 0 || read_node(file, h, "links", &b) != 0)
        return -1;
    struct graph_link *link = foreign_link_add(links, ends[a], ends[b]);
    if (link == NULL)
        return text_file_error(file, "more than %" PRIu64 " links", FOREIGN_LINKS_MAX);
    for (int i = 0; i < 3; i++)
        if ((words[i] = text_file_word(file)) == NULL)
            return text_file_error(file, "a link is \"SRC DST RATE DELAY ERROR_RATE\"");
    struct param rate = param_find(link_params, n_link_params, "rate"),
                 delay = param_find(link_params, n_link_params, "delay");
    if (text_file_value(file, &rate, &link->link, words[0], "") != 0 ||
        text_file_value(file, &delay, &link->link, words[1], "") != 0)
        return -1;
    double error_rate = strtod(words[2], &end);
    if (*end != '\0' || !(error_rate >= 0 && error_rate <= 1))
        return text_file_error(file, "\"%.40s\" is not an error rate from 0 to 1", words[2]);
    if (error_rate > 0)
        return text_file_error(file,
                               "the error rate must be 0: a link that loses packets is a `loss` "
                               "of `faults`");
    return 0;
}

// Two GPUs of a server that also share a switch have two shortest paths, where SimAI uses
// NVSwitches alone.
static void warn_of_short_paths(const struct text_file *file, const struct heading *h,
                                const struct graph_params *p)
{
    struct table seen = {0}; // of a switch and a server: the GPU + 1
    bool shared = false;
    for (size_t l = 0; l < p->n_links && !shared; l++)
        for (int e = 0; e < 2 && !shared; e++) {
            struct graph_end sw = p->links[l].ends[e], gpu = p->links[l].ends[!e];
            if (!sw.is_switch || gpu.is_switch || sw.index < h->nvswitches)
                continue;
            size_t *place = table_pair(&seen, sw.index, gpu.index / h->gpus);
            shared = *place != 0 && *place != (size_t)gpu.index + 1;
            *place = (size_t)gpu.index + 1;
            if (shared)
                err_warn(file->err, file->path,
                         "%s: GPUs of a server share switch %u beside their NVSwitches, and "
                         "messages between them use both; SimAI sends them over NVSwitches alone",
                         file->name, sw.index);
        }
    table_free(&seen);
}

static void read_links(struct text_file *file, const struct heading *h,
                       const struct graph_end *ends, struct graph_params *params)
{
    struct foreign_links links = {.params = params};
    for (uint64_t l = 0; l < h->links; l++)
        if (read_link(file, h, ends, &links) != 0)
            return;
    if (text_file_word(file) != NULL)
        err_warn(file->err, file->path,
                 "%s, line %zu: what follows the %" PRIu64 " links that line 1 announces is not "
                 "read, as ns-3 does not",
                 file->name, file->line, h->links);
    if (h->gpus > 0 && h->nvswitches > 0)
        warn_of_short_paths(file, h, params);
}

void ns3_graph_read(struct text_file *file, struct graph_params *params)
{
    struct heading h;
    if (read_heading(file, &h) != 0)
        return;
    struct graph_end *ends = memory_zeroed((size_t)h.nodes, sizeof *ends);
    params->switches = h.switches;
    params->hosts = h.nodes - h.switches;
    if (read_switches(file, &h, ends) == 0)
        read_links(file, &h, ends, params);
    free(ends);
}
