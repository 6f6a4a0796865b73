// SPDX-License-Identifier: MIT
// Parses the options of all commands; an invalid option gives one line on stderr.
#include "cli/options.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"

enum {
    OPT_OUT = 256,
    OPT_SET,
    OPT_SEED,
    OPT_FORMAT,
    OPT_PROGRESS,
    OPT_CC,
    OPT_SEEDS,
    OPT_JOBS,
    OPT_PASSES,
    OPT_SCALE,
    OPT_PARALLEL
};

static const char usage[] =
    "collwire: what does this congestion control policy do to my training job?\n"
    "\n"
    "  collwire run SCENARIO [--out DIR]                simulate; DIR/metrics.json, captures\n"
    "  collwire compare SCENARIO --cc a,b,c [--seeds K] [--jobs N] [--out DIR]\n"
    "                                                   the same under each policy, side by side\n"
    "  collwire report DIR                              DIR/report.html: charts and tables of a run,\n"
    "                                                   a comparison or a sweep\n"
    "  collwire validate SCENARIO [--print]             all errors at once; the resolved scenario\n"
    "  collwire list [cc|transport|topology|collective|workload|switch|metrics] [NAME]\n"
    "                                                   the catalogue with every parameter\n"
    "  collwire import astra NETWORK.json SYSTEM.txt WORKLOAD.txt [--passes N] [--compute-scale "
    "X]\n"
    "           [-o FILE]                               a scenario from ASTRA-sim files\n"
    "  collwire workload gemm LAYERS.csv --parallel data|model|hybrid [--set KEY=VALUE] [-o FILE]\n"
    "                                                   a text workload from matrix products\n"
    "\n"
    "  --set PATH=VALUE   change a key of the scenario (repeatable), e.g. --set switch.buffer=2MB\n"
    "  --seed N           the scenario's seed\n"
    "  --format F         table, json or csv on stdout\n"
    "  --quiet            no table, no progress\n"
    "  --progress WHEN    auto, always or never\n"
    "  --plain            the reference engine\n"
    "  --version, --help\n"
    "\n"
    "SCENARIO is a JSON file, - reads stdin. Results lie in out/NAME unless --out says otherwise.\n"
    "Exit: 0 completed, 1 ran but did not complete, 2 bad usage or scenario, 130 interrupted.\n";

void options_usage(FILE *out) { fputs(usage, out); }

