// SPDX-License-Identifier: MIT
// Interruption outside the simulation's loop: SIGINT, SIGTERM and SIGHUP end the program at once
// with exit code 130, after staged files have been removed. A signal that is ignored when the
// program starts remains ignored, as `nohup` and batch systems require.
#pragma once

#include <stdbool.h>

// Install the handlers; file-size limits and closed pipes become write errors instead of signals.
void signals_install(void);

// Install another handler for SIGINT, SIGTERM and SIGHUP.
void signals_handle(void (*handler)(int number));

// Install `handler` for SIGINT, SIGTERM and SIGHUP and `status` for SIGUSR1 while a simulation
// runs; signals_after() restores the earlier handlers. Ignored signals remain ignored.
void signals_during(void (*handler)(int number), void (*status)(int number));
void signals_after(void);

// From now on the end of stdin, a pipe, is a SIGTERM: where the program that started this one was
// killed, the kernel closes its end. Data in the pipe is ignored. A stdin that is no pipe changes
// nothing.
void signals_end_with_stdin(void);

// Set the current phase of the program, for the message of an interruption. Static text.
void signals_phase(const char *doing);

// Interruptions and SIGUSR1 print nothing from now on.
void signals_quiet(void);
bool signals_are_quiet(void);

// Print a line on stderr every second with the current phase and its duration; false ends it.
void signals_show(bool on);

// Block signals while files are renamed.
void signals_hold(bool on);

// Register a path that an interruption removes: an empty folder or a file. The text is copied.
void signals_remove_later(const char *path);

// Clear the list of paths to be removed.
void signals_keep(void);

// Take the path that was registered last off the list; the caller's own ones remain.
void signals_keep_last(void);

// End the program at once, also while a plugin is being called (cli/terminal/plugin_watch.c has
// _exit()). Safe in a signal handler.
_Noreturn void signals_leave(int code);

// Remove the registered paths and end the program. Safe in a signal handler.
_Noreturn void signals_abandon(int code, const char *why);
