// SPDX-License-Identifier: MIT
// Topologies as the JSON of a scenario.
#include "cli/import/import_network.h"

#include <stdlib.h>
#include <string.h>

#include "cli/import/kinds.h"
#include "engine/base/units.h"
#include "engine/text/json_file.h"
#include "engine/text/relative_path.h"

static bool is_network(const char *file, struct err *err)
{
    struct content content;
    const struct file_kind *kind =
        content_read(&content, file, err) == 0 ? kind_of(&content) : NULL;
    content_free(&content);
    return kind != NULL && kind->use == KIND_NETWORK;
}

static json_t *network_of_file(const char *file, const char *output)
{
    char *relative = path_relative(output, file);
    json_t *topology =
        json_pack("{s:{s:[{s:s,s:s}]}}", "topology", "dims", "kind", "graph", "file", relative);
    free(relative);
    return topology;
}

int network_ids_are_ranks(const char *file, struct err *err)
{
    struct content content;
    char word[CONTENT_WORD];
    uint64_t nodes = 0, switches = 0, id;
    bool are = true;
    if (content_read(&content, file, err) != 0)
        return -1;
    const struct file_kind *kind = kind_of(&content);
    bool hpcc = kind != NULL && strcmp(kind->name, "ns3-network") == 0 &&
                !content_word(&content, 0, 3, word); // SimAI's has more words
    if (hpcc && content_word(&content, 0, 0, word) && parse_count(word, &nodes) == 0 &&
        content_word(&content, 0, 1, word) && parse_count(word, &switches) == 0)
        for (size_t w = 0; content_word(&content, 1, w, word); w++)
            are = are && parse_count(word, &id) == 0 && id >= nodes - switches;
    content_free(&content);
    return are;
}

json_t *network_given(const char *file, const char *output, struct err *err)
{
    static const char *const dropped[] = {"workload", "name", "description", "capture", "$schema"};
    size_t errors = err->n_errors;
    if (is_network(file, err))
        return network_of_file(file, output);
    if (err->n_errors > errors)
        return NULL;
    json_t *root = json_file_read(file, err);
    if (root == NULL)
        return NULL;
    if (!json_is_object(root)) {
        err_add(err, file, "is no scenario: a JSON object is expected");
        json_decref(root);
        return NULL;
    }
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
        json_object_del(root, dropped[i]);
    return root;
}

json_t *network_of_machine(const struct nccl_machine *m, uint32_t ranks, uint32_t gpus)
{
    uint32_t nics = m->nics * gpus / m->gpus;
    json_t *machine = gpus == m->gpus ? json_string(m->name)
                                      : json_pack("{s:s,s:i,s:i}", "like", m->name, "gpus",
                                                  (int)gpus, "nics", (int)(nics > 0 ? nics : 1));
    return json_pack("{s:o,s:i}", "machine", machine, "nodes", (int)(ranks / gpus));
}

static json_t *link_of(const char *rate, const char *delay)
{
    return json_pack("{s:s,s:s}", "rate", rate, "delay", delay);
}

json_t *network_of_gpus(uint32_t ranks, uint32_t per_server)
{
    uint32_t servers = ranks / per_server;
    json_t *dims = json_array();
    if (per_server > 1 || servers == 1)
        json_array_append_new(dims,
                              json_pack("{s:s,s:i,s:o}", "kind", "switch", "size", (int)per_server,
                                        "link", link_of("3600Gbps", "100ns")));
    if (servers > 1)
        json_array_append_new(
            dims, json_pack("{s:s,s:i,s:i,s:i,s:o,s:o}", "kind", "rail", "size", (int)servers,
                            "gpus_per_server", (int)per_server, "spines", (int)per_server, "link",
                            link_of("400Gbps", "500ns"), "trunk", link_of("400Gbps", "1us")));
    return json_pack("{s:o}", "dims", dims);
}

// The largest divisor of `n` up to its root.
static uint32_t divisor_of(uint32_t n)
{
    uint32_t best = 1;
    for (uint32_t d = 2; d <= n / d; d++)
        if (n % d == 0)
            best = d;
    return best;
}

json_t *network_of_hosts(uint32_t ranks)
{
    uint32_t per_leaf = divisor_of(ranks);
    json_t *dim =
        per_leaf > 1
            ? json_pack("{s:s,s:i,s:i,s:i,s:o,s:o}", "kind", "leaf_spine", "size", (int)ranks,
                        "ranks_per_leaf", (int)per_leaf, "spines", (int)per_leaf, "link",
                        link_of("100Gbps", "1us"), "trunk", link_of("100Gbps", "1us"))
            : json_pack("{s:s,s:i,s:o}", "kind", "switch", "size", (int)ranks, "link",
                        link_of("100Gbps", "1us"));
    return json_pack("{s:[o]}", "dims", dim);
}
