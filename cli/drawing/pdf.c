// SPDX-License-Identifier: MIT
// SVG as PDF, by librsvg and cairo. Both are loaded when they are needed, so that nothing else
// depends on them; the functions below are of their stable interfaces (librsvg 2.46, cairo 1.16).
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/drawing/drawing.h"
#include "engine/base/text.h"

#define LIBRARY "librsvg-2.so.2"

struct rectangle {
    double x, y, width, height;
};
struct failure { // GError
    uint32_t domain;
    int code;
    char *message;
};
enum { CAIRO_SUCCESS, METADATA_CREATE_DATE = 5 };

typedef unsigned write_function(void *to, const unsigned char *bytes, unsigned n);

struct rsvg {
    void *(*rsvg_handle_new_from_data)(const uint8_t *bytes, size_t n, struct failure **failure);
    int (*rsvg_handle_render_document)(void *handle, void *cairo, const struct rectangle *viewport,
                                       struct failure **failure);
    void (*g_object_unref)(void *object);
    void (*g_error_free)(struct failure *failure);
    void *(*cairo_pdf_surface_create_for_stream)(write_function *write, void *to, double width,
                                                 double height);
    void (*cairo_pdf_surface_set_metadata)(void *surface, int key, const char *value);
    void *(*cairo_create)(void *surface);
    void (*cairo_destroy)(void *cairo);
    void (*cairo_surface_finish)(void *surface);
    int (*cairo_surface_status)(void *surface);
    void (*cairo_surface_destroy)(void *surface);
};

// Set a pointer to the function `name`, which librsvg or a library that it needs has.
static bool find(void *library, const char *name, void *function, struct err *err)
{
    void *symbol = dlsym(library, name);
    if (!symbol)
        err_add(err, NULL, "PDF needs librsvg 2.46 and cairo 1.16 or later: %s", dlerror());
    memcpy(function, &symbol, sizeof symbol);
    return symbol != NULL;
}

#define FIND(name) find(library, #name, &rsvg->name, err)

static bool rsvg_load(struct rsvg *rsvg, struct err *err)
{
    void *library = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        err_add(err, NULL,
                "PDF needs librsvg, which is not installed (%s): install Debian's librsvg2-2, or "
                "name a file that ends in .svg, which needs nothing",
                dlerror());
        return false;
    }
    return FIND(rsvg_handle_new_from_data) && FIND(rsvg_handle_render_document) &&
           FIND(g_object_unref) && FIND(g_error_free) &&
           FIND(cairo_pdf_surface_create_for_stream) && FIND(cairo_pdf_surface_set_metadata) &&
           FIND(cairo_create) && FIND(cairo_destroy) && FIND(cairo_surface_finish) &&
           FIND(cairo_surface_status) && FIND(cairo_surface_destroy);
}

/* ---- drawing ---- */

static unsigned append(void *out, const unsigned char *bytes, unsigned n)
{
    fwrite(bytes, 1, n, out);
    return CAIRO_SUCCESS;
}

// Returns the size of a picture in points (1/72 inch). The SVG states it in millimetres.
static struct rectangle size_of(const char *svg)
{
    struct rectangle size = {.width = 85, .height = 100};
    const char *at = strstr(svg, "width=\"");
    if (at)
        sscanf(at, "width=\"%lfmm\" height=\"%lfmm\"", &size.width, &size.height);
    size.width *= 72 / 25.4;
    size.height *= 72 / 25.4;
    return size;
}

// Write the pages of the document to `out`. Returns 0, or -1 with an error.
static int render(const struct rsvg *rsvg, const char *svg, FILE *out, struct err *err)
{
    struct failure *failure = NULL;
    struct rectangle size = size_of(svg);
    void *handle = rsvg->rsvg_handle_new_from_data((const uint8_t *)svg, strlen(svg), &failure);
    void *surface = rsvg->cairo_pdf_surface_create_for_stream(append, out, size.width, size.height);
    // the same picture has the same bytes whenever it is drawn
    rsvg->cairo_pdf_surface_set_metadata(surface, METADATA_CREATE_DATE, "1970-01-01T00:00:00Z");
    void *cairo = rsvg->cairo_create(surface);
    bool good = handle && rsvg->rsvg_handle_render_document(handle, cairo, &size, &failure) != 0;
    rsvg->cairo_destroy(cairo);
    rsvg->cairo_surface_finish(surface);
    if (!good)
        err_add(err, NULL, "librsvg has not drawn the picture: %s",
                failure ? failure->message : "it does not say why");
    else if (rsvg->cairo_surface_status(surface) != CAIRO_SUCCESS) {
        err_add(err, NULL, "cairo has not written the picture");
        good = false;
    }
    rsvg->cairo_surface_destroy(surface);
    if (failure)
        rsvg->g_error_free(failure);
    if (handle)
        rsvg->g_object_unref(handle);
    return good ? 0 : -1;
}

char *drawing_pdf(const char *svg, size_t *n, struct err *err)
{
    struct rsvg rsvg;
    if (!rsvg_load(&rsvg, err))
        return NULL;
    struct text text;
    FILE *out = text_open(&text);
    int status = render(&rsvg, svg, out, err);
    char *bytes = text_close(out, &text);
    *n = text.n;
    if (status == 0)
        return bytes;
    free(bytes);
    return NULL;
}
