// SPDX-License-Identifier: MIT
// One row for each kind: how many ranks its file has, the job, and what the file is.
//
// Without a network of the user's, jobs of GPUs get servers of 8 H100 (dgx_h100), and jobs of hosts
// leaves and spines of 100 Gb/s.
#include "cli/import/file_job.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/import/htsim_program.h"
#include "cli/import/import_network.h"
#include "config/import_chakra.h"
#include "engine/base/text.h"
#include "engine/base/units.h"
#include "engine/text/rank_ranges.h"
#include "engine/text/relative_path.h"
#include "net/topology/graph_kind.h"
#include "sim/spec/spec.h"
#include "workload/flows.h"
#include "workload/read/flow_file.h"
#include "workload/read/ns3_flows.h"
#include "workload/training/astra_workload.h"
#include "workload/training/training_job.h"

#define RANKS_OTHERWISE 16
#define GPUS 8 // of a server
#define NAME_MOST 64

struct making {
    const struct file_job *from;
    struct content content; // of the file; empty for traces
    struct notes *notes;
    struct err *err;
    json_t *job;
    uint32_t ranks; // 0 = not known
    bool gpus;      // the ranks are GPUs
    bool nccl;      // with the library NCCL, if the network has a machine
};

/* ---- training ---- */

// The count behind a word of the first line; 0 = the line does not have it.
static uint32_t count_behind(const struct content *c, const char *word)
{
    char got[CONTENT_WORD];
    uint64_t n;
    for (size_t w = 0; content_word(c, 0, w, got); w++)
        if (strcmp(got, word) == 0)
            return content_word(c, 0, w + 1, got) && parse_count(got, &n) == 0 && n <= UINT32_MAX
                       ? (uint32_t)n
                       : 0;
    return 0;
}

static void training_make(struct making *m)
{
    uint32_t group = count_behind(&m->content, "model_parallel_NPU_group:");
    m->ranks = count_behind(&m->content, "all_gpus:");
    uint32_t stages = count_behind(&m->content, "pp:");
    if (stages > 1 && m->ranks % stages == 0) { // else the reader has an error
        m->ranks /= stages;
        note_assume(m->notes, "there are %u stages of %u GPUs: " TRAINING_ONE_STAGE, stages,
                    m->ranks);
    }
    m->gpus = true;
    m->nccl = m->ranks > 0; // SimAI's files, whose collectives are NCCL's
    if (m->ranks == 0 && m->from->ranks == 0 && m->from->network == NULL) {
        m->ranks = group > RANKS_OTHERWISE ? group : RANKS_OTHERWISE;
        note_assume(m->notes, "%u ranks, which the file does not say: --ranks N, or --network FILE",
                    m->ranks);
    }
    json_object_set_new(m->job, "kind", json_string("training"));
}

enum group_name { GROUP_TP, GROUP_DP, GROUP_EP, GROUP_DP_EP, GROUP_ALL, GROUPS };
static const char *const group_names[] = {"tp", "dp", "ep", "dp_ep", "all"};

static enum group_name group_name(int keyword, int part, enum training_group group)
{
    if (group != TRAINING_GROUP_OF_PART)
        return group == TRAINING_GROUP_EP ? GROUP_EP : GROUP_DP_EP;
    switch (keyword) {
    case TRAINING_DATA:
        return GROUP_DP;
    case TRAINING_MODEL:
        return GROUP_TP;
    case TRAINING_HYBRID_TRANSFORMER:
    case TRAINING_HYBRID_TRANSFORMER_FWD_IN_BCKWD:
    case TRAINING_HYBRID_DATA_MODEL:
    case TRAINING_HYBRID_MODEL_DATA:
        return part == TRAINING_WG ? GROUP_DP : GROUP_TP;
    default:
        return GROUP_ALL;
    }
}

