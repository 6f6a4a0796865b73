// SPDX-License-Identifier: MIT
// Keys of JSON are found without parsing it: the beginning of a file ends anywhere.
#include "cli/import/content.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/replay/replay_input.h"
#include "engine/base/memory.h"

#define LINE_BYTES 4096

/* ---- the keys of the first object ---- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static size_t blanks_pass(const struct content *c, size_t at)
{
    while (at < c->n && is_blank(c->head[at]))
        at++;
    return at;
}

// The place behind the string that begins at `at`.
static size_t string_pass(const struct content *c, size_t at)
{
    for (at++; at < c->n && c->head[at] != '"'; at++)
        at += c->head[at] == '\\';
    return at + 1;
}

static void key_keep(struct content *c, size_t from, size_t to)
{
    if (c->n_keys == CONTENT_KEYS || to <= from)
        return;
    size_t n = to - from < CONTENT_WORD - 1 ? to - from : CONTENT_WORD - 1;
    memcpy(c->keys[c->n_keys], c->head + from, n);
    c->keys[c->n_keys++][n] = '\0';
}

static void keys_find(struct content *c)
{
    size_t at = blanks_pass(c, 0), depth = 0;
    c->in_list = at < c->n && c->head[at] == '[';
    if (c->in_list)
        at = blanks_pass(c, at + 1);
    c->json = at < c->n && (c->head[at] == '{' || c->in_list);
    if (at >= c->n || c->head[at] != '{')
        return;
    while (at < c->n) {
        char now = c->head[at];
        if (now == '"') {
            size_t end = string_pass(c, at), next = blanks_pass(c, end);
            if (depth == 1 && next < c->n && c->head[next] == ':')
                key_keep(c, at + 1, end - 1);
            at = end;
            continue;
        }
        depth += now == '{' || now == '[';
        if ((now == '}' || now == ']') && --depth == 0)
            return;
        at++;
    }
}

/* ---- the file ---- */

static bool is_utf8(const struct content *c)
{
    json_t *whole = NULL; // the end of the beginning may divide a character
    for (size_t cut = 0; cut < 4 && cut <= c->n && whole == NULL; cut++) {
        whole = json_stringn(c->head, c->n - cut);
        if (c->whole)
            break;
    }
    json_decref(whole);
    return whole != NULL;
}

int content_read(struct content *c, const char *path, struct err *err)
{
    struct input *in = input_open(path, err);
    *c = (struct content){.path = path};
    if (in == NULL)
        return -1;
    c->head = memory_bytes(CONTENT_BYTES + 1);
    c->n = input_read(in, c->head, CONTENT_BYTES);
    c->head[c->n] = '\0';
    c->whole = c->n < CONTENT_BYTES;
    const char *failure = input_failure(in);
    if (failure != NULL && c->n == 0)
        err_add(err, path, "%s", failure);
    input_close(in);
    c->utf16 = c->n >= 2 && ((c->head[0] == '\xff' && c->head[1] == '\xfe') ||
                             (c->head[0] == '\xfe' && c->head[1] == '\xff'));
    c->text = memchr(c->head, 0, c->n) == NULL && is_utf8(c);
    if (memchr(c->head, 0, c->n) == NULL)
        keys_find(c);
    return failure != NULL && c->n == 0 ? -1 : 0;
}

void content_free(struct content *c)
{
    free(c->head);
    c->head = NULL;
}

bool content_key(const struct content *c, const char *key)
{
    for (size_t i = 0; i < c->n_keys; i++)
        if (strcmp(c->keys[i], key) == 0)
            return true;
    return false;
}

bool content_line(const struct content *c, size_t i, char *line, size_t room)
{
    for (size_t at = 0; at < c->n;) {
        size_t end = at;
        while (end < c->n && c->head[end] != '\n')
            end++;
        if (end == c->n && !c->whole)
            return false;
        size_t from = at, to = end;
        while (from < to && is_blank(c->head[from]))
            from++;
        while (to > from && is_blank(c->head[to - 1]))
            to--;
        bool note = c->head[from] == '#' || strncmp(c->head + from, "//", 2) == 0;
        at = end + 1;
        if (from == to || note || i-- > 0)
            continue;
        size_t n = to - from < room - 1 ? to - from : room - 1;
        memcpy(line, c->head + from, n);
        line[n] = '\0';
        return true;
    }
    return false;
}

bool content_word(const struct content *c, size_t i, size_t w, char word[CONTENT_WORD])
{
    char line[LINE_BYTES];
    const char *at = line;
    if (!content_line(c, i, line, sizeof line))
        return false;
    for (;; w--) {
        at += strspn(at, " \t");
        size_t n = strcspn(at, " \t");
        if (n == 0)
            return false;
        if (w == 0) {
            n = n < CONTENT_WORD - 1 ? n : CONTENT_WORD - 1;
            memcpy(word, at, n);
            word[n] = '\0';
            return true;
        }
        at += n;
    }
}

bool content_has(const struct content *c, const char *word)
{
    return memchr(c->head, 0, c->n) == NULL && strstr(c->head, word) != NULL;
}
