// SPDX-License-Identifier: MIT
// The options, one row each, in the order in which help lists them.
#include "cli/options/option_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(field) .offset = offsetof(struct options, field)

static const char *const formats[] = {"table", "json", "csv", "text", NULL}; // enum format
static const char *const progresses[] = {"auto", "always", "never", NULL};
static const char *const nccl_versions[] = {"2.21.5", "2.27.7", "2.30.7", NULL};
static const char *const library_ops[] = {
    "all_reduce", "reduce_scatter", "all_gather", "all_to_all", "broadcast", "reduce", NULL};
static const char *const parallels[] = {"data", "model", "hybrid", NULL};

static int take_set(struct options *o, char *text)
{
    char *equals = strchr(text, '=');
    if (!equals || equals == text) {
        fprintf(stderr, "collwire: --set: \"%s\" is not PATH=VALUE\n", text);
        return -1;
    }
    *equals = '\0';
    options_set(o, text, equals + 1);
    return 0;
}

static int take_seed(struct options *o, char *text)
{
    options_set(o, "seed", text);
    return 0;
}

static int take_scale(struct options *o, char *text)
{
    char *end;
    o->compute_scale = strtod(text, &end);
    if (end != text && *end == '\0' && o->compute_scale >= 0 && o->compute_scale <= 1e6)
        return 0;
    fprintf(stderr, "collwire: --compute-scale: \"%s\" is not a number from 0 to 1000000\n", text);
    return -1;
}

static int take_gap(struct options *o, char *text)
{
    if (parse_time(text, &o->gap_ps) == 0 && o->gap_ps >= PS_PER_NS)
        return 0;
    fprintf(stderr, "collwire: --gap: \"%s\" is not a time from 1ns, such as 1ms\n", text);
    return -1;
}

static int bad_pace(const char *text)
{
    fprintf(stderr, "collwire: --pace: \"%s\" is not TIME/TIME, as in 1ms/s\n", text);
    return -1;
}

// Simulated time per wall time; a unit alone is one of it.
int option_pace(struct options *o, char *text)
{
    char *slash = strchr(text, '/'), wall[32];
    ps_t simulated_ps, wall_ps;
    if (!slash)
        return bad_pace(text);
    int n = snprintf(wall, sizeof wall, "%s%s", slash[1] >= '0' && slash[1] <= '9' ? "" : "1",
                     slash + 1);
    *slash = '\0';
    bool good = n < (int)sizeof wall && parse_time(text, &simulated_ps) == 0 &&
                parse_time(wall, &wall_ps) == 0 && simulated_ps > 0 && wall_ps > 0;
    *slash = '/';
    if (!good)
        return bad_pace(text);
    o->pace_ps = (double)simulated_ps * (double)PS_PER_S / (double)wall_ps;
    return 0;
}

#define SIMULATING "run compare sweep"

