// SPDX-License-Identifier: MIT
// What Wireshark reads of the interface: its name, its options and the scenarios among them.
#include <dirent.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/extcap/extcap_internal.h"
#include "engine/base/memory.h"
#include "engine/base/regular_file.h"
#include "engine/base/text.h"
#include "net/capture/filter.h"
#include "sim/sim.h"

#define SCENARIOS_MAX 500
#define DEPTH_MAX 4
#define RANKS_MAX 4096 // places of larger networks are not listed, since Wireshark waits for them
#define TITLE_MAX 100
#define SNAPLEN 65535

/* ---- scenarios ---- */

// The description of a scenario, or why the file cannot be read; NULL = it is not a scenario.
static char *description_of(const char *path)
{
    json_error_t error;
    const char *why;
    FILE *in = regular_file_stream(path, &why);
    json_t *json = in ? json_loadf(in, JSON_REJECT_DUPLICATES, &error) : NULL;
    if (in) {
        fclose(in);
        why = error.text;
    }
    const char *text = json_string_value(json_object_get(json, "description"));
    char *title = NULL;
    if (!json)
        title = text_format("cannot be read: %s", why);
    else if (json_object_get(json, "topology"))
        title = text_format("%s", text ? text : "");
    json_decref(json);
    return title;
}

static void add_file(struct extcap_scenarios *found, const char *path, const char *inside)
{
    char *text = description_of(path);
    if (!text)
        return;
    if (found->n == found->cap)
        found->list = memory_grow(found->list, &found->cap, sizeof *found->list);
    int length = (int)(strlen(inside) - strlen(".json"));
    char *name = text_format("%.*s", length, inside);
    for (char *at = name; *at != '\0'; at++)
        if (*at == '/' || *at == '{' || *at == '}' || *at == ' ')
            *at = '-';
    found->list[found->n++] = (struct extcap_scenario){
        .path = text_format("%s", path),
        .name = name,
        .title = *text != '\0' ? text_format("%s", text) : text_format("scenario of collwire")};
    free(text);
}

static int is_shown(const struct dirent *entry) { return entry->d_name[0] != '.'; }

// Add the files below a folder; `inside` is its path within the folder of all.
static void add_folder(struct extcap_scenarios *found, const char *folder, const char *inside,
                       unsigned depth)
{
    struct dirent **entries;
    int n = scandir(folder, &entries, is_shown, alphasort);
    for (int i = 0; i < n; i++) {
        const char *name = entries[i]->d_name, *end = strrchr(name, '.');
        char *path = text_format("%s/%s", folder, name);
        char *part = text_format("%s%s%s", inside, *inside != '\0' ? "/" : "", name);
        struct stat about;
        bool seen = found->n < SCENARIOS_MAX && stat(path, &about) == 0;
        if (seen && S_ISDIR(about.st_mode) && depth < DEPTH_MAX)
            add_folder(found, path, part, depth + 1);
        else if (seen && S_ISREG(about.st_mode) && end && strcmp(end, ".json") == 0)
            add_file(found, path, part);
        free(path);
        free(part);
        free(entries[i]);
    }
    if (n >= 0)
        free(entries);
}

static int by_name(const void *a, const void *b)
{
    const struct extcap_scenario *x = a, *y = b;
    return strcmp(x->name, y->name);
}

void extcap_find(struct extcap_scenarios *found, const char *folder)
{
    add_folder(found, folder, "", 1);
    if (found->n > 0)
        qsort(found->list, found->n, sizeof *found->list, by_name);
}

void extcap_scenarios_free(struct extcap_scenarios *found)
{
    for (size_t i = 0; i < found->n; i++) {
        free(found->list[i].path);
        free(found->list[i].name);
        free(found->list[i].title);
    }
    free(found->list);
}

/* ---- sentences ---- */

// Print a text inside braces: without braces, on one line, and not too long.
static void put_value(const char *key, const char *text)
{
    size_t n = strlen(text), most = n > TITLE_MAX ? TITLE_MAX - 3 : n;
    while (most < n && most > 0 && ((unsigned char)text[most] & 0xc0) == 0x80)
        most--; // not within a character of UTF-8
    printf("{%s=", key);
    for (size_t i = 0; i < most; i++)
        putchar(text[i] == '{'                 ? '('
                : text[i] == '}'               ? ')'
                : (unsigned char)text[i] < ' ' ? ' '
                                               : text[i]);
    printf("%s}", most < n ? "..." : "");
}

