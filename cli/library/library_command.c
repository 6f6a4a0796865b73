// SPDX-License-Identifier: MIT
// collwire library: what the library of a machine would do.
#include "cli/library/library_command.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/library/log_comparison.h"
#include "cli/library/query.h"
#include "cli/terminal/terminal.h"
#include "engine/base/memory.h"
#include "engine/base/units.h"

// Text. Channels, rings, trees and heads of NVLS have the form of the lines of NCCL's own log.

#define COST_NOTE(library)                                                                         \
    "The cost is the figure in us by which " library                                               \
    " ranks its choices; it is not a forecast of the time."
static inline const char *cost_note(const struct answer *a)
{
    return a->comm.settings.rccl ? COST_NOTE("RCCL") : COST_NOTE("NCCL");
}

/* ---- the communicator ---- */

static void print_head(FILE *out, const struct answer *a)
{
    const struct nccl_machine *m = a->query->machine;
    fprintf(out, "%s: %s\n", m->name, m->source);
    fprintf(out, "%s %s, %llu %s of %u %s: %u ranks\n", nccl_library_name(a->comm.settings.rccl),
            nccl_version_name(a->comm.settings.version), (unsigned long long)a->query->nodes,
            a->query->nodes == 1 ? "server" : "servers", m->gpus, m->gpus == 1 ? "GPU" : "GPUs",
            a->comm.ranks);
}

static void print_channels(FILE *out, const struct answer *a)
{
    const struct nccl_channels *c = &a->comm.layout.channels;
    fprintf(out,
            "%u coll channels, %u collnet channels, %u nvls channels, %u p2p channels, %u p2p "
            "channels per peer\n",
            c->all, c->all, c->nvls, c->p2p, c->p2p_per_peer);
}

static void print_rings(FILE *out, const struct answer *a)
{
    uint32_t *ranks = memory_zeroed(a->comm.ranks, sizeof *ranks), n = a->comm.layout.channels.all;
    fprintf(out, "\nRings, as %s's log has them (it stops after 20 ranks)\n",
            nccl_library_name(a->comm.settings.rccl));
    for (uint32_t channel = 0; channel < n; channel++) {
        answer_ring(a, channel, ranks);
        fprintf(out, "Channel %02u/%02u : ", channel, n);
        for (uint32_t i = 0; i < a->comm.ranks; i++)
            fprintf(out, " %3u", ranks[i]);
        fputc('\n', out);
    }
    free(ranks);
}

static void print_trees(FILE *out, const struct answer *a)
{
    fputs("\nTrees of each rank, [channel] children->rank->parent\n", out);
    for (uint32_t rank = 0; rank < a->comm.ranks; rank++) {
        fputs("Trees", out);
        for (uint32_t channel = 0; channel < a->comm.layout.channels.all; channel++) {
            struct nccl_tree_links t = nccl_layout_tree(&a->comm.layout, channel, rank);
            fprintf(out, " [%u] %d/%d/%d->%u->%d", channel, t.down[0], t.down[1], t.down[2], rank,
                    t.up);
        }
        fputc('\n', out);
    }
}

static void print_heads(FILE *out, const struct answer *a)
{
    uint32_t heads = nccl_layout_nvls_heads(&a->comm.layout);
    if (a->comm.layout.channels.nvls == 0 || heads == 0)
        return;
    uint32_t *ranks = memory_zeroed(a->comm.ranks, sizeof *ranks);
    fputs("\nHeads of NVLS, one rank of each server\n", out);
    for (uint32_t h = 0; h < heads; h++) {
        uint32_t n = answer_heads(a, h, ranks);
        fprintf(out, "NVLS Head %2u:", h);
        for (uint32_t i = 0; i < n; i++)
            fprintf(out, " %2u", ranks[i]);
        fputc('\n', out);
    }
    free(ranks);
}

/* ---- costs and choices ---- */

#define CELL 18 // columns

