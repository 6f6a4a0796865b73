// SPDX-License-Identifier: MIT
// collwire extcap: an interface of Wireshark whose packets are those of a scenario.
//
// Wireshark starts the programs of its extcap folders: with --extcap-interfaces to list interfaces,
// with --extcap-dlts and --extcap-config for the link type and the options of one, and with
// --capture to run it, whose packets go to a named pipe (extcap(4)). Unknown options that begin
// with --extcap- are ignored, since later versions of Wireshark may have more.
#pragma once

#include "cli/options/options.h"

// A call of Wireshark, with the options that `extcap_config` has offered. Texts are borrowed;
// NULL = not given.
struct extcap_call {
    const char *scenarios; // folder
    const char *interface, *fifo;
    const char *scenario; // its name; NULL = the first one
    const char *place, *policy, *pace, *changes, *filter;
    const char *capture_filter; // Wireshark's own field
    bool interfaces, dlts, config, capture;
};

#define EXTCAP_INTERFACE "collwire"

// The default of the policy and of the pace.
#define EXTCAP_SCENARIO "scenario"
#define EXTCAP_FASTEST "fastest"

struct extcap_scenario {
    char *path;
    char *name;  // the path in the folder without its ending, with hyphens
    char *title; // for people
};

struct extcap_scenarios {
    struct extcap_scenario *list; // ascending by name
    size_t n, cap;
};

// Find the scenarios below a folder: JSON files that have a topology or cannot be read.
void extcap_find(struct extcap_scenarios *found, const char *folder);
void extcap_scenarios_free(struct extcap_scenarios *found);

// Print the sentences that Wireshark reads.
void extcap_interfaces(void);
void extcap_dlts(void);
void extcap_config(const struct extcap_scenarios *found, const struct options *o);

// The place of a capture for which the dialogue has none. To be freed.
char *extcap_default_place(const struct extcap_scenario *scenario, const struct options *o);

// Check the filter of a call; prints an error on stdout, as Wireshark expects.
int extcap_check_filter(const struct extcap_call *call);

// `extcap install` and `extcap uninstall`. Return the exit code.
int extcap_install(const struct options *o);
int extcap_uninstall(void);
