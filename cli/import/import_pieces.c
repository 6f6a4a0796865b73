// SPDX-License-Identifier: MIT
// The borders of a value need brackets and strings alone (RFC 8259, section 2); the rest is checked
// when the piece is parsed.
#include "cli/import/import_pieces.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/replay/replay_input.h"
#include "engine/base/memory.h"

#define BUFFER_BYTES (1u << 18)
#define KEY_MOST 256
#define END (-1)

enum where { AT_TOP, IN_OBJECT, IN_LIST, AT_END };

struct pieces {
    /* config */
    struct input *in;
    char *path;
    const char *const *lists; // NULL = every value at the top is a piece
    /* state */
    enum where where;
    bool first, list_at_top; // nothing was read in the present object or list
    char key[KEY_MOST];
    uint8_t *buffer;
    size_t at, n;
    uint64_t before; // bytes of the file before the buffer
    char *text;      // of the present piece
    size_t n_text, cap_text;
    bool dropped; // the present value is too large
};

struct pieces *pieces_open(const char *path, const char *const *lists, struct err *err)
{
    struct input *in = input_open(path, err);
    if (in == NULL)
        return NULL;
    struct pieces *p = memory_zeroed(1, sizeof *p);
    p->in = in;
    p->path = memory_text(path);
    p->lists = lists;
    p->buffer = memory_bytes(BUFFER_BYTES);
    return p;
}

void pieces_close(struct pieces *p)
{
    if (p == NULL)
        return;
    input_close(p->in);
    free(p->path);
    free(p->buffer);
    free(p->text);
    free(p);
}

/* ---- bytes ---- */

static uint64_t position(const struct pieces *p) { return p->before + p->at; }

static bool fill(struct pieces *p)
{
    p->before += p->n;
    p->at = 0;
    p->n = input_read(p->in, p->buffer, BUFFER_BYTES);
    return p->n > 0;
}

static int peek(struct pieces *p)
{
    if (p->at == p->n && !fill(p))
        return END;
    return p->buffer[p->at];
}

static int peek_word(struct pieces *p) // behind white space
{
    int c = peek(p);
    while (c == ' ' || c == '\n' || c == '\r' || c == '\t') {
        p->at++;
        c = peek(p);
    }
    return c;
}

static void keep(struct pieces *p, const uint8_t *bytes, size_t n)
{
    if (p->dropped || n == 0)
        return;
    if (p->n_text + n > PIECE_MOST) {
        p->dropped = true;
        return;
    }
    while (p->n_text + n > p->cap_text)
        p->text = memory_grow(p->text, &p->cap_text, 1);
    memcpy(p->text + p->n_text, bytes, n);
    p->n_text += n;
}

static int failure(const struct pieces *p, struct err *err, const char *what)
{
    const char *reading = input_failure(p->in);
    return err_add(err, p->path, "byte %" PRIu64 ": %s", position(p),
                   reading != NULL ? reading : what);
}

/* ---- values ---- */

// Take a string with its quotes. Returns false at the end of the file.
static bool take_string(struct pieces *p)
{
    bool escaped = false, begun = false;
    while (peek(p) != END) {
        size_t from = p->at;
        while (p->at < p->n) {
            uint8_t c = p->buffer[p->at++];
            if (c == '"' && begun && !escaped) {
                keep(p, p->buffer + from, p->at - from);
                return true;
            }
            begun = true;
            escaped = c == '\\' && !escaped;
        }
        keep(p, p->buffer + from, p->at - from);
    }
    return false;
}

static bool is_quiet(uint8_t c) { return c != '"' && c != '{' && c != '}' && c != '[' && c != ']'; }

// Take an object or a list up to its end. Returns false at the end of the file.
static bool take_nested(struct pieces *p)
{
    size_t depth = 0;
    while (peek(p) != END) {
        size_t from = p->at;
        while (p->at < p->n && is_quiet(p->buffer[p->at]))
            p->at++;
        keep(p, p->buffer + from, p->at - from);
        if (p->at == p->n)
            continue; // the next buffer may begin with any byte
        uint8_t c = p->buffer[p->at];
        if (c == '"') {
            if (!take_string(p))
                return false;
            continue;
        }
        keep(p, p->buffer + p->at++, 1);
        depth = c == '{' || c == '[' ? depth + 1 : depth - 1;
        if (depth == 0)
            return true;
    }
    return false;
}