static int choose(const char *option, const char *text, const char *const *words, int *out)
{
    for (int i = 0; words[i]; i++)
        if (strcmp(text, words[i]) == 0) {
            *out = i;
            return 0;
        }
    const char *near = err_near_miss(text, words);
    fprintf(stderr, "collwire: %s: unknown word \"%s\"%s%s%s\n", option, text,
            near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    return -1;
}

static int number(const char *option, const char *text, uint64_t max, uint64_t *out)
{
    if (parse_count(text, out) == 0 && *out >= 1 && *out <= max)
        return 0;
    fprintf(stderr, "collwire: %s: \"%s\" is not a number from 1 to %llu\n", option, text,
            (unsigned long long)max);
    return -1;
}

static int scale(const char *option, const char *text, double *out)
{
    char *end;
    *out = strtod(text, &end);
    if (end != text && *end == '\0' && *out >= 0 && *out <= 1e6)
        return 0;
    fprintf(stderr, "collwire: %s: \"%s\" is not a number from 0 to 1000000\n", option, text);
    return -1;
}

static void add_set(struct options *o, char *path, const char *value)
{
    o->sets = memory_resize(o->sets, o->n_sets + 1, sizeof *o->sets);
    o->sets[o->n_sets++] = (struct config_set){path, value};
}

static int parse_set(struct options *o, char *text)
{
    char *equals = strchr(text, '=');
    if (!equals || equals == text) {
        fprintf(stderr, "collwire: --set: \"%s\" is not PATH=VALUE\n", text);
        return -1;
    }
    *equals = '\0';
    add_set(o, text, equals + 1);
    return 0;
}

static int take(struct options *o, int option, char *text)
{
    static const char *const formats[] = {"table", "json", "csv", NULL};
    static const char *const progresses[] = {"auto", "always", "never", NULL};
    static char seed_path[] = "seed";
    int word = 0, status = 0;
    switch (option) {
    case OPT_OUT:
        o->out = text;
        return 0;
    case OPT_CC:
        o->cc = text;
        return 0;
    case OPT_SET:
        return parse_set(o, text);
    case OPT_SEED:
        add_set(o, seed_path, text);
        return 0;
    case OPT_SEEDS:
        return number("--seeds", text, 1000, &o->seeds);
    case OPT_JOBS:
        return number("--jobs", text, 1024, &o->jobs);
    case OPT_PASSES:
        return number("--passes", text, 1000000, &o->passes);
    case OPT_SCALE:
        return scale("--compute-scale", text, &o->compute_scale);
    case OPT_PARALLEL:
        o->parallel = text;
        return 0;
    case 'o':
        o->file = text;
        return 0;
    case OPT_FORMAT:
        status = choose("--format", text, formats, &word);
        o->format = (enum format)word;
        return status;
    case OPT_PROGRESS:
        status = choose("--progress", text, progresses, &word);
        o->progress = (enum progress)word;
        return status;
    default:
        return -1; // getopt has printed a message
    }
}

int options_parse(struct options *o, int argc, char **argv)
{
    int quiet = 0, plain = 0, print = 0, help = 0, version = 0, option;
    const struct option table[] = {
        {"out", 1, NULL, OPT_OUT},
        {"set", 1, NULL, OPT_SET},
        {"seed", 1, NULL, OPT_SEED},
        {"format", 1, NULL, OPT_FORMAT},
        {"progress", 1, NULL, OPT_PROGRESS},
        {"cc", 1, NULL, OPT_CC},
        {"seeds", 1, NULL, OPT_SEEDS},
        {"jobs", 1, NULL, OPT_JOBS},
        {"passes", 1, NULL, OPT_PASSES},
        {"parallel", 1, NULL, OPT_PARALLEL},
        {"compute-scale", 1, NULL, OPT_SCALE},
        {"quiet", 0, &quiet, 1},
        {"plain", 0, &plain, 1},
        {"print", 0, &print, 1},
        {"help", 0, &help, 1},
        {"version", 0, &version, 1},
        {0},
    };
    *o = (struct options){
        .seeds = 1, .passes = 1, .compute_scale = 1, .policies = cc_catalogue_builtin()};
    while ((option = getopt_long(argc, argv, "o:", table, NULL)) != -1)
        if (option != 0 && take(o, option, optarg) != 0)
            return -1;
    o->quiet = quiet;
    o->plain = plain;
    o->print = print;
    o->help = help;
    o->version = version;
    if (optind < argc)
        o->command = argv[optind++];
    o->args = (const char **)(void *)(argv + optind);
    o->n_args = (size_t)(argc - optind);
    return 0;
}

void options_free(struct options *o) { free(o->sets); }

// Print control characters as \xNN, so that names from files cannot control the terminal; line
// feeds are kept.
void text_print(FILE *out, const char *text)
{
    for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
        bool c1 = c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0; // C1 controls in UTF-8
        if (c1)
            fprintf(out, "\\x%02x", *++c);
        else if ((*c < 0x20 && *c != '\n') || *c == 0x7f)
            fprintf(out, "\\x%02x", *c);
        else
            fputc(*c, out);
    }
}

void errors_print(struct err *err)
{
    for (size_t i = 0; i < err->n_items; i++) {
        fprintf(stderr, "collwire: %s", err->items[i].warning ? "warning: " : "");
        text_print(stderr, err->items[i].text);
        fputc('\n', stderr);
    }
    err_free(err);
}