static void training_describe(FILE *out, const struct job_spec *job)
{
    const struct training_spec *spec = &((const struct training_settings *)job->settings)->training;
    uint64_t n[GROUPS] = {0}, sum = 0;
    for (size_t l = 0; l < spec->n_layers; l++)
        for (int part = 0; part < TRAINING_PARTS; part++) {
            const struct training_step *step = &spec->layers[l].parts[part];
            if (step->op == TRAINING_NO_OP || step->bytes == 0)
                continue;
            n[group_name(spec->layers[l].keyword, part, step->group)]++;
            sum++;
        }
    fprintf(out, "%s workload, %zu layer%s, %" PRIu64 " collective%s",
            spec->all_ranks > 0 ? "SimAI" : "ASTRA-sim", spec->n_layers,
            spec->n_layers == 1 ? "" : "s", sum, sum == 1 ? "" : "s");
    for (size_t i = 0, named = 0; i < GROUPS; i++)
        if (n[i] > 0)
            fprintf(out, "%s%s", named++ > 0 ? ", " : " in groups ", group_names[i]);
}

/* ---- flows ---- */

static void htsim_make(struct making *m)
{
    char word[CONTENT_WORD];
    uint64_t n = 0;
    if (content_word(&m->content, 0, 1, word) && parse_count(word, &n) == 0 && n <= UINT32_MAX)
        m->ranks = (uint32_t)n;
    if (content_has(&m->content, "trigger ")) {
        json_t *nodes = htsim_program(m->from->file, m->err);
        json_object_set_new(m->job, "kind", json_string("program"));
        if (nodes != NULL)
            json_object_set_new(m->job, "nodes", nodes);
        note_say(m->notes, "messages that triggers start wait for others: sends and receives of a "
                           "program in the scenario");
        note_assume(m->notes, "starts are microseconds, as in htsim_uec");
        return;
    }
    json_object_set_new(m->job, "kind", json_string("flows"));
    json_object_set_new(m->job, "start_unit", json_string("us"));
    note_assume(m->notes, "starts are microseconds, as in htsim_uec; of htsim_roce they are "
                          "picoseconds: \"start_unit\": \"ps\"");
}

static void flows_make(struct making *m)
{
    struct flow_file file = {.dir = ".", .name = m->from->file, .path = "file"};
    size_t n;
    struct raw_flow *flows = flow_file_read(&file, &n, m->err);
    for (size_t i = 0; i < n; i++) {
        uint32_t larger = flows[i].src > flows[i].dst ? flows[i].src : flows[i].dst;
        m->ranks = larger >= m->ranks && larger < UINT32_MAX ? larger + 1 : m->ranks;
    }
    free(flows);
    if (m->from->network != NULL && ns3_flows_is(m->content.head) &&
        network_ids_are_ranks(m->from->network, m->err) == 0)
        err_add(m->err, m->from->file,
                "names nodes by their ids, and the hosts of %s are not its first nodes: renumber "
                "them, so that the switches come last",
                m->from->network);
    json_object_set_new(m->job, "kind", json_string("flows"));
}

static void flows_describe(FILE *out, const struct job_spec *job)
{
    if (!job->kind->raw) {
        fputs("with triggers", out);
        return;
    }
    const struct flow_list *list = job_flows(job);
    uint64_t bytes = 0;
    ps_t last = 0;
    char size[UNIT_TEXT], time[UNIT_TEXT];
    for (size_t i = 0; i < list->n; i++) {
        bytes = list->flows[i].bytes < UINT64_MAX - bytes ? bytes + list->flows[i].bytes : bytes;
        last = list->flows[i].start_ps > last ? list->flows[i].start_ps : last;
    }
    fprintf(out, "%zu messages, %s, of which the last begins after %s", list->n,
            human_bytes(bytes, size), human_time(last, time));
}

static void cdf_make(struct making *m)
{
    m->ranks = m->from->ranks == 0 && m->from->network == NULL ? RANKS_OTHERWISE : 0;
    json_object_set_new(m->job, "kind", json_string("poisson"));
    json_object_set_new(m->job, "load", json_real(0.4));
    json_object_set_new(m->job, "duration", json_string("2ms"));
    note_assume(m->notes, "flows begin at random for 2 ms, and load each link to 40 %%: \"load\" "
                          "and \"duration\" of the job");
    if (m->ranks > 0)
        note_assume(m->notes, "%u hosts: --ranks N, or --network FILE", m->ranks);
}

/* ---- programs ---- */

static void goal_make(struct making *m)
{
    m->ranks = count_behind(&m->content, "num_ranks");
    json_object_set_new(m->job, "kind", json_string("goal"));
}

