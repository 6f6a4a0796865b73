// SPDX-License-Identifier: MIT
// collwire validate: reports all errors of a scenario without running it, warns of settings that
// the network does not suit, and shows the values of what is "auto"; collwire list.
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/runs/chosen_policy.h"
#include "cli/runs/hybrid_look.h"
#include "cli/runs/simulate.h"
#include "cli/terminal/signals.h"
#include "cli/terminal/terminal.h"
#include "engine/base/text.h"
#include "engine/base/units.h"

#define TAKES_LESS 0.7 // share of the packets' time from which the hybrid network is advised

static const char *text_at(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

static void print_warnings(FILE *out, const json_t *warnings, size_t width)
{
    size_t i;
    const json_t *warning;
    json_array_foreach(warnings, i, warning)
    {
        char *text =
            text_format("warning: %s: %s", text_at(warning, "key"), text_at(warning, "text"));
        terminal_wrap(out, text, 0, 2, width);
        free(text);
    }
}

// Prints the values of settings that are "auto". With `all` each setting has a line, and one that
// is a rule has the rule in words; without it, those with a number are in one paragraph.
static void print_autos(FILE *out, const json_t *autos, bool all, size_t width)
{
    struct text text;
    FILE *line = text_open(&text);
    size_t i, n = 0;
    const json_t *item;
    json_array_foreach(autos, i, item)
    {
        if (all)
            fprintf(out, "auto: %s %s\n", text_at(item, "key"), text_at(item, "value"));
        else if (!json_is_true(json_object_get(item, "rule")))
            fprintf(line, "%s%s %s", n++ > 0 ? ", " : "auto: ", text_at(item, "key"),
                    text_at(item, "value"));
    }
    char *paragraph = text_close(line, &text);
    if (n > 0)
        terminal_wrap(out, paragraph, 0, 2, width);
    free(paragraph);
}

static void print_advice(const struct collwire_sim *sim, bool all)
{
    FILE *out = all ? stderr : stdout; // with --print the scenario alone is on stdout
    size_t width = terminal_width(out);
    char *text = collwire_sim_advice(sim);
    json_t *advice = json_loads(text, 0, NULL);
    print_warnings(out, json_object_get(advice, "warnings"), width);
    print_autos(out, json_object_get(advice, "auto"), all, width);
    json_decref(advice);
    collwire_free(text);
}

static void print_memory(FILE *out, const struct collwire_sim *sim)
{
    char *text = collwire_sim_memory_text(sim), *line = text, *end;
    for (; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        terminal_wrap(out, line, 0, 2, terminal_width(out));
    }
    collwire_free(text);
}

// What the hybrid network would save, or has to do.
static void print_look(FILE *out, const struct options *o, const struct collwire_scenario *scenario,
                       const struct collwire_cost *cost)
{
    char until[UNIT_TEXT], wall[UNIT_TEXT], packets[UNIT_TEXT];
    int network = scenario_spec(scenario_of(scenario))->network;
    struct hybrid_look look;
    if (network == NETWORK_ANALYTICAL || !hybrid_look(o, scenario, cost, &look))
        return;
    bool saves = look.wall_s < TAKES_LESS * look.packets_s;
    char *line = text_format(
        "hybrid network: in a trial of the first %s %.1f %% of the bytes took closed form: if the "
        "rest is alike, %.3g packet-hops are left, about %s in place of %s%s",
        human_time((ps_t)(look.until_ns * 1e3), until), 100 * look.quiet_share, look.packet_hops,
        human_time((ps_t)(look.wall_s * 1e12), wall),
        human_time((ps_t)(look.packets_s * 1e12), packets),
        network == NETWORK_HYBRID ? ""
        : saves                   ? "; take --network hybrid"
                                  : "; packets cost little more");
    terminal_wrap(out, line, 0, 2, terminal_width(out));
    free(line);
}

static void print_valid(const struct collwire_scenario *scenario, const struct collwire_sim *sim,
                        const struct collwire_cost *cost, const struct options *o)
{
    if (o->print) {
        puts(collwire_scenario_json(scenario));
        char *derived = collwire_sim_describe(sim);
        fputs(derived, stderr);
        collwire_free(derived);
    } else if (!o->quiet) {
        printf("%s: valid\n", collwire_scenario_name(scenario));
    }
    if (o->quiet)
        return;
    print_memory(o->print ? stderr : stdout, sim);
    print_advice(sim, o->print);
    char *text = collwire_sim_cost_text(sim, "");
    fputs(text, o->print ? stderr : stdout);
    collwire_free(text);
    print_look(o->print ? stderr : stdout, o, scenario, cost);
}

// Check one scenario. Returns the exit code. Where there are several, errors name the file.
static int validate_one(const struct options *o, const char *path)
{
    struct err own = {0}, err = {0};
    signals_show(progress_wanted(o));
    struct collwire_scenario *scenario = scenario_chosen(o, path, &own);
    struct collwire_cost cost;
    struct collwire_sim *sim = scenario ? simulation_build(scenario, &cost, &own) : NULL;
    signals_show(false);
    err_add_all(&err, o->n_args > 1 ? path : NULL, &own);
    err_free(&own);
    errors_print(&err);
    if (sim)
        print_valid(scenario, sim, &cost, o);
    int code = sim ? EXIT_DONE : EXIT_BAD_USE;
    collwire_sim_free(sim);
    collwire_scenario_free(scenario);
    return code;
}

static int command_validate(const struct options *o)
{
    int code = EXIT_DONE;
    if (o->n_args == 0 || (o->print && o->n_args > 1)) {
        fprintf(stderr, "collwire: validate%s\n",
                o->n_args == 0 ? " takes scenario files; see collwire validate --help"
                               : " --print takes one scenario file");
        return EXIT_BAD_USE;
    }
    signals_phase("reading the scenario");
    for (size_t i = 0; i < o->n_args; i++)
        if (validate_one(o, o->args[i]) != EXIT_DONE)
            code = EXIT_BAD_USE;
    return code;
}

/* ---- its row ---- */

static const char validate_text[] =
    "Reports all errors of the scenarios at once, each with its path, and what a run would cost. "
    "--print shows one scenario with every default, and values that follow from it.";

const struct command validate_command = {
    .name = "validate",
    .help = "check a scenario without running it",
    .args = "SCENARIO...",
    .text = validate_text,
    .run = command_validate,
    .completes = COMPLETE_FILES,
};
