// SPDX-License-Identifier: MIT
// Checks that all processes of a run are able to run, and that they run the same program on the
// same scenario. Each process sends the others a list of texts: its exit code if it has failed, its
// machine, the fingerprints that must be equal, and last what it printed on stderr.
#include <math.h>
#include <nettle/sha2.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/processes/held_errors.h"
#include "cli/processes/processes_internal.h"
#include "cli/terminal/exit_codes.h"
#include "engine/base/memory.h"
#include "engine/base/regular_file.h"
#include "engine/base/text.h"
#include "library/handles.h"
#include "report/study/point_hash.h"

/* ---- fingerprint ---- */

// Hashes (SHA-256, as text) that tell whether two processes have the same program, C library and
// scenario.

#define FINGERPRINT 65 // bytes of a SHA-256 as text

#define ARGUMENTS 2000

static void finish(struct sha256_ctx *sha, char text[FINGERPRINT])
{
    uint8_t digest[SHA256_DIGEST_SIZE];
    sha256_digest(sha, sizeof digest, digest);
    text_hex(digest, sizeof digest, text);
}

// Computes the fingerprint of the executable file; it is "" if the system gives no access to it.
static void fingerprint_program(char text[FINGERPRINT])
{
    unsigned char buffer[65536];
    struct sha256_ctx sha;
    ssize_t got;
    const char *why;
    int file = regular_file_open("/proc/self/exe", &why);
    text[0] = '\0';
    if (file < 0)
        return;
    sha256_init(&sha);
    while ((got = read(file, buffer, sizeof buffer)) > 0)
        sha256_update(&sha, (size_t)got, buffer);
    close(file);
    finish(&sha, text);
}

// Computes the fingerprint of the results of the C library's floating-point functions. These may
// differ in the last bit between versions of the library, and between processors with and without
// fused multiply-add.
static void fingerprint_arithmetic(char text[FINGERPRINT])
{
    struct sha256_ctx sha;
    sha256_init(&sha);
    for (int i = 1; i <= ARGUMENTS; i++) {
        volatile double x = 0.00731 * i; // not to be computed by the compiler
        double y[] = {exp(-x), log(x), pow(x, 0.37), log1p(x), expm1(x), log2(x),
                      exp2(x), sin(x), cos(x),       cbrt(x),  tanh(x),  pow(1.0 + x, -2.5)};
        sha256_update(&sha, sizeof y, (const uint8_t *)y);
    }
    finish(&sha, text);
}

// Of a text.
static void fingerprint_text(const char *given, char text[FINGERPRINT])
{
    struct sha256_ctx sha;
    sha256_init(&sha);
    sha256_update(&sha, strlen(given), (const uint8_t *)given);
    finish(&sha, text);
}

/* ---- agreement ---- */

#define NAMED_MOST 8 // processes that a message names

enum {
    PROGRAM,
    ARITHMETIC,
    SCENARIO,
    FILES,
    PLUGINS,
    THREADS,
    TILES,
    ENGINE,
    TOGETHER,
    PACE,
    N_FACTS
};

static const char *const fact_names[N_FACTS] = {
    [PROGRAM] = "the program",   [ARITHMETIC] = "the arithmetic of the C library",
    [SCENARIO] = "the scenario", [FILES] = "the contents of a file that the scenario names",
    [PLUGINS] = "a plugin",      [THREADS] = "--threads",
    [TILES] = "--tiles",         [ENGINE] = "--plain",
    [TOGETHER] = "--together",   [PACE] = "--pace",
};

// What one process told.
struct told {
    int code; // EXIT_DONE = it can run
    const char *host, *facts[N_FACTS], *errors;
};

static char **hosts; // [process]

const char *agreement_host(uint32_t process) { return hosts ? hosts[process] : ""; }

/* ---- telling ---- */

static void put_plugins(FILE *out, const struct collwire_scenario *scenario)
{
    const struct policies *p = scenario_policies(scenario_of(scenario));
    for (size_t i = 0; i < p->n_plugins; i++)
        fprintf(out, "%s ", p->plugins[i]->sha256);
}

static void put_facts(FILE *out, const struct processes_settings *s)
{
    char text[FINGERPRINT], files[POINT_HASH];
    const char *resolved = collwire_scenario_json(s->scenario);
    fingerprint_program(text);
    fprintf(out, "%s%c", text, 0);
    fingerprint_arithmetic(text);
    fprintf(out, "%s%c", text, 0);
    fingerprint_text(resolved, text);
    fprintf(out, "%s%c", text, 0);
    point_hash(resolved, scenario_dir(scenario_of(s->scenario)), "", files);
    fprintf(out, "%s%c", files, 0);
    put_plugins(out, s->scenario);
    fprintf(out, "%c%u%c%u%c%d%c%d%c%a%c", 0, s->threads, 0, s->tiles, 0, s->plain, 0, s->together,
            0, s->pace_ps, 0);
}

