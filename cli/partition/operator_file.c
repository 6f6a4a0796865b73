// SPDX-License-Identifier: MIT
#include "cli/partition/operator_file.h"

#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/text/place.h"

#define OPERATORS_MOST 100000
#define EDGES_MOST 1000000
#define NS_MOST 1e14 // 100000 s
#define BYTES_MOST 1e15
#define ERRORS_MOST 20
#define SHOWN_MOST 10 // operators of a cycle in its message

struct named {
    const char *name;
    uint32_t index;
};

struct graph_reader {
    struct err *err;
    struct operator_graph *g;
    struct named *names; // [g->n], sorted
};

static int by_name(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->index > y->index) - (x->index < y->index);
}

static int same_name(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

/* ---- values ---- */

static double read_number(const struct graph_reader *r, const struct place *object, const char *key,
                          bool required, double most)
{
    struct place at = place_key(object, key);
    double value = json_number_value(at.json);
    if (at.json == NULL && !required)
        return 0;
    if (!json_is_number(at.json))
        place_error(r->err, &at, "must be a number, not %s", json_noun(at.json));
    else if (!(value >= 0) || value > most)
        place_error(r->err, &at, "%g is not from 0 to %g", value, most);
    else
        return value;
    return 0;
}

static const char *read_name(const struct graph_reader *r, const struct place *object,
                             const char *key)
{
    struct place at = place_key(object, key);
    const char *name = json_string_value(at.json);
    if (name == NULL || name[0] == '\0') {
        place_error(r->err, &at, "must be the name of an operator, not %s",
                    name != NULL ? "an empty one" : json_noun(at.json));
        return "";
    }
    return name;
}

static void check_keys(const struct graph_reader *r, const struct place *object,
                       const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach(object->json, key, value)
    {
        struct place at = place_key(object, key);
        bool found = false;
        for (size_t i = 0; known[i] != NULL && !found; i++)
            found = strcmp(known[i], key) == 0;
        if (!found)
            place_error(r->err, &at, "is not a key of this object");
    }
}

// The length of a list of objects, 0 with an error.
static size_t read_list(const struct graph_reader *r, const struct place *list, size_t most)
{
    size_t n = json_array_size(list->json);
    if (!json_is_array(list->json))
        place_error(r->err, list, "must be a list, not %s", json_noun(list->json));
    else if (n > most)
        place_error(r->err, list, "lists %zu, and at most %zu are possible", n, most);
    else
        return n;
    return 0;
}

static bool is_object(const struct graph_reader *r, const struct place *item)
{
    if (json_is_object(item->json))
        return true;
    place_error(r->err, item, "must be an object, not %s", json_noun(item->json));
    return false;
}

/* ---- operators and edges ---- */

static void read_operators(struct graph_reader *r, const struct place *list)
{
    static const char *const keys[] = {"name", "time_ns", "memory_bytes", NULL};
    struct operator_graph *g = r->g;
    size_t n = read_list(r, list, OPERATORS_MOST), errors = r->err->n_errors;
    if (n == 0 && json_is_array(list->json) && json_array_size(list->json) == 0)
        place_error(r->err, list, "must not be empty");
    g->nodes = memory_zeroed(n + 1, sizeof *g->nodes);
    r->names = memory_zeroed(n + 1, sizeof *r->names);
    for (size_t i = 0; i < n && r->err->n_errors < ERRORS_MOST; i++) {
        struct place item = place_item(list, i);
        struct operator_node *node = &g->nodes[g->n];
        if (!is_object(r, &item))
            continue;
        check_keys(r, &item, keys);
        node->name = memory_text(read_name(r, &item, "name"));
        node->time_ps = 1e3 * read_number(r, &item, "time_ns", true, NS_MOST);
        node->memory_bytes = read_number(r, &item, "memory_bytes", false, BYTES_MOST);
        r->names[g->n] = (struct named){node->name, g->n};
        g->n++;
    }
    qsort(r->names, g->n, sizeof *r->names, by_name);
    for (uint32_t i = 1; i < g->n && r->err->n_errors == errors; i++) {
        struct place item = place_item(list, r->names[i].index), at = place_key(&item, "name");
        if (same_name(&r->names[i - 1], &r->names[i]) == 0)
            place_error(r->err, &at, "\"%.60s\" is also the name of operators[%u]",
                        r->names[i].name, r->names[i - 1].index);
    }
}

static uint32_t read_end(const struct graph_reader *r, const struct place *edge, const char *key)
{
    struct place at = place_key(edge, key);
    size_t errors = r->err->n_errors;
    struct named wanted = {.name = read_name(r, edge, key)};
    const struct named *found = bsearch(&wanted, r->names, r->g->n, sizeof *r->names, same_name);
    if (found == NULL && r->err->n_errors == errors)
        place_error(r->err, &at, "no operator is called \"%.60s\"", wanted.name);
    return found != NULL ? found->index : 0;
}

static void read_edges(struct graph_reader *r, const struct place *list)
{
    static const char *const keys[] = {"from", "to", "bytes", NULL};
    struct operator_graph *g = r->g;
    size_t n = list->json != NULL ? read_list(r, list, EDGES_MOST) : 0;
    g->edges = memory_zeroed(n + 1, sizeof *g->edges);
    for (size_t i = 0; i < n && r->err->n_errors < ERRORS_MOST; i++) {
        struct place item = place_item(list, i), to = place_key(&item, "to");
        size_t errors = r->err->n_errors;
        if (!is_object(r, &item))
            continue;
        check_keys(r, &item, keys);
        struct operator_edge *edge = &g->edges[g->n_edges++];
        edge->from = read_end(r, &item, "from");
        edge->to = read_end(r, &item, "to");
        edge->bytes = read_number(r, &item, "bytes", true, BYTES_MOST);
        if (edge->from == edge->to && r->err->n_errors == errors)
            place_error(r->err, &to, "an operator does not depend on itself");
    }
}

/* ---- cycles ---- */

// Go back from an operator that is in no order to one before it that is in none either, until one
// comes up again.
static void cycle_error(const struct operator_graph *g, const uint32_t *order, uint32_t ordered,
                        struct err *err)
{
    uint32_t *before = memory_zeroed(g->n, sizeof *before), *met = memory_zeroed(g->n, sizeof *met);
    bool *done = memory_zeroed(g->n, sizeof *done);
    struct text text;
    for (uint32_t i = 0; i < ordered; i++)
        done[order[i]] = true;
    for (uint32_t e = 0; e < g->n_edges; e++)
        if (!done[g->edges[e].from])
            before[g->edges[e].to] = g->edges[e].from;
    uint32_t v = 0, n = 0;
    while (done[v])
        v++;
    for (; met[v] == 0; v = before[v])
        met[v] = 1;
    FILE *out = text_open(&text);
    char *after = memory_text("");
    uint32_t at = v;
    do { // backwards, so that the names are put in front
        char *longer = text_format(" -> %.60s%s", g->nodes[at].name, after);
        free(after);
        after = longer;
        at = before[at];
    } while (at != v && ++n < SHOWN_MOST);
    fprintf(out, "%s%.60s%s", at == v ? "" : ".. -> ", g->nodes[at].name, after);
    char *shown = text_close(out, &text);
    err_add(err, "edges", "the operators depend on each other in a cycle: %s", shown);
    free(shown);
    free(after);
    free(before);
    free(met);
    free(done);
}

int operator_file_read(json_t *json, struct operator_graph *g, uint32_t **order, struct err *err)
{
    struct graph_reader r = {.err = err, .g = g};
    struct place root = {.json = json}, operators = place_key(&root, "operators"),
                 edges = place_key(&root, "edges");
    size_t errors = err->n_errors;
    *g = (struct operator_graph){0};
    read_operators(&r, &operators);
    if (err->n_errors == errors)
        read_edges(&r, &edges);
    g->capacity_bytes = read_number(&r, &root, "capacity_bytes", false, BYTES_MOST);
    free(r.names);
    *order = memory_zeroed((size_t)g->n + 1, sizeof **order);
    if (err->n_errors == errors) {
        uint32_t ordered = operator_order(g, *order);
        if (ordered < g->n)
            cycle_error(g, *order, ordered, err);
    }
    return err->n_errors == errors ? 0 : -1;
}
