// SPDX-License-Identifier: MIT
// collwire validate: all errors at once, without running anything; collwire list.
#include <stdlib.h>

#include "cli/commands.h"
#include "cli/list.h"
#include "sim/sim.h"

static void print_derived(const struct sim *sim)
{
    const struct graph *g = &sim->graph;
    char a[UNIT_TEXT], b[UNIT_TEXT];
    fprintf(stderr, "%u ranks, %u switches, %u links\n", g->n_ranks, g->n_nodes - g->n_ranks,
            g->n_ports / 2);
    for (uint32_t n = g->n_ranks; n < g->n_nodes && n < g->n_ranks + 1; n++) {
        const struct switch_node *s = switch_of(&sim->switches, n);
        char name[GRAPH_NAME];
        fprintf(stderr, "%s: shared buffer %s, headroom of port 0 %s\n",
                graph_node_name(g, n, name), human_bytes(s->mmu.shared_bytes, a),
                human_bytes(s->mmu.ingress[s->mmu.n_classes - 1].headroom_limit, b));
    }
}

int command_validate(const struct options *o)
{
    struct err err = {0};
    const char *path = scenario_argument(o);
    if (!path)
        return EXIT_BAD_USE;
    struct scenario *scenario = scenario_load(path, o->sets, o->n_sets, &err);
    struct sim *sim = NULL;
    if (scenario)
        sim = sim_new(scenario_spec(scenario), &err);
    for (size_t c = 0; sim && c < sim->spec->n_captures; c++) {
        const struct capture_spec *capture = &sim->spec->captures[c];
        char place[64];
        snprintf(place, sizeof place, "capture[%zu].filter", c);
        if (capture->filter && *capture->filter)
            capture_check_filter(capture->filter, (uint32_t)capture->snaplen_bytes, place, &err);
    }
    bool good = sim && err.n_errors == 0;
    errors_print(&err);
    if (good && o->print) {
        puts(scenario_resolved(scenario));
        print_derived(sim);
    } else if (good && !o->quiet) {
        printf("%s: valid\n", sim->spec->name);
    }
    sim_free(sim);
    scenario_free(scenario);
    return good ? EXIT_DONE : EXIT_BAD_USE;
}

int command_list(const struct options *o)
{
    const char *what = o->n_args > 0 ? o->args[0] : NULL, *name = o->n_args > 1 ? o->args[1] : NULL;
    return list_print(stdout, what, name) == 0 ? EXIT_DONE : EXIT_BAD_USE;
}