static void print_costs(FILE *out, const struct answer *a)
{
    const struct nccl_model *model = &a->comm.model;
    fprintf(out, "\n%s: latency in us / bandwidth in GB/s, threads at most\n%-13s",
            nccl_function_name(a->function), "");
    for (int p = 0; p < NCCL_PROTOCOLS; p++)
        fprintf(out, " %*s", CELL + 4, nccl_protocol_name((enum nccl_protocol)p));
    fputc('\n', out);
    for (int i = 0; i < NCCL_ALGORITHMS; i++) {
        enum nccl_algorithm algorithm = (enum nccl_algorithm)i;
        bool any = false;
        for (int p = 0; p < NCCL_PROTOCOLS; p++)
            any = any || answer_possible(a, a->function, algorithm, (enum nccl_protocol)p);
        if (!any)
            continue;
        fprintf(out, "%-13s", nccl_algorithm_name(algorithm));
        for (int p = 0; p < NCCL_PROTOCOLS; p++) {
            const struct nccl_cost *cost = &model->costs[a->function][algorithm][p];
            if (answer_possible(a, a->function, algorithm, (enum nccl_protocol)p))
                fprintf(out, " %8.1f/%7.1f, %4u", cost->latency_us, cost->bw,
                        model->threads[algorithm][p]);
            else
                fprintf(out, " %*s", CELL + 4, "-");
        }
        fputc('\n', out);
    }
}

static const char *share_text(uint32_t used, uint32_t channels, char text[UNIT_TEXT])
{
    if (used == channels)
        snprintf(text, UNIT_TEXT, "%u", channels);
    else
        snprintf(text, UNIT_TEXT, "%u of %u", used, channels);
    return text;
}

static void print_choices(FILE *out, const struct answer *a)
{
    char size[UNIT_TEXT], chunk[UNIT_TEXT], channels[UNIT_TEXT];
    fprintf(out, "\nChoices. %s\n", cost_note(a));
    fprintf(out, "%10s  %-13s %-8s %9s %7s %12s %10s\n", "size", "algorithm", "protocol",
            "channels", "threads", "cost us", "chunk");
    for (uint64_t bytes = 0; answer_next_size(a, &bytes);) {
        struct nccl_operation o = answer_choice(a, bytes);
        fprintf(out, "%10s  %-13s %-8s %9s %7u %12.2f %10s\n", format_bytes(bytes, size),
                nccl_algorithm_name(o.choice.algorithm), nccl_protocol_name(o.choice.protocol),
                share_text(o.choice.split.channels, o.choice.channels, channels), o.choice.threads,
                o.choice.cost_us, format_bytes(o.first.chunk_bytes, chunk));
    }
}

static void print_exchange(FILE *out, const struct answer *a)
{
    struct nccl_p2p p2p = answer_p2p(a);
    struct nccl_round *rounds = memory_zeroed(a->comm.ranks, sizeof *rounds);
    char size[UNIT_TEXT], pair[UNIT_TEXT], part[UNIT_TEXT], chunk[UNIT_TEXT];
    nccl_p2p_rounds(&p2p, 0, rounds);
    fputs("\nAll-to-all by sends and receives: rounds of rank 0, to/from on a first channel\n",
          out);
    for (uint32_t i = 0; i < a->comm.ranks; i++)
        fprintf(out, "%s%u/%u on %u%s", i % 8 == 0 ? "" : "  ", rounds[i].to, rounds[i].from,
                rounds[i].channel, i % 8 == 7 || i + 1 == a->comm.ranks ? "\n" : "");
    fprintf(out, "\nParts of a pair, each on a channel, and messages between servers\n");
    fprintf(out, "%10s %10s %6s %10s %10s\n", "size", "pair", "parts", "part", "message");
    for (uint64_t bytes = 0; answer_next_size(a, &bytes);) {
        uint64_t of_pair = bytes / a->comm.ranks;
        struct nccl_p2p_split s = nccl_p2p_split(&p2p, of_pair, a->comm.settings.p2p_chunk_bytes);
        fprintf(out, "%10s %10s %6u %10s %10s\n", format_bytes(bytes, size),
                format_bytes(of_pair, pair), s.parts, format_bytes(s.part_bytes, part),
                format_bytes(s.chunk_bytes, chunk));
    }
    free(rounds);
}

// Machine, versions, channels, rings, trees, costs and choices.
static void answer_print(FILE *out, const struct answer *a)
{
    print_head(out, a);
    print_channels(out, a);
    print_rings(out, a);
    print_trees(out, a);
    print_heads(out, a);
    if (!a->has_function) {
        print_exchange(out, a);
        return;
    }
    print_costs(out, a);
    print_choices(out, a);
}

/* ---- a comparison ---- */

#define SHOWN 16 // differences of a kind

static void print_sentence(FILE *out, const char *what, const char *sentence)
{
    fprintf(out, "%s: ", what);
    text_print(out, sentence);
    fputc('\n', out);
}

