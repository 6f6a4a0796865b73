// SPDX-License-Identifier: MIT
// A stream without a buffer of its own writes into an array, which a signal handler can print.
// (glibc lets a program assign stderr: "Standard Streams" in its manual.)
#define _GNU_SOURCE
#include "cli/processes/held_errors.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static char held[65536]; // more is cut off
static size_t n_held;
static FILE *real;

static ssize_t hold(void *cookie, const char *text, size_t n)
{
    size_t room = sizeof held - 1 - n_held, taken = n < room ? n : room;
    (void)cookie;
    memcpy(held + n_held, text, taken);
    n_held += taken;
    return (ssize_t)n;
}

static void on_abort(int number)
{
    ssize_t ignored = write(STDERR_FILENO, held, n_held);
    (void)ignored;
    signal(number, SIG_DFL);
}

void held_errors_begin(void)
{
    cookie_io_functions_t functions = {.write = hold};
    FILE *stream = fopencookie(NULL, "w", functions);
    if (!stream)
        return;
    setvbuf(stream, NULL, _IONBF, 0);
    real = stderr;
    stderr = stream;
    signal(SIGABRT, on_abort);
}

const char *held_errors_text(void) { return held; }

void held_errors_end(void)
{
    if (!real)
        return;
    fclose(stderr);
    stderr = real;
    real = NULL;
    memset(held, 0, n_held);
    n_held = 0;
    signal(SIGABRT, SIG_DFL);
}
