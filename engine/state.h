// SPDX-License-Identifier: MIT
// The inventory of the state that changes in a run, for fast-forward (docs/fast-forward.md).
//
// Every struct with such state has a table that declares each of its fields beside the struct's own
// folder (net/state.c, switch/state.c, transport/state.c, ...); tests/state/check_inventory.py
// compares the tables with the headers. A visit goes over all state in one fixed order. It either
// saves a canonical form, in which times are relative to the present and handles are left out, or
// moves the state in time by a number of periods.
//
// If two saved forms have equal bytes, the run continues from both in the same way, except for the
// time, numbers that only count, and names (handles, tokens).
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "engine/base/units.h"

struct sim_timer;

enum state_kind {
    STATE_CONFIG,  // does not change while events are processed
    STATE_PLAIN,   // must be equal
    STATE_TIME,    // a time; relative to the present it must be equal. PS_NEVER is no time
    STATE_PAST,    // a time that has no effect once it is before the present
    STATE_COUNT,   // only counts: it may grow by any constant in a period
    STATE_STAMP,   // a time that is only reported: it stays, or moves by one period
    STATE_SCRATCH, // has no meaning between two events, or follows from the rest
    STATE_BY_HAND, // the visit's own code treats it
};

struct state_field {
    const char *names; // one, or those of neighbouring bit-fields
    uint16_t at, bytes;
    uint8_t kind; // enum state_kind
};

struct state_table {
    const char *name; // of the struct
    const struct state_field *fields;
    size_t n;
};

#define STATE_SIZE(type, member) sizeof(((type *)0)->member)
#define STATE_END(type, member) (offsetof(type, member) + STATE_SIZE(type, member))
#define STATE_FIELD(type, member, kind)                                                            \
    {                                                                                              \
#member, offsetof(type, member), STATE_SIZE(type, member), STATE_##kind                    \
    }
// Bit-fields between two other members, or behind the last other member.
#define STATE_BETWEEN(type, names, after, before, kind)                                            \
    {                                                                                              \
        names, STATE_END(type, after), offsetof(type, before) - STATE_END(type, after),            \
            STATE_##kind                                                                           \
    }
#define STATE_BEHIND(type, names, after, kind)                                                     \
    {                                                                                              \
        names, STATE_END(type, after), sizeof(type) - STATE_END(type, after), STATE_##kind         \
    }
#define STATE_TABLE(variable, type, list)                                                          \
    static const struct state_table variable = {#type, list, sizeof(list) / sizeof *(list)}

// Start of an object in the canonical form, to report where two forms differ.
struct state_mark {
    size_t at, count_at;
    const struct state_table *table;
    uint32_t index;
};

enum state_mode { STATE_SAVE, STATE_SHIFT };

struct state {
    enum state_mode mode;
    ps_t now_ps; // times are relative to it
    /* saved */
    unsigned char *bytes;
    uint64_t *counts; // of counters and stamps, as they are
    bool *stamps;     // [n_counts]
    struct state_mark *marks;
    size_t n, cap, n_counts, cap_counts, cap_stamps, n_marks, cap_marks;
    const char *refused; // why the state cannot be saved; NULL = it can
    /* shift */
    const uint64_t *growth; // [n_counts] what each counter gains in a period
    uint64_t periods;
    ps_t shift_ps;             // of all periods
    size_t at;                 // next count
    struct sim_timer **timers; // timers that have been visited
    size_t n_timers, cap_timers;
    /* names of messages: [token] number in the canonical form, or with STATE_SHIFT another token */
    const uint32_t *tokens;
    uint32_t n_tokens;
};
#define STATE_NO_TOKEN UINT32_MAX

void state_free(struct state *st);
void state_clear(struct state *st); // keeps the memory

// Visit an object by the table of its struct. `index` names it in messages.
void state_visit(struct state *st, const struct state_table *table, void *object, uint32_t index);

/* Single values, for the visits' own code. `state_value` has no effect when state is moved. */
void state_value(struct state *st, uint64_t value);
void state_plain(struct state *st, const void *value, size_t bytes);
void state_time(struct state *st, ps_t *time);
void state_past(struct state *st, ps_t *time);
void state_stamp(struct state *st, ps_t *time);
void state_timer(struct state *st, struct sim_timer *timer);
// A timer that may fire too early without effect: only whether it runs must be equal.
void state_early_timer(struct state *st, struct sim_timer *timer);
void state_token(struct state *st, uint64_t *token);
void state_refuse(struct state *st, const char *why); // the first reason is kept

// A counter that other numbers are relative to: its value before this visit, and its increase.
struct state_base {
    uint64_t from, moved;
};
struct state_base state_count(struct state *st, uint64_t *count);
struct state_base state_count32(struct state *st, uint32_t *count);
// A number that is relative to such a counter.
void state_from(struct state *st, uint64_t *number, struct state_base base);
void state_from32(struct state *st, uint32_t *number, struct state_base base);

// The object and the field at a place of the canonical form, for messages: "sender.window_bytes
// 12".
void state_name(const struct state *st, size_t at, char *out, size_t size);
void state_count_name(const struct state *st, size_t count, char *out, size_t size);
