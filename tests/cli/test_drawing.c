// SPDX-License-Identifier: MIT
// What the program that draws charts may return, and what it may not do; a picture as PDF.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/drawing/drawing.h"

// The picture, or NULL after a look at the only error.
static char *draw(const char *program, const char *document, bool unknown, const char *error)
{
    struct err err = {0};
    bool is_unknown = !unknown;
    char *svg = drawing_svg(program, document, &is_unknown, &err);
    assert_int_equal(is_unknown, unknown);
    assert_int_equal(err.n_items, error ? 1 : 0);
    if (error && !strstr(err.items[0].text, error))
        fail_msg("\"%s\" is not in \"%s\"", error, err.items[0].text);
    err_free(&err);
    return svg;
}

static void test_results(void **state)
{
    (void)state;
    const char *document = "{\"a\": [1, 2.5, \"\xc3\xa9\xf0\x9f\x98\x80\"]}";
    char *svg = draw("({svg: '<' + collwireDocument.a.join() + '>'})", document, false, NULL);
    assert_string_equal(svg, "<1,2.5,\xc3\xa9\xf0\x9f\x98\x80>");
    free(svg);
    assert_null(draw("({problem: collwireDocument.a[1] + ' is unknown'})", document, true,
                     "2.5 is unknown"));
    assert_null(draw("({})", document, false, "no picture"));
    assert_null(draw("null", document, false, "has failed: TypeError"));
}

// Nothing that a program does ends this one.
static void test_failures(void **state)
{
    static const char *const programs[][2] = {
        {"(", "has failed: SyntaxError"},
        {"nothing.at.all", "has failed: ReferenceError"},
        {"throw new Error('so')", "has failed: Error: so"},
        {"throw null", "has failed: null"},
        {"throw {toString: function() { throw this; }}", "has failed: "},
        {"(function f() { f(); })()", "has failed: RangeError"},
        {"new Uint8Array(1200000000)", "has failed: Error: alloc failed"},
        {"var t = 'x'; for (;;) t += t", "has failed: "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
        assert_null(draw(programs[i][0], "{}", false, programs[i][1]));
    assert_null(draw("({svg: ''})", "{", false, "has failed: SyntaxError"));
}

static void test_pdf(void **state)
{
    const char *svg =
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"25.4mm\" height=\"50.80mm\" "
        "viewBox=\"0 0 10 20\"><rect width=\"5\" height=\"5\"/></svg>";
    struct err err = {0};
    size_t n = 0, again = 0;
    char *pdf = drawing_pdf(svg, &n, &err), *same = drawing_pdf(svg, &again, &err);
    (void)state;
    if (err.n_items > 0) // a system without librsvg
        assert_non_null(strstr(err.items[0].text, "PDF needs librsvg"));
    else {
        assert_true(n > 100 && n == again && memcmp(pdf, same, n) == 0);
        assert_memory_equal(pdf, "%PDF", 4);
        assert_null(drawing_pdf("<svg", &n, &err));
        assert_int_equal(err.n_items, 1);
        assert_non_null(strstr(err.items[0].text, "librsvg has not drawn the picture"));
    }
    err_free(&err);
    free(pdf);
    free(same);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_pdf),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
