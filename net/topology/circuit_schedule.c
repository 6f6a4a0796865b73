// SPDX-License-Identifier: MIT
// Reads and makes schedules of optical circuit switches.
#include "net/topology/circuit_schedule.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

#define ERRORS_MAX 20
#define WORD_MAX 64
#define CIRCUITS_MAX 200000 // each is a link with two ports

struct reading {
    struct circuit_schedule *s;
    const struct circuit_params *p;
    uint32_t ranks;
    const char *path;
    struct err *err;
    size_t errors;   // number of errors before
    uint32_t *phase; // [rank * ports + port] 1 + the last phase that joins it
};

static bool too_many(const struct reading *r) { return r->err->n_errors >= r->errors + ERRORS_MAX; }

static void phase_begin(struct circuit_schedule *s, ps_t duration_ps)
{
    if (s->n_phases == s->cap_phases)
        s->phases = memory_grow(s->phases, &s->cap_phases, sizeof *s->phases);
    s->phases[s->n_phases++] = (struct circuit_phase){s->n_lit, 0, duration_ps};
}

// Returns the index of a circuit, which is added if it is new. `fresh`: it is known to be.
static uint32_t circuit_index(struct circuit_schedule *s, const struct circuit *c, bool fresh)
{
    for (uint32_t i = 0; i < s->n_circuits && !fresh; i++)
        if (memcmp(&s->circuits[i], c, sizeof *c) == 0)
            return i;
    if (s->n_circuits == s->cap_circuits)
        s->circuits = memory_grow(s->circuits, &s->cap_circuits, sizeof *s->circuits);
    s->circuits[s->n_circuits] = *c;
    return s->n_circuits++;
}

static void join(struct reading *r, struct circuit c, bool fresh)
{
    struct circuit_schedule *s = r->s;
    if (c.rank[0] > c.rank[1] || (c.rank[0] == c.rank[1] && c.port[0] > c.port[1]))
        c = (struct circuit){{c.rank[1], c.rank[0]}, {c.port[1], c.port[0]}};
    for (int e = 0; e < 2; e++) {
        uint32_t *last = &r->phase[(uint64_t)c.rank[e] * r->p->ports + c.port[e]];
        if (*last == s->n_phases && !too_many(r))
            err_add(r->err, r->path, "schedule: matching %u joins port %u of rank %u twice",
                    s->n_phases, c.port[e], c.rank[e]);
        *last = s->n_phases;
    }
    if (s->n_lit == s->cap_lit)
        s->lit = memory_grow(s->lit, &s->cap_lit, sizeof *s->lit);
    s->lit[s->n_lit++] = circuit_index(s, &c, fresh);
    s->phases[s->n_phases - 1].count++;
}

/* ---- words ---- */

static void make_ring(struct reading *r)
{
    phase_begin(r->s, r->p->duration_ps);
    if (r->p->ports < 2) {
        err_add(r->err, r->path, "schedule: a ring needs 2 ports");
        return;
    }
    for (uint32_t i = 0; i < r->ranks && r->ranks > 1; i++)
        join(r, (struct circuit){{i, (i + 1) % r->ranks}, {0, 1}}, true);
}

// Round `round` of a tournament of n players (an even number; the last one may be missing): the
// last one meets player `round`, and i meets j where i + j = 2 * round modulo n - 1.
static void make_rotation(struct reading *r)
{
    uint32_t n = r->ranks + r->ranks % 2, rounds = n - 1, ports = (uint32_t)r->p->ports;
    uint64_t circuits = (uint64_t)r->ranks * (r->ranks - 1) / 2 * ports;
    if (circuits > CIRCUITS_MAX) {
        err_add(r->err, r->path,
                "schedule: a rotation of %u ranks has %llu circuits; the maximum is %d", r->ranks,
                (unsigned long long)circuits, CIRCUITS_MAX);
        return;
    }
    for (uint32_t round = 0; round < rounds; round++) {
        phase_begin(r->s, r->p->duration_ps);
        for (uint32_t port = 0; port < ports; port++) {
            uint32_t now = (round + port * rounds / ports) % rounds;
            if (n == r->ranks)
                join(r, (struct circuit){{now, n - 1}, {port, port}}, true);
            for (uint32_t k = 1; k < n / 2; k++)
                join(r,
                     (struct circuit){{(now + k) % rounds, (now + rounds - k) % rounds},
                                      {port, port}},
                     true);
        }
    }
}

