// SPDX-License-Identifier: MIT
// collwire compare: the same scenario under several policies, each run in a process of its own.
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cc/registry.h"
#include "cli/commands.h"
#include "cli/output.h"
#include "engine/memory.h"
#include "report/rows.h"
#include "sim/result.h"

struct contestant {
    char *policy; // "x" or "x:preset", as the user wrote it
    char *dir;
    uint64_t seed;
    struct scenario *scenario;
    pid_t pid; // 0 = not running
    int code;
};

struct contest {
    const struct options *options;
    const char *path;   // of the scenario
    const char *policy; // that it asks for itself
    char *dir;
    struct contestant *list;
    size_t n;
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number) { interrupted = number; }

// The scenario of one run: the user's settings, then policy and seed. `policy` NULL = as it is.
static struct scenario *load(const struct contest *c, const char *policy, uint64_t seed,
                             struct err *err)
{
    const struct options *o = c->options;
    struct config_set *sets = memory_zeroed(o->n_sets + 2, sizeof *sets);
    size_t n = o->n_sets;
    const char *colon = policy ? strchr(policy, ':') : NULL;
    char *cc = NULL, *seed_text = text_format("%llu", (unsigned long long)seed);
    for (size_t i = 0; i < n; i++)
        sets[i] = o->sets[i];
    if (policy)
        sets[n++] = (struct config_set){"seed", seed_text};
    if (policy && (colon || strcmp(c->policy, policy) != 0)) {
        cc = colon ? text_format("{\"kind\":\"%.*s\",\"preset\":\"%s\"}", (int)(colon - policy),
                                 policy, colon + 1)
                   : text_format("{\"kind\":\"%s\"}", policy);
        sets[n++] = (struct config_set){"cc", cc};
    }
    struct scenario *scenario = scenario_load(c->path, sets, n, err);
    free(cc);
    free(seed_text);
    free(sets);
    return scenario;
}

static void add(struct contest *c, const char *policy, uint64_t k, uint64_t base_seed,
                struct err *err)
{
    struct contestant one = {.policy = memory_text(policy), .seed = base_seed + k};
    bool seeds = c->options->seeds > 1;
    char seed[32];
    snprintf(seed, sizeof seed, "-seed%llu", (unsigned long long)one.seed);
    one.dir = text_format("%s/%s%s", c->dir, policy, seeds ? seed : "");
    for (char *p = one.dir + strlen(c->dir); *p; p++)
        *p = *p == ':' ? '-' : *p;
    one.scenario = load(c, policy, one.seed, err);
    c->list = memory_resize(c->list, c->n + 1, sizeof *c->list);
    c->list[c->n++] = one;
}

static void add_all(struct contest *c, const char *policies, uint64_t base_seed, struct err *err)
{
    char *copy = memory_text(policies), *rest = copy, *word;
    while ((word = strsep(&rest, ",")) != NULL) {
        if (*word == '\0')
            err_add(err, "--cc", "an empty policy name in \"%s\"", policies);
        else if (strcmp(word, "all") == 0)
            for (size_t i = 0; cc_registry[i]; i++)
                for (uint64_t k = 0; k < c->options->seeds; k++)
                    add(c, cc_registry[i]->name, k, base_seed, err);
        else
            for (uint64_t k = 0; k < c->options->seeds; k++)
                add(c, word, k, base_seed, err);
    }
    free(copy);
}

static void start(struct contest *c, struct contestant *one)
{
    fflush(stdout);
    fflush(stderr);
    one->pid = fork();
    if (one->pid == 0) {
        signal(SIGINT, SIG_DFL);
        signal(SIGTERM, SIG_DFL);
        bool alone = c->options->jobs == 1 && progress_wanted(c->options);
        _exit(simulate(one->scenario, one->dir, c->options->plain, alone));
    }
    if (one->pid < 0)
        one->code = EXIT_NOT_COMPLETED;
}

static void reap(struct contest *c, size_t *running)
{
    int status;
    pid_t pid = wait(&status);
    if (pid < 0) {
        if (errno == EINTR && interrupted)
            for (size_t i = 0; i < c->n; i++)
                if (c->list[i].pid > 0)
                    kill(c->list[i].pid, SIGTERM);
        return;
    }
    for (size_t i = 0; i < c->n; i++)
        if (c->list[i].pid == pid) {
            c->list[i].pid = 0;
            c->list[i].code = WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_NOT_COMPLETED;
            (*running)--;
            if (progress_wanted(c->options))
                fprintf(stderr, "%s: done\n", c->list[i].dir);
        }
}