static void program_make(struct making *m)
{
    m->gpus = true;
    json_object_set_new(m->job, "kind", json_string("program"));
    if (m->from->ranks == 0 && m->from->network == NULL)
        err_add(m->err, m->from->file,
                "does not say how many ranks there are: --ranks N, or --network FILE");
}

static void chakra_make(struct making *m)
{
    m->gpus = true;
    m->ranks = m->from->ranks;
    json_object_set_new(m->job, "kind", json_string("chakra"));
    if (m->from->groups != NULL) {
        char *relative = path_relative(m->from->output, m->from->groups);
        json_object_set_new(m->job, "comm_groups", json_string(relative));
        free(relative);
    }
    if (m->from->ignores_missing)
        json_object_set_new(m->job, "missing_nodes", json_string("ignore"));
    note_say(m->notes, "without --network and --system of ASTRA-sim 2 traces run as on GPUs "
                       "(docs/chakra.md)");
}

/* ---- networks ---- */

static void network_make(struct making *m)
{
    m->ranks = 0; // as the file says
    json_object_set_new(m->job, "kind", json_string("collective"));
    json_object_set_new(m->job, "op", json_string("all_reduce"));
    json_object_set_new(m->job, "bytes", json_string("16MB"));
    note_assume(m->notes, "an all-reduce of 16 MB among all hosts: the file has no job; files of "
                          "one beside it are taken");
}

static void network_describe(FILE *out, const struct spec *spec)
{
    const struct graph_params *g = (const void *)spec->dims[0].params;
    fprintf(out, "network of %u hosts, %" PRIu64 " switch%s and %zu links", spec->dims[0].size,
            g->switches, g->switches == 1 ? "" : "es", g->n_links);
}

/* ---- all kinds ---- */

static const struct job_row {
    const char *name; // of the kind
    const char *key;  // of the job, which names the file; NULL = it is its network
    const char *title;
    void (*make)(struct making *m);
    void (*describe)(FILE *out, const struct job_spec *job); // NULL = nothing more
} rows[] = {
    {"training", "file", "", training_make, training_describe},
    {"htsim", "file", "connection matrix of htsim, ", htsim_make, flows_describe},
    {"flows", "file", "list of flows, ", flows_make, flows_describe},
    {"cdf", "cdf", "distribution of sizes", cdf_make, NULL},
    {"goal", "file", "program in GOAL", goal_make, NULL},
    {"program", "file", "program of nodes", program_make, NULL},
    {"chakra", "prefix", "", chakra_make, NULL},
    {NULL, NULL, "", network_make, NULL}, // all kinds of networks
};

static const struct job_row *row_of(const struct file_kind *kind)
{
    size_t i = 0;
    while (rows[i].name != NULL && strcmp(rows[i].name, kind->name) != 0)
        i++;
    return &rows[i];
}

/* ---- the network ---- */

static uint32_t gpus_of_server(uint32_t ranks)
{
    uint32_t gpus = ranks < GPUS ? ranks : GPUS;
    while (ranks % gpus != 0)
        gpus--;
    return gpus;
}

static json_t *default_network(struct making *m)
{
    uint32_t gpus = gpus_of_server(m->ranks);
    if (!m->gpus) {
        note_assume(m->notes,
                    "%u hosts at 100 Gb/s, at leaves and spines that do not block: "
                    "--network FILE gives another network",
                    m->ranks);
        return network_of_hosts(m->ranks);
    }
    note_assume(m->notes,
                "GPUs are H100 in %u server%s of %u as dgx_h100%s: --network FILE gives "
                "another network",
                m->ranks / gpus, m->ranks == gpus ? "" : "s", gpus,
                m->ranks > gpus ? ", with its NICs on rails that do not block" : "");
    if (m->nccl)
        note_assume(m->notes, "collectives are NCCL's, by the rules of 2.27.7");
    return network_of_machine(nccl_machine_named("dgx_h100"), m->ranks, gpus);
}

