// SPDX-License-Identifier: MIT
// Words for reasons and for parts of the critical path.
#include "report/cause.h"

#include <stdio.h>
#include <string.h>

#define SAVES_FROM 0.02 // share of the path

static const struct {
    const char *kind, *words; // kinds of reasons, then parts of the critical path
} named[] = {
    {"cuts", "cuts of the rate"},
    {"paths", "uneven paths"},
    {"pfc", "pauses by PFC"},
    {"victims", "pauses of other flows"},
    {"planes", "uneven planes"},
    {"layers", "exposed communication"},
    {"straggler", "a slow rank"},
    {"ack_delay", "delayed ACKs"},
    {"slow_link", "a slow link"},
    {"swap", "transfers to and from the host"},
    {"host", "the network stack of hosts"},
    {"library", "the library of collectives"},
    {"memory", "copies through memories"},
    {"handshake", "handshakes"},
    {"bdp_cap", "the cap on bytes in flight"},
    {"rate", "the rate of NICs"},
    {"input", "waiting for input"},
    {"meter", "a meter"},
    {"compute_ns", "computing"},
    {"sending_ns", "transmission"},
    {"network_ns", "latency"},
    {"scheduled_ns", "planned starts"},
    {"memory_ns", "copies through memories"},
    {"nic_ns", "NICs busy with other flows"},
    {"behind_ns", "earlier messages"},
    {"queued_ns", "queues"},
    {"paused_ns", "pauses by PFC"},
    {"window_ns", "the window"},
    {"pace_ns", "the pace"},
    {"resending_ns", "retransmission"},
    {"timeout_ns", "timeouts"},
    {"stack_ns", "the network stack of hosts"},
    {"others_ns", "other ranks"},
};

static const char *words_of(const char *kind, char text[CAUSE_TEXT])
{
    const char *found = kind;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (strcmp(named[i].kind, kind) == 0)
            found = named[i].words;
    snprintf(text, CAUSE_TEXT, "%s", found);
    for (char *c = text; *c != '\0'; c++)
        *c = *c == '_' ? ' ' : *c;
    return text;
}

const char *first_cause(const json_t *run, char text[CAUSE_TEXT])
{
    const json_t *reason = json_array_get(json_object_get(run, "reasons"), 0),
                 *slowest = json_object_get(run, "slowest"),
                 *saved = json_object_get(reason, "saved_ns");
    json_t *parts = json_object_get(slowest, "parts"), *part;
    const char *kind = json_string_value(json_object_get(reason, "kind")), *key, *largest = NULL;
    double total = 0, most = 0;
    json_object_foreach(parts, key, part)
    {
        double ns = json_number_value(part);
        total += ns;
        largest = ns > most ? key : largest;
        most = ns > most ? ns : most;
    }
    // Only what a trial has saved is a cause; without trials the path says what took the time.
    if (kind && json_is_number(saved) && json_number_value(saved) >= SAVES_FROM * total)
        return words_of(kind, text);
    return largest ? words_of(largest, text) : NULL;
}
