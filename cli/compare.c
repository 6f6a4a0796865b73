// SPDX-License-Identifier: MIT
// collwire compare: runs one scenario under several policies, each run in a separate process.
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/memory_guard.h"
#include "cli/result_set.h"
#include "cli/signals.h"
#include "cli/simulate.h"
#include "cli/terminal.h"
#include "engine/memory.h"
#include "report/rows.h"
#include "sim/result.h"

struct variant {
    char *policy; // "x" or "x:preset", as the user wrote it
    char *dir;
    uint64_t seed;
    struct scenario *scenario;
    volatile pid_t pid; // 0 = not running
    int code;
    // read end of the pipe on which the child reports the id of its set of files; -1 = closed
    int from_child;
    char id[33];   // "" = none
    char *failure; // reason if there are no results, NULL = unknown
};

struct comparison {
    const struct options *options;
    const char *path; // of the scenario
    char policy[256]; // the scenario's own policy
    const struct scenario *base;
    char *dir;
    struct result_set *set; // of the directory that contains the runs' directories
    struct variant *list;
    size_t n;
};

static volatile sig_atomic_t interrupted;
static struct comparison *current_comparison; // for the signal handler

// Pass the signal on: every run ends with its results so far.
static void on_signal(int number)
{
    int reason = errno;
    interrupted = number;
    for (size_t i = 0; i < current_comparison->n; i++)
        if (current_comparison->list[i].pid > 0)
            kill(current_comparison->list[i].pid, SIGTERM);
    errno = reason;
}

// The value of `cc` with this policy, "x" or "x:preset"; NULL with an error.
static char *cc_value(const struct comparison *c, const char *policy, const char *colon,
                      struct err *err)
{
    char *kind = colon ? text_format("%.*s", (int)(colon - policy), policy) : memory_text(policy);
    const struct cc_ops *ops = cc_catalogue_find(&c->options->policies, kind);
    const char *preset = colon ? colon + 1 : NULL;
    char *value;
    if (ops && scenario_lists(c->base))
        value = scenario_with_policy(c->base, ops, preset, err);
    else if (preset)
        value = text_format("{\"kind\":\"%s\",\"preset\":\"%s\"}", kind, preset);
    else
        value = text_format("{\"kind\":\"%s\"}", kind);
    free(kind);
    return value;
}

// Load the scenario of one run: the user's settings, then policy and seed. `policy` NULL =
// unchanged.
static struct scenario *load(const struct comparison *c, const char *policy, uint64_t seed,
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
        cc = cc_value(c, policy, colon, err);
        sets[n++] = (struct config_set){"cc", cc};
    }
    struct scenario *scenario =
        n > 0 && !sets[n - 1].value ? NULL : scenario_load(c->path, sets, n, &o->policies, err);
    free(cc);
    free(seed_text);
    free(sets);
    return scenario;
}

static void add(struct comparison *c, const char *policy, uint64_t k, uint64_t base_seed,
                struct err *err)
{
    struct variant one = {.policy = memory_text(policy), .seed = base_seed + k, .from_child = -1};
    bool seeds = c->options->seeds > 1;
    char seed[32];
    snprintf(seed, sizeof seed, "-seed%llu", (unsigned long long)one.seed);
    one.dir = text_format("%s/%s%s", c->dir, policy, seeds ? seed : "");
    for (char *p = one.dir + strlen(c->dir); *p; p++)
        *p = *p == ':' ? '-' : *p;
    for (size_t i = 0; k == 0 && i < c->n; i++)
        if (strcmp(c->list[i].dir, one.dir) == 0)
            err_add(err, "--cc", "\"%s\" is named twice", policy);
    one.scenario = load(c, policy, one.seed, err);
    c->list = memory_resize(c->list, c->n + 1, sizeof *c->list);
    c->list[c->n++] = one;
}

static void add_all(struct comparison *c, const char *policies, uint64_t base_seed, struct err *err)
{
    char *copy = memory_text(policies), *rest = copy, *word;
    while ((word = strsep(&rest, ",")) != NULL) {
        if (*word == '\0')
            err_add(err, "--cc", "an empty policy name in \"%s\"", policies);
        else if (strcmp(word, "all") == 0)
            for (size_t i = 0; i < c->options->policies.n; i++)
                for (uint64_t k = 0; k < c->options->seeds; k++) {
                    const struct cc_ops *policy = c->options->policies.policies[i];
                    if (scenario_runs(c->base, policy))
                        add(c, policy->name, k, base_seed, err);
                }
        else
            for (uint64_t k = 0; k < c->options->seeds; k++)
                add(c, word, k, base_seed, err);
    }
    free(copy);
}

// Run in the child process; returns the exit code and writes the id of the set of files to the
// pipe.
static int child(const struct comparison *c, const struct variant *one, int to_parent)
{
    bool alone = c->options->jobs == 1 && progress_wanted(c->options);
    prctl(PR_SET_PDEATHSIG, SIGTERM); // if the parent dies, end with the results so far
    memory_share(c->options->jobs);
    struct simulated run = simulate(one->scenario, one->dir, c->options->plain, alone);
    size_t length = run.written ? strlen(run.id) : 0;
    bool told = write(to_parent, run.id, length) == (ssize_t)length;
    return told ? run.code : EXIT_NOT_COMPLETED;
}

