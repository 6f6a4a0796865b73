// SPDX-License-Identifier: MIT
// collwire extcap: reads the calls of Wireshark.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/extcap/extcap.h"
#include "cli/extcap/extcap_internal.h"

struct call_option {
    const char *name;
    size_t text; // offset of a text, or
    size_t flag; // offset of a flag
};

#define NO_FIELD SIZE_MAX
#define TEXT(field) offsetof(struct extcap_call, field), NO_FIELD
#define FLAG(field) NO_FIELD, offsetof(struct extcap_call, field)

static const struct call_option call_options[] = {
    {"--extcap-interfaces", FLAG(interfaces)},
    {"--extcap-dlts", FLAG(dlts)},
    {"--extcap-config", FLAG(config)},
    {"--capture", FLAG(capture)},
    {"--extcap-interface", TEXT(interface)},
    {"--extcap-capture-filter", TEXT(capture_filter)},
    {"--fifo", TEXT(fifo)},
    {"--scenarios", TEXT(scenarios)},
    {"--scenario", TEXT(scenario)},
    {"--place", TEXT(place)},
    {"--policy", TEXT(policy)},
    {"--pace", TEXT(pace)},
    {"--changes", TEXT(changes)},
    {"--filter", TEXT(filter)},
};

static const struct call_option *option_named(const char *word, size_t length)
{
    for (size_t i = 0; i < sizeof call_options / sizeof *call_options; i++)
        if (strlen(call_options[i].name) == length &&
            strncmp(call_options[i].name, word, length) == 0)
            return &call_options[i];
    return NULL;
}

// Options are --NAME, --NAME=VALUE or --NAME VALUE.
static int call_parse(struct extcap_call *call, const char **words, size_t n)
{
    static const char prefix[] = "--extcap-";
    for (size_t i = 0; i < n; i++) {
        const char *word = words[i], *equals = strchr(word, '=');
        const struct call_option *option =
            option_named(word, equals ? (size_t)(equals - word) : strlen(word));
        if (option && option->flag != NO_FIELD) {
            *(bool *)((char *)call + option->flag) = true;
        } else if (option && (equals || i + 1 < n)) {
            const char *value = equals ? equals + 1 : words[++i];
            *(const char **)(void *)((char *)call + option->text) = value;
        } else if (option) {
            fprintf(stderr, "collwire: extcap: %s needs an argument\n", word);
            return -1;
        } else if (strncmp(word, prefix, sizeof prefix - 1) != 0) {
            fprintf(stderr, "collwire: extcap: unknown option \"%s\"\n", word);
            return -1;
        }
    }
    return 0;
}

// The scenario that is called so, NULL = the first one; NULL after a message.
static const struct extcap_scenario *scenario_of_call(const struct extcap_call *call,
                                                      const struct extcap_scenarios *found)
{
    bool named = call->scenario && *call->scenario != '\0';
    for (size_t i = 0; i < found->n; i++)
        if (!named || strcmp(found->list[i].name, call->scenario) == 0)
            return &found->list[i];
    if (named)
        fprintf(stderr, "collwire: extcap: %s is not a scenario of %s\n", call->scenario,
                call->scenarios);
    else
        fprintf(stderr, "collwire: extcap: there are no scenarios in %s\n", call->scenarios);
    return NULL;
}

static int answer_config(const struct extcap_call *call, const struct options *o)
{
    struct extcap_scenarios found = {0};
    extcap_find(&found, call->scenarios);
    extcap_config(&found, o);
    extcap_scenarios_free(&found);
    return EXIT_DONE;
}

static int answer_capture(const struct extcap_call *call, const struct options *o)
{
    struct extcap_scenarios found = {0};
    extcap_find(&found, call->scenarios);
    const struct extcap_scenario *scenario = scenario_of_call(call, &found);
    int code = scenario ? extcap_capture(scenario, call, o) : EXIT_BAD_USE;
    extcap_scenarios_free(&found);
    return code;
}

static int answer(const struct extcap_call *call, const struct options *o)
{
    if (call->interfaces) {
        extcap_interfaces();
        return EXIT_DONE;
    }
    if (!call->interface || strcmp(call->interface, EXTCAP_INTERFACE) != 0) {
        fprintf(stderr,
                "collwire: extcap: --extcap-interface %s: the interface is " EXTCAP_INTERFACE "\n",
                call->interface ? call->interface : "is missing");
        return EXIT_BAD_USE;
    }
    if (call->capture)
        return answer_capture(call, o);
    if (call->config)
        return answer_config(call, o);
    if (call->dlts)
        extcap_dlts();
    else if (call->capture_filter)
        return extcap_check_filter(call);
    return EXIT_DONE;
}

static int wireshark_calls(const struct options *o)
{
    struct extcap_call call = {.scenarios = "scenarios"};
    return call_parse(&call, o->args, o->n_args) == 0 ? answer(&call, o) : EXIT_BAD_USE;
}

int command_extcap(const struct options *o)
{
    const char *what = o->n_args > 0 ? o->args[0] : "";
    if (o->raw)
        return wireshark_calls(o);
    if (o->n_args == 1 && strcmp(what, "install") == 0)
        return extcap_install(o);
    if (o->n_args == 1 && strcmp(what, "uninstall") == 0)
        return extcap_uninstall();
    fputs("collwire: extcap takes install or uninstall; see collwire extcap --help\n", stderr);
    return EXIT_BAD_USE;
}
