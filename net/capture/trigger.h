// SPDX-License-Identifier: MIT
// Triggers of captures: the event that starts or stops a capture.
#pragma once

#include "engine/base/err.h"
#include "engine/base/units.h"

enum trigger_event {
    TRIGGER_NEVER, // there is no trigger
    TRIGGER_DROP,
    TRIGGER_RETRANSMISSION,
    TRIGGER_PAUSE, // of a port, longer than longer_ps
    TRIGGER_QUEUE, // of a port, above_bytes exceeded
};

struct trigger {
    enum trigger_event event;
    bool stops; // ends the capture; else begins it
    ps_t longer_ps;
    uint64_t above_bytes;
};

// Read a trigger such as "start at drop", "stop at pause > 20us" or "start at queue > 100KB"; NULL
// or "" = none. Returns 0, or -1 with an error at `path`.
int trigger_parse(const char *text, const char *path, struct trigger *trigger, struct err *err);
