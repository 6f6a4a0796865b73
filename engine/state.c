// SPDX-License-Identifier: MIT
// Visits of state: saving it in a canonical form, and moving it in time.
#include "engine/state.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/timer.h"

void state_free(struct state *st)
{
    free(st->bytes);
    free(st->counts);
    free(st->stamps);
    free(st->marks);
    free(st->timers);
    *st = (struct state){0};
}

void state_clear(struct state *st)
{
    st->n = st->n_counts = st->n_marks = st->n_timers = st->at = 0;
    st->shift_ps = 0; // of an earlier move; saving moves nothing
    st->refused = NULL;
}

void state_refuse(struct state *st, const char *why)
{
    if (!st->refused)
        st->refused = why;
}

/* ---- values ---- */

// Make room for more bytes.
static void reserve(struct state *st, size_t bytes)
{
    while (st->n + bytes > st->cap)
        st->bytes = memory_grow(st->bytes, &st->cap, 1);
}

static void append(struct state *st, const void *value, size_t bytes)
{
    reserve(st, bytes);
    memcpy(st->bytes + st->n, value, bytes);
    st->n += bytes;
}

void state_value(struct state *st, uint64_t value)
{
    if (st->mode == STATE_SAVE)
        append(st, &value, sizeof value);
}

void state_plain(struct state *st, const void *value, size_t bytes)
{
    if (st->mode == STATE_SAVE)
        append(st, value, bytes);
}

void state_time(struct state *st, ps_t *time)
{
    if (st->mode == STATE_SAVE)
        state_value(st, *time == PS_NEVER ? (uint64_t)PS_NEVER : (uint64_t)(*time - st->now_ps));
    else if (*time != PS_NEVER)
        *time += st->shift_ps;
}

void state_past(struct state *st, ps_t *time)
{
    if (*time >= st->now_ps)
        state_time(st, time);
    else
        state_value(st, UINT64_MAX);
}

// Add a counter to the list and return by how much it moves.
static uint64_t keep_count(struct state *st, uint64_t value, bool stamp)
{
    if (st->mode == STATE_SHIFT)
        return st->growth[st->at++] * st->periods;
    if (st->n_counts == st->cap_counts)
        st->counts = memory_grow(st->counts, &st->cap_counts, sizeof *st->counts);
    if (st->n_counts >= st->cap_stamps)
        st->stamps = memory_grow(st->stamps, &st->cap_stamps, sizeof *st->stamps);
    st->stamps[st->n_counts] = stamp;
    st->counts[st->n_counts++] = value;
    return 0;
}

void state_stamp(struct state *st, ps_t *time)
{
    *time = (ps_t)((uint64_t)*time + keep_count(st, (uint64_t)*time, true));
}

struct state_base state_count(struct state *st, uint64_t *count)
{
    struct state_base base = {.from = *count, .moved = keep_count(st, *count, false)};
    *count += base.moved;
    return base;
}

struct state_base state_count32(struct state *st, uint32_t *count)
{
    struct state_base base = {.from = *count, .moved = keep_count(st, *count, false)};
    *count += (uint32_t)base.moved;
    return base;
}

void state_from(struct state *st, uint64_t *number, struct state_base base)
{
    state_value(st, *number - base.from);
    *number += base.moved;
}

void state_from32(struct state *st, uint32_t *number, struct state_base base)
{
    state_value(st, (uint32_t)(*number - (uint32_t)base.from));
    *number += (uint32_t)base.moved;
}

static void keep_timer(struct state *st, struct sim_timer *timer)
{
    if (st->n_timers == st->cap_timers)
        st->timers = memory_grow(st->timers, &st->cap_timers, sizeof(struct sim_timer *));
    st->timers[st->n_timers++] = timer;
}

void state_timer(struct state *st, struct sim_timer *timer)
{
    state_time(st, &timer->at_ps);
    if (st->mode == STATE_SHIFT)
        keep_timer(st, timer);
}

void state_early_timer(struct state *st, struct sim_timer *timer)
{
    state_value(st, sim_timer_active(timer));
    if (st->mode != STATE_SHIFT)
        return;
    timer->at_ps += sim_timer_active(timer) ? st->shift_ps : 0;
    keep_timer(st, timer);
}

// A token that no message has any more belongs to a packet that its receiver will ignore.
void state_token(struct state *st, uint64_t *token)
{
    uint32_t other = *token < st->n_tokens ? st->tokens[*token] : STATE_NO_TOKEN;
    state_value(st, other);
    if (st->mode == STATE_SHIFT && other != STATE_NO_TOKEN)
        *token = other;
}

/* ---- structs ---- */

static uint64_t load(const unsigned char *at, size_t bytes)
{
    uint64_t value = 0;
    memcpy(&value, at, bytes); // little-endian, as captures and plugins need too
    return value;
}

