// SPDX-License-Identifier: MIT
// Format: csg-htsim, sim/datacenter/connection_matrix.cpp. Lines that begin with # are comments;
// the words of a line are separated by blanks.
#include "workload/read/htsim_flows.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"

#define ERRORS_MAX 20
#define WORDS_MAX 32
#define START_MAX_PS (100000 * (double)PS_PER_S)

bool htsim_flows_is(const char *text)
{
    while (*text == '#' || *text == '\n' || *text == '\r' || *text == ' ' || *text == '\t')
        text += *text == '#' ? strcspn(text, "\n") : 1;
    return strncmp(text, "Nodes", 5) == 0 && (text[5] == ' ' || text[5] == '\t');
}

// A rank at the beginning of a text that ends with `end`.
static bool rank_of(const char *text, const char *end, uint64_t most, uint32_t *rank)
{
    char word[16];
    size_t length = (size_t)(end - text);
    uint64_t value;
    if (length == 0 || length >= sizeof word)
        return false;
    memcpy(word, text, length);
    word[length] = '\0';
    if (parse_count(word, &value) != 0 || value >= most)
        return false;
    *rank = (uint32_t)value;
    return true;
}

static int start_of(const struct text_file *file, const char *word, struct htsim_matrix *m,
                    struct raw_flow *flow)
{
    char *end;
    double start = strtod(word, &end);
    if (end == word || *end != '\0' || !isfinite(start) || start < 0 ||
        start * m->unit_ps > START_MAX_PS)
        return text_file_error(file, "start \"%.40s\" is not a time up to 100000 s", word);
    flow->start_ps = (ps_t)(start * m->unit_ps + 0.5);
    m->late |= start > 0;
    return 0;
}

// Where a word of a connection names a trigger; NULL = it does not.
static uint64_t *trigger_of(struct htsim_connection *c, const char *word)
{
    return strcmp(word, "trigger") == 0             ? &c->trigger
           : strcmp(word, "send_done_trigger") == 0 ? &c->send_done
           : strcmp(word, "recv_done_trigger") == 0 ? &c->recv_done
                                                    : NULL;
}

static int attribute(const struct text_file *file, const char *word, const char *value,
                     struct htsim_matrix *m, struct htsim_connection *c)
{
    struct raw_flow *flow = &c->flow;
    uint64_t number, *trigger = trigger_of(c, word);
    if (!value)
        return text_file_error(file, "%.40s has no value", word);
    if (strcmp(word, "start") == 0)
        return start_of(file, value, m, flow);
    if (parse_count(value, &number) != 0)
        return text_file_error(file, "%.40s \"%.40s\" is not a whole number", word, value);
    if (trigger != NULL && number == 0)
        return text_file_error(file, "%.40s 0: ids of triggers begin at 1", word);
    if (trigger != NULL)
        *trigger = number;
    else if (strcmp(word, "size") == 0)
        flow->bytes = number;
    else if (strcmp(word, "id") != 0 && strcmp(word, "prio") != 0 && strcmp(word, "msg") != 0)
        return text_file_error(file, "\"%.40s\" is not start, trigger, size, id, msg or prio",
                               word);
    return 0;
}

static int connection(const struct text_file *file, char **words, size_t n, struct htsim_matrix *m)
{
    struct htsim_connection c = {.line = (uint32_t)file->line};
    const char *arrow = strstr(words[0], "->"), *end = words[0] + strlen(words[0]);
    bool started = false;
    if (!rank_of(words[0], arrow, m->nodes, &c.flow.src) ||
        !rank_of(arrow + 2, end, m->nodes, &c.flow.dst))
        return text_file_error(file, "\"%.40s\" is not SRC->DST of %" PRIu64 " nodes", words[0],
                               m->nodes);
    for (size_t i = 1; i < n; i += 2) {
        uint64_t number;
        // A message of its own on the connection, as flows here are; its number may be left out.
        if (strcmp(words[i], "msg") == 0 && (i + 1 == n || parse_count(words[i + 1], &number) != 0))
            i++;
        if (i == n)
            break;
        started |= strcmp(words[i], "start") == 0;
        if (attribute(file, words[i], i + 1 < n ? words[i + 1] : NULL, m, &c) != 0)
            return -1;
    }
    if (started == (c.trigger > 0))
        return text_file_error(file, started ? "has a start and a trigger" : "start is missing");
    if (c.flow.bytes == 0)
        return text_file_error(file, "a size from 1 B is missing: without one, or with 0, htsim's "
                                     "flows have no end");
    if (m->n == m->cap)
        m->list = memory_grow(m->list, &m->cap, sizeof *m->list);
    m->list[m->n++] = c;
    return 0;
}

