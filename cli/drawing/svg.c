// SPDX-License-Identifier: MIT
// Runs the script that draws a chart. Each chart has a Duktape heap of its own, freed afterwards.
#include <duktape.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/drawing/drawing.h"
#include "engine/base/memory.h"

/* ---- memory ---- */

// What a heap may take. A document of the largest size takes some 200 MB.
#define HEAP_BYTES ((size_t)1 << 30)

struct heap {
    size_t used;
};

// Blocks have their size before them.
enum { BEFORE = 16 };

static void *heap_resize(void *heap_, void *block, duk_size_t bytes)
{
    struct heap *heap = heap_;
    char *start = block ? (char *)block - BEFORE : NULL;
    size_t old = 0;
    if (start)
        memcpy(&old, start, sizeof old);
    if (bytes == 0) {
        heap->used -= old;
        free(start);
        return NULL;
    }
    if (bytes > HEAP_BYTES || heap->used - old > HEAP_BYTES - bytes)
        return NULL;
    char *now = realloc(start, bytes + BEFORE);
    if (!now)
        return NULL;
    memcpy(now, &bytes, sizeof bytes);
    heap->used = heap->used - old + bytes;
    return now + BEFORE;
}

static void *heap_take(void *heap, duk_size_t bytes) { return heap_resize(heap, NULL, bytes); }
static void heap_give(void *heap, void *block) { heap_resize(heap, block, 0); }

// Duktape calls this function for an error outside of a protected call. draw(), which runs all of
// the script, is a protected call, so this is not reached.
static void on_fatal(void *heap, const char *message)
{
    (void)heap;
    (void)message;
    abort();
}

/* ---- the program ---- */

struct texts {
    const char *program, *document;
};

// Run the script, and leave the members `svg` and `problem` of its result on Duktape's stack: `svg`
// is a string if the chart was drawn, `problem` if the document has no such chart.
static duk_ret_t draw(duk_context *js, void *texts_)
{
    const struct texts *texts = texts_;
    duk_push_string(js, texts->document);
    duk_json_decode(js, -1);
    duk_put_global_string(js, "collwireDocument");
    duk_push_string(js, "report-plot.js");
    duk_compile_string_filename(js, 0, texts->program);
    duk_call(js, 0);
    duk_get_prop_string(js, -1, "svg");
    duk_get_prop_string(js, -2, "problem");
    return 2;
}

char *drawing_svg(const char *program, const char *document, bool *unknown, struct err *err)
{
    struct heap heap = {0};
    struct texts texts = {program, document};
    char *svg = NULL;
    *unknown = false;
    duk_context *js = duk_create_heap(heap_take, heap_resize, heap_give, &heap, on_fatal);
    if (!js) {
        err_add(err, NULL, "there is no memory for the program that draws charts");
        return NULL;
    }
    if (duk_safe_call(js, draw, &texts, 0, 2) != DUK_EXEC_SUCCESS)
        err_add(err, NULL, "the program that draws charts has failed: %s",
                duk_safe_to_string(js, -2));
    else if (duk_is_string(js, -2))
        svg = memory_text(duk_get_string(js, -2));
    else if (duk_is_string(js, -1)) {
        *unknown = true;
        err_add(err, NULL, "%s", duk_get_string(js, -1));
    } else
        err_add(err, NULL, "the program that draws charts has returned no picture");
    duk_destroy_heap(js);
    return svg;
}
