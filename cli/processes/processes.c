// SPDX-License-Identifier: MIT
// This process's part, from joining to leaving.
#include "cli/processes/processes.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/processes/held_errors.h"
#include "cli/processes/launcher.h"
#include "cli/processes/processes_internal.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/memory_guard.h"
#include "cli/terminal/signals.h"
#include "engine/base/memory.h"

static const struct processes_module *module; // NULL = none is loaded
static struct collwire_processes ours;        // n = 0: this process is alone
static const struct collwire_processes *theirs;
static volatile sig_atomic_t asked, waits;
static uint32_t lost; // 1 + a process that does not answer; 0 = none
static bool agreed;   // processes_agree() or its other half has been called
static int verdict = EXIT_DONE;

/* ---- exchanges ---- */

static uint32_t exchange(void *ctx, const struct collwire_bytes *out, struct collwire_bytes *in)
{
    waits = 1;
    lost = theirs->exchange(ctx, out, in);
    waits = 0;
    return lost;
}

int processes_tell(const void *mine, size_t n_mine, char **told, size_t *n)
{
    struct collwire_bytes *out = memory_zeroed(ours.n, sizeof *out),
                          *in = memory_zeroed(ours.n, sizeof *in);
    for (uint32_t q = 0; q < ours.n; q++)
        out[q] = (struct collwire_bytes){mine, n_mine};
    if (lost == 0 && exchange(ours.ctx, out, in) == 0)
        for (uint32_t q = 0; q < ours.n; q++) {
            if (q == ours.rank)
                continue;
            n[q] = in[q].n;
            told[q] = memory_zeroed(1, n[q] + 1);
            if (n[q] > 0)
                memcpy(told[q], in[q].data, n[q]);
        }
    free(out);
    free(in);
    return lost == 0 ? 0 : -1;
}

// Sends the number `mine` of process 0 to all. Returns it, or the own one if a process does not
// answer.
static int of_first(int mine)
{
    char **told = memory_zeroed(ours.n, sizeof *told);
    size_t *n = memory_zeroed(ours.n, sizeof *n);
    int number = mine;
    if (processes_tell(&mine, sizeof mine, told, n) == 0 && ours.rank != 0 && n[0] == sizeof mine)
        memcpy(&number, told[0], sizeof number);
    for (uint32_t q = 0; q < ours.n; q++)
        free(told[q]);
    free(told);
    free(n);
    return number;
}

/* ---- joining ---- */

static int refuse(const struct launched *l, const char *why)
{
    char others[32] = "several";
    if (l->n > 0)
        snprintf(others, sizeof others, "%u", l->n);
    if (l->rank == 0)
        fprintf(stderr, "collwire: this is one of %s processes of a launcher, but %s\n", others,
                why);
    return EXIT_BAD_USE;
}

int processes_join(void)
{
    char why[1024] = "";
    struct launched l = launcher_look();
    if (l.n == 1)
        return EXIT_DONE;
    module = module_load(why, sizeof why);
    if (!module)
        return refuse(&l, why);
    signals_phase("joining the other processes");
    theirs = module->join(&asked, why, sizeof why);
    if (!theirs)
        return refuse(&l, why);
    if (theirs->n == 1 && l.n > 1) {
        module->leave();
        snprintf(why, sizeof why, "%s, for which collwire is built, has one: is it another MPI?",
                 module->standard);
        return refuse(&l, why);
    }
    if (theirs->n == 1)
        return EXIT_DONE;
    ours = *theirs;
    ours.exchange = exchange;
    memory_share(module->sharers());
    if (ours.rank == 0)
        return EXIT_DONE;
    if (!freopen("/dev/null", "w", stdout))
        return EXIT_NOT_COMPLETED;
    held_errors_begin();
    signals_quiet();
    return EXIT_DONE;
}

const struct collwire_processes *processes_shared(void) { return ours.n > 0 ? &ours : NULL; }

bool processes_writes(void) { return ours.rank == 0; }

void processes_asked_to_end(void) { asked = 1; }

bool processes_waits(void) { return waits != 0; }

/* ---- agreeing ---- */

bool processes_agree(const struct processes_settings *mine)
{
    if (ours.n == 0)
        return true;
    verdict = agreement_reach(&ours, mine, EXIT_DONE);
    agreed = true;
    held_errors_end();
    return verdict == EXIT_DONE;
}

bool processes_ready(bool mine)
{
    bool ready = ours.n == 0 ? mine : of_first(mine) != 0;
    return ready && lost == 0;
}

/* ---- leaving ---- */

// Process 0 says which one does not answer; if that is process 0, the first one that does.
static void say_lost(void)
{
    uint32_t q = lost - 1;
    if (module->first_alive() == ours.rank)
        fprintf(stderr, "collwire: process %u (%s) does not answer%s\n", q, agreement_host(q),
                q == 0 ? "; nothing was written" : "");
}

int processes_leave(int code)
{
    if (ours.n == 0) {
        if (module)
            module->leave();
        return code;
    }
    if (!agreed) {
        verdict = agreement_reach(&ours, NULL, code);
        agreed = true;
        held_errors_end();
    }
    if (verdict == EXIT_DONE)
        code = of_first(code);
    else
        code = verdict;
    // The results are written. Some launchers send SIGTERM to the other processes when the first
    // one exits.
    signals_handle(SIG_IGN);
    if (lost > 0) {
        say_lost();
        fflush(NULL);
        module->give_up(code == EXIT_DONE ? EXIT_NOT_COMPLETED : code);
    }
    module->leave();
    return code;
}
