// SPDX-License-Identifier: MIT
// Parses the options of all commands by their table; an invalid option gives one line on stderr.
#include "cli/options/options.h"

#include <getopt.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/options/option_table.h"
#include "cli/terminal/plugin_watch.h"
#include "cli/terminal/terminal.h"
#include "engine/base/memory.h"

#define FIRST_CODE 256 // codes of long options; the rows' numbers are added

/* ---- values ---- */

static int take_word(const struct option_row *row, const char *text, int *out)
{
    for (int i = 0; row->words[i]; i++)
        if (strcmp(text, row->words[i]) == 0) {
            *out = i;
            return 0;
        }
    const char *near = err_near_miss(text, row->words);
    fprintf(stderr, "collwire: --%s: unknown word \"%s\"", row->name, text);
    if (near)
        fprintf(stderr, "; did you mean \"%s\"?", near);
    for (int i = 0; !near && row->words[i]; i++)
        fprintf(stderr, "%s%s", i == 0 ? "; one of " : ", ", row->words[i]);
    fputc('\n', stderr);
    return -1;
}

static int take_count(const struct option_row *row, const char *text, uint64_t *out)
{
    if (parse_count(text, out) == 0 && *out >= 1 && *out <= row->max)
        return 0;
    fprintf(stderr, "collwire: --%s: \"%s\" is not a number from 1 to %llu\n", row->name, text,
            (unsigned long long)row->max);
    return -1;
}

static int take(struct options *o, const struct option_row *row, char *text)
{
    void *field = (char *)o + row->offset;
    struct texts *texts = field;
    switch (row->type) {
    case OPTION_FLAG:
        *(bool *)field = true;
        return 0;
    case OPTION_TEXT:
        *(const char **)field = text;
        return 0;
    case OPTION_TEXTS:
        texts->list = memory_resize(texts->list, texts->n + 1, sizeof *texts->list);
        texts->list[texts->n++] = text;
        return 0;
    case OPTION_COUNT:
        return take_count(row, text, field);
    case OPTION_WORD:
        return take_word(row, text, field);
    default:
        return row->take(o, text);
    }
}

/* ---- mistakes ---- */

// Report an option that is unknown, or the beginning of several. `word` is as the user wrote it.
static void unknown_option(const char *word)
{
    const char *names[OPTION_ROWS_MAX + 1] = {NULL};
    char name[64];
    const char *start = word + strspn(word, "-");
    size_t n = 0, length = strcspn(start, "=");
    snprintf(name, sizeof name, "%.*s", (int)length, start);
    for (size_t i = 0; i < n_option_rows && n < OPTION_ROWS_MAX; i++)
        if (option_rows[i].name)
            names[n++] = option_rows[i].name;
    const char *near_miss = err_near_miss(name, names), *near = near_miss;
    for (size_t i = 0, best = 1; i < n && !near_miss; i++) {
        size_t same = 0; // letters at the beginning
        while (names[i][same] != '\0' && names[i][same] == name[same])
            same++;
        if (same > best) {
            best = same;
            near = names[i];
        }
    }
    fprintf(stderr, "collwire: unknown option \"%s\"", word);
    if (near)
        fprintf(stderr, "; did you mean \"--%s\"?\n", near);
    else
        fputs("; see collwire --help\n", stderr);
}

// Report an option that getopt_long has refused.
static int refused(int code, const char *word)
{
    char letter[3] = {'-', (char)optopt, '\0'}, text[32];
    bool by_letter = optopt > 0 && optopt < FIRST_CODE;
    const char *name = by_letter ? letter : word;
    if (optopt >= FIRST_CODE)
        name = option_spelling(&option_rows[optopt - FIRST_CODE], text);
    if (code == ':')
        fprintf(stderr, "collwire: %s needs an argument\n", name);
    else if (optopt >= FIRST_CODE)
        fprintf(stderr, "collwire: %s takes no argument\n", name);
    else
        unknown_option(name);
    return -1;
}

// Check that the command takes the options that were given.
static int check_command(const struct options *o, const bool *given)
{
    char text[32];
    if (!o->command || !command_find(o->known, o->command))
        return 0; // reported by the caller
    for (size_t i = 0; i < n_option_rows; i++) {
        const struct option_row *row = &option_rows[i];
        if (!given[i] || option_fits(row, o->command))
            continue;
        fprintf(stderr, "collwire: %s: %s is not one of its options", o->command,
                option_spelling(row, text));
        bool first = true;
        for (size_t c = 0; c < o->known->n; c++)
            if (option_fits(row, o->known->items[c]->name)) {
                fprintf(stderr, "%s%s", first ? "; it belongs to " : ", ",
                        o->known->items[c]->name);
                first = false;
            }
        fprintf(stderr, "; see collwire %s --help\n", o->command);
        return -1;
    }
    return 0;
}

/* ---- the command line ---- */

static const struct option_row *row_of(int code)
{
    if (code >= FIRST_CODE)
        return &option_rows[code - FIRST_CODE];
    for (size_t i = 0; i < n_option_rows; i++)
        if (option_rows[i].letter == code)
            return &option_rows[i];
    return NULL;
}

static int has_argument(const struct option_row *row)
{
    return row->otherwise ? optional_argument : row->argument ? required_argument : no_argument;
}

// The argument of an option that may be left out: the next word, if it is a number.
static char *argument_of(const struct option_row *row, int argc, char **argv)
{
    if (optarg || !row->otherwise)
        return optarg;
    if (optind < argc && argv[optind][0] != '\0' &&
        argv[optind][strspn(argv[optind], "0123456789")] == '\0')
        return argv[optind++];
    return (char *)(uintptr_t)row->otherwise;
}