// trigger id N oneshot | multishot | barrier [count M]
static int trigger_line(const struct text_file *file, char **words, size_t n,
                        struct htsim_matrix *m)
{
    struct htsim_trigger t = {.line = (uint32_t)file->line};
    bool typed = false, barrier = false, good = true;
    for (size_t i = 1; i < n && good; i++) {
        bool id = strcmp(words[i], "id") == 0, count = strcmp(words[i], "count") == 0;
        barrier |= strcmp(words[i], "barrier") == 0;
        if (id || count)
            good = i + 1 < n && parse_count(words[++i], id ? &t.id : &t.count) == 0;
        else
            typed = good = strcmp(words[i], "barrier") == 0 || strcmp(words[i], "oneshot") == 0 ||
                           strcmp(words[i], "multishot") == 0;
    }
    if (!good || !typed || t.id == 0 || barrier != (t.count > 0))
        return text_file_error(file, "a trigger is \"trigger id N oneshot\", \"multishot\" or "
                                     "\"barrier count M\"");
    if (m->n_triggers == m->cap_triggers)
        m->triggers = memory_grow(m->triggers, &m->cap_triggers, sizeof *m->triggers);
    m->triggers[m->n_triggers++] = t;
    return 0;
}

static int line_read(const struct text_file *file, char *line, struct htsim_matrix *m)
{
    char *words[WORDS_MAX];
    size_t n = words_cut(line, words, WORDS_MAX);
    if (n == 0 || words[0][0] == '#')
        return 0;
    if (n > WORDS_MAX)
        return text_file_error(file, "%zu words are more than %d", n, WORDS_MAX);
    if (strstr(words[0], "->"))
        return connection(file, words, n, m);
    bool nodes = strcmp(words[0], "Nodes") == 0, all = strcmp(words[0], "Connections") == 0,
         none = strcmp(words[0], "Triggers") == 0 || strcmp(words[0], "Failures") == 0;
    uint64_t value = 0;
    if (strcmp(words[0], "trigger") == 0)
        return trigger_line(file, words, n, m);
    if (strcmp(words[0], "failure") == 0)
        return text_file_error(file, "links that fail are in `faults`");
    if (!(nodes || all || none) || n != 2 || parse_count(words[1], &value) != 0 ||
        (nodes && (value == 0 || value > UINT32_MAX)))
        return text_file_error(file, "is not a line of a connection matrix");
    if (nodes)
        m->nodes = value;
    if (all)
        m->declared = value;
    return 0;
}

int htsim_matrix_read(struct htsim_matrix *m, struct text_file *file, ps_t unit_ps)
{
    size_t errors = file->err->n_errors;
    char *line;
    *m = (struct htsim_matrix){.declared = UINT64_MAX,
                               .nodes = UINT32_MAX,
                               .unit_ps = unit_ps > 0 ? (double)unit_ps : (double)PS_PER_US};
    while (file->err->n_errors < errors + ERRORS_MAX && (line = text_file_next(file)) != NULL)
        line_read(file, line, m);
    bool good = file->err->n_errors == errors;
    if (good && m->declared != UINT64_MAX && m->declared != m->n)
        err_add(file->err, file->path, "%s: %" PRIu64 " connections are declared, and %zu follow",
                file->name, m->declared, m->n);
    else if (good && m->n == 0)
        err_add(file->err, file->path, "%s contains no flows", file->name);
    if (file->err->n_errors == errors && m->late && unit_ps == 0)
        err_warn(
            file->err, file->path,
            "%s: starts are read in microseconds, as htsim_uec does; htsim_roce has picoseconds: "
            "`start_unit`",
            file->name);
    return file->err->n_errors == errors ? 0 : -1;
}

void htsim_matrix_free(struct htsim_matrix *m)
{
    free(m->list);
    free(m->triggers);
}

struct raw_flow *htsim_flows_read(struct text_file *file, ps_t unit_ps, size_t *n)
{
    struct htsim_matrix m;
    struct raw_flow *flows = NULL;
    *n = 0;
    if (htsim_matrix_read(&m, file, unit_ps) == 0) {
        flows = memory_zeroed(m.n, sizeof *flows);
        for (size_t i = 0; i < m.n && flows != NULL; i++) {
            flows[i] = m.list[i].flow;
            if (m.list[i].trigger == 0)
                continue;
            err_add(file->err, file->path,
                    "%s, line %u: trigger: flows have no triggers; a program has (`after`), which "
                    "`collwire import` makes of this file",
                    file->name, m.list[i].line);
            free(flows);
            flows = NULL;
        }
        *n = flows != NULL ? m.n : 0;
    }
    htsim_matrix_free(&m);
    return flows;
}
