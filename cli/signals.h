// SPDX-License-Identifier: MIT
// Interruption outside the simulation's own loop: SIGINT, SIGTERM and SIGHUP end the program at once with
// exit code 130, after removing what is staged. A signal that is ignored when the program starts stays
// ignored, as `nohup` and batch systems mean it.
#pragma once

#include <stdbool.h>

// Install the handlers; files that grow too large and closed pipes become write errors.
void signals_install(void);

// The same for SIGINT, SIGTERM and SIGHUP with another handler.
void signals_handle(void (*handler)(int number));

// What the program is doing now, for the message of an interruption. Static text.
void signals_phase(const char *doing);

// A line on stderr every second that says what the program is doing and for how long; false ends it.
void signals_show(bool on);

// Hold signals back while files are renamed.
void signals_hold(bool on);

// A path that an interruption removes: an empty folder or a file. The text is copied.
void signals_remove_later(const char *path);

// Nothing is to be removed any more.
void signals_keep(void);

// Remove those paths and end the program. Safe in a signal handler.
_Noreturn void signals_abandon(int code, const char *why);