void extcap_interfaces(void)
{
    printf("extcap {version=%s}{display=collwire}\n", collwire_version());
    puts("interface {value=" EXTCAP_INTERFACE "}{display=packets of a simulation}");
}

void extcap_dlts(void) { puts("dlt {number=1}{name=EN10MB}{display=Ethernet}"); }

static void put_scenarios(const struct extcap_scenarios *found)
{
    for (size_t i = 0; i < found->n; i++) {
        const struct extcap_scenario *scenario = &found->list[i];
        if (i > 0 && strcmp(scenario[-1].name, scenario->name) == 0)
            continue; // their paths differ only in characters that become hyphens
        char *title = text_format("%s: %s", scenario->name, scenario->title);
        printf("value {arg=0}{value=%s}", scenario->name);
        put_value("display", title);
        printf("{default=%s}\n", i == 0 ? "true" : "false");
        free(title);
    }
}

static void put_policies(const struct options *o)
{
    printf("value {arg=2}{value=" EXTCAP_SCENARIO
           "}{display=that of the scenario}{default=true}\n");
    for (size_t i = 0; i < options_catalogue(o)->n; i++) {
        const struct cc_ops *policy = options_catalogue(o)->policies[i];
        printf("value {arg=2}{value=%s}", policy->name);
        put_value("display", policy->name);
        puts("{default=false}");
    }
}

// Names of places of the scenario; "" if it has errors or is very large. To be freed.
static char *place_names(const struct collwire_scenario *scenario, struct err *err)
{
    struct sim *sim = NULL;
    const struct spec *spec = scenario ? scenario_spec(scenario_of(scenario)) : NULL;
    if (spec && spec_ranks(spec) <= RANKS_MAX && spec->network != NETWORK_ANALYTICAL)
        sim = sim_new(spec, err);
    char *names = sim ? sim_place_names(sim) : text_format("%s", "");
    sim_free(sim);
    return names;
}

// The scenario's first captured place, or else the first that there is. To be freed.
static char *default_place(const struct collwire_scenario *scenario, const char *names)
{
    const struct spec *spec = scenario ? scenario_spec(scenario_of(scenario)) : NULL;
    if (spec && spec->n_captures > 0)
        return text_format("%s", spec->captures[0].at);
    size_t n = strcspn(names, ",");
    return n > 0 ? text_format("%.*s", (int)n, names) : text_format("rank0");
}

char *extcap_default_place(const struct extcap_scenario *of, const struct options *o)
{
    struct err err = {0};
    struct collwire_scenario *scenario = scenario_open(o, of->path, NULL, 0, &err);
    char *names = place_names(scenario, &err), *place = default_place(scenario, names);
    free(names);
    collwire_scenario_free(scenario);
    err_free(&err);
    return place;
}

void extcap_config(const struct extcap_scenarios *found, const struct options *o)
{
    puts("arg {number=0}{call=--scenario}{display=Scenario}{type=selector}{tooltip=what is "
         "simulated}");
    put_scenarios(found);
    puts(
        "arg {number=1}{call=--place}{display=Place}{type=string}{placeholder=the scenario's first "
        "capture, or its first switch}{tooltip=ranks, switches and directions of links, such as "
        "rank3, dim0.sw0, leaf0->rank3 or rank*, with commas between them}");
    puts("arg {number=2}{call=--policy}{display=Congestion control}{type=selector}{tooltip=policy "
         "of all flows}");
    put_policies(o);
    puts("arg {number=3}{call=--pace}{display=Pace}{type=string}{default=" EXTCAP_FASTEST
         "}{tooltip=simulated time per wall time, such as 1ms/s, or " EXTCAP_FASTEST "}");
    puts("arg {number=4}{call=--changes}{display=Changes}{type=string}{placeholder=KEY=VALUE}"
         "{tooltip=keys of the scenario, as in switch.buffer=2MB; several with a semicolon between "
         "them}");
    puts("arg {number=5}{call=--filter}{display=Filter}{type=string}{placeholder=udp port "
         "4791}{tooltip=only packets that match this pcap filter}");
}

int extcap_check_filter(const struct extcap_call *call)
{
    struct err err = {0};
    struct filter *filter = filter_new(call->capture_filter, SNAPLEN, "filter", &err);
    if (!filter)
        puts(err.items[0].text);
    filter_free(filter);
    err_free(&err);
    return EXIT_DONE;
}
