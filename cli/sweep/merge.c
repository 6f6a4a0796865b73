// SPDX-License-Identifier: MIT
// Joins the stores of shards.
#include <stdlib.h>
#include <string.h>

#include "cli/runs/report.h"
#include "cli/sweep/sweep_internal.h"
#include "cli/terminal/signals.h"
#include "engine/base/memory.h"

struct merge {
    struct store *to;
    struct err *err;
    size_t n;
};

static void add_point(void *ctx, const struct store_point *p)
{
    struct merge *m = ctx;
    if (m->err->n_errors > 0 || store_finished(m->to, p->hash))
        return;
    m->n += store_add(m->to, p, m->err) == 0;
}

static int add_store(struct merge *m, const char *dir)
{
    struct store *from = store_open(dir, STORE_READ, collwire_version(), m->err);
    if (!from)
        return -1;
    size_t n = store_paths(from);
    const char **paths = memory_zeroed(n, sizeof *paths);
    for (size_t p = 0; p < n; p++)
        paths[p] = store_path(from, p);
    int status = store_describe(m->to, store_name(from), store_scenario(from), paths, n, m->err);
    if (status == 0)
        status = store_each(from, add_point, m, m->err);
    free(paths);
    store_close(from);
    return status == 0 && m->err->n_errors == 0 ? 0 : -1;
}

// All stores must be readable before anything is written.
static int check_stores(const struct options *o, struct err *err)
{
    for (size_t i = 0; i < o->n_args; i++)
        store_close(store_open(o->args[i], STORE_READ, collwire_version(), err));
    return err->n_errors == 0 ? 0 : -1;
}

static int merge_into(const struct options *o, struct result_set *set, struct err *err)
{
    struct merge m = {.err = err};
    if (result_set_claim(set, "sweep.csv", err) != 0 ||
        result_set_claim(set, "sweep.json", err) != 0)
        return -1;
    m.to = store_open(o->out, STORE_CREATE, collwire_version(), err);
    int status = m.to ? 0 : -1;
    for (size_t i = 0; i < o->n_args && status == 0; i++)
        status = add_store(&m, o->args[i]);
    if (status == 0)
        status = sweep_commit(set, m.to, o->why, err);
    if (status == 0 && !o->quiet) {
        printf("%zu points added\n", m.n);
        if (o->why)
            sweep_print_why(m.to, err);
        sweep_results_print(o->out);
    }
    store_close(m.to);
    return status;
}

int sweep_merge(const struct options *o)
{
    struct err err = {0};
    if (!o->out || o->n_args == 0) {
        fputs("collwire: sweep --merge takes the directories of sweeps and --out DIR; see "
              "collwire sweep --help\n",
              stderr);
        return EXIT_BAD_USE;
    }
    signals_phase("merging");
    struct result_set *set = NULL;
    int status = check_stores(o, &err);
    if (status == 0 && (set = result_set_open(o->out, &err)) != NULL) {
        signals_hold(true);
        status = merge_into(o, set, &err);
        signals_hold(false);
    }
    result_set_close(set);
    errors_print(&err);
    return status == 0 && set ? report_after(o, o->out, EXIT_DONE) : EXIT_BAD_USE;
}
