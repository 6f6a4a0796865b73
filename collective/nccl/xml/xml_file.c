// SPDX-License-Identifier: MIT
// The elements are read into lists in the order of the file; then the parts are sorted by their
// ids.
#include "collective/nccl/xml/xml_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collective/nccl/xml/xml_parts.h"
#include "collective/nccl/xml/xml_pieces.h"

struct reading {
    struct xml_pieces pieces; // the first field: a pointer to it is one to the reading
    struct xml_parts parts;
};

static void on_element(struct xml_pieces *x, const char *name, const char **attributes,
                       unsigned depth, unsigned long line)
{
    static const char *const names[] = {"algo", "gpu", "tb", "step"};
    enum { LEVELS = sizeof names / sizeof *names };
    struct reading *r = (struct reading *)x;
    char error[XML_PART_ERROR] = "";
    if (depth >= LEVELS || strcmp(name, names[depth]) != 0)
        snprintf(error, sizeof error, "<%.40s> is not known here%s%s%s", name,
                 depth < LEVELS ? ": <" : "", depth < LEVELS ? names[depth] : "",
                 depth < LEVELS ? "> is expected" : "");
    else
        xml_parts_add(&r->parts, depth, attributes, (uint32_t)line, error);
    if (error[0] != '\0')
        xml_pieces_error(x, line, "%s", error);
}

static struct xml_algorithm *finish(struct reading *r)
{
    struct xml_error error = {0};
    struct xml_algorithm *a = xml_parts_sorted(&r->parts, &error);
    if (a != NULL && xml_algorithm_link(a, &error))
        return a;
    xml_pieces_error(&r->pieces, error.line, "%s", error.text);
    free(a);
    return NULL;
}

struct xml_algorithm *xml_file_read(const char *dir, const char *name, const char *path,
                                    struct err *err)
{
    struct reading r = {
        .pieces = {
            .name = name, .path = path, .err = err, .noun = "an algorithm", .start = on_element}};
    struct xml_algorithm *a = xml_pieces_read(&r.pieces, dir) ? finish(&r) : NULL;
    xml_parts_free(&r.parts);
    return a;
}