// The job runs on the first ranks of a network of the user's.
static void ranks_name(struct making *m)
{
    json_t *ranks = json_array();
    for (uint32_t i = 0; i < m->ranks && i < RANKS_MAX; i++)
        json_array_append_new(ranks, json_integer(i));
    if (m->ranks > 0)
        json_object_set(m->job, "ranks", ranks);
    json_decref(ranks);
}

static void ranks_settle(struct making *m)
{
    uint32_t given = m->from->ranks;
    if (given > 0 && m->ranks > 0 && m->ranks != given)
        err_add(m->err, m->from->file, "has %u ranks, and --ranks says %u", m->ranks, given);
    if (given > 0)
        m->ranks = given;
    if (m->ranks > RANKS_MAX)
        err_add(m->err, m->from->file, "has %u ranks, more than %u", m->ranks, RANKS_MAX);
    if (m->ranks == 0 && m->from->network == NULL)
        err_add(m->err, m->from->file, "has no ranks");
}

/* ---- all ---- */

// The last part of the path without its ending, of characters that names may have.
static void name_of(char name[NAME_MOST], const char *path)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-";
    const char *slash = strrchr(path, '/'), *base = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(base, '.');
    size_t n = dot != NULL && dot > base ? (size_t)(dot - base) : strlen(base), to = 0;
    for (size_t i = 0; i < n && to + 1 < NAME_MOST; i++)
        name[to++] = strchr(plain, base[i]) != NULL ? base[i] : '-';
    name[to] = '\0';
    if (strspn(name, "-") == to)
        strcpy(name, "imported");
}

static char *scenario_text(struct making *m)
{
    char name[NAME_MOST];
    name_of(name, m->from->file);
    json_t *root = json_object(), *given = NULL;
    json_object_set_new(root, "name", json_string(name));
    if (m->from->network != NULL) {
        given = network_given(m->from->network, m->from->output, m->err);
        json_object_update(root, given);
        ranks_name(m);
    } else {
        json_object_set_new(root, "topology", default_network(m));
    }
    bool machine = json_object_get(json_object_get(root, "topology"), "machine") != NULL;
    if (m->nccl && machine)
        json_object_set_new(m->job, "library", json_pack("{s:s}", "kind", "nccl"));
    // What a rank of SimAI's files keeps in memory is guessed from its exchanges.
    if (m->nccl && json_object_get(root, "memory") == NULL)
        json_object_set_new(root, "memory", json_pack("{s:s}", "fit", "warn"));
    json_object_set(root, "workload", m->job);
    char *text = m->from->network == NULL || given != NULL
                     ? json_dumps(root, JSON_INDENT(2) | JSON_PRESERVE_ORDER)
                     : NULL;
    json_decref(given);
    json_decref(root);
    return text;
}

char *file_job_scenario(const struct file_job *from, struct notes *notes, struct err *err)
{
    const struct job_row *row = row_of(from->kind);
    struct making m = {.from = from, .notes = notes, .err = err, .job = json_object()};
    size_t errors = err->n_errors;
    char *text = NULL, *relative = path_relative(from->output, from->file);
    if (from->kind->use != KIND_TRACES)
        content_read(&m.content, from->file, err);
    if (err->n_errors == errors) {
        row->make(&m);
        bool names = row->key != NULL && json_object_get(m.job, "nodes") == NULL;
        if (names)
            json_object_set_new(m.job, row->key, json_string(relative));
        ranks_settle(&m);
    }
    if (err->n_errors == errors && row->key != NULL && json_object_get(m.job, "nodes") == NULL &&
        json_object_get(m.job, row->key) == NULL)
        err_add(err, NULL, "the name of the file is not UTF-8 text");
    if (err->n_errors == errors)
        text = scenario_text(&m);
    content_free(&m.content);
    json_decref(m.job);
    free(relative);
    return text;
}

char *file_job_describe(const struct file_job *from, const struct scenario *scenario)
{
    const struct job_row *row = row_of(from->kind);
    struct text text;
    if (from->kind->use == KIND_TRACES)
        return chakra_import_summary(scenario);
    FILE *out = text_open(&text);
    fputs(row->title, out);
    if (row->key == NULL)
        network_describe(out, scenario_spec(scenario));
    else if (row->describe != NULL)
        row->describe(out, &scenario_spec(scenario)->jobs[0]);
    return text_close(out, &text);
}