// What is equal to a log, and what is not.
static void log_comparison_print(FILE *out, const struct answer *a, const struct log_comparison *c)
{
    print_head(out, a);
    path_print(out, "log: %s\n", c->log->name);
    for (int k = 0; k < FACT_KINDS; k++)
        if (c->counts[k].compared > 0)
            fprintf(out, "%-14s %zu of %zu equal\n", fact_kind_name((enum fact_kind)k),
                    c->counts[k].equal, c->counts[k].compared);
    for (size_t i = 0; i < c->scope.n; i++)
        print_sentence(out, "differs", c->scope.list[i]);
    for (int k = 0; k < FACT_KINDS; k++) {
        const struct log_sentences *s = &c->differences[k];
        for (size_t i = 0; i < s->n && i < SHOWN; i++)
            print_sentence(out, "differs", s->list[i]);
        if (s->n > SHOWN)
            fprintf(out, "differs: %zu more %s, which --format json names.\n", s->n - SHOWN,
                    fact_kind_name((enum fact_kind)k));
    }
    for (size_t i = 0; i < c->reasons.n; i++)
        print_sentence(out, "note", c->reasons.list[i]);
    if (log_comparison_is_equal(c))
        fputs("All that was compared is equal.\n", out);
}

/* ---- json ---- */

// One object, with the words of a scenario.

/* ---- the communicator ---- */

static json_t *rings_json(const struct answer *a)
{
    json_t *rings = json_array();
    uint32_t *ranks = memory_zeroed(a->comm.ranks, sizeof *ranks);
    for (uint32_t channel = 0; channel < a->comm.layout.channels.all; channel++) {
        json_t *ring = json_array();
        answer_ring(a, channel, ranks);
        for (uint32_t i = 0; i < a->comm.ranks; i++)
            json_array_append_new(ring, json_integer(ranks[i]));
        json_array_append_new(rings, ring);
    }
    free(ranks);
    return rings;
}

static json_t *tree_json(const struct answer *a, uint32_t channel)
{
    json_t *tree = json_array();
    for (uint32_t rank = 0; rank < a->comm.ranks; rank++) {
        struct nccl_tree_links links = nccl_layout_tree(&a->comm.layout, channel, rank);
        json_t *down = json_array();
        for (int i = 0; i < 3; i++)
            if (links.down[i] != NCCL_NONE)
                json_array_append_new(down, json_integer(links.down[i]));
        json_array_append_new(
            tree, json_pack("{s:i, s:i, s:o}", "rank", (int)rank, "up", links.up, "down", down));
    }
    return tree;
}

static json_t *trees_json(const struct answer *a)
{
    json_t *trees = json_array();
    for (uint32_t channel = 0; channel < a->comm.layout.channels.all; channel++)
        json_array_append_new(trees, tree_json(a, channel));
    return trees;
}

static json_t *heads_json(const struct answer *a)
{
    json_t *heads = json_array();
    uint32_t n = a->comm.layout.channels.nvls > 0 ? nccl_layout_nvls_heads(&a->comm.layout) : 0;
    uint32_t *ranks = memory_zeroed(a->comm.ranks, sizeof *ranks);
    for (uint32_t h = 0; h < n; h++) {
        json_t *head = json_array();
        uint32_t servers = answer_heads(a, h, ranks);
        for (uint32_t i = 0; i < servers; i++)
            json_array_append_new(head, json_integer(ranks[i]));
        json_array_append_new(heads, head);
    }
    free(ranks);
    return heads;
}

static json_t *counts_json(const struct answer *a)
{
    const struct nccl_channels *c = &a->comm.layout.channels;
    return json_pack("{s:i, s:i, s:i, s:i}", "coll", (int)c->all, "nvls", (int)c->nvls, "p2p",
                     (int)c->p2p, "p2p_per_peer", (int)c->p2p_per_peer);
}

/* ---- costs and choices ---- */

static json_t *costs_json(const struct answer *a)
{
    json_t *costs = json_array();
    for (int i = 0; i < NCCL_ALGORITHMS; i++)
        for (int k = 0; k < NCCL_PROTOCOLS; k++) {
            enum nccl_algorithm algorithm = (enum nccl_algorithm)i;
            enum nccl_protocol protocol = (enum nccl_protocol)k;
            const struct nccl_cost *cost = &a->comm.model.costs[a->function][i][k];
            if (!answer_possible(a, a->function, algorithm, protocol))
                continue;
            json_array_append_new(costs, json_pack("{s:s, s:s, s:s, s:f, s:f, s:i}", "algo",
                                                   executor_algorithm_word(algorithm), "name",
                                                   nccl_algorithm_name(algorithm), "proto",
                                                   executor_protocol_word(protocol), "latency_us",
                                                   cost->latency_us, "bandwidth_GBps", cost->bw,
                                                   "threads", (int)a->comm.model.threads[i][k]));
        }
    return costs;
}

