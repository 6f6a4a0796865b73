// SPDX-License-Identifier: MIT
// Sorting of many simultaneous events.
#pragma once

#include "engine/event_queue.h"

// Sort events[0..n) in the order of the model. `scratch` has room for n events.
void events_sort(struct event *events, struct event *scratch, size_t n);
