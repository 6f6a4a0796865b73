// SPDX-License-Identifier: MIT
// Loads plugins, and ends the program with a message that names the plugin when one crashes, exits
// or does not return.
#pragma once

#include "collwire/loader.h"

// The loader of this program. The first plugin installs handlers of crashes and a watchdog.
const struct collwire_loader *plugin_loader(void);

// The program itself is about to end: an exit before this call is one of a plugin.
void plugin_watch_end(void);

// To be called in a signal handler about every second of wall time.
void plugin_watch_second(void);

// To be called in a process that has been forked: it has no watchdog of its own yet.
void plugin_watch_begin(void);