static json_t *choice_json(const struct answer *a, uint64_t bytes)
{
    struct nccl_operation o = answer_choice(a, bytes);
    const struct nccl_choice *c = &o.choice;
    return json_pack("{s:I, s:s, s:s, s:i, s:i, s:i, s:f, s:I}", "bytes", (json_int_t)bytes, "algo",
                     executor_algorithm_word(c->algorithm), "proto",
                     executor_protocol_word(c->protocol), "channels", (int)c->channels,
                     "channels_used", (int)c->split.channels, "threads", (int)c->threads, "time_us",
                     c->cost_us, "chunk_bytes", (json_int_t)o.first.chunk_bytes);
}

static json_t *exchange_json(const struct answer *a, uint64_t bytes)
{
    struct nccl_p2p p2p = answer_p2p(a);
    struct nccl_p2p_split s =
        nccl_p2p_split(&p2p, bytes / a->comm.ranks, a->comm.settings.p2p_chunk_bytes);
    return json_pack("{s:I, s:i, s:i, s:I, s:I}", "bytes", (json_int_t)bytes, "channels",
                     (int)p2p.channels.p2p, "parts", (int)s.parts, "part_bytes",
                     (json_int_t)s.part_bytes, "chunk_bytes", (json_int_t)s.chunk_bytes);
}

static json_t *rounds_json(const struct answer *a)
{
    struct nccl_p2p p2p = answer_p2p(a);
    struct nccl_round *rounds = memory_zeroed(a->comm.ranks, sizeof *rounds);
    json_t *list = json_array();
    nccl_p2p_rounds(&p2p, 0, rounds);
    for (uint32_t i = 0; i < a->comm.ranks; i++)
        json_array_append_new(list,
                              json_pack("{s:i, s:i, s:i}", "to", (int)rounds[i].to, "from",
                                        (int)rounds[i].from, "channel", (int)rounds[i].channel));
    free(rounds);
    return list;
}

// The choice for the size; without one those for all sizes, and the keys of the last one.
static void add_choices(json_t *root, const struct answer *a)
{
    json_t *choices = json_array();
    for (uint64_t bytes = 0; answer_next_size(a, &bytes);)
        json_array_append_new(choices,
                              a->has_function ? choice_json(a, bytes) : exchange_json(a, bytes));
    json_object_update(root, json_array_get(choices, json_array_size(choices) - 1));
    if (a->query->bytes > 0)
        json_decref(choices);
    else
        json_object_set_new(root, "choices", choices);
}

/* ---- a comparison ---- */

static void add_sentences(json_t *list, const struct log_sentences *s)
{
    for (size_t i = 0; i < s->n; i++) {
        json_t *text = json_string(s->list[i]);
        json_array_append_new(list, text != NULL ? text : json_string("(not UTF-8)"));
    }
}

static json_t *comparison_json(const struct log_comparison *c)
{
    json_t *compared = json_object(), *equal = json_object(), *differences = json_array(),
           *notes = json_array();
    add_sentences(differences, &c->scope);
    for (int k = 0; k < FACT_KINDS; k++) {
        const char *name = fact_kind_name((enum fact_kind)k);
        if (c->counts[k].compared == 0)
            continue;
        json_object_set_new(compared, name, json_integer((json_int_t)c->counts[k].compared));
        json_object_set_new(equal, name, json_integer((json_int_t)c->counts[k].equal));
        add_sentences(differences, &c->differences[k]);
    }
    add_sentences(notes, &c->reasons);
    return json_pack("{s:s?, s:s?, s:o, s:o, s:o, s:o}", "log", c->log->name, "nccl",
                     c->log->version, "compared", compared, "equal", equal, "differences",
                     differences, "notes", notes);
}