// A number or a word.
static bool take_plain(struct pieces *p)
{
    size_t n = p->n_text;
    for (int c = peek(p); c != END && strchr(",:{}[]\" \n\r\t", c) == NULL; c = peek(p))
        keep(p, p->buffer + p->at++, 1);
    return p->n_text > n;
}

static bool take_value(struct pieces *p)
{
    int c = peek_word(p);
    p->n_text = 0;
    p->dropped = false;
    return c == '"' ? take_string(p) : c == '{' || c == '[' ? take_nested(p) : take_plain(p);
}

static int cut(struct pieces *p, struct piece *piece, bool element, const char *key,
               struct err *err)
{
    peek_word(p);
    *piece = (struct piece){.key = key, .element = element, .offset = position(p)};
    if (!take_value(p))
        return failure(p, err,
                       peek(p) == END ? "the file ends within a value" : "a value is expected");
    piece->text = p->dropped ? NULL : p->text;
    piece->n = p->n_text;
    return 1;
}

/* ---- the file ---- */

// Pass the comma before the next member or element. Returns 1; 0 if `close` ends the list; -1.
static int next_item(struct pieces *p, int close, struct err *err)
{
    int c = peek_word(p);
    if (c == close) {
        p->at++;
        return 0;
    }
    if (!p->first) {
        if (c != ',')
            return failure(p, err,
                           c == END ? "the file ends within its list of events or members"
                                    : "a comma is expected");
        p->at++;
    }
    p->first = false;
    return 1;
}

static int take_key(struct pieces *p, struct err *err)
{
    p->n_text = 0;
    p->dropped = false;
    if (peek_word(p) != '"' || !take_string(p))
        return failure(p, err, "a key is expected");
    size_t n = p->n_text - 2 < KEY_MOST - 1 ? p->n_text - 2 : KEY_MOST - 1;
    memcpy(p->key, p->text + 1, n);
    p->key[n] = '\0';
    if (peek_word(p) != ':')
        return failure(p, err, "a colon is expected");
    p->at++;
    return 0;
}

static int next_member(struct pieces *p, struct piece *piece, struct err *err);

static int next_element(struct pieces *p, struct piece *piece, struct err *err)
{
    int got = next_item(p, ']', err);
    if (got > 0)
        return cut(p, piece, true, p->list_at_top ? NULL : p->key, err);
    if (got < 0)
        return -1;
    p->where = p->list_at_top ? AT_END : IN_OBJECT;
    p->first = false;
    return p->where == AT_END ? 0 : next_member(p, piece, err);
}

static bool is_list(const struct pieces *p)
{
    for (const char *const *name = p->lists; *name != NULL; name++)
        if (strcmp(p->key, *name) == 0)
            return true;
    return false;
}

static int next_member(struct pieces *p, struct piece *piece, struct err *err)
{
    int got = next_item(p, '}', err);
    if (got == 0)
        p->where = AT_END;
    if (got <= 0 || take_key(p, err) != 0)
        return got <= 0 ? got : -1;
    if (!is_list(p) || peek_word(p) != '[')
        return cut(p, piece, false, p->key, err);
    p->at++;
    p->where = IN_LIST;
    p->first = true;
    return next_element(p, piece, err);
}

static int next_at_top(struct pieces *p, struct piece *piece, struct err *err)
{
    int c = peek_word(p);
    if (c == END && input_failure(p->in) != NULL)
        return failure(p, err, "");
    if (c == END)
        return p->lists == NULL ? 0 : failure(p, err, "the file is empty");
    if (p->lists == NULL)
        return cut(p, piece, false, NULL, err);
    if (c != '{' && c != '[')
        return failure(p, err, "is no JSON object or list");
    p->at++;
    p->first = true;
    p->list_at_top = c == '[';
    p->where = c == '[' ? IN_LIST : IN_OBJECT;
    return c == '[' ? next_element(p, piece, err) : next_member(p, piece, err);
}

int pieces_next(struct pieces *p, struct piece *piece, struct err *err)
{
    switch (p->where) {
    case AT_TOP:
        return next_at_top(p, piece, err);
    case IN_OBJECT:
        return next_member(p, piece, err);
    case IN_LIST:
        return next_element(p, piece, err);
    default:
        return 0;
    }
}

json_t *piece_json(const struct pieces *p, const struct piece *piece, struct err *err)
{
    json_error_t at;
    json_t *json = json_loadb(piece->text, piece->n, JSON_DECODE_ANY, &at);
    if (json == NULL)
        err_add(err, p->path, "byte %" PRIu64 ": %s",
                piece->offset + (uint64_t)(at.position > 0 ? at.position : 0), at.text);
    return json;
}