static void visit_count(struct state *st, unsigned char *at, size_t bytes)
{
    for (size_t i = 0; i < bytes; i += 8) {
        size_t n = bytes < 8 ? bytes : 8;
        uint64_t count = load(at + i, n);
        state_count(st, &count);
        memcpy(at + i, &count, n);
    }
}

static void visit_field(struct state *st, const struct state_field *f, unsigned char *at)
{
    ps_t time;
    switch ((enum state_kind)f->kind) {
    case STATE_PLAIN:
        state_plain(st, at, f->bytes);
        break;
    case STATE_TIME:
        memcpy(&time, at, sizeof time);
        state_time(st, &time);
        memcpy(at, &time, sizeof time);
        break;
    case STATE_PAST:
        memcpy(&time, at, sizeof time);
        state_past(st, &time);
        memcpy(at, &time, sizeof time);
        break;
    case STATE_STAMP:
        memcpy(&time, at, sizeof time);
        state_stamp(st, &time);
        memcpy(at, &time, sizeof time);
        break;
    case STATE_COUNT:
        visit_count(st, at, f->bytes);
        break;
    case STATE_CONFIG:
    case STATE_SCRATCH:
    case STATE_BY_HAND:
        break;
    }
}

#define STRUCT_BYTES 1024 // more than a struct takes in the canonical form

// Saving dominates the cost, so plain fields are copied directly; there is room for them.
static void save_fields(struct state *st, const struct state_table *table, unsigned char *object)
{
    reserve(st, STRUCT_BYTES);
    for (size_t i = 0; i < table->n; i++) {
        const struct state_field *f = &table->fields[i];
        if (f->kind == STATE_CONFIG || f->kind >= STATE_SCRATCH)
            continue;
        if (f->kind != STATE_PLAIN) {
            visit_field(st, f, object + f->at);
            continue;
        }
        unsigned char *to = st->bytes + st->n;
        const unsigned char *from = object + f->at;
        st->n += f->bytes;
        if (f->bytes == 4)
            memcpy(to, from, 4);
        else if (f->bytes == 8)
            memcpy(to, from, 8);
        else
            memcpy(to, from, f->bytes);
    }
}

void state_visit(struct state *st, const struct state_table *table, void *object, uint32_t index)
{
    if (st->mode == STATE_SAVE) {
        if (st->n_marks == st->cap_marks)
            st->marks = memory_grow(st->marks, &st->cap_marks, sizeof *st->marks);
        st->marks[st->n_marks++] = (struct state_mark){st->n, st->n_counts, table, index};
        save_fields(st, table, object);
        return;
    }
    for (size_t i = 0; i < table->n; i++)
        visit_field(st, &table->fields[i], (unsigned char *)object + table->fields[i].at);
}

/* ---- names ---- */

static size_t saved_bytes(const struct state_field *f)
{
    bool time = f->kind == STATE_TIME || f->kind == STATE_PAST;
    return f->kind == STATE_PLAIN ? f->bytes : time ? sizeof(ps_t) : 0;
}

static size_t saved_counts(const struct state_field *f)
{
    return f->kind == STATE_STAMP ? 1 : f->kind == STATE_COUNT ? (f->bytes + 7u) / 8u : 0;
}

// The last mark that is not behind a place, by bytes or by counts.
static const struct state_mark *mark_at(const struct state *st, size_t at, bool counts)
{
    const struct state_mark *mark = NULL;
    for (size_t i = 0; i < st->n_marks; i++)
        if ((counts ? st->marks[i].count_at : st->marks[i].at) <= at)
            mark = &st->marks[i];
    return mark;
}

static void name_at(const struct state *st, size_t at, bool counts, char *out, size_t size)
{
    const struct state_mark *mark = mark_at(st, at, counts);
    snprintf(out, size, "%s", "state");
    if (!mark)
        return;
    const char *type = mark->table->name, *field = "list";
    size_t from = counts ? mark->count_at : mark->at;
    for (size_t i = 0; i < mark->table->n; i++) {
        const struct state_field *f = &mark->table->fields[i];
        size_t n = counts ? saved_counts(f) : saved_bytes(f);
        if (at >= from && at < from + n)
            field = f->names;
        from += n;
    }
    type = strncmp(type, "struct ", 7) == 0 ? type + 7 : type;
    snprintf(out, size, "%s.%s of number %" PRIu32, type, field, mark->index);
}

void state_name(const struct state *st, size_t at, char *out, size_t size)
{
    name_at(st, at, false, out, size);
}

void state_count_name(const struct state *st, size_t count, char *out, size_t size)
{
    name_at(st, count, true, out, size);
}
