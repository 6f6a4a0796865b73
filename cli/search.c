// SPDX-License-Identifier: MIT
// Looks through all categories. A key that many entries share, such as `start` of jobs, is printed
// once, with the first of them.
#include "cli/search.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/terminal/terminal.h"
#include "engine/base/err.h"
#include "engine/base/memory.h"
#include "engine/base/text.h"
#include "engine/text/synonyms.h"
#include "report/metric_table.h"

enum { COLUMN = 34 };

struct search {
    FILE *out;
    const char *word;
    bool exact;               // the name of a key, not a part of it
    bool texts;               // in texts, where the name does not have the word
    struct category category; // where the walk is
    struct object_entry entry;
    char **seen; // what has been printed: category, key and text
    size_t n_seen, cap;
    size_t found;
    const char **names; // of all entries and keys, which the tables hold; NULL-terminated
    size_t n_names, names_cap;
};

// The last part of "ecn.kmin".
static const char *last_part(const char *key)
{
    const char *dot = strrchr(key, '.');
    return dot != NULL ? dot + 1 : key;
}

static bool contains(const char *text, const char *word)
{
    size_t length = strlen(word);
    for (; *text != '\0'; text++)
        if (strncasecmp(text, word, length) == 0)
            return true;
    return false;
}

static bool matches(const struct search *s, const char *name, const char *text)
{
    if (s->exact)
        return strcmp(name, s->word) == 0 || strcmp(last_part(name), s->word) == 0;
    bool named = contains(name, s->word);
    return s->texts ? !named && contains(text, s->word) : named;
}

// Returns whether the line is new; takes it.
static bool line_new(struct search *s, char *line)
{
    for (size_t i = 0; i < s->n_seen; i++)
        if (strcmp(s->seen[i], line) == 0) {
            free(line);
            return false;
        }
    if (s->n_seen == s->cap)
        s->seen = memory_grow(s->seen, &s->cap, sizeof *s->seen);
    s->seen[s->n_seen++] = line;
    return true;
}

static void line_print(struct search *s, const char *key, const char *text)
{
    const char *of = s->entry.name;
    bool own = strcmp(of, s->category.name) == 0 || *of == '\0';
    if (!line_new(s, text_format("%s|%s|%s", s->category.name, key, text)))
        return;
    char *name = text_format("%s%s%s%s%s", s->category.name, own ? "" : " ", own ? "" : of,
                             *key != '\0' ? ": " : "", key);
    terminal_entry(s->out, name, text, COLUMN, terminal_width(s->out));
    free(name);
    s->found++;
}

static void name_add(struct search *s, const char *name)
{
    if (s->n_names + 1 >= s->names_cap)
        s->names = memory_grow(s->names, &s->names_cap, sizeof *s->names);
    s->names[s->n_names++] = name;
}

static void key_seen(struct search *s, const char *name, const char *key, const char *text)
{
    name_add(s, name);
    if (matches(s, key, text))
        line_print(s, key, text);
}

static void table_seen(void *ctx, const char *prefix, const struct param *params, size_t n)
{
    struct param_walk walk = params_walk(params, n);
    for (const struct param *p; (p = params_next(&walk)) != NULL;) {
        char *key = text_format("%s%s%s", prefix, *prefix != '\0' ? "." : "", p->name);
        bool has = p->def != NULL && *p->def != '\0';
        char *text = text_format("%s%s%s", p->help, has ? "; default " : "", has ? p->def : "");
        key_seen(ctx, p->name, key, text);
        free(text);
        free(key);
    }
}

static void own_seen(void *ctx, const struct own_key *key)
{
    key_seen(ctx, key->key, key->key, key->help);
}

static void metric_seen(void *ctx, const char *path, const struct metric *m)
{
    key_seen(ctx, m->key, path, m->help);
}

static void entry_seen(struct search *s)
{
    const struct key_sink sink = {s, table_seen, own_seen};
    const struct object_entry *entry = &s->entry;
    name_add(s, entry->name);
    if (!s->exact && matches(s, entry->name, entry->doc))
        line_print(s, "", entry->doc);
    if (s->category.metrics && entry->kind != NULL)
        metric_walk(entry->kind, "", metric_seen, s);
    else if (!s->category.metrics)
        category_keys(&s->category, entry, &sink);
}

static void walk(struct search *s, const struct category *only, const struct cc_catalogue *policies)
{
    for (size_t c = 0; category_at(c, &s->category); c++)
        for (size_t i = 0; entry_at(&s->category, policies, i, &s->entry); i++)
            if (only == NULL || strcmp(only->name, s->category.name) == 0)
                entry_seen(s);
}

static void search_free(struct search *s)
{
    for (size_t i = 0; i < s->n_seen; i++)
        free(s->seen[i]);
    free(s->seen);
    free(s->names);
}

size_t search_keys(FILE *out, const struct category *only, const char *name,
                   const struct cc_catalogue *policies)
{
    struct search s = {.out = out, .word = name, .exact = true};
    walk(&s, only, policies);
    search_free(&s);
    return s.found;
}

const char *search_near(const struct category *only, const char *word,
                        const struct cc_catalogue *policies)
{
    struct search s = {.word = word, .exact = true}; // no key has this name, so nothing is printed
    walk(&s, only, policies);
    if (s.n_names > 0)
        s.names[s.n_names] = NULL;
    const char *near = s.n_names > 0 ? word_meant(word, s.names) : NULL;
    search_free(&s);
    return near;
}

size_t search_print(FILE *out, const char *word, const struct cc_catalogue *policies)
{
    struct search s = {.out = out, .word = word};
    if (*word != '\0') {
        walk(&s, NULL, policies);
        s.texts = true;
        walk(&s, NULL, policies);
    }
    if (s.found == 0) {
        const char *near = search_near(NULL, word, policies);
        fprintf(stderr, "collwire: list: nothing has \"%s\" in its name or text%s%s%s\n", word,
                near ? "; did you mean \"" : "", near ? near : "", near ? "\"?" : "");
    }
    search_free(&s);
    return s.found;
}