// The texts of this process, each with a zero byte behind it; to be freed.
static char *tell(const struct processes_settings *mine, int code, size_t *n)
{
    struct text text;
    char host[256] = "";
    FILE *out = text_open(&text);
    gethostname(host, sizeof host - 1);
    fprintf(out, "%d%c%s%c", code, 0, host, 0);
    if (mine)
        put_facts(out, mine);
    else
        for (int i = 0; i < N_FACTS; i++)
            fputc(0, out);
    fprintf(out, "%s%c", held_errors_text(), 0);
    fflush(out);
    *n = text.n;
    return text_close(out, &text);
}

static const char *next(const char **at, const char *end)
{
    const char *text = *at < end ? *at : "";
    *at += strlen(text) + (*at < end);
    return text;
}

// Read what a process told; texts that are missing, as from another version, are empty.
static struct told heard(const char *text, size_t n)
{
    const char *at = text, *end = text + n;
    struct told told = {.code = atoi(next(&at, end))};
    told.host = next(&at, end);
    for (int i = 0; i < N_FACTS; i++)
        told.facts[i] = next(&at, end);
    told.errors = next(&at, end);
    return told;
}

/* ---- comparing ---- */

// The first fact that differs; N_FACTS = none does.
static int difference(const struct told *a, const struct told *b)
{
    int i = 0;
    while (i < N_FACTS && strcmp(a->facts[i], b->facts[i]) == 0)
        i++;
    return i;
}

// Print in one sentence which processes differ from process 0. Returns true if some do.
static bool print_differences(const struct told *all, uint32_t n, bool prints)
{
    uint32_t found = 0;
    for (uint32_t q = 1; q < n; q++) {
        int fact = difference(&all[0], &all[q]);
        if (fact == N_FACTS)
            continue;
        if (prints && found == 0)
            fprintf(stderr, "collwire: all processes of a run need the same program, scenario and "
                            "settings: ");
        if (prints && found < NAMED_MOST)
            fprintf(stderr, "%sin process %u (%s) %s %s", found > 0 ? "; " : "", q, all[q].host,
                    fact_names[fact], found > 0 ? "differs" : "is not that of process 0");
        found++;
    }
    if (prints && found > NAMED_MOST)
        fprintf(stderr, "; and in %u more", found - NAMED_MOST);
    if (prints && found > 0)
        fputc('\n', stderr);
    return found > 0;
}

// The first process that has failed; n = none has.
static uint32_t first_failed(const struct told *all, uint32_t n)
{
    uint32_t q = 0;
    while (q < n && all[q].code == EXIT_DONE)
        q++;
    return q;
}

static int verdict(const struct told *all, const struct collwire_processes *p)
{
    bool prints = p->rank == 0;
    uint32_t failed = first_failed(all, p->n);
    if (failed == p->n)
        return print_differences(all, p->n, prints) ? EXIT_BAD_USE : EXIT_DONE;
    if (prints && failed > 0) { // process 0 has printed its own errors
        fprintf(stderr, "collwire: process %u of %u (%s) cannot run:\n", failed, p->n,
                all[failed].host);
        fputs(all[failed].errors, stderr);
    }
    return all[failed].code;
}

int agreement_reach(const struct collwire_processes *p, const struct processes_settings *mine,
                    int code)
{
    struct told *all = memory_zeroed(p->n, sizeof *all);
    char **theirs = memory_zeroed(p->n, sizeof *theirs);
    size_t *n = memory_zeroed(p->n, sizeof *n), n_mine;
    char *own = tell(mine, code, &n_mine);
    int result = EXIT_NOT_COMPLETED;
    hosts = memory_zeroed(p->n, sizeof *hosts);
    for (uint32_t q = 0; q < p->n; q++)
        hosts[q] = memory_text("");
    if (processes_tell(own, n_mine, theirs, n) == 0) {
        for (uint32_t q = 0; q < p->n; q++) {
            all[q] = q == p->rank ? heard(own, n_mine) : heard(theirs[q], n[q]);
            free(hosts[q]);
            hosts[q] = memory_text(all[q].host);
        }
        result = verdict(all, p);
    }
    for (uint32_t q = 0; q < p->n; q++)
        free(theirs[q]);
    free(theirs);
    free(n);
    free(own);
    free(all);
    return result;
}
