// SPDX-License-Identifier: MIT
// collwire synth: a new set of programs, or a new list of flows, with the statistics of a set.
#include <jansson.h>
#include <math.h>
#include <string.h>

#include "cli/synth/synth_cli.h"
#include "cli/terminal/terminal.h"

static bool ends(const char *path, const char *with)
{
    size_t n = strlen(path), m = strlen(with);
    return n >= m && strcmp(path + n - m, with) == 0;
}

static bool is_traffic(const char *path)
{
    return ends(path, ".csv") || ends(path, ".pcap") || ends(path, ".pcapng") ||
           ends(path, ".pcap.gz") || ends(path, ".pcapng.gz");
}

static json_t *number(double value) { return isnan(value) ? json_null() : json_real(value); }

static void print_json(const struct synth_measure *measures, size_t n)
{
    json_t *rows = json_array(), *root = json_pack("{s:o}", "measures", rows);
    for (size_t i = 0; i < n; i++)
        json_array_append_new(rows, json_pack("{s:s, s:o, s:o}", "measure", measures[i].name,
                                              "source", number(measures[i].source), "synthetic",
                                              number(measures[i].made)));
    json_dumpf(root, stdout, JSON_INDENT(2) | JSON_PRESERVE_ORDER);
    fputc('\n', stdout);
    json_decref(root);
}

static void print_value(double value)
{
    if (isnan(value))
        printf("  %16s", "");
    else if (value >= 1e15 || (fabs(value) < 1e-3 && value != 0))
        printf("  %16.4g", value);
    else if (value == floor(value))
        printf("  %16.0f", value);
    else
        printf("  %16.3f", value);
}

void synth_print(const struct options *o, const struct synth_measure *measures, size_t n,
                 const char *of)
{
    if (o->format == FORMAT_JSON) {
        print_json(measures, n);
        return;
    }
    if (o->quiet)
        return;
    printf("%-40s  %16s  %16s  %8s\n", of, "source", "synthetic", "change");
    for (size_t i = 0; i < n; i++) {
        const struct synth_measure *m = &measures[i];
        printf("%-40s", m->name);
        print_value(m->source);
        print_value(m->made);
        if (m->source > 0 && !isnan(m->made))
            printf("  %+6.1f %%", 100 * (m->made / m->source - 1));
        fputc('\n', stdout);
    }
}

int command_synth(const struct options *o)
{
    struct err err = {0};
    int code = EXIT_BAD_USE;
    const char *path = scenario_argument(o);
    if (path == NULL)
        return EXIT_BAD_USE;
    if (o->file == NULL)
        err_add(&err, "-o", "is required: the file to write");
    else
        code = is_traffic(path) ? synth_traffic(o, path, &err) : synth_program(o, path, &err);
    errors_print(&err);
    return code;
}
