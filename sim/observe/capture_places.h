// SPDX-License-Identifier: MIT
// The places of a capture: its ports, the interfaces that show them, and names.
#pragma once

#include "net/capture/capture.h"
#include "sim/fabric/fabric.h"

struct capture_places {
    const struct fabric *fabric;
    struct capture_port *ports; // each port once, in order of its index
    size_t n_ports, cap_ports;
    struct capture_interface *interfaces; // of the ports, then one for the drops of each place
    size_t n_interfaces;
    struct capture_name *names;
    size_t n_names;
};

// Find the ports of a list of port patterns with commas between them. A link that leads from one
// place to another is captured where packets leave. Add an error at `path` for each pattern that
// matches nothing.
void capture_places_find(struct capture_places *places, const struct fabric *fabric, const char *at,
                         const char *path, struct err *err);

// Describe the interfaces, and name all ranks and switches.
void capture_places_describe(struct capture_places *places, const char *at, const char *filter);
void capture_places_free(struct capture_places *places);
