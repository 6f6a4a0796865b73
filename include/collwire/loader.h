// SPDX-License-Identifier: MIT
// Interface for programs that let collwire load plugins; the library never loads code by itself.
#pragma once

#include <stddef.h>
#include <stdint.h>

// The code of a plugin that is running, for a program's signal handlers and watchdogs.
struct collwire_activity {
    const char *volatile file;   // of the plugin; NULL = no code of a plugin is running
    const char *volatile policy; // NULL = the file is being loaded
    const char *volatile hook;
    volatile uint64_t calls; // changes with every call of a hook
};

struct collwire_loader {
    void *ctx;
    // Load the shared library `path` and return the address of its symbol `name`; the library stays
    // loaded. NULL with a text in `why`, which has `room` bytes. With dlopen() and dlsym() that is
    // all.
    const void *(*symbol)(void *ctx, const char *path, const char *name, char *why, size_t room);
    // NULL, or updated at every call of a plugin's code; only for programs that use one thread.
    struct collwire_activity *activity;
};