static void start(struct comparison *c, struct variant *one)
{
    int ends[2];
    one->code = EXIT_NOT_COMPLETED;
    if (pipe(ends) != 0) {
        one->failure = text_format("could not be started: %s", strerror(errno));
        return;
    }
    fflush(stdout);
    fflush(stderr);
    pid_t pid = fork();
    if (pid == 0) {
        signals_keep(); // the parent removes its own files
        signals_install();
        signals_hold(false);
        close(ends[0]);
        _exit(child(c, one, ends[1]));
    }
    close(ends[1]);
    one->from_child = ends[0];
    if (pid < 0)
        one->failure = text_format("could not be started: %s", strerror(errno));
    else
        one->pid = pid;
}

static void ended(struct comparison *c, struct variant *one, int status)
{
    one->pid = 0;
    one->code = EXIT_NOT_COMPLETED;
    if (WIFEXITED(status))
        one->code = WEXITSTATUS(status);
    else if (WIFSIGNALED(status))
        one->failure =
            text_format("killed by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
    ssize_t got = read(one->from_child, one->id, sizeof one->id - 1);
    one->id[got > 0 ? got : 0] = '\0';
    if (one->failure)
        fprintf(stderr, "collwire: %s: %s\n", one->dir, one->failure);
    else if (progress_wanted(c->options))
        fprintf(stderr, "%s: done\n", one->dir);
}

// Wait for one run to end. Returns false if none is running.
static bool reap(struct comparison *c)
{
    int status;
    pid_t pid = wait(&status);
    if (pid < 0)
        return errno == EINTR;
    for (size_t i = 0; i < c->n; i++)
        if (c->list[i].pid == pid)
            ended(c, &c->list[i], status);
    return true;
}

static size_t n_running(const struct comparison *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        n += c->list[i].pid > 0;
    return n;
}

static void run_all(struct comparison *c)
{
    size_t next = 0;
    current_comparison = c;
    signals_handle(on_signal);
    do {
        signals_hold(true); // after an interruption no run is started
        while (next < c->n && n_running(c) < c->options->jobs && !interrupted)
            start(c, &c->list[next++]);
        signals_hold(false);
    } while (n_running(c) > 0 && reap(c));
    for (size_t i = 0; i < c->n; i++) {
        if (c->list[i].pid > 0 || i >= next)
            c->list[i].code = EXIT_INTERRUPTED;
        c->list[i].pid = 0;
        if (c->list[i].from_child >= 0)
            close(c->list[i].from_child);
    }
    signals_install();
}

static int write_results(const struct comparison *c, const struct row *rows, const char *name)
{
    struct err err = {0};
    char *json = rows_json(rows, c->n, name), *csv = rows_csv(rows, c->n);
    int status = result_set_write(c->set, "compare.json", json, &err);
    status |= result_set_write(c->set, "compare.csv", csv, &err);
    if (status == 0)
        status = result_set_commit(
            c->set, "{\"versions\": {\"collwire\": \"" COLLWIRE_VERSION "\"}}", &err);
    errors_print(&err);
    if (!c->options->quiet) {
        char *table = rows_table(rows, c->n);
        text_print(stdout, c->options->format == FORMAT_JSON  ? json
                           : c->options->format == FORMAT_CSV ? csv
                                                              : table);
        free(table);
        for (size_t i = 0; c->options->format == FORMAT_TABLE && i < c->n; i++) {
            char *text = row_explanations(&rows[i], "  ");
            printf("\n%s (seed %llu)\n", rows[i].policy, (unsigned long long)rows[i].seed);
            text_print(stdout, text);
            free(text);
        }
        if (c->options->format == FORMAT_TABLE && status == 0)
            printf("\nresults: %s/compare.json\n", c->dir);
    }
    free(json);
    free(csv);
    return status;
}

static int finish(struct comparison *c, const char *name)
{
    struct row *rows = memory_zeroed(c->n, sizeof *rows);
    int worst = EXIT_DONE;
    for (size_t i = 0; i < c->n; i++) {
        const struct variant *one = &c->list[i];
        rows[i] = (struct row){
            .policy = one->policy,
            .seed = one->seed,
            .metrics = one->id[0] ? result_set_read(one->dir, one->id, "metrics.json") : NULL,
            .failure = one->failure};
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

static void comparison_free(struct comparison *c)
{
    for (size_t i = 0; i < c->n; i++) {
        free(c->list[i].policy);
        free(c->list[i].dir);
        free(c->list[i].failure);
        scenario_free(c->list[i].scenario);
    }
    free(c->list);
    result_set_close(c->set);
    free(c->dir);
}

int command_compare(const struct options *given)
{
    struct options o = *given;
    struct err err = {0};
    struct comparison c = {.options = &o, .path = scenario_argument(&o)};
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
    signals_phase("reading the scenario");
    struct scenario *base = load(&c, NULL, 0, &err);
    if (base) {
        const struct spec *spec = scenario_spec(base);
        spec_policy_names(spec, c.policy, sizeof c.policy);
        c.base = base;
        c.dir = o.out ? text_format("%s", o.out) : text_format("out/%s-compare", spec->name);
        add_all(&c, o.cc, spec->seed, &err);
        if (err.n_errors == 0 && (c.set = result_set_open(c.dir, &err)) != NULL) {
            result_set_claim(c.set, "compare.json", &err);
            result_set_claim(c.set, "compare.csv", &err);
        }
    }
    int code = EXIT_BAD_USE;
    bool good = base && err.n_errors == 0;
    errors_print(&err);
    if (good) {
        signals_phase("comparing");
        run_all(&c);
        code = finish(&c, scenario_spec(base)->name);
    }
    scenario_free(base);
    comparison_free(&c);
    return code;
}