const struct option_row option_rows[] = {
    {.name = "out",
     .argument = "DIR",
     .help = "the directory for the results; otherwise a folder below out/ that has the "
             "scenario's name; plan keeps nothing without it",
     .commands = SIMULATING " plan",
     .type = OPTION_TEXT,
     .completes = COMPLETE_FOLDERS,
     AT(out)},
    {.name = "against",
     .argument = "DIR|LOG",
     .help = "explain: the run to compare with; library: a log that NCCL wrote with "
             "NCCL_DEBUG=INFO NCCL_DEBUG_SUBSYS=INIT,GRAPH,ENV,TUNING, to compare with",
     .commands = "explain library",
     .type = OPTION_TEXT,
     .completes = COMPLETE_FILES,
     AT(against)},
    {.name = "verify",
     .argument = "[N]",
     .help = "run again without each of the first N causes (3), and compare",
     .commands = "explain",
     .type = OPTION_COUNT,
     .max = 100,
     .otherwise = "3",
     AT(verify)},
    {.letter = 'o',
     .argument = "FILE",
     .help =
         "the file to write; otherwise stdout. For export: the beginning of the names of all files",
     .commands = "import export workload replay shrink partition plot",
     .type = OPTION_TEXT,
     .completes = COMPLETE_FILES,
     AT(file)},
    {.name = "chart",
     .argument = "NAME",
     .help = "the chart to draw, as --list names it: NAME, NAME=METRIC or NAME@RUN",
     .commands = "plot",
     .type = OPTION_TEXT,
     AT(chart)},
    {.name = "scenarios",
     .argument = "FOLDER",
     .help = "the scenarios that Wireshark shows, with those of folders in it; otherwise scenarios",
     .commands = "extcap",
     .type = OPTION_TEXT,
     .completes = COMPLETE_FOLDERS,
     AT(scenarios)},
    {.name = "set",
     .argument = "PATH=VALUE",
     .help = "change a key of the scenario, as in --set switch.buffer=2MB or --set "
             "workload[1].start=1ms; the value is JSON, or else text; may be repeated",
     .commands = SIMULATING " validate workload export shrink partition gpcnet",
     .type = OPTION_TAKE,
     .take = take_set},
    {.name = "cc-plugin",
     .argument = "FILE.so",
     .help = "load the policies of a plugin (docs/plugins.md); may be repeated",
     .commands = SIMULATING " validate list export generate",
     .type = OPTION_TEXTS,
     .completes = COMPLETE_FILES,
     AT(plugins)},
    {.name = "allow-plugins",
     .help = "load the plugins that a scenario names, which is code from its author",
     .commands = SIMULATING " validate export",
     .type = OPTION_FLAG,
     AT(allow_plugins)},
    {.name = "seed",
     .argument = "N",
     .help = "the scenario's seed",
     .commands = SIMULATING " validate export",
     .type = OPTION_TAKE,
     .take = take_seed},
    {.name = "capture",
     .argument = "PLACES",
     .help = "capture the packets of these places, separated by commas (rank3, leaf0, "
             "leaf0->spine2, rank*), instead of the scenario's captures; -w names the file; may "
             "be repeated, with a -w each",
     .commands = "run",
     .type = OPTION_TEXTS,
     AT(places)},
    {.letter = 'w',
     .argument = "FILE",
     .help = "the file of --capture, inside the output directory: NAME.pcapng or NAME.pcap, "
             "either with .gz; - = pcapng on stdout, for wireshark -k -i -",
     .commands = "run",
     .type = OPTION_TEXTS,
     .completes = COMPLETE_FILES,
     AT(files)},
    {.name = "pace",
     .argument = "SIM/WALL",
     .help =
         "simulated time per wall time, as in 1ms/s, to watch a live capture; otherwise as fast "
         "as possible",
     .commands = "run",
     .type = OPTION_TAKE,
     .take = option_pace},
    {.name = "vary",
     .argument = "PATH=LIST",
     .help = "an axis: the values that a key takes, separated by commas; lists joined by ; "
             "advance together; in a sweep it may be repeated",
     .commands = "compare sweep",
     .type = OPTION_TEXTS,
     AT(vary)},
    {.name = "sizes",
     .argument = "A:B[:F]",
     .help = "sizes of the collective from A to B, each F (2) times the one before; 8, 1K and 128M "
             "are binary as in nccl-tests, 1KB is decimal; prints the table of nccl-tests",
     .commands = "sweep",
     .type = OPTION_TEXT,
     AT(sizes)},
    {.name = "cc",
     .argument = "LIST",
     .help = "the policies, separated by commas: NAME, NAME:PRESET, NAME{KEY=VALUE,...} or all",
     .commands = "compare sweep gpcnet",
     .type = OPTION_TEXT,
     .completes = COMPLETE_POLICIES,
     AT(cc)},
    {.name = "baseline",
     .argument = "POLICY",
     .help = "the policy, or the value of --vary, that others are compared with; otherwise policy "
             "none if it is among them, else the first",
     .commands = "compare",
     .type = OPTION_TEXT,
     .completes = COMPLETE_POLICIES,
     AT(baseline)},
    {.name = "seeds",
     .argument = "K",
     .help = "run K seeds, from the scenario's own upwards",
     .commands = "compare sweep gpcnet",
     .type = OPTION_COUNT,
     .max = 1000,
     AT(seeds)},
    {.name = "gpus",
     .argument = "N|A..B",
     .help = "numbers of GPUs: N, or A, 2 A, 4 A, .. up to B",
     .commands = "plan",
     .type = OPTION_TEXT,
     AT(gpus)},
    {.name = "parts",
     .argument = "N",
     .help = "ranks to divide a model among",
     .commands = "partition",
     .type = OPTION_COUNT,
     .max = 65536,
     AT(parts)},
    {.name = "best",
     .argument = "N",
     .help = "layouts of each number of GPUs that are run over packets and shown; otherwise 10",
     .commands = "plan",
     .type = OPTION_COUNT,
     .max = 100000,
     AT(best)},
    {.name = "within",
     .argument = "PERCENT",
     .help = "only layouts whose closed form is at most so much slower than the fastest one's",
     .commands = "plan",
     .type = OPTION_TEXT,
     AT(within)},
    {.name = "fabric",
     .argument = "FILE",
     .help = "what joins servers if the scenario's topology is one switch: JSON of a dimension, or "
             "a scenario whose last dimension it is; otherwise a leaf_spine without "
             "oversubscription of one 400 Gbit/s port a GPU",
     .commands = "plan",
     .type = OPTION_TEXT,
     .completes = COMPLETE_FILES,
     AT(fabric)},
    {.name = "packets-budget",
     .argument = "HOPS",
     .help =
         "packet-hops of a layout's run, above which it stays in closed form (1e9); 0 = no runs",
     .commands = "plan",
     .type = OPTION_TEXT,
     AT(packets_budget)},
    {.name = "jobs",
     .argument = "N",
     .help = "runs at the same time; otherwise as many as there are processors",
     .commands = "compare sweep explain plan gpcnet",
     .type = OPTION_COUNT,
     .max = 1024,
     AT(jobs)},
    {.name = "threads",
     .argument = "N",
     .help = "threads of each run; the results are the same",
     .commands = SIMULATING,
     .type = OPTION_COUNT,
     .max = 64,
     AT(threads)},
    {.name = "shard",
     .argument = "I/N",
     .help = "run only part I of N, I from 1: every Nth point, or layout",
     .commands = "sweep plan",
     .type = OPTION_TEXT,
     AT(shard)},
    {.name = "list",
     .help = "print the points and what is known of them, or for plot the charts; run nothing",
     .commands = "sweep plot",
     .type = OPTION_FLAG,
     AT(list)},
    {.name = "dry-run",
     .help = "check all points, print how many there are and how long they will take",
     .commands = "sweep",
     .type = OPTION_FLAG,
     AT(dry_run)},
    {.name = "merge",
     .help = "join the stores of the directories that are given into that of --out",
     .commands = "sweep",
     .type = OPTION_FLAG,
     AT(merge)},
    {.name = "why",
     .help = "also the reasons of each point in sweep.csv, and what costs the most time along each "
             "axis",
     .commands = "sweep",
     .type = OPTION_FLAG,
     AT(why)},
    {.name = "print",
     .help = "print the scenario with every default, and what follows from it",
     .commands = "validate",
     .type = OPTION_FLAG,
     AT(print)},
    {.name = "map",
     .argument = "FILE",
     .help =
         "a table of address,rank: flows between its addresses only; otherwise ranks are in the "
         "order of the addresses",
     .commands = "replay",
     .type = OPTION_TEXT,
     .completes = COMPLETE_FILES,
     AT(map)},
    {.name = "map-out",
     .argument = "FILE",
     .help = "write the table of address,rank that was used",
     .commands = "replay",
     .type = OPTION_TEXT,
     .completes = COMPLETE_FILES,
     AT(map_out)},
    {.name = "gap",
     .argument = "TIME",
     .help = "the silence of a TCP connection after which a new transfer begins; otherwise 1ms",
     .commands = "replay",
     .type = OPTION_TAKE,
     .take = take_gap},
    {.name = "passes",
     .argument = "N",
     .help = "iterations of the training loop",
     .commands = "import",
     .type = OPTION_COUNT,
     .max = 1000000,
     AT(passes)},
    {.name = "compute-scale",
     .argument = "X",
     .help = "multiply the compute times by X",
     .commands = "import",
     .type = OPTION_TAKE,
     .take = take_scale},
    {.name = "network",
     .argument = "FILE",
     .help = "chakra: the network, a YAML file of ASTRA-sim 2; kineto, inspector, nsys: a scenario "
             "whose network the job gets",
     .commands = "import",
     .type = OPTION_TEXT,
     AT(network)},
    {.name = "system",
     .argument = "FILE",
     .help = "chakra: the system, a JSON file of ASTRA-sim 2",
     .commands = "import",
     .type = OPTION_TEXT,
     AT(system)},
    {.name = "groups",
     .argument = "FILE",
     .help = "chakra: communicators, a JSON file {\"1\": [0, 1]}",
     .commands = "import",
     .type = OPTION_TEXT,
     AT(groups)},
    {.name = "memory",
     .argument = "FILE",
     .help = "chakra: remote memory, a JSON file of ASTRA-sim 2",
     .commands = "import",
     .type = OPTION_TEXT,
     AT(memory)},
    {.name = "parallel",
     .argument = "KIND",
     .help = "what the ranks share: data, model or hybrid",
     .commands = "workload",
     .type = OPTION_TEXT,
     .words = parallels,
     .completes = COMPLETE_WORDS,
     AT(parallel)},
    {.name = "machine",
     .argument = "NAME",
     .help = "the kind of server, as in a topology's `machine`: dgx_h100, gh200, ..",
     .commands = "library",
     .type = OPTION_TEXT,
     AT(machine)},
    {.name = "nodes",
     .argument = "N",
     .help = "servers of the communicator, which has all of their GPUs",
     .commands = "library",
     .type = OPTION_TEXT,
     AT(nodes)},
    {.name = "nccl",
     .argument = "VERSION",
     .help = "the version whose rules are used: 2.21.5, 2.27.7 (default) or 2.30.7; of rccl there "
             "is one",
     .commands = "library",
     .type = OPTION_TEXT,
     .words = nccl_versions,
     .completes = COMPLETE_WORDS,
     AT(nccl)},
    {.name = "op",
     .argument = "OP",
     .help = "the collective: all_reduce (default), reduce_scatter, all_gather, all_to_all, "
             "broadcast or reduce",
     .commands = "library",
     .type = OPTION_TEXT,
     .words = library_ops,
     .completes = COMPLETE_WORDS,
     AT(op)},
    {.name = "bytes",
     .argument = "SIZE",
     .help = "the largest buffer of a rank, as nccl-tests counts it; otherwise powers of two from "
             "1KiB to 8GiB",
     .commands = "library",
     .type = OPTION_TEXT,
     AT(bytes)},
    {.name = "env",
     .argument = "TEXT",
     .help = "environment variables of NCCL, as in --env \"NCCL_PROTO=LL NCCL_MAX_NCHANNELS=8\"",
     .commands = "library",
     .type = OPTION_TEXT,
     AT(env)},
    {.name = "format",
     .argument = "FORMAT",
     .help =
         "of the results on stdout: table (or text), json or csv (not of library, plan, gpcnet)",
     .commands = SIMULATING " library plan gpcnet",
     .type = OPTION_WORD,
     .words = formats,
     .completes = COMPLETE_WORDS,
     AT(format)},
    {.name = "plain",
     .help = "use the reference engine: the same results, more slowly",
     .commands = SIMULATING,
     .type = OPTION_FLAG,
     AT(plain)},
    {.name = "progress",
     .argument = "WHEN",
     .help = "show progress on stderr: auto (on a terminal), always or never",
     .commands = SIMULATING " validate explain plan gpcnet",
     .type = OPTION_WORD,
     .words = progresses,
     .completes = COMPLETE_WORDS,
     AT(progress)},
    {.name = "quiet",
     .help = "no table and no progress; json and csv are printed all the same",
     .commands = SIMULATING " validate report replay",
     .type = OPTION_FLAG,
     AT(quiet)},
    {.name = "help",
     .letter = 'h',
     .help = "print the page of the command",
     .type = OPTION_FLAG,
     AT(help)},
    {.name = "version", .help = "print the version", .type = OPTION_FLAG, AT(version)},
};
const size_t n_option_rows = sizeof option_rows / sizeof *option_rows;

bool option_fits(const struct option_row *row, const char *command)
{
    if (!row->commands)
        return true;
    size_t length = strlen(command);
    for (const char *at = row->commands; (at = strstr(at, command)) != NULL; at += length)
        if ((at == row->commands || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    return false;
}

const char *option_spelling(const struct option_row *row, char text[32])
{
    if (row->name)
        snprintf(text, 32, "--%s", row->name);
    else
        snprintf(text, 32, "-%c", row->letter);
    return text;
}
