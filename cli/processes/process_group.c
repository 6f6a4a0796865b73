// SPDX-License-Identifier: MIT
// This process's part, from joining to leaving.
#include "cli/processes/process_group.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/processes/held_errors.h"
#include "cli/processes/processes_internal.h"
#include "cli/results/share_folder.h"
#include "cli/terminal/exit_codes.h"
#include "cli/terminal/memory_guard.h"
#include "cli/terminal/signals.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"

/* ---- launcher ---- */

// Variables of launchers. Open MPI: "Environmental variables", mpirun(1). MPICH and Intel MPI: PMI
// 1 (Balaji et al., "PMI: A Scalable Parallel Process-Management Interface", EuroMPI 2010). Slurm:
// "Output environment variables", srun(1), and with --mpi=pmix those of the PMIx standard.

struct launched {
    uint32_t n;    // processes; 1 = this one alone, 0 = a launcher that does not say how many
    uint32_t rank; // number of this one
};

// The number in a variable, `otherwise` if it has none.
static uint32_t number_of(const char *name, uint32_t otherwise)
{
    const char *text = getenv(name);
    char *end;
    if (!text || *text < '0' || *text > '9')
        return otherwise;
    unsigned long n = strtoul(text, &end, 10);
    return *end == '\0' && n < UINT32_MAX ? (uint32_t)n : otherwise;
}

// Looks at the variables of mpirun, mpiexec and srun. A job of Slurm alone is no launcher: its
// scripts have SLURM_NTASKS too. COLLWIRE_PROCESSES=1 says that each process is a run of its own.
static struct launched launcher_look(void)
{
    static const struct launcher {
        const char *size, *rank;
    } known[] = {
        {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
        {"PMI_SIZE", "PMI_RANK"},
        {"SLURM_STEP_NUM_TASKS", "PMIX_RANK"}, // srun --mpi=pmix
        {"SLURM_STEP_NUM_TASKS", "PMI_RANK"},
        {"SLURM_NTASKS", "PMIX_RANK"},
        {"SLURM_NTASKS", "PMI_RANK"},
    };
    const char *choice = getenv("COLLWIRE_PROCESSES");
    if (choice && strcmp(choice, "1") == 0)
        return (struct launched){.n = 1};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (getenv(known[i].size) && getenv(known[i].rank))
            return (struct launched){number_of(known[i].size, 0), number_of(known[i].rank, 0)};
    if (getenv("PMIX_RANK"))
        return (struct launched){.n = 0, .rank = number_of("PMIX_RANK", 0)};
    return (struct launched){.n = 1};
}

/* ---- module ---- */

// Finds and loads the module.

#define MODULE_FILE "collwire/processes_mpi.so"

// COLLWIRE_LIBDIR is the folder of libraries, relative to an installation's.
static char *module_find(void)
{
    static const char *const below[] = {"", "../"};
    char *program = program_path(), *found = NULL;
    char *slash = program ? strrchr(program, '/') : NULL;
    for (size_t i = 0; slash && !found && i < sizeof below / sizeof *below; i++) {
        found = text_format("%.*s/%s" COLLWIRE_LIBDIR "/" MODULE_FILE, (int)(slash - program),
                            program, below[i]);
        if (access(found, R_OK) != 0) {
            free(found);
            found = NULL;
        }
    }
    free(program);
    return found;
}

// Load the module of this program. NULL with a text in `why`.
static const struct processes_module *module_load(char *why, size_t room)
{
    char *file = module_find();
    if (!file) {
        snprintf(why, room, "this build has no MPI (docs/scaling.md)");
        return NULL;
    }
    // MPI loads parts of itself, which look for its symbols among the global ones.
    void *library = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
    const struct processes_module *module = library ? dlsym(library, PROCESSES_MODULE) : NULL;
    if (!module)
        snprintf(why, room, "%s", dlerror());
    else if (module->bytes != sizeof *module || strcmp(module->version, collwire_version()) != 0) {
        snprintf(why, room, "%s is of another version of collwire", file);
        module = NULL;
    }
    free(file);
    return module;
}

/* ---- processes ---- */

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