/* ---- text ---- */

// Reads "3" or "3.1". Returns what follows, or NULL.
static const char *read_end(const char *text, uint32_t *rank, uint32_t *port)
{
    char *after;
    if (!isdigit((unsigned char)*text))
        return NULL;
    unsigned long value = strtoul(text, &after, 10);
    *rank = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
    *port = 0;
    if (*after != '.')
        return after;
    text = after + 1;
    if (!isdigit((unsigned char)*text))
        return NULL;
    value = strtoul(text, &after, 10);
    *port = value < UINT32_MAX ? (uint32_t)value : UINT32_MAX;
    return after;
}

static bool read_circuit(const char *word, struct circuit *c)
{
    const char *at = read_end(word, &c->rank[0], &c->port[0]);
    if (at == NULL || *at != '-')
        return false;
    at = read_end(at + 1, &c->rank[1], &c->port[1]);
    return at != NULL && *at == '\0';
}

static void read_word(struct reading *r, const char *word)
{
    struct circuit c;
    ps_t duration;
    if (word[0] == '@') {
        if (parse_time(word + 1, &duration) != 0 || duration <= 0)
            err_add(r->err, r->path, "schedule: \"%s\" is no duration (as in @100us)", word);
        else
            r->s->phases[r->s->n_phases - 1].duration_ps = duration;
        return;
    }
    if (!read_circuit(word, &c)) {
        err_add(r->err, r->path,
                "schedule: \"%s\" is neither ring, rotation, nor a circuit (as in 0-1 or 0.1-3.0)",
                word);
        return;
    }
    bool sound = true;
    for (int e = 0; e < 2; e++) {
        if (c.rank[e] >= r->ranks)
            err_add(r->err, r->path, "schedule: %s: there is no rank %u, only %u ranks", word,
                    c.rank[e], r->ranks);
        else if (c.port[e] >= r->p->ports)
            err_add(r->err, r->path, "schedule: %s: there is no port %u, only %u", word, c.port[e],
                    (unsigned)r->p->ports);
        else
            continue;
        sound = false;
    }
    if (sound && c.rank[0] == c.rank[1])
        err_add(r->err, r->path, "schedule: %s joins a rank with itself", word);
    else if (sound)
        join(r, c, false);
}

static void read_text(struct reading *r, const char *text)
{
    phase_begin(r->s, r->p->duration_ps);
    while (*text != '\0' && !too_many(r)) {
        size_t space = strspn(text, " ,\t\n");
        text += space;
        if (*text == '|') {
            phase_begin(r->s, r->p->duration_ps);
            text++;
            continue;
        }
        size_t length = strcspn(text, " ,\t\n|");
        char word[WORD_MAX];
        snprintf(word, sizeof word, "%.*s", (int)(length < WORD_MAX ? length : WORD_MAX), text);
        if (length > 0)
            read_word(r, word);
        text += length;
    }
    for (uint32_t i = 0; i < r->s->n_phases && r->err->n_errors == r->errors; i++)
        if (r->s->phases[i].count == 0)
            err_add(r->err, r->path, "schedule: matching %u joins no ports", i + 1);
}

void circuit_schedule_make(struct circuit_schedule *s, const struct circuit_params *p,
                           uint32_t ranks, const char *path, struct err *err)
{
    *s = (struct circuit_schedule){0};
    struct reading r = {.s = s,
                        .p = p,
                        .ranks = ranks,
                        .path = path,
                        .err = err,
                        .errors = err->n_errors,
                        .phase = memory_zeroed((size_t)ranks * p->ports, sizeof *r.phase)};
    if (strcmp(p->schedule, "ring") == 0)
        make_ring(&r);
    else if (strcmp(p->schedule, "rotation") == 0)
        make_rotation(&r);
    else
        read_text(&r, p->schedule);
    free(r.phase);
}

void circuit_schedule_free(struct circuit_schedule *s)
{
    free(s->circuits);
    free(s->lit);
    free(s->phases);
    *s = (struct circuit_schedule){0};
}
