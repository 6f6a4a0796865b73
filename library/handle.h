// SPDX-License-Identifier: MIT
// The simulation behind a handle, for the files of the library.
#pragma once

#include "collwire/collwire.h"

struct sim;

const struct sim *simulation_of(const struct collwire_sim *s);
