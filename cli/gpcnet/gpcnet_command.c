// SPDX-License-Identifier: MIT
// collwire gpcnet: reads all networks, then runs and prints them one by one.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/gpcnet/gpcnet.h"
#include "cli/gpcnet/page.h"
#include "cli/runs/report.h"
#include "cli/terminal/terminal.h"
#include "engine/base/memory.h"

static void print_text(const struct experiment *g)
{
    struct gpcnet_nodes nodes = gpcnet_nodes_draw(g->ranks, g->first_seed);
    for (size_t p = 0; p < g->n_policies; p++)
        impact_print(stdout, &g->impacts[p], &nodes);
    if (g->n_policies > 1)
        impacts_print(stdout, g->impacts, g->n_policies);
    free(nodes.order);
}

// One network's results, or a list of several's.
static void print_json(const struct gpcnet_page *page)
{
    json_dumpf(page->networks ? page->whole : json_array_get(page->whole, 0), stdout,
               JSON_INDENT(1) | JSON_REAL_PRECISION(10));
    putchar('\n');
}

// Run and print the networks. Returns the exit code.
static int run_all(struct experiment *list, const struct options *o, struct gpcnet_page *page)
{
    for (size_t i = 0; i < o->n_args; i++) {
        struct experiment *g = &list[i];
        if (experiment_run(g) != 0)
            return EXIT_NOT_COMPLETED;
        if (g->failed > 0) {
            fprintf(stderr, "collwire: %zu of %zu runs ended without a result\n", g->failed,
                    g->n_tasks);
            return EXIT_NOT_COMPLETED;
        }
        gpcnet_page_add(page, g);
        if (options_print_results(o) && o->format == FORMAT_TABLE) {
            if (o->n_args > 1)
                path_print(stdout, "\n== %s ==\n", o->args[i]);
            print_text(g);
        }
    }
    if (o->format == FORMAT_JSON)
        print_json(page);
    return EXIT_DONE;
}

static int run_networks(struct experiment *list, const struct options *o, struct err *err)
{
    struct gpcnet_page page;
    gpcnet_page_begin(&page, o->n_args > 1);
    int code = run_all(list, o, &page);
    if (gpcnet_page_end(&page, code == EXIT_DONE ? o->out : NULL, err) != 0)
        return EXIT_NOT_COMPLETED;
    return code == EXIT_DONE && o->out != NULL ? report_after(o, o->out, code) : code;
}

static const char *name_of(const struct experiment *g)
{
    const char *name = json_string_value(json_object_get(g->draft.json, "name"));
    return name != NULL ? name : "";
}

// Results are told apart by the names of networks.
static void check_names(const struct experiment *list, const struct options *o, struct err *err)
{
    for (size_t i = 1; i < o->n_args && err->n_errors == 0; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(name_of(&list[i]), name_of(&list[j])) == 0)
                err_add(err, o->args[i], "has the name of %s: networks need names of their own",
                        o->args[j]);
}

int command_gpcnet(const struct options *given)
{
    struct err err = {0};
    struct options o = *given;
    int code = EXIT_BAD_USE;
    if (o.n_args == 0) {
        fputs("collwire: gpcnet takes networks: scenarios; see collwire gpcnet --help\n", stderr);
        return EXIT_BAD_USE;
    }
    options_jobs(&o);
    struct experiment *list = memory_zeroed(o.n_args, sizeof *list);
    for (size_t i = 0; i < o.n_args; i++) {
        size_t errors = err.n_errors;
        list[i].options = &o;
        if (experiment_read(&list[i], o.args[i], &err) == 0)
            experiment_make(&list[i], &err);
        if (o.n_args > 1 && err.n_errors > errors)
            err_add(&err, o.args[i], "has these errors");
    }
    check_names(list, &o, &err);
    if (err.n_errors == 0)
        code = run_networks(list, &o, &err);
    errors_print(&err);
    for (size_t i = 0; i < o.n_args; i++)
        experiment_free(&list[i]);
    free(list);
    return code;
}