// The tables that getopt_long reads.
static void getopt_tables(struct option table[OPTION_ROWS_MAX + 1],
                          char letters[2 * OPTION_ROWS_MAX + 2])
{
    size_t n = 0, used = 0;
    letters[used++] = ':';
    for (size_t i = 0; i < n_option_rows && i < OPTION_ROWS_MAX; i++) {
        const struct option_row *row = &option_rows[i];
        if (row->name)
            table[n++] = (struct option){row->name, has_argument(row), NULL, FIRST_CODE + (int)i};
        if (row->letter == '\0')
            continue;
        letters[used++] = row->letter;
        if (row->argument)
            letters[used++] = ':';
    }
    table[n] = (struct option){0};
    letters[used] = '\0';
}

// --capture and -w, as the scenario's `capture`.
static int set_captures(struct options *o)
{
    size_t n = o->places.n;
    if (n != o->files.n) {
        fputs("collwire: every --capture needs a -w, and every -w a --capture\n", stderr);
        return -1;
    }
    if (n == 0)
        return 0;
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++) {
        json_t *capture =
            json_pack("{s:s, s:s}", "at", o->places.list[i], "file", o->files.list[i]);
        if (!capture) {
            fputs("collwire: --capture: the text is not UTF-8\n", stderr);
            json_decref(list);
            return -1;
        }
        if (strcmp(o->files.list[i], "-") == 0)
            json_object_set_new(capture, "format", json_string("pcapng"));
        json_array_append_new(list, capture);
    }
    o->capture = json_dumps(list, 0);
    json_decref(list);
    options_set(o, "capture", o->capture);
    return 0;
}

// A run takes the number of its trials from its scenario.
static void set_tries(struct options *o)
{
    if (o->tries == 0 || !o->command || strcmp(o->command, "run") != 0)
        return;
    snprintf(o->tries_text, sizeof o->tries_text, "%llu", (unsigned long long)o->tries);
    options_set(o, "explain.try", o->tries_text);
}

// --network is a setting of the scenario, but for commands that make one, and diagnose.
static void set_network(struct options *o)
{
    bool makes = !o->command || strcmp(o->command, "import") == 0 ||
                 strcmp(o->command, "synth") == 0 || strcmp(o->command, "diagnose") == 0;
    if (o->network && !makes)
        options_set(o, "network", o->network);
}

// True for calls of Wireshark, which chooses names of options as extcap(4) says: --capture has
// no argument there.
static bool is_extcap_call(int argc, char **argv)
{
    static const char prefix[] = "--extcap-";
    for (int i = 2; i < argc && strcmp(argv[1], "extcap") == 0; i++)
        if (strncmp(argv[i], prefix, sizeof prefix - 1) == 0)
            return true;
    return false;
}

int options_parse(struct options *o, const struct commands *known, int argc, char **argv)
{
    struct option table[OPTION_ROWS_MAX + 1];
    char letters[2 * OPTION_ROWS_MAX + 2];
    bool given[OPTION_ROWS_MAX] = {false};
    int code;
    getopt_tables(table, letters);
    *o = (struct options){.known = known, .seeds = 1, .passes = 1, .compute_scale = 1};
    if (is_extcap_call(argc, argv)) {
        o->raw = true;
        optind = 1;
    }
    opterr = 0;
    while (!o->raw && (code = getopt_long(argc, argv, letters, table, NULL)) != -1) {
        if (code == '?' || code == ':')
            return refused(code, argv[optind - 1]);
        const struct option_row *row = row_of(code);
        given[row - option_rows] = true;
        if (take(o, row, argument_of(row, argc, argv)) != 0)
            return -1;
    }
    if (optind < argc)
        o->command = argv[optind++];
    if (o->format == FORMAT_TEXT)
        o->format = FORMAT_TABLE;
    o->args = (const char **)(void *)(argv + optind);
    o->n_args = (size_t)(argc - optind);
    if (check_command(o, given) != 0)
        return -1;
    set_network(o);
    set_tries(o);
    return set_captures(o);
}

int options_load_plugins(struct options *o)
{
    struct err err = {0};
    int status = 0;
    o->policies = collwire_policies_new(plugin_loader());
    collwire_policies_allow(o->policies, o->allow_plugins);
    for (size_t i = 0; i < o->plugins.n; i++)
        status |= collwire_policies_add(o->policies, o->plugins.list[i], messages_of(&err));
    errors_print(&err);
    return status;
}

struct collwire_scenario *scenario_of_json(const struct options *o, const json_t *scenario,
                                           const char *folder, struct err *err)
{
    char *text = json_dumps(scenario, JSON_REAL_PRECISION(17));
    struct collwire_scenario *parsed =
        collwire_scenario_parse(text, folder, o->sets, o->n_sets, o->policies, messages_of(err));
    free(text);
    return parsed;
}

struct collwire_scenario *scenario_open(const struct options *o, const char *path,
                                        const struct collwire_setting *sets, size_t n_sets,
                                        struct err *err)
{
    return collwire_scenario_load(path, sets, n_sets, o->policies, messages_of(err));
}

struct collwire_scenario *scenario_open_one(const struct options *o, const char *path,
                                            struct err *err)
{
    struct err own = {0};
    struct collwire_scenario *scenario = scenario_open(o, path, o->sets, o->n_sets, &own);
    err_add_all(err, o->n_args > 1 ? path : NULL, &own);
    err_free(&own);
    return scenario;
}

const struct cc_catalogue *options_catalogue(const struct options *o)
{
    return &policies_of(o->policies)->catalogue;
}

void options_free(struct options *o)
{
    free(o->sets);
    free(o->vary.list);
    free(o->goals.list);
    free(o->guards.list);
    free(o->places.list);
    free(o->files.list);
    free(o->capture);
    free(o->plugins.list);
    collwire_policies_free(o->policies);
}
