// SPDX-License-Identifier: MIT
// Channels, rings, trees and heads of NVLS have the form of the lines of NCCL's own log.
#include "cli/library/answer_tell.h"

#include <stdlib.h>

#include "cli/terminal/terminal.h"
#include "engine/base/memory.h"
#include "engine/base/units.h"

#define COST_NOTE(library)                                                                         \
    "The cost is the figure in us by which " library                                               \
    " ranks its choices; it is not a forecast of the time."

const char *answer_cost_note(const struct answer *a)
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
    fprintf(out, "\nChoices. %s\n", answer_cost_note(a));
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
void answer_print(FILE *out, const struct answer *a)
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
void log_comparison_print(FILE *out, const struct answer *a, const struct log_comparison *c)
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
