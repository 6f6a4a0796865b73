// SPDX-License-Identifier: MIT
// A send ends when its last byte is acknowledged, which is what htsim's sender calls done, and a
// receive when its message has arrived. A node waits for nodes of its own rank only, so a trigger
// must be fired where it starts something; and for all of them, as a barrier does.
#include "cli/import/htsim_program.h"

#include <inttypes.h>
#include <stdlib.h>

#include "engine/base/table.h"
#include "workload/read/htsim_flows.h"

#define ERRORS_MOST 20
// Ids of the nodes of connection i.
#define SEND(i) (3 * (json_int_t)(i) + 1)
#define RECV(i) (3 * (json_int_t)(i) + 2)
#define WAIT(i) (3 * (json_int_t)(i) + 3)

struct making {
    struct htsim_matrix m;
    const char *path;
    struct err *err;
    json_t *nodes;
};

// The trigger of an id; NULL with an error.
static const struct htsim_trigger *trigger_find(struct making *p, uint64_t id, uint32_t line)
{
    for (size_t i = 0; i < p->m.n_triggers; i++)
        if (p->m.triggers[i].id == id)
            return &p->m.triggers[i];
    err_add(p->err, p->path, "line %u: trigger %" PRIu64 " has no line of its own", line, id);
    return NULL;
}

// What connection `to` waits for; NULL with an error.
static json_t *after_of(struct making *p, const struct htsim_connection *to)
{
    const struct htsim_trigger *t = trigger_find(p, to->trigger, to->line);
    json_t *after = json_array();
    bool elsewhere = false;
    for (size_t i = 0; i < p->m.n && t != NULL; i++) {
        const struct htsim_connection *c = &p->m.list[i];
        if (c->send_done == t->id && c->flow.src == to->flow.src)
            json_array_append_new(after, json_integer(SEND(i)));
        if (c->recv_done == t->id && c->flow.dst == to->flow.src)
            json_array_append_new(after, json_integer(RECV(i)));
        elsewhere |= (c->send_done == t->id && c->flow.src != to->flow.src) ||
                     (c->recv_done == t->id && c->flow.dst != to->flow.src);
    }
    size_t n = json_array_size(after);
    if (t != NULL && elsewhere)
        err_add(p->err, p->path,
                "line %u: trigger %" PRIu64 " is fired at another node than it starts a message "
                "at: a rank waits for what it has done itself",
                to->line, t->id);
    else if (t != NULL && n == 0)
        err_add(p->err, p->path, "line %u: trigger %" PRIu64 " is fired by no connection", to->line,
                t->id);
    else if (t != NULL && t->count == 0 && n > 1)
        err_add(p->err, p->path,
                "line %u: trigger %" PRIu64 " fires at the first of %zu connections: a program "
                "waits for all, as a barrier",
                t->line, t->id, n);
    else if (t != NULL && t->count > 0 && t->count != n)
        err_add(p->err, p->path,
                "line %u: barrier %" PRIu64 " counts to %" PRIu64 ", and %zu connections fire it",
                t->line, t->id, t->count, n);
    else if (t != NULL)
        return after;
    json_decref(after);
    return NULL;
}

static void connection_add(struct making *p, size_t i)
{
    const struct htsim_connection *c = &p->m.list[i];
    json_t *after = c->trigger > 0 ? after_of(p, c) : NULL;
    if (c->trigger > 0 && after == NULL)
        return;
    if (c->flow.start_ps > 0) {
        json_array_append_new(
            p->nodes, json_pack("{s:i, s:I, s:s, s:o}", "rank", (int)c->flow.src, "id", WAIT(i),
                                "kind", "wait", "time",
                                json_sprintf("%.6fns", (double)c->flow.start_ps / PS_PER_NS)));
        after = json_pack("[I]", WAIT(i));
    }
    json_t *send = json_pack("{s:i, s:I, s:s, s:i, s:o, s:I}", "rank", (int)c->flow.src, "id",
                             SEND(i), "kind", "send", "to", (int)c->flow.dst, "bytes",
                             json_sprintf("%" PRIu64 "B", c->flow.bytes), "tag", (json_int_t)i);
    if (after != NULL)
        json_object_set_new(send, "after", after);
    json_array_append_new(p->nodes, send);
    json_array_append_new(p->nodes, json_pack("{s:i, s:I, s:s, s:i, s:I}", "rank", (int)c->flow.dst,
                                              "id", RECV(i), "kind", "recv", "from",
                                              (int)c->flow.src, "tag", (json_int_t)i));
}

json_t *htsim_program(const char *path, struct err *err)
{
    struct making p = {.path = path, .err = err, .nodes = json_array()};
    size_t errors = err->n_errors;
    char *text = text_file_load(".", path, path, err);
    struct text_file file = {.name = path, .path = "file", .rest = text, .err = err};
    if (text != NULL && htsim_matrix_read(&p.m, &file, (ps_t)PS_PER_US) == 0)
        for (size_t i = 0; i < p.m.n && err->n_errors < errors + ERRORS_MOST; i++)
            connection_add(&p, i);
    htsim_matrix_free(&p.m);
    free(text);
    if (err->n_errors == errors)
        return p.nodes;
    json_decref(p.nodes);
    return NULL;
}
