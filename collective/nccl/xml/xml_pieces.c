// SPDX-License-Identifier: MIT
#include "collective/nccl/xml/xml_pieces.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/base/memory.h"
#include "engine/base/regular_file.h"
#include "engine/text/json_file.h"

#define FILE_BYTES_MAX (UINT64_C(256) << 20)
#define PIECE 65536
// Expat looks at a token from its begin again whenever it gets another piece of it.
#define TOKEN_BYTES_MAX (UINT64_C(1) << 20)

void xml_pieces_error(struct xml_pieces *x, unsigned long line, const char *format, ...)
{
    char what[512];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof what, format, args);
    va_end(args);
    // Only the first error counts: a parser that has been stopped for it reports another one.
    if (!x->failed)
        err_add(x->err, x->path, "%s, line %lu: %s", x->name, line, what);
    x->failed = true;
    if (x->parser != NULL)
        XML_StopParser(x->parser, XML_FALSE);
}

// The line that the parser has reached. Expat 2.9 has a function of another name for it, and
// deprecates the old one.
static unsigned long line_of(const struct xml_pieces *x)
{
#if XML_MAJOR_VERSION > 2 || XML_MINOR_VERSION >= 9
    return (unsigned long)XML_GetCurrentLineNumber64(x->parser);
#else
    return (unsigned long)XML_GetCurrentLineNumber(x->parser);
#endif
}

// Any other token: texts, comments, instructions.
static void on_token(void *ctx, const XML_Char *text, int n)
{
    struct xml_pieces *x = ctx;
    (void)text;
    (void)n;
    x->reached =
        (uint64_t)XML_GetCurrentByteIndex(x->parser) + (uint64_t)XML_GetCurrentByteCount(x->parser);
}

static void on_start(void *ctx, const XML_Char *name, const XML_Char **attributes)
{
    struct xml_pieces *x = ctx;
    on_token(x, NULL, 0);
    if (x->failed)
        return;
    if (x->deepest > 0 && x->depth >= x->deepest) {
        xml_pieces_error(x, line_of(x), "more than %u elements lie in each other", x->deepest);
        return;
    }
    x->start(x, name, attributes, x->depth++, line_of(x));
}

static void on_end(void *ctx, const XML_Char *name)
{
    struct xml_pieces *x = ctx;
    (void)name;
    x->depth--;
    on_token(x, NULL, 0);
    if (!x->failed && x->end != NULL)
        x->end(x, x->depth);
}

static void on_doctype(void *ctx, const XML_Char *name, const XML_Char *system,
                       const XML_Char *public, int internal)
{
    struct xml_pieces *x = ctx;
    (void)system;
    (void)public;
    if (internal || x->doctype == NULL || strcmp(name, x->doctype) != 0)
        xml_pieces_error(x, line_of(x), "%s has no document type", x->noun);
}

static void read_all(struct xml_pieces *x, FILE *in)
{
    uint64_t bytes = 0;
    bool last = false;
    char *piece = memory_bytes(PIECE);
    while (!last && !x->failed) {
        size_t n = fread(piece, 1, PIECE, in);
        // A short read is the end of the file, or an error, which the check below reports.
        last = n < PIECE;
        bytes += n;
        // A token that does not end is refused early: expat would scan it again from its begin with
        // each piece, in a time that grows with the square of its length.
        if (bytes > FILE_BYTES_MAX)
            xml_pieces_error(x, line_of(x), "the file is larger than 256 MiB");
        else if (ferror(in))
            xml_pieces_error(x, line_of(x), "cannot be read");
        else if (XML_Parse(x->parser, piece, (int)n, last) == XML_STATUS_ERROR)
            xml_pieces_error(x, line_of(x), "is not XML: %s",
                             XML_ErrorString(XML_GetErrorCode(x->parser)));
        else if (bytes - x->reached > TOKEN_BYTES_MAX)
            xml_pieces_error(x, line_of(x),
                             "a tag or comment from byte %llu on is longer than 1 MiB",
                             (unsigned long long)x->reached);
    }
    free(piece);
}

bool xml_pieces_read(struct xml_pieces *x, const char *dir)
{
    char *full = path_from(dir, x->name);
    const char *why;
    FILE *in = regular_file_stream(full, &why);
    free(full);
    if (in == NULL) {
        err_add(x->err, x->path, "%s cannot be opened: %s", x->name, why);
        return false;
    }
    x->parser = XML_ParserCreate(NULL);
    if (x->parser == NULL)
        memory_exhausted(1, PIECE);
    XML_SetUserData(x->parser, x);
    XML_SetElementHandler(x->parser, on_start, on_end);
    XML_SetStartDoctypeDeclHandler(x->parser, on_doctype);
    XML_SetDefaultHandler(x->parser, on_token);
    read_all(x, in);
    XML_ParserFree(x->parser);
    x->parser = NULL;
    fclose(in);
    return !x->failed;
}

const char *xml_attribute(const char **attributes, const char *name)
{
    for (size_t i = 0; attributes[i] != NULL; i += 2)
        if (strcmp(attributes[i], name) == 0)
            return attributes[i + 1];
    return NULL;
}
