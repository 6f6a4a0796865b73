// SPDX-License-Identifier: MIT
// Without a network of the user's: servers of as many GPUs as the traces say, with NVLink of the
// fourth generation inside (450 GB/s a direction: NVIDIA H100 datasheet) and one rail of 400 Gb/s
// for each GPU, which do not block.
#include "cli/import/scenario.h"

#include <jansson.h>
#include <string.h>

#include "cli/import/program.h"
#include "engine/text/json_file.h"

#define GPUS_DEFAULT 8

static json_t *link_of(const char *rate, const char *delay)
{
    return json_pack("{s:s,s:s}", "rate", rate, "delay", delay);
}

static json_t *default_topology(const struct recording *r)
{
    uint32_t world = r->world, per_node = r->gpus_per_node > 0 ? r->gpus_per_node : GPUS_DEFAULT;
    json_t *dims = json_array();
    per_node = world < per_node || world % per_node != 0 ? world : per_node;
    uint32_t servers = world / per_node;
    if (per_node > 1 || servers == 1)
        json_array_append_new(dims, json_pack("{s:s,s:i,s:o}", "kind", "switch", "size",
                                              (int)per_node, "link", link_of("3600Gbps", "100ns")));
    if (servers > 1)
        json_array_append_new(
            dims, json_pack("{s:s,s:i,s:i,s:i,s:o,s:o}", "kind", "rail", "size", (int)servers,
                            "gpus_per_server", (int)per_node, "spines", (int)per_node, "link",
                            link_of("400Gbps", "500ns"), "trunk", link_of("400Gbps", "1us")));
    return json_pack("{s:o}", "dims", dims);
}

// The user's scenario without its jobs.
static json_t *given_network(const char *network, struct err *err)
{
    static const char *const dropped[] = {"workload", "name", "description", "capture", "$schema"};
    json_t *root = json_file_read(network, err);
    if (root == NULL)
        return NULL;
    if (!json_is_object(root)) {
        err_add(err, network, "is no scenario: a JSON object is expected");
        json_decref(root);
        return NULL;
    }
    for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
        json_object_del(root, dropped[i]);
    return root;
}

static json_t *job_of(const struct recording *r, const char *program, bool whole)
{
    json_t *job = json_pack("{s:s,s:s,s:i}", "kind", "program", "file", program, "comm_streams",
                            (int)recording_comm_streams(r));
    json_t *ranks = json_array();
    for (uint32_t i = 0; i < r->world && !whole; i++)
        json_array_append_new(ranks, json_integer(i));
    if (!whole)
        json_object_set(job, "ranks", ranks);
    json_decref(ranks);
    return job;
}

char *recording_scenario(const struct recording *r, const char *network, const char *program,
                         const char *name, struct err *err)
{
    json_t *root = json_object(), *given = NULL;
    json_object_set_new(root, "name", json_string(name));
    if (network != NULL) {
        given = given_network(network, err);
        json_object_update(root, given);
    } else {
        json_object_set_new(root, "topology", default_topology(r));
    }
    // Ranks are named where the network may have more.
    json_object_set_new(root, "workload", job_of(r, program, network == NULL));
    char *text = NULL;
    if (network == NULL || given != NULL)
        text = json_dumps(root, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    json_decref(given);
    json_decref(root);
    return text;
}
