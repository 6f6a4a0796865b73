// SPDX-License-Identifier: MIT
// Signal handlers, which only call functions that POSIX lists as safe in handlers.
#include "cli/terminal/signals.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "cli/terminal/exit_codes.h"
#include "engine/base/memory.h"

#define PATHS_MAX 65536 // further paths are left to the next command, which removes them too

static char *paths[PATHS_MAX];
static volatile sig_atomic_t n_paths;
static const char *volatile phase = "starting";
static volatile sig_atomic_t seconds;
static bool quiet; // see signals_quiet()
static const int ending[] = {SIGINT, SIGTERM, SIGHUP};
#define N_ENDING (sizeof ending / sizeof *ending)

static void put(const char *text)
{
    ssize_t ignored = write(STDERR_FILENO, text, strlen(text));
    (void)ignored;
}

_Noreturn void signals_leave(int code)
{
    for (;;)
        syscall(SYS_exit_group, code);
}

_Noreturn void signals_abandon(int code, const char *why)
{
    for (int i = (int)n_paths; i-- > 0;)
        if (unlink(paths[i]) != 0)
            rmdir(paths[i]);
    if (quiet && code == EXIT_INTERRUPTED)
        signals_leave(code);
    // signals_show() may have left an unfinished line
    put(seconds > 0 ? "\ncollwire: " : "collwire: ");
    put(why);
    put(" while ");
    put(phase);
    put("; nothing was written\n");
    signals_leave(code);
}

static void on_ending(int number)
{
    (void)number;
    signals_abandon(EXIT_INTERRUPTED, "interrupted");
}

static void on_second(int number)
{
    char digits[16];
    int at = sizeof digits - 1;
    (void)number;
    seconds = seconds + 1;
    digits[at] = '\0';
    for (int left = (int)seconds; left > 0; left /= 10)
        digits[--at] = (char)('0' + left % 10);
    put("\r");
    put(phase);
    put(", ");
    put(digits + at);
    put(" s ");
}

void signals_handle(void (*handler)(int number))
{
    struct sigaction action = {.sa_handler = handler}, now;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < N_ENDING; i++) {
        sigaddset(&action.sa_mask, ending[i]);
        if (sigaction(ending[i], NULL, &now) == 0 && now.sa_handler != SIG_IGN)
            sigaction(ending[i], &action, NULL);
    }
}

// SIGUSR1 outside of a simulation: print the program's current phase. While a simulation runs,
// cli/runs/simulate.c handles the signal and prints its progress.
static void on_status(int number)
{
    (void)number;
    if (quiet)
        return;
    put("collwire: ");
    put(phase);
    put("\n");
}

/* ---- during a simulation ---- */

#define N_DURING (N_ENDING + 1)
static struct sigaction before[N_DURING];

static int during(size_t i) { return i < N_ENDING ? ending[i] : SIGUSR1; }

void signals_during(void (*handler)(int number), void (*status)(int number))
{
    for (size_t i = 0; i < N_DURING; i++) {
        struct sigaction action = {.sa_handler = i < N_ENDING ? handler : status,
                                   .sa_flags = SA_RESTART};
        sigemptyset(&action.sa_mask);
        sigaction(during(i), NULL, &before[i]);
        if (before[i].sa_handler != SIG_IGN)
            sigaction(during(i), &action, NULL);
    }
}

void signals_after(void)
{
    for (size_t i = 0; i < N_DURING; i++)
        sigaction(during(i), &before[i], NULL);
}

void signals_install(void)
{
    struct sigaction status = {.sa_handler = on_status, .sa_flags = SA_RESTART};
    sigemptyset(&status.sa_mask);
    sigaction(SIGUSR1, &status, NULL);
    signals_handle(on_ending);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGCHLD, SIG_DFL); // if it were ignored, the exit status of children would be lost
}

/* ---- the end of stdin ---- */

static void end_if_closed(void)
{
    struct pollfd in = {.fd = STDIN_FILENO};
    if (poll(&in, 1, 0) == 1 && (in.revents & POLLHUP) != 0)
        kill(getpid(), SIGTERM);
}

static void on_stdin(int number)
{
    int before_errno = errno;
    (void)number;
    end_if_closed();
    errno = before_errno;
}

void signals_end_with_stdin(void)
{
    struct sigaction action = {.sa_handler = on_stdin, .sa_flags = SA_RESTART};
    sigemptyset(&action.sa_mask);
    sigaction(SIGIO, &action, NULL);
    fcntl(STDIN_FILENO, F_SETOWN, getpid());
    fcntl(STDIN_FILENO, F_SETFL, fcntl(STDIN_FILENO, F_GETFL) | O_ASYNC);
    end_if_closed(); // before the signal could be sent
}

void signals_phase(const char *doing) { phase = doing; }

void signals_quiet(void) { quiet = true; }

bool signals_are_quiet(void) { return quiet; }

void signals_show(bool on)
{
    struct sigaction action = {.sa_handler = on ? on_second : SIG_IGN, .sa_flags = SA_RESTART};
    struct itimerval every = {{on, 0}, {on, 0}};
    sigemptyset(&action.sa_mask);
    if (!on && seconds > 0)
        put("\r\033[K");
    seconds = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
}

void signals_hold(bool on)
{
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < N_ENDING; i++)
        sigaddset(&set, ending[i]);
    sigprocmask(on ? SIG_BLOCK : SIG_UNBLOCK, &set, NULL);
}

void signals_remove_later(const char *path)
{
    if (n_paths == PATHS_MAX)
        return;
    paths[n_paths] = memory_text(path);
    n_paths = n_paths + 1;
}

void signals_keep_last(void)
{
    if (n_paths == 0 ||
        n_paths == PATHS_MAX) // a full list may not have it; removing it is harmless
        return;
    n_paths = n_paths - 1;
    free(paths[n_paths]);
}

void signals_keep(void)
{
    int n = (int)n_paths;
    n_paths = 0;
    for (int i = 0; i < n; i++)
        free(paths[i]);
}
