// SPDX-License-Identifier: MIT
// What tests of the document of a report share: JSON texts in which ' stands for ", and a page.
// cmocka.h comes before this header.
#pragma once

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "report/page/page_internal.h"
#include "report/page/sheet.h"

// Compare a value with a JSON text.
static inline void expect_json(const json_t *value, const char *text)
{
    char *copy = strdup(text);
    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    json_t *expected = json_loads(copy, JSON_DECODE_ANY, NULL);
    char *got = json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT);
    assert_non_null(expected);
    if (!json_equal(value, expected))
        fail_msg("got %s, expected %s", got ? got : "nothing", copy);
    json_decref(expected);
    free(copy);
    free(got);
}

static inline json_t *read_json(const char *text)
{
    char *copy = strdup(text);
    for (char *c = copy; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    json_t *value = json_loads(copy, 0, NULL);
    assert_non_null(value);
    free(copy);
    return value;
}

static inline struct page *new_page(void) { return page_new(PAGE_RUN, "n", "1.0", 1); }
