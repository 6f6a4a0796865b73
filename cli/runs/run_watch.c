// SPDX-License-Identifier: MIT
// siglongjmp() leaves the event half done: the simulation's state may be inconsistent, and a lock
// of the C library may be held. While the results are collected afterwards, a timer and handlers of
// crash signals therefore end the program if that hangs or crashes.
#include "cli/runs/run_watch.h"

#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "cli/options/options.h"
#include "cli/processes/process_group.h"
#include "cli/terminal/plugin_watch.h"
#include "cli/terminal/signals.h"

#define RESCUE_S 60 // wall time for the results of a run that was left

static const char no_results[] =
    "an event of the simulation has not returned, and its results could not be collected: "
    "please report it with the scenario and seed,";
static const char no_threads[] =
    "an event of the simulation has not returned, and with several threads it cannot be left: "
    "please report it with the scenario and seed,";

static sigjmp_buf way_out;
static struct collwire_sim *watched;
static pthread_t thread;
static volatile sig_atomic_t interrupted;

// The event at the last look.
static uint64_t pulse;
static int looks;    // since it began
static double cpu_s; // when it began

static double cpu_now_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int exit_code(void) { return interrupted ? EXIT_INTERRUPTED : EXIT_NOT_COMPLETED; }

static void on_second(int number)
{
    if (!pthread_equal(pthread_self(), thread)) {
        pthread_kill(thread, number);
        return;
    }
    plugin_watch_second();
    uint64_t now = simulation_pulse(watched);
    // The simulation has ended, and collecting the results of a large run may take long.
    if (simulation_collecting(watched))
        return;
    if (now != pulse || looks == 0 || processes_waits()) {
        pulse = now;
        looks = 1;
        cpu_s = cpu_now_s();
        return;
    }
    looks++;
    bool ends = interrupted || simulation_overdue(watched);
    if (cpu_now_s() - cpu_s < RUN_STUCK_S && !(ends && looks > RUN_OBEYS_S))
        return;
    if (simulation_divided(watched))
        signals_abandon(exit_code(), no_threads);
    siglongjmp(way_out, 1);
}

static void on_failure(int number)
{
    (void)number;
    signals_abandon(exit_code(), no_results);
}

static void handle(int number, void (*handler)(int number), int seconds)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
    struct itimerval every = {{seconds == 1, 0}, {seconds, 0}};
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
    if (number == SIGALRM)
        setitimer(ITIMER_REAL, &every, NULL);
}

static enum collwire_status leave(struct collwire_messages *m)
{
    static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    handle(SIGALRM, on_failure, RESCUE_S);
    for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++)
        handle(crashes[i], on_failure, 0);
    return simulation_leave(watched, interrupted, m);
}

void run_watch_interrupted(void) { interrupted = 1; }

enum collwire_status run_watch(struct collwire_sim *sim, const struct collwire_run *how,
                               struct collwire_messages *m)
{
    watched = sim;
    thread = pthread_self();
    looks = 0;
    if (sigsetjmp(way_out, 1) != 0)
        return leave(m);
    handle(SIGALRM, on_second, 1);
    enum collwire_status status = collwire_sim_run(sim, how, m);
    handle(SIGALRM, SIG_IGN, 0);
    return status;
}