static void run_all(struct contest *c)
{
    size_t next = 0, running = 0;
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    while (running > 0 || (next < c->n && !interrupted)) {
        while (next < c->n && running < c->options->jobs && !interrupted) {
            start(c, &c->list[next]);
            running += c->list[next++].pid > 0;
        }
        if (running > 0)
            reap(c, &running);
    }
    for (; next < c->n; next++)
        c->list[next].code = EXIT_INTERRUPTED;
}

static int write_results(const struct contest *c, const struct row *rows, const char *name)
{
    struct err err = {0};
    char *json = rows_json(rows, c->n, name), *csv = rows_csv(rows, c->n);
    int status = output_write(c->dir, "compare.json", json, &err);
    status |= output_write(c->dir, "compare.csv", csv, &err);
    errors_print(&err);
    if (!c->options->quiet) {
        char *table = rows_table(rows, c->n);
        fputs(c->options->format == FORMAT_JSON  ? json
              : c->options->format == FORMAT_CSV ? csv
                                                 : table,
              stdout);
        free(table);
        for (size_t i = 0; c->options->format == FORMAT_TABLE && i < c->n; i++) {
            char *text = row_explanations(&rows[i], "  ");
            printf("\n%s (seed %llu)\n%s", rows[i].policy, (unsigned long long)rows[i].seed, text);
            free(text);
        }
        if (c->options->format == FORMAT_TABLE)
            printf("\nresults: %s/compare.json\n", c->dir);
    }
    free(json);
    free(csv);
    return status;
}

static int finish(struct contest *c, const char *name)
{
    struct row *rows = memory_zeroed(c->n, sizeof *rows);
    int worst = EXIT_DONE;
    for (size_t i = 0; i < c->n; i++) {
        const struct contestant *one = &c->list[i];
        bool ran = one->code != EXIT_BAD_USE;
        rows[i] = (struct row){one->policy, one->seed,
                               ran ? output_read(one->dir, "metrics.json") : NULL};
        if (one->code != EXIT_DONE)
            worst = EXIT_NOT_COMPLETED;
    }
    if (write_results(c, rows, name) != 0)
        worst = EXIT_NOT_COMPLETED;
    for (size_t i = 0; i < c->n; i++)
        free((char *)(uintptr_t)rows[i].metrics);
    free(rows);
    return interrupted ? EXIT_INTERRUPTED : worst;
}

static void contest_free(struct contest *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->list[i].policy);
        free(c->list[i].dir);
        scenario_free(c->list[i].scenario);
    }
    free(c->list);
    free(c->dir);
}

int command_compare(const struct options *given)
{
    struct options o = *given;
    struct err err = {0};
    struct contest c = {.options = &o, .path = scenario_argument(&o)};
    if (!c.path)
        return EXIT_BAD_USE;
    if (!o.cc || strcmp(c.path, "-") == 0) {
        fprintf(stderr, o.cc ? "collwire: compare reads the scenario several times: it takes a "
                               "file, not -\n"
                             : "collwire: compare needs --cc a,b,c\n");
        return EXIT_BAD_USE;
    }
    if (o.jobs == 0) {
        long cpus = sysconf(_SC_NPROCESSORS_ONLN);
        o.jobs = cpus > 0 ? (uint64_t)cpus : 1;
    }
    struct scenario *base = load(&c, NULL, 0, &err);
    if (base) {
        const struct spec *spec = scenario_spec(base);
        c.policy = spec->dims[spec->n_dims - 1].cc->name;
        c.dir = o.out ? text_format("%s", o.out) : text_format("out/%s-compare", spec->name);
        add_all(&c, o.cc, spec->seed, &err);
        if (err.n_errors == 0)
            output_prepare(c.dir, &err);
    }
    int code = EXIT_BAD_USE;
    bool good = base && err.n_errors == 0;
    errors_print(&err);
    if (good) {
        run_all(&c);
        code = finish(&c, scenario_spec(base)->name);
    }
    scenario_free(base);
    contest_free(&c);
    return code;
}
