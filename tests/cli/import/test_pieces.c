// SPDX-License-Identifier: MIT
// A large JSON file in pieces: borders of the buffer at every place of a value, offsets, errors.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "cli/import/import_pieces.h"

#define BUFFER_BYTES (1u << 18) // as in pieces.c

static const char *const lists[] = {"events", NULL};

// A file with the text; its name is to be freed after unlink().
static char *file_with(const char *text, size_t n)
{
    char *name = strdup("/tmp/collwire-pieces-XXXXXX");
    int fd = mkstemp(name);
    assert_true(fd >= 0);
    FILE *out = fdopen(fd, "wb");
    assert_int_equal(fwrite(text, 1, n, out), n);
    fclose(out);
    return name;
}

static void drop(char *name)
{
    unlink(name);
    free(name);
}

// The elements are cut where they begin and end, wherever the buffer ends within them.
static void test_borders(void **state)
{
    static const char event[] =
        "{\"a\\\\\\\"b\" : [1, {\"x}\": \"]\\u00e9\"}], \"n\": -1.5e3, \"t\": true}";
    const size_t n = sizeof event - 1;
    char *text = malloc(BUFFER_BYTES + 4096);
    (void)state;
    for (size_t shift = 0; shift < n + 4; shift++) {
        size_t pad = BUFFER_BYTES - n - 20 + shift;
        size_t at = (size_t)sprintf(text, "{\"k\": \"");
        memset(text + at, 'x', pad - at - 14);
        at = pad - 14;
        at += (size_t)sprintf(text + at, "\", \"events\": [");
        size_t first = at;
        at += (size_t)sprintf(text + at, "%s , %s], \"last\": 7 }", event, event);
        char *name = file_with(text, at);
        struct err err = {0};
        struct piece piece;
        struct pieces *p = pieces_open(name, lists, &err);
        assert_int_equal(pieces_next(p, &piece, &err), 1);
        assert_string_equal(piece.key, "k");
        for (unsigned i = 0; i < 2; i++) {
            assert_int_equal(pieces_next(p, &piece, &err), 1);
            assert_true(piece.element);
            assert_int_equal(piece.n, n);
            assert_memory_equal(piece.text, event, n);
            assert_int_equal(piece.offset, first + i * (n + 3));
            json_t *json = piece_json(p, &piece, &err);
            assert_true(json_is_object(json));
            json_decref(json);
        }
        assert_int_equal(pieces_next(p, &piece, &err), 1);
        assert_string_equal(piece.key, "last");
        assert_false(piece.element);
        assert_memory_equal(piece.text, "7", 1);
        assert_int_equal(pieces_next(p, &piece, &err), 0);
        assert_int_equal(err.n_errors, 0);
        pieces_close(p);
        drop(name);
    }
    free(text);
}

// Number of pieces of a text; -1 = an error, whose text ends up in *why (to be freed).
static int count(const char *text, const char *const *of, char **why)
{
    char *name = file_with(text, strlen(text));
    struct err err = {0};
    struct piece piece;
    struct pieces *p = pieces_open(name, of, &err);
    int n = 0, got;
    while ((got = pieces_next(p, &piece, &err)) > 0)
        n++;
    *why = err.n_items > 0 ? strdup(strchr(err.items[0].text, ':') + 2) : NULL;
    err_free(&err);
    pieces_close(p);
    drop(name);
    return got < 0 ? -1 : n;
}

static void test_shapes(void **state)
{
    static const struct {
        const char *text;
        bool lines;
        int n;
        const char *why;
    } cases[] = {
        {"[1, {}, [2], \"x\"]", false, 4, NULL},
        {"{\"events\": []}", false, 0, NULL},
        {"{\"events\": {\"not\": \"a list\"}, \"b\": null}", false, 2, NULL},
        {"{}", false, 0, NULL},
        {"{\"a\": 1}\n{\"b\": 2}\n\n 3", true, 3, NULL},
        {"", true, 0, NULL},
        {"", false, -1, "byte 0: the file is empty"},
        {"nothing", false, -1, "byte 0: is no JSON object or list"},
        {"{\"events\": [1 2]}", false, -1, "byte 14: a comma is expected"},
        {"{\"events\": [1,", false, -1, "byte 14: the file ends within a value"},
        {"{\"events\": [1", false, -1,
         "byte 13: the file ends within its list of events or members"},
        {"{\"events\" [1]}", false, -1, "byte 10: a colon is expected"},
        {"{events: [1]}", false, -1, "byte 1: a key is expected"},
        {"{\"a\": }", false, -1, "byte 6: a value is expected"},
        {"{\"a\": \"x", false, -1, "byte 8: the file ends within a value"},
        {"{\"a\": [{]", false, -1, "byte 9: the file ends within a value"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *why;
        assert_int_equal(count(cases[i].text, cases[i].lines ? NULL : lists, &why), cases[i].n);
        if (cases[i].why != NULL)
            assert_string_equal(why, cases[i].why);
        else
            assert_null(why);
        free(why);
    }
}

int main(int argc, char **argv)
{
    (void)argc, (void)argv;
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_borders),
                                       cmocka_unit_test(test_shapes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