// Everything as JSON; `c` may be NULL.
static json_t *answer_json(const struct answer *a, const struct log_comparison *c)
{
    const struct query *q = a->query;
    json_t *root = json_pack(
        "{s:s, s:s, s:s, s:I, s:i, s:s}", "machine", q->machine->name, "source", q->machine->source,
        q->settings.rccl ? "rccl" : "nccl", nccl_version_name(a->comm.settings.version), "nodes",
        (json_int_t)q->nodes, "ranks", (int)a->comm.ranks, "op", coll_op_name(q->op));
    add_choices(root, a);
    if (a->has_function)
        json_object_set_new(root, "note", json_string(cost_note(a)));
    json_object_set_new(root, "counts", counts_json(a));
    if (a->has_function)
        json_object_set_new(root, "costs", costs_json(a));
    else
        json_object_set_new(root, "rounds", rounds_json(a));
    json_object_set_new(root, "rings", rings_json(a));
    json_object_set_new(root, "trees", trees_json(a));
    json_object_set_new(root, "nvls_heads", heads_json(a));
    if (c != NULL)
        json_object_set_new(root, "against", comparison_json(c));
    return root;
}

/* ---- library command ---- */

static void print(const struct options *o, const struct answer *a, const struct log_comparison *c)
{
    if (o->format == FORMAT_JSON) {
        json_t *root = answer_json(a, c);
        json_dumpf(root, stdout, JSON_COMPACT | JSON_REAL_PRECISION(10));
        putchar('\n');
        json_decref(root);
    } else if (c != NULL) {
        log_comparison_print(stdout, a, c);
    } else {
        answer_print(stdout, a);
    }
}

static int compare(const struct options *o, const struct answer *a, const struct nccl_log *log)
{
    struct log_comparison c;
    log_comparison_init(&c, a, log);
    print(o, a, &c);
    int code = log_comparison_is_equal(&c) ? EXIT_DONE : EXIT_NOT_COMPLETED;
    log_comparison_free(&c);
    return code;
}

// Read the log first, so that its errors are reported with those of the options.
static int answer(const struct options *o, bool rccl, struct err *err)
{
    struct query query;
    struct answer a;
    struct nccl_log log = {0};
    int code = EXIT_BAD_USE;
    int asked = query_read(&query, rccl, o, err), read = 0;
    if (o->against != NULL && !rccl)
        read = nccl_log_read(&log, o->against, err);
    if (asked == 0 && read == 0 && answer_init(&a, &query, err) == 0) {
        code = EXIT_DONE;
        if (o->against != NULL)
            code = compare(o, &a, &log);
        else
            print(o, &a, NULL);
        answer_free(&a);
    }
    if (o->against != NULL && read == 0)
        nccl_log_free(&log);
    query_free(&query);
    return code;
}

static int command_library(const struct options *o)
{
    struct err err = {0};
    bool rccl = o->n_args == 1 && strcmp(o->args[0], "rccl") == 0;
    if (o->n_args != 1 || (!rccl && strcmp(o->args[0], "nccl") != 0)) {
        fputs("collwire: library takes nccl or rccl; see collwire library --help\n", stderr);
        return EXIT_BAD_USE;
    }
    int code = answer(o, rccl, &err);
    errors_print(&err);
    return code;
}

static const char library_text[] =
    "Prints what NCCL, or on MI300X RCCL, would do on servers of a machine: its channels, rings, "
    "trees and heads of NVLS in the form of its own log, its table of costs, and for each size its "
    "choice of algorithm, protocol, channels and threads. The cost is the one by which the library "
    "ranks its choices, not a forecast of the time: collwire run simulates that.\n\n"
    "A size is the largest buffer of a rank, as nccl-tests counts it: the output of an "
    "all-gather, the input of a reduce-scatter.\n\n"
    "--against compares with the log of a real run of NCCL, and says what differs. Exit code 0: "
    "all that the log has is equal; 1: something differs.\n\n"
    "  collwire library nccl --machine dgx_h100 --nodes 4 --op all_reduce\n"
    "  collwire library nccl --machine dgx_a100 --nodes 2 --bytes 64MB --format json\n"
    "  collwire library nccl --machine dgx_h100 --nodes 4 --against nccl.log\n"
    "  collwire library nccl --machine '{\"like\": \"dgx_h100\", \"nics\": 4}' --nodes 2\n"
    "  collwire library rccl --machine mi300x --nodes 2";

const struct command library_command = {
    .name = "library",
    .help = "what NCCL or RCCL chooses: rings, trees, algorithms",
    .args = "nccl|rccl --machine NAME --nodes N",
    .text = library_text,
    .run = command_library,
    .completes = COMPLETE_NOTHING,
};
